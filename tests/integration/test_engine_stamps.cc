/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far the stamps of the tester are off, in the processor's time: a frame is stamped before its port has
 * it, and again when its receiver looks. Both are slow here; what the port's result says of them is never
 * less than what they did to the delays.
 */
#include <rte_cycles.h>

#include "engine_on_rings.h"

namespace
{

const unsigned handed_over_ms = 2, looked_away_ms = 3;

uint16_t (*quickly)(fg_port *, rte_mbuf **, uint16_t, uint64_t);

void
spin(unsigned ms)
{
	uint64_t until = rte_rdtsc() + rte_get_tsc_hz() * ms / 1000;

	while (rte_rdtsc() < until)
		;
}

uint16_t
slowly(fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t now)
{
	spin(handed_over_ms);
	return quickly(port, frames, n, now);
}

/* keeps the receiver's lcore, again and again */
uint64_t
look_away(fg_task *, uint64_t)
{
	spin(looked_away_ms);
	return UINT64_MAX;
}

} // namespace

TEST(EngineStamps, AreNoFurtherOffThanTold)
{
	for (unsigned lcores : {1, 2}) {
		Rings b(lcores);
		Template frame = TestFrame(64);
		fg_task away = {look_away, nullptr, 0, 0, 0};
		fg_trial_task task = {&away, 0, true};
		uint64_t start_ns = 0;

		quickly = b.east.port->tx;
		b.east.port->tx = slowly;
		ASSERT_EQ(0, b.engine.Prepare({{0, 0, frame, {{100, 30}}}}, moment, any_lag, &start_ns,
					      [&](fg_trial_config &c) {
						      c.tasks = 1;
						      c.task = &task;
					      }));
		fg_engine_start(b.engine.Get());
		b.engine.Await();

		fg_stream_result r = b.engine.Result(0);
		fg_port_result p = b.engine.PortResult(0);

		ASSERT_GT(r.rx, 0u);
		EXPECT_GE(p.tx_held_ns, handed_over_ms * 1000000u);
		EXPECT_GE(p.rx_wait_ns, looked_away_ms * 1000000u);
		EXPECT_GE(r.latency.min_ns, handed_over_ms * 1000000u);
		EXPECT_LE(r.latency.max_ns, p.tx_held_ns + p.rx_wait_ns);
	}
}
