/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Senders and receivers with buffers and a port made by hand: what DPDK's EAL would give them is not needed.
 */
#ifndef DATA_PLANE_H
#define DATA_PLANE_H

#include <cstring>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "fg_clock.h"
#include "fg_frame.h"
#include "fg_port.h"
#include "fg_signature.h"
#include "frame_template.h"

extern "C" {
#include "tx.h"
#include "tx_round_robin.h"
#include "tx_schedule.h"
}

namespace
{

const double HZ = 1e12; /* ticks are picoseconds, as on the wire */
const uint64_t US = 1000000;
const uint64_t ms = 1000000; /* ns */

/** A pool of frame buffers that any thread may use. */
class Pool
{
      public:
	explicit Pool(unsigned n = 256) : memory(n * EACH)
	{
		static const int ops = Register();

		pool = rte_mempool{};
		pool.ops_index = ops;
		pool.pool_data = &free;
		for (unsigned i = 0; i < n; i++) {
			auto *m = reinterpret_cast<rte_mbuf *>(&memory[i * EACH]);

			m->pool = &pool;
			m->buf_addr = m + 1;
			m->buf_len = EACH - sizeof(*m);
			m->nb_segs = 1;
			rte_mbuf_refcnt_set(m, 1);
			free.push_back(m);
		}
	}
	rte_mempool pool;
	std::vector<void *> free;

      private:
	static constexpr size_t EACH = sizeof(rte_mbuf) + RTE_PKTMBUF_HEADROOM + 256;
	struct alignas(64) Line {
		uint8_t octets[64];
	};
	struct Memory {
		explicit Memory(size_t size) : lines((size + 63) / 64)
		{
		}
		uint8_t &
		operator[](size_t i)
		{
			return lines[i / 64].octets[i % 64];
		}
		std::vector<Line> lines;
	} memory;

	static int
	Put(rte_mempool *mp, void *const *objects, unsigned n)
	{
		auto *list = static_cast<std::vector<void *> *>(mp->pool_data);

		list->insert(list->end(), objects, objects + n);
		return 0;
	}
	static int
	Get(rte_mempool *mp, void **objects, unsigned n)
	{
		auto *list = static_cast<std::vector<void *> *>(mp->pool_data);

		if (list->size() < n)
			return -ENOBUFS;
		std::copy(list->end() - n, list->end(), objects);
		list->resize(list->size() - n);
		return 0;
	}
	static int
	Register()
	{
		rte_mempool_ops ops = {};

		strcpy(ops.name, "by_hand");
		ops.alloc = [](rte_mempool *) { return 0; };
		ops.enqueue = Put;
		ops.dequeue = Get;
		ops.get_count = [](const rte_mempool *) { return 0u; };
		return rte_mempool_register_ops(&ops);
	}
};

/** A port that takes all frames, and looks at their signatures. */
struct Port : fg_port {
	Port() : fg_port{}
	{
		tx = [](fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t) -> uint16_t {
			auto *p = static_cast<Port *>(port);

			n = std::min(n, p->takes);
			for (unsigned i = 0; i < n; i++) {
				fg_signature s;

				EXPECT_TRUE(fg_signature_read(rte_pktmbuf_mtod(frames[i], uint8_t *) +
								      frames[i]->data_len,
							      frames[i]->data_len, &s));
				EXPECT_EQ(p->sent[s.stream]++, s.sequence) << "stream " << s.stream;
			}
			if (n > 0)
				fg_burst_free(frames, n);
			return n;
		};
	}
	uint16_t takes = UINT16_MAX;
	std::map<unsigned, uint64_t> sent; /* by stream */
};

inline fg_load
constant(double fps, uint64_t ns)
{
	fg_load l = {};

	l.fps = fps;
	l.ns = ns;
	return l;
}

/** Streams of one queue, each with a constant load. */
struct Senders {
	/** The streams are dealt to some queues, of a port with a line where @p line_bps is not 0. */
	explicit Senders(const std::vector<double> &rates, bool spread = false, unsigned queues = 1,
			 uint64_t line_bps = 0)
	{
		fg_error err = {};
		unsigned n = unsigned(rates.size());

		frame.push("ethernet").push("ipv4").push("udp").finish(64);
		fg_clock_init(&clock, HZ);
		one.pool = &pool.pool;
		pools.pool = &one;
		pools.n = 1;
		EXPECT_EQ(0, tx_alloc(&all, n, 0, queues));
		all.env.clock = &clock;
		all.env.start = START;
		all.env.nap = UINT64_MAX;
		all.env.max_lag = UINT64_MAX;
		all.env.pools = &pools;
		for (unsigned i = 0; i < n; i++) {
			fg_load load = {};
			fg_stream_config c = {};
			tx_place place = {&port, 0, 0, 1};

			load.fps = rates[i];
			load.frames = FG_ENDLESS;
			c.loads = 1;
			c.load = &load;
			c.frame = frame.t;
			c.phase = spread ? double(i) / n : 0;
			EXPECT_EQ(0, tx_stream_init(&all, i, &c, &place, nullptr, &err)) << err.message;
			all.stream[i].queue = i % queues;
		}
		port.caps.line_rate_bps = line_bps;
		for (unsigned k = 0; k < queues; k++)
			EXPECT_EQ(0, tx_task_init(&all, k, &port, &err)) << err.message;
	}
	~Senders()
	{
		tx_free(&all);
		free(one.content);
	}
	tx_task &
	Task()
	{
		return all.task[0];
	}
	/** A stream is to follow other loads; before tx_share_line(). */
	void
	Plan(unsigned stream, fg_load *load, unsigned loads, uint64_t limit = 0, fg_turn turn = {})
	{
		const unsigned queue = all.stream[stream].queue;
		fg_stream_config c = {};
		tx_place place = {&port, 0, 0, 1};
		fg_error err = {};

		c.loads = loads;
		c.load = load;
		c.frame = frame.t;
		c.limit = limit;
		c.turn = turn;
		tx_stream_clear(&all, stream);
		EXPECT_EQ(0, tx_stream_init(&all, stream, &c, &place, nullptr, &err)) << err.message;
		all.stream[stream].queue = queue;
		tx_schedule_free(&all.task[queue].schedule);
		tx_round_robin_free(all.task[queue].round_robin);
		all.task[queue] = {};
		EXPECT_EQ(0, tx_task_init(&all, queue, &port, &err)) << err.message;
	}
	void
	Poll(uint64_t now, unsigned queue = 0)
	{
		all.task[queue].task.poll(&all.task[queue].task, now);
	}
	/** Follow another rate from now on. */
	void
	Load(unsigned stream, double fps)
	{
		auto *order = static_cast<tx_order *>(calloc(1, sizeof(tx_order)));
		fg_load load = {};

		load.fps = fps;
		load.frames = FG_ENDLESS;
		order->stream = &all.stream[stream];
		order->command = TX_LOAD;
		EXPECT_EQ(0, tx_pace(&all.env, &port, &load, nullptr, 0, &order->pace, nullptr));
		tx_give(&all, order);
	}
	static constexpr uint64_t START = 1000 * 1000 * 1000;
	Template frame;
	fg_clock clock;
	Pool pool;
	Port port;
	tx_pool one = {};
	tx_pools pools = {};
	struct tx all;
};

} // namespace

#endif
