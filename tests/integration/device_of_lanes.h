/* SPDX-License-Identifier: BSD-3-Clause */
/* A device of this process's, with several queues on each port: it knows what it lost and duplicated. */
#ifndef DEVICE_OF_LANES_H
#define DEVICE_OF_LANES_H

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "fg_port.h"
#include "fg_signature.h"

/* Gives back what it took, at a queue of its choice. */
class LaneDevice : public fg_port
{
      public:
	enum Spread { SAME, SCATTER, FIRST };

	explicit LaneDevice(unsigned n, Spread how = SAME) : fg_port(), spread(how)
	{
		static unsigned made;
		static const fg_port_ops none = {
			[](fg_port *, fg_port_counters *out) { *out = {}; },
			[](fg_port *) { return true; },
			[](fg_port *) {},
		};
		const std::string id = std::to_string(made++);

		pool = rte_pktmbuf_pool_create(("test_pool" + id).c_str(), 4095, 0, 0, 2048, SOCKET_ID_ANY);
		EXPECT_NE(nullptr, pool);
		for (unsigned k = 0; k < n; k++) {
			std::string name = "test_queue" + id + "_" + std::to_string(k);

			ring.push_back(rte_ring_create(name.c_str(), 32768, SOCKET_ID_ANY, 0));
			EXPECT_NE(nullptr, ring.back());
			queue[k].device = this;
			queue[k].index = k;
			if (k > 0)
				others.push_back(&queue[k]);
		}
		for (Queue &q : queue) {
			q.tx = Send;
			q.rx = Receive;
			q.caps = Caps();
		}
		tx = [](fg_port *p, rte_mbuf **frames, uint16_t count, uint64_t now) {
			return Send(&static_cast<LaneDevice *>(p)->queue[0], frames, count, now);
		};
		rx = [](fg_port *p, rte_mbuf **frames, uint16_t count, uint64_t now) {
			return Receive(&static_cast<LaneDevice *>(p)->queue[0], frames, count, now);
		};
		ops = &none;
		caps = Caps();
		queues = n;
		lanes = others.data();
		strcpy(name, "device");
	}
	~LaneDevice()
	{
		for (rte_ring *r : ring) {
			void *m;

			while (rte_ring_dequeue(r, &m) == 0)
				rte_pktmbuf_free(static_cast<rte_mbuf *>(m));
			rte_ring_free(r);
		}
		rte_mempool_free(pool);
	}
	/* all that came in has been taken out again */
	bool
	Empty() const
	{
		for (rte_ring *r : ring)
			if (!rte_ring_empty(r))
				return false;
		return true;
	}
	LaneDevice(const LaneDevice &) = delete;
	LaneDevice &operator=(const LaneDevice &) = delete;

	Spread spread;
	unsigned lose = 0, duplicate = 0; /* one frame in each such number */
	bool look = false;
	std::function<void(rte_mbuf *, uint64_t)>
		change;     /* what becomes of a frame: of a copy, and its number */
	uint64_t stall = 0; /* the first queue, until this number of frames has come out of the second */
	std::atomic<uint64_t> second{0};
	std::atomic<uint64_t> seen{0}, lost{0}, duplicated{0};
	std::vector<std::pair<uint64_t, uint16_t>>
		ports[FG_MAX_QUEUES]; /* number and UDP source port, by part */

      private:
	struct Queue : fg_port {
		Queue() : fg_port()
		{
		}
		LaneDevice *device = nullptr;
		unsigned index = 0;
	};

	static fg_port_caps
	Caps()
	{
		fg_port_caps c = {};

		c.max_frame = 1518;
		c.numa_node = -1;
		c.rx_ring = c.tx_ring = 1024;
		return c;
	}

	unsigned
	Target(unsigned from, uint64_t n) const
	{
		return spread == SAME    ? from
		       : spread == FIRST ? 0
					 : unsigned((n * 2654435761u >> 16) % ring.size());
	}

	/* a copy arrives over another queue than the frame itself */
	void
	Copy(const rte_mbuf *m, unsigned to)
	{
		rte_mbuf *copy = rte_pktmbuf_copy(m, pool, 0, UINT32_MAX);

		ASSERT_NE(nullptr, copy);
		ASSERT_EQ(0, rte_ring_enqueue(ring[(to + 1) % ring.size()], copy));
		duplicated++;
	}

	rte_mbuf *
	Changed(rte_mbuf *m, uint64_t n)
	{
		rte_mbuf *copy = change ? rte_pktmbuf_copy(m, pool, 0, UINT32_MAX) : m;

		if (change) {
			EXPECT_NE(nullptr, copy);
			rte_pktmbuf_free(m);
			change(copy, n);
		}
		return copy;
	}

	static uint16_t
	Send(fg_port *p, rte_mbuf **frames, uint16_t count, uint64_t)
	{
		Queue *q = static_cast<Queue *>(p);
		LaneDevice *d = q->device;

		for (uint16_t i = 0; i < count; i++) {
			uint64_t n = d->seen++;
			unsigned to = d->Target(q->index, n);

			if (d->look)
				d->Look(q->index, frames[i]);
			if (d->lose > 0 && n % d->lose == d->lose - 1) {
				d->lost++;
				rte_pktmbuf_free(frames[i]);
				continue;
			}
			if (d->duplicate > 0 && n % d->duplicate == 0)
				d->Copy(frames[i], to);
			EXPECT_EQ(0, rte_ring_enqueue(d->ring[to], d->Changed(frames[i], n)));
		}
		return count;
	}

	static uint16_t
	Receive(fg_port *p, rte_mbuf **frames, uint16_t count, uint64_t)
	{
		Queue *q = static_cast<Queue *>(p);

		LaneDevice *d = q->device;
		uint16_t n;

		if (q->index == 0 && d->seen > 1000 && d->stall > 0)
			d->Stall();
		n = uint16_t(rte_ring_dequeue_burst(d->ring[q->index], (void **)frames, count, nullptr));
		if (q->index == 1)
			d->second += n;
		return n;
	}

	void
	Stall()
	{
		for (int ms = 0; ms < 1500 && second < stall; ms++)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		stall = 0;
	}

	void
	Look(unsigned from, const rte_mbuf *m)
	{
		const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
		fg_signature s;

		if (fg_signature_read(data + m->data_len, m->data_len, &s))
			ports[from].push_back({s.sequence, uint16_t(data[34] << 8 | data[35])});
	}

	rte_mempool *pool;
	std::vector<rte_ring *> ring;
	Queue queue[FG_MAX_QUEUES];
	std::vector<fg_port *> others;
};

#endif
