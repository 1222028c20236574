/* SPDX-License-Identifier: BSD-3-Clause */
/* Work of another library in a trial: it sends, takes what arrives, and looks at what arrives. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <rte_mbuf.h>

#include "engine_on_wire.h"

namespace
{

const uint64_t every_ps = 1000000000, sendings = 900; /* one a millisecond */

/* sends a frame that is no test frame, at its times */
struct Sender : fg_task {
	explicit Sender(fg_port *out)
	    : fg_task{poll_it, publish_it}, port(out),
	      pool(rte_pktmbuf_pool_create("guest", 1023, 0, 0, 2048, -1))
	{
	}
	~Sender()
	{
		rte_mempool_free(pool);
	}

	static uint64_t
	poll_it(fg_task *task, uint64_t now)
	{
		auto *s = static_cast<Sender *>(task);

		if (s->sent == sendings)
			return UINT64_MAX;
		if (now < s->next)
			return s->next;
		rte_mbuf *m = rte_pktmbuf_alloc(s->pool);
		memset(rte_pktmbuf_append(m, 60), 0x5a, 60);
		s->sent += s->port->tx(s->port, &m, 1, now);
		s->next += every_ps;
		return now;
	}
	static void
	publish_it(fg_task *task, uint64_t)
	{
		static_cast<Sender *>(task)->published = static_cast<Sender *>(task)->sent;
	}

	fg_port *port;
	rte_mempool *pool;
	uint64_t sent = 0, next = 0, published = 0;
};

/* compares the times of publications with the times of polls */
struct Watch : fg_task {
	Watch() : fg_task{poll_it, publish_it}
	{
	}
	static uint64_t
	poll_it(fg_task *task, uint64_t now)
	{
		static_cast<Watch *>(task)->last = now;
		return UINT64_MAX;
	}
	static void
	publish_it(fg_task *task, uint64_t now)
	{
		auto *w = static_cast<Watch *>(task);

		w->publications++;
		w->later += now > w->last;
	}
	uint64_t last = 0, publications = 0, later = 0;
};

struct Sink : fg_sink {
	Sink() : fg_sink{take_it}
	{
	}
	static bool
	take_it(fg_sink *sink, rte_mbuf *frame, uint64_t arrival_ns)
	{
		auto *s = static_cast<Sink *>(sink);

		if (*rte_pktmbuf_mtod(frame, uint8_t *) != 0x5a)
			return false;
		s->arrivals.push_back(arrival_ns);
		rte_pktmbuf_free(frame);
		return true;
	}
	std::vector<uint64_t> arrivals;
};

struct Tap : fg_tap {
	Tap() : fg_tap{see_it}
	{
	}
	static void
	see_it(fg_tap *tap, rte_mbuf *const *, const uint64_t *arrival_ns, unsigned n)
	{
		auto *t = static_cast<Tap *>(tap);

		t->arrivals.insert(t->arrivals.end(), arrival_ns, arrival_ns + n);
	}
	std::vector<uint64_t> arrivals;
};

} // namespace

TEST(EngineGuests, SendAndReceiveBesideTheStreams)
{
	Bench b(limited(0, 512));
	Template frame = TestFrame(64);
	Sender sender(b.wire.Port(0));
	Sink sink;
	Tap tap;
	std::vector<Stream> streams = {{0, 1, frame, {{10000, 10000}}}};
	fg_trial_task task = {&sender, 0, false};

	b.engine.Prepare(streams, second, 1000000, &sender.next, [&](fg_trial_config &c) {
		c.step_ns = 1;
		c.tasks = 1;
		c.task = &task;
		c.sink[1] = &sink;
		c.tap[1] = &tap;
	});
	sender.next = sender.next * ns + 50 * us; /* between two frames of the stream */
	uint64_t first = sender.next / ns;
	fg_engine_start(b.engine.Get());
	b.engine.Await();

	expect_lossless(b.engine.Result(0), 10000);
	EXPECT_EQ(sendings, sender.published);
	ASSERT_EQ(sendings, sink.arrivals.size());
	for (size_t i = 0; i < sendings; i++) /* 512 ns to store it, 20 us in the device */
		EXPECT_NEAR(double(first + i * 1000000 + 20512), double(sink.arrivals[i]), 1.0);
	/* besides what both sides said of themselves at the beginning */
	EXPECT_EQ(10000 + b.engine.PortResult(1).unsolicited, tap.arrivals.size());
	EXPECT_GE(b.engine.PortResult(1).unsolicited, sendings);
	EXPECT_TRUE(std::is_sorted(tap.arrivals.begin(), tap.arrivals.end()));
}

TEST(EngineGuests, ThePortMustBeThere)
{
	Bench b(limited(0, 512));
	fg_task work = {[](fg_task *, uint64_t) { return UINT64_MAX; }, nullptr};
	fg_trial_task task = {&work, 2, false};

	EXPECT_EQ(-EINVAL, b.engine.Prepare({}, second, 0, nullptr, [&](fg_trial_config &c) {
		c.tasks = 1;
		c.task = &task;
	}));
	EXPECT_STREQ("tasks", b.engine.err.where);
}

/* on a wire that keeps step with the clock, too: what arrives later is in no copy */
TEST(EngineGuests, PublishCountsOfTheirLastPoll)
{
	Bench b(limited(0, 512), real_time());
	Template frame = TestFrame(64);
	Watch watch;
	fg_trial_task task = {&watch, 0, false};

	b.engine.Prepare({{0, 1, frame, {{10000, 1000}}}}, {10, 100, 10, 0}, 1000000, nullptr,
			 [&](fg_trial_config &c) {
				 c.tasks = 1;
				 c.task = &task;
			 });
	fg_engine_start(b.engine.Get());
	b.engine.Await();
	EXPECT_LT(50u, watch.publications);
	EXPECT_GE(1u, watch.later) << "the last one, at the end of the trial";
}
