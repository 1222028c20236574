/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IEEE 1588 stamps, by two cards that are played: each has a clock with an origin and a pace of its own, and
 * stamps the moments at which frames leave and arrive as a real one would. What lies between them is known.
 */
#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <thread>

#include <rte_mbuf.h>

#include <gtest/gtest.h>

#include "fg_port.h"
#include "fg_port_clock.h"
#include "fg_probe.h"
#include "net_frames.h"

namespace
{

const uint64_t path_ns = 25000;
const uint64_t interval_ns = 1000000;

uint64_t
machine_ns()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

struct Card : fg_port {
	Card(uint64_t origin_ns, double pace_ppm)
	    : fg_port{}, origin(origin_ns), pace(pace_ppm), born(machine_ns())
	{
		static const fg_port_ops nothing = {
			[](fg_port *, fg_port_counters *out) { *out = {}; },
			[](fg_port *) { return true; },
			[](fg_port *) {},
		};
		static const fg_port_timesync stamps = {
			[](fg_port *port) { return of(port)->on = true, 0; },
			[](fg_port *port) { return of(port)->on = false, 0; },
			[](fg_port *port, uint64_t *ns) { return *ns = of(port)->At(machine_ns()), 0; },
			[](fg_port *port, uint64_t *ns) {
				Card *c = of(port);

				*ns = c->departure;
				c->departure = 0;
				return *ns == 0 ? -EINVAL : 0;
			},
			[](fg_port *port, uint16_t index, uint64_t *ns) {
				return *ns = of(port)->arrivals[index], 0;
			},
		};
		tx = [](fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t) {
			return of(port)->Send(frames, n);
		};
		rx = [](fg_port *port, rte_mbuf **frames, uint16_t, uint64_t) {
			return of(port)->Receive(frames);
		};
		ops = &nothing;
		timesync = &stamps;
		caps.numa_node = -1;
	}
	static Card *
	of(fg_port *port)
	{
		return static_cast<Card *>(port);
	}

	uint64_t
	At(uint64_t machine) const
	{
		return origin + uint64_t(llround(double(int64_t(machine - born)) * (1 + pace * 1e-6)));
	}
	uint16_t
	Send(rte_mbuf **frames, uint16_t n)
	{
		for (unsigned i = 0; i < n; i++) {
			uint64_t now = machine_ns();

			if ((frames[i]->ol_flags & RTE_MBUF_F_TX_IEEE1588_TMST) != 0 && on &&
			    ++asked % 4 != 0)
				departure = At(now); /* of every fourth it takes none */
			if (++sent % 5 == 0)
				rte_pktmbuf_free(frames[i]); /* lost on the way */
			else
				far->Arrive(frames[i], now + path_ns);
		}
		return n;
	}
	void
	Arrive(rte_mbuf *m, uint64_t machine)
	{
		m->ol_flags = on ? RTE_MBUF_F_RX_IEEE1588_TMST : 0;
		m->timesync = uint16_t(arrivals.size());
		arrivals.push_back(At(machine));
		waiting.push_back(m);
	}
	uint16_t
	Receive(rte_mbuf **frames)
	{
		if (waiting.empty())
			return 0;
		frames[0] = waiting.front();
		waiting.pop_front();
		return 1;
	}

	Card *far = nullptr;
	uint64_t origin;
	double pace;
	uint64_t born;
	bool on = false;
	uint64_t departure = 0;
	unsigned asked = 0, sent = 0;
	std::vector<uint64_t> arrivals;
	std::deque<rte_mbuf *> waiting;
};

struct Cards {
	Cards()
	{
		east.far = &west;
		west.far = &east;
	}
	fg_probe_config
	Config()
	{
		fg_probe_config c = {};

		c.from = &east;
		c.to = &west;
		memcpy(c.src, frames::host_mac.data(), 6);
		memcpy(c.dst, frames::peer_mac.data(), 6);
		c.hz = 1000000000;
		c.interval_ns = interval_ns;
		c.most = 100;
		return c;
	}

	Card east{1000000000000, 40}, west{77, -120};
};

/* What an lcore does, in a time of its own: no message is late, however busy the machine is. */
void
run(fg_probe *probe, Cards &cards, unsigned messages)
{
	fg_task *task = fg_probe_task(probe);
	fg_sink *sink = fg_probe_sink(probe);
	rte_mbuf *m;

	for (uint64_t now = 1; now <= uint64_t(messages) * interval_ns; now += interval_ns / 4) {
		task->poll(task, now);
		while (cards.west.rx(&cards.west, &m, 1, now) == 1)
			EXPECT_TRUE(sink->take(sink, m, now));
	}
}

} // namespace

TEST(PortClock, IsTurnedIntoTheMachinesTime)
{
	Card card(5000000000, 100);
	fg_port_clock_look first, last;

	ASSERT_EQ(0, fg_port_clock_read(&card, &first));
	std::this_thread::sleep_for(std::chrono::milliseconds(50));
	ASSERT_EQ(0, fg_port_clock_read(&card, &last));
	for (double part : {-0.5, 0.0, 0.5, 1.0, 1.5}) {
		uint64_t machine = first.machine_ns +
				   uint64_t(int64_t(part * double(last.machine_ns - first.machine_ns)));
		double error = 2.0 * double(std::max(first.error_ns, last.error_ns)) + 2;

		EXPECT_NEAR(
			double(int64_t(machine - fg_port_clock_machine_ns(&first, &last, card.At(machine)))),
			0, error)
			<< "at " << part;
	}
}

TEST(Probe, MeasuresByTheStampsOfTheCards)
{
	Cards cards;
	fg_probe_config config = cards.Config();
	fg_probe *probe;
	fg_probe_result r;
	fg_error err = {};

	ASSERT_EQ(0, fg_probe_create(&config, &probe, &err)) << err.message;
	EXPECT_TRUE(cards.east.on && cards.west.on);
	run(probe, cards, 100);
	ASSERT_EQ(0, fg_probe_read(probe, &r, &err));

	EXPECT_EQ(100u, r.sent);
	EXPECT_EQ(25u, r.unstamped);
	EXPECT_EQ(60u, r.count) << "every fifth is lost";
	EXPECT_GT(r.error_bound_ns, 0u);
	EXPECT_GE(r.min_ns + int64_t(r.error_bound_ns) + 2, int64_t(path_ns));
	EXPECT_LE(r.max_ns, int64_t(path_ns + r.error_bound_ns) + 2);
	EXPECT_NEAR(double(path_ns), r.mean_ns, double(r.error_bound_ns) + 2);
	EXPECT_FALSE(cards.east.on || cards.west.on);
	fg_probe_free(probe);
}

TEST(Probe, NeedsBothClocks)
{
	Cards cards;
	fg_probe_config config = cards.Config();
	fg_probe *probe;
	fg_error err = {};

	cards.west.timesync = nullptr;
	snprintf(cards.west.name, sizeof(cards.west.name), "west");
	EXPECT_EQ(-ENOTSUP, fg_probe_create(&config, &probe, &err));
	EXPECT_STREQ("west", err.where);
	cards.west.timesync = cards.east.timesync;
	config.most = 65537;
	EXPECT_EQ(-EINVAL, fg_probe_create(&config, &probe, &err));
	EXPECT_FALSE(cards.east.on);
}
