/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine on two ports that frees itself, and trials that are waited for. */
#ifndef ENGINE_UNDER_TEST_H
#define ENGINE_UNDER_TEST_H

#include <chrono>
#include <functional>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fg_engine.h"
#include "fg_frame.h"
#include "fg_host.h"
#include "fg_port.h"
#include "net_frames.h"

struct FreeTemplate {
	void
	operator()(fg_template *t) const
	{
		fg_template_free(t);
	}
};
using Template = std::unique_ptr<fg_template, FreeTemplate>;

/* UDP over IPv4 from one side to the other; @p dst is the next hop's MAC */
inline Template
TestFrame(unsigned size, const frames::Mac &dst = frames::peer_mac)
{
	std::unique_ptr<fg_frame, void (*)(fg_frame *)> f(fg_frame_create(), fg_frame_free);
	const frames::Ipv4 far_ipv4 = {198, 19, 1, 2};
	fg_template *out = nullptr;

	EXPECT_EQ(0, fg_frame_push(f.get(), "ethernet", nullptr));
	EXPECT_EQ(0, fg_frame_set_bytes(f.get(), "destination", dst.data(), 6, nullptr));
	EXPECT_EQ(0, fg_frame_set_bytes(f.get(), "source", frames::host_mac.data(), 6, nullptr));
	EXPECT_EQ(0, fg_frame_push(f.get(), "ipv4", nullptr));
	EXPECT_EQ(0, fg_frame_set_bytes(f.get(), "source", frames::host_ipv4.data(), 4, nullptr));
	EXPECT_EQ(0, fg_frame_set_bytes(f.get(), "destination", far_ipv4.data(), 4, nullptr));
	EXPECT_EQ(0, fg_frame_push(f.get(), "udp", nullptr));
	EXPECT_EQ(0, fg_frame_finish(f.get(), size, &out, nullptr));
	return Template(out);
}

inline fg_load
constant(double fps, uint64_t frames)
{
	fg_load l = {};

	l.fps = fps;
	l.frames = frames;
	return l;
}

/* A stream from one port to the other */
struct Stream {
	unsigned from, to;
	const Template &frame;
	std::vector<fg_load> loads;
	fg_turn turn = {};
	bool unmeasured = false;
	unsigned measure = 0; /* enum fg_measure */
	double phase = 0;
	bool idle = false;
	const fg_sizes *sizes = nullptr;
	const fg_template *const *frames = nullptr;
	const fg_stream_faults *faults = nullptr;
	bool other_clock = false;
	bool elsewhere = false;
	uint64_t limit = 0; /* frames of all loads; 0: none */
	const fg_value_fields *values = nullptr;
};

struct Times {
	uint64_t learn_ms, traffic_ms, drain_ms, settle_ms;
};

class Engine
{
      public:
	Engine(fg_engine_config c, fg_port *east, fg_port *west)
	{
		fg_lcore_info lcore[2];

		EXPECT_GE(fg_host_lcores(lcore, 2), 2u);
		c.ports = 2;
		c.lcores = c.lcores == 0 ? 1 : c.lcores;
		c.lcore[0] = lcore[0].id;
		c.lcore[1] = lcore[1].id;
		c.port[0].port = east;
		c.port[1].port = west;
		memcpy(c.port[0].mac, frames::host_mac.data(), 6);
		memcpy(c.port[1].mac, frames::peer_mac.data(), 6);
		c.max_frame = c.max_frame == 0 ? 1518 : c.max_frame;
		status = fg_engine_create(&c, &engine, &err);
		EXPECT_EQ(0, status) << err.where << ": " << err.message;
	}
	~Engine()
	{
		fg_engine_free(engine);
	}
	Engine(const Engine &) = delete;
	Engine &operator=(const Engine &) = delete;

	fg_engine *
	Get() const
	{
		return engine;
	}

	int
	Prepare(const std::vector<Stream> &streams, const Times &t, uint64_t max_lag_ns = 1000000,
		uint64_t *start_ns = nullptr, const std::function<void(fg_trial_config &)> &change = {})
	{
		std::vector<fg_stream_config> configs;
		fg_trial_config trial = {};

		for (const Stream &s : streams) {
			fg_stream_config c = {};

			c.tx_port = s.from;
			c.rx_port = s.to;
			c.loads = unsigned(s.loads.size());
			c.load = s.loads.data();
			c.frame = s.frame.get();
			c.turn = s.turn;
			c.unmeasured = s.unmeasured;
			c.measure = s.measure;
			c.phase = s.phase;
			c.idle = s.idle;
			c.other_clock = s.other_clock;
			c.elsewhere = s.elsewhere;
			c.limit = s.limit;
			c.values = s.values;
			c.sizes = s.sizes;
			c.frames = s.frames;
			c.faults = s.faults;
			configs.push_back(c);
		}
		trial.streams = unsigned(configs.size());
		trial.stream = configs.data();
		trial.learn_ns = t.learn_ms * 1000000;
		trial.traffic_ns = t.traffic_ms * 1000000;
		trial.drain_ns = t.drain_ms * 1000000;
		trial.settle_ns = t.settle_ms * 1000000;
		trial.max_lag_ns = max_lag_ns;
		trial.series_ns = series_ns;
		if (change)
			change(trial);
		return fg_engine_prepare(engine, &trial, start_ns, &err);
	}
	void
	Start(const std::vector<Stream> &streams, const Times &t, uint64_t max_lag_ns = 1000000)
	{
		ASSERT_EQ(0, Prepare(streams, t, max_lag_ns)) << err.where << ": " << err.message;
		fg_engine_start(engine);
	}
	/* A minute is no assertion on speed but an end to a test that hangs */
	void
	Await()
	{
		auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);

