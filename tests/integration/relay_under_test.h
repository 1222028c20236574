/* SPDX-License-Identifier: BSD-3-Clause */
/* A relay or a reflector between ports that the test itself plays, and frames that can be told apart. */
#ifndef RELAY_UNDER_TEST_H
#define RELAY_UNDER_TEST_H

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

		std::this_thread::sleep_for(std::chrono::milliseconds(self->stall_ms));
		self->stall_ms = 0;
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
	unsigned stall_ms = 0;       /* that the next reception takes */
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
	uint64_t
	LateNs() const
	{
		return fg_relay_late_ns(relay, 0);
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

#endif
