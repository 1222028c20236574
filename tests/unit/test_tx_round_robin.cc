// SPDX-License-Identifier: BSD-3-Clause
#include "data_plane.h"

namespace
{

const unsigned MANY = 10000;
const double FPS = 100;
const uint64_t STEP = uint64_t(HZ / FPS);

unsigned
settled(const struct tx &all)
{
	unsigned n = 0;

	for (unsigned i = 0; i < all.streams; i++)
		n += all.stream[i].round_robin == nullptr;
	return n;
}

/* frames that a stream, one of MANY that are spread evenly, should have sent by a time */
uint64_t
due(unsigned stream, uint64_t now)
{
	uint64_t first = Senders::START + uint64_t(double(stream) / MANY * double(STEP));

	return now < first ? 0 : (now - first) / STEP + 1;
}

TEST(TxRoundRobin, CountsWhatItHasSentWithoutCounting)
{
	Senders s(std::vector<double>(MANY, FPS), true);
	uint64_t now = Senders::START + US / 2;

	ASSERT_NE(nullptr, s.Task().round_robin);
	for (unsigned i = 0; i < 3000; i++, now += 10 * US)
		s.Poll(now);
	now -= 10 * US;
	for (unsigned i = 0; i < MANY; i += 37) {
		EXPECT_EQ(due(i, now), tx_sent(&s.all.stream[i])) << "stream " << i;
		EXPECT_EQ(s.port.sent[i], tx_sent(&s.all.stream[i]));
		EXPECT_EQ(64 * s.port.sent[i], tx_octets(&s.all.stream[i]));
	}
}

TEST(TxRoundRobin, FramesThatThePortRefusesAreMadeAgain)
{
	Senders s(std::vector<double>(100, 1e5), true);
	uint64_t now = Senders::START + US / 2;

	ASSERT_NE(nullptr, s.Task().round_robin);
	for (unsigned i = 0; i < 1000; i++, now += US) {
		s.port.takes = i % 4 == 0 ? 40 : 7;
		s.Poll(now);
	}
	for (unsigned i = 0; i < 100; i++)
		EXPECT_EQ(s.port.sent[i], tx_sent(&s.all.stream[i]));
	EXPECT_EQ(256u, s.pool.free.size());
}

/* behind schedule, a poll must not look at every stream: each frame is judged when it is its turn */
TEST(TxRoundRobin, FramesBehindScheduleAreJudgedInTurn)
{
	Senders s(std::vector<double>(MANY, FPS), true);
	uint64_t now = Senders::START + US / 2, held, behind = 0;
	const struct tx_round_robin *r = s.Task().round_robin;

	ASSERT_NE(nullptr, r);
	for (unsigned i = 0; i < 100; i++, now += 10 * US)
		s.Poll(now);
	held = r->done;
	now += 2000 * US;
	for (unsigned i = 0; i < MANY; i++)
		behind += due(i, now - r->on_time - 1);
	behind -= held;
	ASSERT_GT(behind, 10 * FG_BURST);
	s.Poll(now);
	EXPECT_EQ(uint64_t(FG_BURST), r->off_schedule);
	s.port.takes = 5;
	s.Poll(now); /* what the port refuses is not judged again */
	s.port.takes = FG_BURST;
	for (unsigned i = 0; i < 100; i++)
		s.Poll(now);
	EXPECT_EQ(behind, r->off_schedule);
}

/*
 * an order to one of very many streams must not hold up the others: work per poll, not time, is what is
 * counted
 */
TEST(TxRoundRobin, IsGivenUpSomeStreamsAtAPoll)
{
	Senders s(std::vector<double>(MANY, FPS), true);
	uint64_t now = Senders::START + US / 2, ordered;
	unsigned polls = 0, before = 0;

	for (unsigned i = 0; i < 1234; i++, now += 10 * US)
		s.Poll(now);
	s.Load(5000, 10 * FPS);
	s.Poll(ordered = now);
	EXPECT_EQ(nullptr, s.Task().round_robin);
	EXPECT_LE(settled(s.all), 3u) << "the next, the last, and the one that the order is for";
	while ((before = settled(s.all)) < MANY) {
		s.Poll(now += 10 * US);
		ASSERT_LE(settled(s.all) - before, unsigned(TX_SETTLED_A_BURST));
		polls++;
	}
	EXPECT_EQ((MANY + TX_SETTLED_A_BURST - 1) / TX_SETTLED_A_BURST, polls);
	for (unsigned i = 0; i < 1000; i++)
		s.Poll(now += 10 * US);
	for (unsigned i = 0; i < MANY; i++) {
		uint64_t expected =
			i == 5000 ? due(i, ordered) + (now - ordered) / (STEP / 10) + 1 : due(i, now);

		ASSERT_EQ(expected, tx_sent(&s.all.stream[i])) << "stream " << i;
		ASSERT_EQ(s.port.sent[i], tx_sent(&s.all.stream[i]));
	}
}

TEST(TxRoundRobin, OrdersDuringThatAreFollowed)
{
	Senders s(std::vector<double>(MANY, FPS), true);
	uint64_t now = Senders::START + US / 2;

	for (unsigned i = 0; i < 50; i++, now += 10 * US) {
		s.Load(i * 199, 2 * FPS);
		s.Poll(now);
	}
	for (unsigned i = 0; i < 2000; i++)
		s.Poll(now += 10 * US);
	EXPECT_EQ(MANY, settled(s.all));
	for (unsigned i = 0; i < MANY; i++)
		ASSERT_EQ(s.port.sent[i], tx_sent(&s.all.stream[i]));
	EXPECT_EQ(due(1, now), tx_sent(&s.all.stream[1]));
	/* the trial may end at any time */
	tx_settle(&s.all);
}

TEST(TxRoundRobin, TheEndOfTheTrialSettlesAll)
{
	Senders s(std::vector<double>(MANY, FPS), true);
	uint64_t now = Senders::START + US / 2;

	for (unsigned i = 0; i < 500; i++, now += 10 * US)
		s.Poll(now);
	s.Load(7, FPS / 2);
	s.Poll(now);
	tx_settle(&s.all);
	EXPECT_EQ(MANY, settled(s.all));
	for (unsigned i = 0; i < MANY; i++)
		ASSERT_EQ(s.port.sent[i], s.all.stream[i].sent);
}

} // namespace