		while (fg_engine_poll(engine) == FG_ENGINE_RUNNING) {
			if (std::chrono::steady_clock::now() > end) {
				ADD_FAILURE() << "the trial does not end";
				abort();
			}
			std::this_thread::sleep_for(std::chrono::microseconds(200));
		}
	}
	void
	Run(const std::vector<Stream> &streams, const Times &t, uint64_t max_lag_ns = 1000000)
	{
		Start(streams, t, max_lag_ns);
		Await();
	}
	/*
	 * Run in the processor's time until all frames are sent and @p arrived holds (by default: all that
	 * are looked for have arrived), however long an overloaded machine takes for that: no trial is over
	 * before its load is.
	 */
	void
	RunOut(const std::vector<Stream> &streams, const std::function<bool()> &arrived = {},
	       const std::function<void(fg_trial_config &)> &change = {})
	{
		const Times minutes = {20, 120000, 0, 0};
		auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);

		ASSERT_EQ(0, Prepare(streams, minutes, minutes.traffic_ms * 1000000, nullptr, change))
			<< err.message;
		fg_engine_start(engine);
		while (!AllSent(streams) || (arrived ? !arrived() : !AllArrived(unsigned(streams.size())))) {
			if (std::chrono::steady_clock::now() > end) {
				ADD_FAILURE() << "what was sent does not arrive";
				break;
			}
			fg_engine_poll(engine);
			std::this_thread::sleep_for(std::chrono::microseconds(200));
		}
		fg_engine_stop(engine);
		Await();
	}
	fg_stream_live
	Live(unsigned stream) const
	{
		fg_stream_live live = {};

		fg_engine_stream_live(engine, stream, &live);
		return live;
	}

	fg_stream_result
	Result(unsigned stream) const
	{
		fg_stream_result out;

		memset(&out, 0xa5, sizeof(out));
		fg_engine_stream_result(engine, stream, &out);
		return out;
	}
	fg_port_result
	PortResult(unsigned port) const
	{
		fg_port_result out;

		memset(&out, 0xa5, sizeof(out));
		fg_engine_port_result(engine, port, &out);
		return out;
	}

	std::vector<fg_interval>
	Series(unsigned stream) const
	{
		std::vector<fg_interval> out(Result(stream).series_intervals);

		EXPECT_EQ(out.size(), fg_engine_series(engine, stream, 0, out.data(), unsigned(out.size())));
		return out;
	}

	uint64_t series_ns = 0;
	fg_error err = {};

      private:
	bool
	AllSent(const std::vector<Stream> &streams) const
	{
		for (unsigned i = 0; i < streams.size(); i++) {
			uint64_t frames = 0;

			for (const fg_load &load : streams[i].loads)
				frames += load.frames;
			if (streams[i].turn.every > 0) /* whole rounds of turns, or it ends too early */
				frames = frames / streams[i].turn.every * streams[i].turn.take;
			if (Live(i).tx_frames < frames)
				return false;
		}
		return true;
	}
	bool
	AllArrived(unsigned streams) const
	{
		for (unsigned i = 0; i < streams; i++)
			if (Live(i).rx_frames < Live(i).tx_frames - Live(i).tx_wrong)
				return false;
		return true;
	}

	fg_engine *engine = nullptr;
	int status;
};

/* every frame of the schedule, and every frame received, is in the books once */
inline void
ExpectConsistent(const fg_stream_result &r)
{
	EXPECT_EQ(r.intended, r.tx + r.late + r.unsent);
	EXPECT_EQ(int64_t(r.tx - r.wrong.sent) - int64_t(r.rx), r.lost);
	EXPECT_EQ(0u, r.excess);
	EXPECT_LE(r.latency.count, r.rx);
	EXPECT_LE(r.latency.min_ns, r.latency.p50_ns);
	EXPECT_LE(r.latency.p50_ns, r.latency.max_ns);
}

#endif
