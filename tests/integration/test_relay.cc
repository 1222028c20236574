/* SPDX-License-Identifier: BSD-3-Clause */
/* The relay and the reflector between ports that the test itself plays: what goes in, what comes out, what is
 * counted. */
#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "fg_filter.h"
#include "fg_port.h"
#include "fg_relay.h"
#include "fg_signature.h"
#include "fg_tsc.h"
#include "net_frames.h"

namespace
{

using frames::Bytes;
using Counts = struct fg_relay_counters; // there is a function of that name, too

struct Gone {
	Bytes bytes;
	uint64_t tsc;
};

/* A port whose line is two lists: what is to be received, at once as a burst, and what was sent */
struct TestPort {
	TestPort()
	{
		static unsigned serial;
		const std::string name = "relay" + std::to_string(serial++);

		port.rx = Receive;
		port.tx = Send;
		pool = rte_pktmbuf_pool_create(name.c_str(), 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
					       SOCKET_ID_ANY);
		EXPECT_NE(nullptr, pool);
	}
	~TestPort()
	{
		for (rte_mbuf *m : coming)
			rte_pktmbuf_free(m);
		EXPECT_EQ(0u, rte_mempool_in_use_count(pool)) << "buffers have leaked";
		rte_mempool_free(pool);
	}
	TestPort(const TestPort &) = delete;
	TestPort &operator=(const TestPort &) = delete;

	void
	Come(const std::vector<Bytes> &list)
	{
		std::lock_guard<std::mutex> hold(lock);

		for (const Bytes &bytes : list) {
			rte_mbuf *m = rte_pktmbuf_alloc(pool);

			memcpy(rte_pktmbuf_append(m, uint16_t(bytes.size())), bytes.data(), bytes.size());
			coming.push_back(m);
		}
	}
	static uint16_t
	Receive(fg_port *port, rte_mbuf **burst, uint16_t n, uint64_t)
	{
		TestPort *self = reinterpret_cast<TestPort *>(port);
		std::lock_guard<std::mutex> hold(self->lock);
		uint16_t i = 0;

		for (; i < n && !self->coming.empty(); i++) {
			burst[i] = self->coming.front();
			self->coming.pop_front();
		}
		if (i > 0)
			self->received.push_back(rte_rdtsc());
		return i;
	}
	static uint16_t
	Send(fg_port *port, rte_mbuf **burst, uint16_t n, uint64_t)
	{
		TestPort *self = reinterpret_cast<TestPort *>(port);
		std::lock_guard<std::mutex> hold(self->lock);
		uint16_t i = 0;

		for (; i < std::min(n, self->takes); i++) {
			const uint8_t *data = rte_pktmbuf_mtod(burst[i], const uint8_t *);

			EXPECT_EQ(0u, burst[i]->ol_flags);
			self->gone.push_back({{data, data + burst[i]->data_len}, rte_rdtsc()});
			rte_pktmbuf_free(burst[i]);
		}
		return i;
	}

	fg_port port = {}; /* first: the port is this */
	rte_mempool *pool;
	std::mutex lock;
	std::deque<rte_mbuf *> coming;
	std::vector<uint64_t> received; /* TSC of each burst */
	std::vector<Gone> gone;
	uint16_t takes = UINT16_MAX; /* frames of a burst that are sent */
};

/* One way from one port to another, or back to the same */
class Relay
{
      public:
	explicit Relay(bool reflects = false)
	{
		config.ways = config.lcores = 1;
		config.lcore[0] = 1;
		way.from = &from.port;
		way.to = reflects ? &from.port : &to.port;
		way.room = 4096;
		way.bucket = 1518;
		memcpy(way.mac, frames::host_mac.data(), 6);
		memcpy(way.ipv4, frames::host_ipv4.data(), 4);
		way.has_ipv4 = true;
	}
	~Relay()
	{
		fg_relay_free(relay);
	}
	Relay(const Relay &) = delete;
	Relay &operator=(const Relay &) = delete;

