/* SPDX-License-Identifier: BSD-3-Clause */
/* What trials on the virtual wire share: a wire with an engine on it, and what to expect of a clean trial. */
#ifndef ENGINE_ON_WIRE_H
#define ENGINE_ON_WIRE_H

#include "engine_under_test.h"
#include "device_under_test.h"

const Times second = {10, 1000, 100, 0};

inline fg_engine_config
free_time()
{
	fg_engine_config c = {};

	c.time = FG_TIME_WIRE_FREE;
	c.buffers = 8191;
	return c;
}

inline fg_engine_config
real_time()
{
	fg_engine_config c = free_time();

	c.time = FG_TIME_WIRE_REAL;
	return c;
}

/* a wire and the engine on it, in the order in which they must go */
struct Bench {
	explicit Bench(const fg_device_config &device, const fg_engine_config &config = free_time())
	    : wire(device), engine(config, wire.Port(0), wire.Port(1))
	{
	}

	Wire wire;
	Engine engine;
};

inline fg_device_config
limited(double capacity_fps, uint64_t buffer)
{
	fg_device_config config = Device(1e9, buffer);

	for (fg_device_direction &d : config.direction) {
		d.capacity_fps = capacity_fps;
		d.latency_ns = 20000;
	}
	return config;
}

inline void
expect_clean(const Bench &b)
{
	for (unsigned i : {0, 1}) {
		fg_port_result p = b.engine.PortResult(i);

		EXPECT_EQ(0u, p.rx_missed + p.rx_no_mbuf + p.rx_errors + p.tx_errors + p.link_changes);
		EXPECT_EQ(0u, p.misdirected);
	}
}

/* all of it left on time and arrived, in order */
inline void
expect_lossless(const fg_stream_result &r, uint64_t frames)
{
	ExpectConsistent(r);
	EXPECT_EQ(frames, r.intended);
	EXPECT_EQ(frames, r.tx);
	EXPECT_EQ(frames, r.rx);
	EXPECT_EQ(frames, r.latency.count);
	EXPECT_EQ(0u, r.late + r.refused + r.no_mbuf + r.duplicates + r.stale + r.reordered);
}

#endif
