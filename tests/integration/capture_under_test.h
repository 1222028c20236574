/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of captures share: files that go away, frames that differ, and a wire with a replay and a
 * capture. */
#ifndef CAPTURE_UNDER_TEST_H
#define CAPTURE_UNDER_TEST_H

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <unistd.h>

#include <pcap/pcap.h>

#include "engine_on_wire.h"
#include "fg_capture.h"
#include "scratch_folder.h"
#include "fg_replay.h"

struct Packet {
	uint64_t ns;
	frames::Bytes bytes;
	bool
	operator==(const Packet &o) const
	{
		return ns == o.ns && bytes == o.bytes;
	}
};

/* a file that goes away */
struct File {
	File() : path(scratch_path(std::to_string(serial++)))
	{
	}
	~File()
	{
		unlink(path.c_str());
	}
	File(const File &) = delete;
	static inline int serial;
	std::string path;
};

inline void
write_pcap(const std::string &path, const std::vector<Packet> &packets, int link = DLT_EN10MB)
{
	pcap_t *dead = pcap_open_dead_with_tstamp_precision(link, 65535, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *file = pcap_dump_open(dead, path.c_str());

	ASSERT_NE(nullptr, file);
	for (const Packet &p : packets) {
		pcap_pkthdr h = {};

		h.ts.tv_sec = time_t(p.ns / 1000000000);
		h.ts.tv_usec = suseconds_t(p.ns % 1000000000);
		h.len = h.caplen = bpf_u_int32(p.bytes.size());
		pcap_dump(reinterpret_cast<u_char *>(file), &h, p.bytes.data());
	}
	pcap_dump_close(file);
	pcap_close(dead);
}

inline std::vector<Packet>
read_pcap(const std::string &path)
{
	char message[PCAP_ERRBUF_SIZE];
	pcap_t *file =
		pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, message);
	std::vector<Packet> packets;
	pcap_pkthdr *h;
	const u_char *bytes;

	EXPECT_NE(nullptr, file) << message;
	while (file != nullptr && pcap_next_ex(file, &h, &bytes) == 1)
		packets.push_back({uint64_t(h->ts.tv_sec) * 1000000000 + uint64_t(h->ts.tv_usec),
				   frames::Bytes(bytes, bytes + h->caplen)});
	if (file != nullptr)
		pcap_close(file);
	return packets;
}

/* of many sizes, some close together and some far apart; none could wait for another on a line of 1 Gb/s */
inline std::vector<Packet>
some_packets(size_t n)
{
	std::mt19937 random(7);
	std::vector<Packet> packets;
	uint64_t ns = 1700000000ULL * 1000000000;

	for (size_t i = 0; i < n; i++) {
		frames::Bytes bytes(60 + random() % 1450);

		for (uint8_t &b : bytes)
			b = uint8_t(random());
		bytes[12] = 0x88;
		bytes[13] = 0xb5; /* of nobody: local experiments */
		packets.push_back({ns, bytes});
		ns += 26000 + random() % (i % 50 == 0 ? 3000000 : 5000);
	}
	return packets;
}

/* replays at wire0, captures at wire1, and waits for both */
struct Path {
	explicit Path(double rate = 1e9) : bench(device(rate))
	{
		config.speed = 1;
		config.loops = 1;
		config.max_frame = 1518;
		config.max_lag_ns = 1000000;
		config.patient = capture.patient = true;
	}
	~Path()
	{
		fg_replay_close(replay);
		fg_capture_close(captured);
	}
	static fg_device_config
	device(double rate)
	{
		fg_device_config d = limited(0, 512);

		d.rate_bps = rate;
		return d;
	}

	void
	Run(const std::string &in, const std::string &out, Times times = second)
	{
		fg_error err = {};
		fg_trial_task task = {};
		uint64_t start = 0;

		config.path = in.c_str();
		capture.path = out.c_str();
		ASSERT_EQ(0, fg_replay_open(&config, &replay, &err)) << err.where << ": " << err.message;
		ASSERT_EQ(0, fg_capture_open(&capture, &captured, &err)) << err.where << ": " << err.message;
		task.task = fg_replay_task(replay);
		ASSERT_EQ(0, bench.engine.Prepare({}, times, 1000000, &start, [&](fg_trial_config &c) {
			c.tasks = 1;
			c.task = &task;
			c.tap[1] = fg_capture_tap(captured);
		}));
		fg_replay_place place = {bench.wire.Port(0), {}, start, start + times.traffic_ms * 1000000};
		fg_engine_clock(bench.engine.Get(), &place.clock);
		ASSERT_EQ(0, fg_replay_start(replay, &place, &err)) << err.message;
		fg_engine_start(bench.engine.Get());
		bench.engine.Await();
		EXPECT_EQ(written, fg_capture_flush(captured, &err)) << err.message;
		EXPECT_EQ(0, fg_replay_failure(replay, &err)) << err.message;
		started = start;
	}
	fg_replay_counts
	Replayed() const
	{
		fg_replay_counts n;

		fg_replay_get_counts(replay, &n);
		return n;
	}
	fg_capture_counts
	Captured() const
	{
		fg_capture_counts n;

		fg_capture_get_counts(captured, &n);
		return n;
	}

	Bench bench;
	fg_replay_config config = {};
	fg_capture_config capture = {};
	fg_replay *replay = nullptr;
	fg_capture *captured = nullptr;
	uint64_t started = 0;
	int written = 0; /* what the file comes to: 0 or -errno */
};

/* each arrived as it was, so long after its time as storing it and the device take */
inline void
expect_same(const std::vector<Packet> &sent, const std::vector<Packet> &got, uint64_t start, double speed = 1)
{
	ASSERT_EQ(sent.size(), got.size());
	for (size_t i = 0; i < sent.size(); i++) {
		ASSERT_EQ(sent[i].bytes, got[i].bytes) << i;
		double due = double(start) + double(sent[i].ns - sent[0].ns) / speed;
		ASSERT_NEAR(due + 20000 + 8 * (double(sent[i].bytes.size()) + 4), double(got[i].ns), 2) << i;
	}
}

#endif