	/* @return what has come out once everything that came in has been dealt with, `left` of it later */
	std::vector<Gone>
	Run(const std::vector<Bytes> &list, uint64_t left = 0)
	{
		fg_error err = {};

		EXPECT_EQ(0, fg_relay_create(&config, &relay, &err)) << err.where << err.message;
		from.Come(list);
		for (int i = 0; i < 20000; i++) {
			const Counts c = Counters();

			if (c.received == list.size() &&
			    c.received + c.duplicated == c.forwarded + c.lost_on_path + c.queue_full +
								 c.too_long + c.line_full + c.not_reflected +
								 left)
				break;
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		}
		std::lock_guard<std::mutex> hold(Out().lock);
		return Out().gone;
	}
	Counts
	Counters() const
	{
		Counts c;

		fg_relay_counters(relay, 0, &c);
		return c;
	}
	TestPort &
	Out()
	{
		return way.to == &from.port ? from : to;
	}

	TestPort from, to;
	fg_relay_config config = {};
	fg_relay_way &way = config.way[0];

      private:
	fg_relay *relay = nullptr;
};

/* frames that begin with their number */
std::vector<Bytes>
numbered(uint32_t n, size_t size = 60)
{
	std::vector<Bytes> list;

	for (uint32_t i = 0; i < n; i++) {
		list.emplace_back(size, 0x5a);
		memcpy(list.back().data(), &i, 4);
	}
	return list;
}

std::vector<uint32_t>
numbers(const std::vector<Gone> &gone)
{
	std::vector<uint32_t> list;

	for (const Gone &g : gone) {
		list.push_back(0);
		memcpy(&list.back(), g.bytes.data(), 4);
	}
	return list;
}

std::vector<uint32_t>
up_to(uint32_t n)
{
	std::vector<uint32_t> list;

	for (uint32_t i = 0; i < n; i++)
		list.push_back(i);
	return list;
}

uint64_t
ticks(double ns)
{
	static fg_tsc tsc;

	if (tsc.hz == 0)
		fg_tsc_measure(&tsc);
	return uint64_t(ns * 1e-9 * tsc.hz *
			(1 - 1e-6)); /* the relay has measured it, too, and not the very same */
}

/* a frame to the reflector, with a signature at its end */
Bytes
test_frame(uint64_t sequence)
{
	Bytes frame(60);

	memcpy(&frame[0], frames::host_mac.data(), 6);
	memcpy(&frame[6], frames::peer_mac.data(), 6);
	frame[12] = 8;
	frame[14] = 0x45;
	frame[23] = FG_IP_UDP;
	memcpy(&frame[26], frames::peer_ipv4.data(), 4);
	memcpy(&frame[30], frames::host_ipv4.data(), 4);
	frame[35] = 1;
	frame[37] = 2;
	fg_signature_write(frame.data() + frame.size(), 7, sequence, 1234);
	return frame;
}

} // namespace

TEST(Relay, PassesFramesOnAsTheyAre)
{
	Relay relay;
	std::vector<Gone> gone = relay.Run(numbered(1000, 200));

	ASSERT_EQ(up_to(1000), numbers(gone));
	EXPECT_EQ(numbered(1000, 200)[999], gone[999].bytes);
	EXPECT_EQ(204000u, relay.Counters().octets);
}

TEST(Relay, TriesAgainWhatThePortDoesNotTake)
{
	for (double delay : {0.0, 1.0}) {
		Relay relay;

		relay.to.takes = 5;
		relay.way.delay_ns = delay;
		EXPECT_EQ(up_to(1000), numbers(relay.Run(numbered(1000))));
		EXPECT_GT(relay.Counters().refused, 0u);
		EXPECT_EQ(1000u, relay.Counters().forwarded);
	}
}

TEST(Relay, LetsNoFrameLeaveTooEarly)
{
	Relay relay;
	const double delay = 3e6;

	relay.way.delay_ns = delay;
	std::vector<Gone> gone = relay.Run(numbered(1000));
	ASSERT_EQ(up_to(1000), numbers(gone));
	/* they came in bursts of 32 */
	ASSERT_EQ(32u, relay.from.received.size());
	for (size_t i = 0; i < gone.size(); i++)
		ASSERT_GE(gone[i].tsc, relay.from.received[i / 32] + ticks(delay));
}

