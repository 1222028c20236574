// SPDX-License-Identifier: BSD-3-Clause
#include "data_plane.h"

extern "C" {
#include "rx.h"
}

namespace
{

const unsigned ROOM = 64; /* frames on the way from a queue */

struct Tap : fg_tap {
	Tap() : fg_tap{}
	{
		see = [](fg_tap *tap, rte_mbuf *const *frames, const uint64_t *arrivals, unsigned n) {
			auto *t = static_cast<Tap *>(tap);

			t->frames.insert(t->frames.end(), frames, frames + n);
			t->arrivals.insert(t->arrivals.end(), arrivals, arrivals + n);
		};
	}
	std::vector<rte_mbuf *> frames;
	std::vector<uint64_t> arrivals;
};

/** A port with two queues, and what its receivers have of them. */
struct TwoQueues {
	TwoQueues() : memory(rte_ring_get_memsize(2 * ROOM)) /* a frame and its arrival */
	{
		rte_ring *ring;

		memory.resize(memory.size() + 64);
		ring = reinterpret_cast<rte_ring *>((uintptr_t(memory.data()) + 63) & ~uintptr_t(63));
		EXPECT_EQ(0, rte_ring_init(ring, "passed", ROOM, RING_F_SP_ENQ | RING_F_SC_DEQ));
		standing.passed[1] = ring;
		for (unsigned k = 0; k < 2; k++) {
			queue[k].port = &port;
			queue[k].standing = &standing;
			EXPECT_EQ(0, rx_idle_init(&queue[k], k, 2));
		}
	}
	~TwoQueues()
	{
		for (rx_task &q : queue)
			free(q.queues);
	}
	/** Frames arrive at queue @p k. */
	void
	Receive(unsigned k, unsigned n, uint64_t arrival)
	{
		std::vector<rte_mbuf *> frames;

		for (unsigned i = 0; i < n; i++) {
			auto *m = static_cast<rte_mbuf *>(pool.free.back());

			pool.free.pop_back();
			m->next = nullptr;
			frames.push_back(m);
		}
		if (rx_is_tapped(&queue[k]))
			rx_show(&queue[k], frames.data(), n, arrival, false);
		rte_pktmbuf_free_bulk(frames.data(), n);
	}
	std::vector<uint8_t> memory;
	Pool pool;
	fg_port port = {};
	rx_tap standing = {};
	rx_task queue[2] = {};
};

TEST(RxTap, OneLcoreShowsTheFramesOfAllQueues)
{
	TwoQueues t;
	Tap tap;

	t.standing.tap = &tap;
	t.Receive(1, 3, 1000);
	EXPECT_EQ(0u, tap.frames.size()) << "they are only on the way";
	EXPECT_EQ(253u, t.pool.free.size()) << "and are kept until they have been seen";
	t.Receive(0, 2, 2000);
	EXPECT_EQ(2u, tap.frames.size());
	rx_show_passed(&t.queue[0]);
	EXPECT_EQ((std::vector<uint64_t>{2000, 2000, 1000, 1000, 1000}), tap.arrivals);
	EXPECT_EQ(256u, t.pool.free.size());
}

TEST(RxTap, WhatFindsNoRoomIsCounted)
{
	TwoQueues t;
	Tap tap;

	t.standing.tap = &tap;
	for (unsigned i = 0; i < 5; i++)
		t.Receive(1, 20, i);
	EXPECT_EQ(100 - (ROOM - 1), tap.missed);
	for (unsigned i = 0; i < 5; i++)
		rx_show_passed(&t.queue[0]);
	EXPECT_EQ(ROOM - 1, tap.frames.size());
	EXPECT_EQ(256u, t.pool.free.size());
}

TEST(RxTap, NothingIsLeftOnTheWayWhenItIsTakenAway)
{
	TwoQueues t;
	Tap tap;

	t.standing.tap = &tap;
	t.Receive(1, 10, 1);
	rx_tap_remove(&t.standing);
	EXPECT_EQ(256u, t.pool.free.size());
	EXPECT_EQ(0u, tap.frames.size());
	t.Receive(0, 1, 2);
	EXPECT_EQ(0u, tap.frames.size());
}

} // namespace
