/* SPDX-License-Identifier: BSD-3-Clause */
/* A virtual wire that frees itself and misses no buffer at the end, with frames that can be told apart. */
#ifndef WIRE_UNDER_TEST_H
#define WIRE_UNDER_TEST_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "fg_port.h"
#include "fg_device.h"
#include "net_frames.h"

/* ps */
const uint64_t ns = 1000, us = 1000 * ns;

/* first bit in to first bit of the next frame, and to the last of the frame itself, ps */
inline double
line_time(double rate, unsigned size)
{
	return 8e12 / rate * (size + 20);
}

inline double
store_time(double rate, unsigned size)
{
	return 8e12 / rate * size;
}

/* A frame that came out of the wire */
struct Arrival {
	uint32_t number;
	uint64_t time; /* ps */
	frames::Bytes bytes;
};

inline fg_device_config
Device(double rate_bps, uint64_t buffer = 512)
{
	fg_device_config config = {};

	config.rate_bps = rate_bps;
	config.seed = 1;
	for (fg_device_direction &d : config.direction)
		d.buffer = buffer;
	return config;
}

/* The ports of a device on the wire: frames in and out of it */
class Ports
{
      public:
	Ports() = default;
	virtual ~Ports() = default;
	Ports(const Ports &) = delete;
	Ports &operator=(const Ports &) = delete;

	virtual fg_port *Port(unsigned side) const = 0;

	/* A frame with a launch time; its last four bytes are its number */
	void
	Launch(unsigned side, uint32_t number, unsigned frame_size, uint64_t launch, uint64_t now = 0)
	{
		Launch(side, number, frames::Bytes(frame_size - 4, 0x5a), launch, now);
	}

	/* The same with bytes of our own before the number; without FCS */
	void
	Launch(unsigned side, uint32_t number, const frames::Bytes &bytes, uint64_t launch, uint64_t now = 0,
	       uint64_t flags = 0)
	{
		rte_mbuf *m = Buffer(bytes);

		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, bytes.size() - 4), &number, 4);
		*RTE_MBUF_DYNFIELD(m, time_offset, uint64_t *) = launch;
		m->ol_flags |= tx_flag | flags;
		Hand(side, m, now);
	}

	/* A frame of our own, as soon as the line is free */
	void
	Send(unsigned side, const frames::Bytes &bytes, uint64_t now = 0)
	{
		Hand(side, Buffer(bytes), now);
	}

	/* What has arrived by then */
	std::vector<Arrival>
	Receive(unsigned side, uint64_t now = UINT64_MAX)
	{
		std::vector<Arrival> all;
		rte_mbuf *burst[7];
		uint16_t n;

		while ((n = Port(side)->rx(Port(side), burst, 7, now)) > 0)
			for (uint16_t i = 0; i < n; i++)
				all.push_back(Take(burst[i]));
		return all;
	}

	fg_port_counters
	PortCounters(unsigned side) const
	{
		fg_port_counters out;

		Port(side)->ops->counters(Port(side), &out);
		return out;
	}
	static unsigned
	InUse()
	{
		return rte_mempool_in_use_count(Buffers().small) + rte_mempool_in_use_count(Buffers().large);
	}

      protected:
	/* once there is a device, which has asked for them */
	void
	FindMarks()
	{
		time_offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, nullptr);
		tx_flag = 1ull << rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_TX_TIMESTAMP_NAME, nullptr);
		rx_flag = 1ull << rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, nullptr);
	}

      private:
	struct Pools {
		rte_mempool *small = rte_pktmbuf_pool_create("small", 32767, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
							     SOCKET_ID_ANY);
		rte_mempool *large = rte_pktmbuf_pool_create("large", 255, 0, 0, 16384 + RTE_PKTMBUF_HEADROOM,
							     SOCKET_ID_ANY);
	};

	static const Pools &
	Buffers()
	{
		static const Pools pools;

		return pools;
	}
	static rte_mbuf *
	Buffer(const frames::Bytes &bytes)
	{
		rte_mbuf *m = rte_pktmbuf_alloc(bytes.size() > 2000 ? Buffers().large : Buffers().small);

		if (m == nullptr) {
			ADD_FAILURE() << "no buffer is left";
			abort();
		}
		memcpy(rte_pktmbuf_append(m, uint16_t(bytes.size())), bytes.data(), bytes.size());
		return m;
	}
	void
	Hand(unsigned side, rte_mbuf *m, uint64_t now)
	{
		ASSERT_EQ(1, Port(side)->tx(Port(side), &m, 1, now)) << "the wire never refuses";
	}
	Arrival
	Take(rte_mbuf *m) const
	{
		const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
		Arrival a = {0, *RTE_MBUF_DYNFIELD(m, time_offset, uint64_t *), {data, data + m->data_len}};

		EXPECT_TRUE(m->ol_flags & rx_flag);
		EXPECT_EQ(m->pkt_len, m->data_len);
		memcpy(&a.number, data + m->data_len - 4, 4);
		rte_pktmbuf_free(m);
		return a;
	}

	int time_offset = -1;
	uint64_t tx_flag = 0, rx_flag = 0;
};

class Wire : public Ports
{
      public:
	explicit Wire(const fg_device_config &config, uint32_t in_flight = 65536)
	{
		fg_error err = {};

		EXPECT_EQ(0, fg_device_create(&config, in_flight, &wire, &err)) << err.where << err.message;
		FindMarks();
	}
	~Wire() override
	{
		fg_device_free(wire);
		EXPECT_EQ(0u, InUse()) << "buffers have leaked";
	}

	fg_device *
	Get() const
	{
		return wire;
	}
	fg_port *
	Port(unsigned side) const override
	{
		return fg_device_port(wire, side);
	}
	fg_device_counters
	Counters(unsigned side) const
	{
		fg_device_counters out;

		fg_device_read_counters(wire, side, &out);
		return out;
	}

      private:
	fg_device *wire = nullptr;
};

#endif