TEST(Relay, DoesToFramesWhatIsSaid)
{
	Relay relay;
	std::vector<uint32_t> expected;

	relay.way.impair.loss.every = 10;
	relay.way.impair.duplicate.every = 4; /* of those not lost */
	relay.way.impair.corrupt.every = 3;
	relay.way.impair.corrupt_skip = 4;
	std::vector<Gone> gone = relay.Run(numbered(1000));
	for (uint32_t i = 0, kept = 0; i < 1000; i++)
		if (i % 10 != 9) {
			expected.push_back(i);
			if (++kept % 4 == 0)
				expected.push_back(i);
		}
	EXPECT_EQ(expected, numbers(gone));
	const Counts c = relay.Counters();
	EXPECT_EQ(100u, c.lost_on_path);
	EXPECT_EQ(225u, c.duplicated);
	EXPECT_EQ(300u, c.corrupted);
	EXPECT_EQ(1125u, c.forwarded);
	/* every twelfth of those kept was corrupted and then copied */
	EXPECT_EQ(375, std::count_if(gone.begin(), gone.end(), [](const Gone &g) {
			  return Bytes(g.bytes.begin() + 4, g.bytes.end()) != Bytes(56, 0x5a);
		  }));
}

TEST(Relay, LetsFramesPassOneAnother)
{
	Relay relay;

	relay.way.impair.reorder.every = 100;
	relay.way.impair.reorder_places = 3;
	relay.way.impair.reorder_ns = 1e8;
	std::vector<uint32_t> got = numbers(relay.Run(numbered(950)));
	ASSERT_EQ(950u, got.size());
	for (uint32_t i = 99; i < 950; i += 100)
		ASSERT_EQ(i, got[i + 3]);
	EXPECT_EQ(9u, relay.Counters().reordered);
}

TEST(Relay, LosesWithAName)
{
	Relay relay, slow;

	slow.config.lcore[0] = 2;
	/* places for two, frame and copy, must be left when one comes */
	relay.way.delay_ns = 9e10;
	relay.way.room = 100;
	EXPECT_TRUE(relay.Run(numbered(1000), 99).empty());
	EXPECT_EQ(901u, relay.Counters().line_full);
	/* a burst of 32 comes at a time: one frame passes at once, and of those behind it as many as the
	 * queue holds */
	slow.way.rate_bps = 1e3;
	slow.way.bucket = 127; /* one octet less than two frames, with their FCS */
	slow.way.queue = 5 * 64;
	EXPECT_EQ(1u, slow.Run(numbered(32), 5).size());
	EXPECT_EQ(26u, slow.Counters().queue_full);
}

TEST(Relay, DropsWhatIsTooLongForAPort)
{
	for (double delay : {0.0, 1e3}) {
		Relay relay;
		std::vector<Bytes> list = numbered(4, 96); /* with FCS 100 */

		list[1].push_back(0);
		list[2].insert(list[2].end(), 4, 0); /* as long as with a tag, and it has one */
		list[2][12] = 0x81;
		list[2][13] = 0;
		relay.way.delay_ns = delay;
		relay.from.port.caps.max_frame = 1518;
		relay.to.port.caps.max_frame = 100;
		EXPECT_EQ((std::vector<uint32_t>{0, 2, 3}), numbers(relay.Run(list)));
		EXPECT_EQ(1u, relay.Counters().too_long);
		EXPECT_EQ(3u, relay.Counters().forwarded);
	}
}

/* and before it changes a frame, so that a corrupted one stays so */
TEST(Relay, CompletesChecksumsThatWereLeftToACard)
{
	Bytes frame = frames::ethernet(frames::host_mac, frames::peer_mac, 0x0800), whole;

	frames::append(frame, Bytes{0x45, 0, 0, 33, 0, 0, 0, 0, 64, 17, 0, 0});
	frames::append(frame, frames::peer_ipv4);
	frames::append(frame, frames::host_ipv4);
	frames::append(frame, Bytes{0, 1, 0, 2, 0, 13, 0, 0, 1, 2, 3, 4, 5});
	const Bytes addresses(frame.begin() + 26, frame.begin() + 34);
	frames::put16(frame, 40, frames::pseudo_sum(addresses, 17, 13));
	whole = frame;
	frames::put16(whole, 40, uint16_t(~frames::sum(frame, 34, frame.size())));
	for (bool completes : {false, true}) {
		Relay relay;

		relay.from.port.caps.partial_checksums = completes;
		std::vector<Gone> gone = relay.Run({frame, whole});
		ASSERT_EQ(2u, gone.size());
		EXPECT_EQ(completes ? whole : frame, gone[0].bytes);
		EXPECT_EQ(whole, gone[1].bytes);
		EXPECT_EQ(completes ? 1u : 0u, relay.Counters().completed);
	}
}

TEST(Relay, RefusesWhatItCannotDo)
{
	Relay relay;
	struct fg_relay *none = nullptr;
	fg_error err = {};

	relay.way.lcore = 1;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.lcore = 0;
	relay.way.delay_ns = -1;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.delay_ns = 0;
	relay.way.room = 0;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.room = 64;
	relay.way.impair.loss.random = 2;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.impair.loss.random = 0;
	relay.way.rate_bps = 1;
	EXPECT_EQ(-EINVAL, fg_relay_create(&relay.config, &none, &err));
	relay.way.rate_bps = 0;
	relay.config.lcore[0] = 77;
	EXPECT_EQ(-EBUSY, fg_relay_create(&relay.config, &none, &err));
	EXPECT_EQ(nullptr, none);
}

TEST(Reflector, SendsTestFramesBackAndNothingElse)
{
	for (double delay : {0.0, 1e3}) {
		Relay reflector(true);
		Bytes other = test_frame(9), to_all = test_frame(9);
		std::vector<Bytes> list;

		other[50] ^= 1; /* no signature any more */
		to_all[0] = 0xff;
		for (uint64_t i = 0; i < 100; i++) {
			list.push_back(test_frame(i));
			list.push_back(i % 2 == 0 ? other : to_all);
		}
		reflector.way.delay_ns = delay;
		std::vector<Gone> gone = reflector.Run(list);
		ASSERT_EQ(100u, gone.size());
		for (uint64_t i = 0; i < 100; i++) {
			Bytes expected = test_frame(i);

			ASSERT_TRUE(fg_net_reflect(expected.data(), expected.size()));
			ASSERT_EQ(expected, gone[i].bytes);
			ASSERT_EQ(0, memcmp(&gone[i].bytes[0], frames::peer_mac.data(), 6));
		}
		EXPECT_EQ(100u, reflector.Counters().not_reflected);
	}
}

TEST(Reflector, SendsBackWhatItsFilterSays)
{
	Relay reflector(true);
	Bytes other = test_frame(1);

	other[37] = 3;  /* another UDP port */
	other[59] ^= 1; /* and no signature */
	reflector.way.filter = "udp dst port 3";
	std::vector<Gone> gone = reflector.Run({test_frame(1), other});
	ASSERT_EQ(1u, gone.size());
	ASSERT_TRUE(fg_net_reflect(other.data(), other.size()));
	EXPECT_EQ(other, gone[0].bytes);
	EXPECT_EQ(1u, reflector.Counters().not_reflected);
	EXPECT_EQ(-EINVAL, fg_filter_check("udp port or", "", nullptr));
	EXPECT_EQ(0, fg_filter_check("udp port 7 or vlan 3", "", nullptr));
}

TEST(Reflector, StampsAnewIfSo)
{
	Relay reflector(true);
	fg_signature s;

	reflector.way.restamp = true;
	std::vector<Gone> gone = reflector.Run({test_frame(5)});
	ASSERT_EQ(1u, gone.size());
	ASSERT_TRUE(fg_signature_read(gone[0].bytes.data() + 60, 60, &s));
	EXPECT_EQ(7u, s.stream);
	EXPECT_EQ(5u, s.sequence);
	/* in the machine's time, at the begin of the round in which it came, which is less than a minute
	 * ago */
	fg_tsc now;
	fg_tsc_measure(&now);
	EXPECT_LE(fg_signature_elapsed(now.clock_ns, s.time_ns), 60000000000);
	EXPECT_GE(fg_signature_elapsed(now.clock_ns, s.time_ns), 0);
}

TEST(Reflector, AnswersForItself)
{
	Relay reflector(true);
	const Bytes question = frames::arp(1, frames::peer_mac, frames::peer_ipv4, {}, frames::host_ipv4);
	std::vector<Gone> gone = reflector.Run({question});

	ASSERT_EQ(1u, gone.size());
	EXPECT_EQ(2, gone[0].bytes[21]) << "an ARP reply";
	EXPECT_EQ(0, memcmp(&gone[0].bytes[22], frames::host_mac.data(), 6));
	EXPECT_EQ(1u, reflector.Counters().answered);
}
