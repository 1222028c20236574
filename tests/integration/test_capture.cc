/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture replayed over the wire and captured at the other end: the same frames, in order, at their times. */
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <unistd.h>

#include <pcap/pcap.h>

#include "engine_on_wire.h"
#include "fg_capture.h"
#include "fg_replay.h"

namespace
{

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
	File() : path(testing::TempDir() + "fg_" + std::to_string(getpid()) + "_" + std::to_string(serial++))
	{
	}
	~File()
	{
		unlink(path.c_str());
	}
	File(const File &) = delete;
	static int serial;
	std::string path;
};
int File::serial;

void
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

std::vector<Packet>
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
std::vector<Packet>
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
		fg_replay_place place = {bench.wire.Port(0), fg_engine_hz(bench.engine.Get()), start,
					 start + times.traffic_ms * 1000000};
		ASSERT_EQ(0, fg_replay_start(replay, &place, &err)) << err.message;
		fg_engine_start(bench.engine.Get());
		bench.engine.Await();
		EXPECT_EQ(0, fg_capture_flush(captured, &err)) << err.message;
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
};

/* each arrived as it was, so long after its time as storing it and the device take */
void
expect_same(const std::vector<Packet> &sent, const std::vector<Packet> &got, uint64_t start, double speed = 1)
{
	ASSERT_EQ(sent.size(), got.size());
	for (size_t i = 0; i < sent.size(); i++) {
		ASSERT_EQ(sent[i].bytes, got[i].bytes) << i;
		double due = double(start) + double(sent[i].ns - sent[0].ns) / speed;
		ASSERT_NEAR(due + 20000 + 8 * (double(sent[i].bytes.size()) + 4), double(got[i].ns), 2) << i;
	}
}

} // namespace

TEST(Capture, ReplayedFramesArriveAsTheyWereRecorded)
{
	for (const char *suffix : {".pcap", ".pcapng"}) {
		File in, out;
		Path path;
		auto packets = some_packets(15000);

		write_pcap(in.path, packets);
		path.capture.filter = "ether proto 0x88b5";
		out.path += suffix;
		path.Run(in.path, out.path);
		expect_same(packets, read_pcap(out.path), path.started);
		EXPECT_EQ(packets.size(), path.Replayed().frames);
		EXPECT_TRUE(path.Replayed().done);
		EXPECT_EQ(0u, path.Replayed().error_max_ns + path.Replayed().slips + path.Replayed().refused);
		EXPECT_EQ(packets.size(), path.Captured().written);
		EXPECT_EQ(0u, path.Captured().dropped);
	}
}

TEST(Capture, AFileTooLargeForTheMemoryIsReadWhileItIsSent)
{
	File in, out;
	Path path;
	auto packets = some_packets(15000);

	write_pcap(in.path, packets);
	path.config.memory = 100000;
	path.capture.filter = "ether proto 0x88b5";
	path.Run(in.path, out.path);
	expect_same(packets, read_pcap(out.path), path.started);
}

TEST(Capture, TwiceAsFast)
{
	File in, out;
	Path path(1e10);
	auto packets = some_packets(3000);

	write_pcap(in.path, packets);
	path.config.speed = 2;
	path.capture.filter = "ether proto 0x88b5";
	path.Run(in.path, out.path);
	auto got = read_pcap(out.path);
	ASSERT_EQ(packets.size(), got.size());
	double took = double(got.back().ns - got.front().ns),
	       asked = double(packets.back().ns - packets.front().ns);
	EXPECT_NEAR(asked / 2, took, 2000);
}

TEST(Capture, LoopsFollowAtTheAverageDistance)
{
	for (uint64_t memory : {uint64_t(0), uint64_t(1000)}) {
		File in, out;
		Path path;
		auto packets = some_packets(100);
		uint64_t duration = packets.back().ns - packets.front().ns;

		write_pcap(in.path, packets);
		path.config.loops = 3;
		path.config.memory = memory;
		path.capture.filter = "ether proto 0x88b5";
		path.Run(in.path, out.path);
		auto got = read_pcap(out.path);
		ASSERT_EQ(300u, got.size());
		EXPECT_EQ(got[0].bytes, got[200].bytes);
		EXPECT_NEAR(2.0 * double(duration + duration / 99), double(got[200].ns - got[0].ns), 2);
	}
}

TEST(Capture, RatesAreExact)
{
	File in;
	auto packets = some_packets(500);

	write_pcap(in.path, packets);
	for (bool by_frames : {true, false}) {
		File out;
		Path path;
		double octets = 0;

		path.config.pace = by_frames ? FG_REPLAY_FRAMES : FG_REPLAY_BITS_L2;
		path.config.speed = by_frames ? 25000 : 500e6;
		path.capture.filter = "ether proto 0x88b5";
		path.Run(in.path, out.path);
		auto got = read_pcap(out.path);
		ASSERT_EQ(packets.size(), got.size());
		for (size_t i = 0; i < got.size(); i++) {
			double due = by_frames ? 40000.0 * double(i) : 8e9 * octets / 500e6;

			octets += double(got[i].bytes.size()) + 4;
			ASSERT_NEAR(double(path.started) + due + 20000 +
					    8 * (double(got[i].bytes.size()) + 4),
				    double(got[i].ns), 2)
				<< i;
		}
	}
}

TEST(Capture, EndsWithTheTraffic)
{
	File in, out;
	Path path;

	write_pcap(in.path, some_packets(1000));
	path.config.loops = 0;
	path.config.pace = FG_REPLAY_FRAMES;
	path.config.speed = 10000;
	path.Run(in.path, out.path, {0, 500, 100, 0});
	EXPECT_EQ(5000u, path.Replayed().frames);
	EXPECT_FALSE(path.Replayed().done);
}

TEST(Capture, SliceTriggerAndNumber)
{
	File in, out;
	Path path;
	auto packets = some_packets(1000);

	packets[400].bytes[20] = 0xaa;
	packets[400].bytes[21] = 0x55;
	for (size_t i = 0; i < packets.size(); i++)
		if (i != 400)
			packets[i].bytes[20] = 0;
	write_pcap(in.path, packets);
	path.capture.filter = "ether proto 0x88b5";
	path.capture.trigger = "ether[20:2] = 0xaa55";
	path.capture.slice = 40;
	path.capture.frames = 10;
	path.Run(in.path, out.path);
	auto got = read_pcap(out.path);
	ASSERT_EQ(10u, got.size());
	for (size_t i = 0; i < 10; i++)
		EXPECT_EQ(frames::Bytes(packets[400 + i].bytes.begin(), packets[400 + i].bytes.begin() + 40),
			  got[i].bytes);
	EXPECT_EQ(path.Captured().seen, path.Captured().filtered + 10);
}

TEST(Capture, ARingOfFilesKeepsTheLatest)
{
	File in, out;
	Path path;
	auto packets = some_packets(2000);
	std::vector<Packet> kept;
	unsigned files = 0;

	write_pcap(in.path, packets);
	path.capture.filter = "ether proto 0x88b5";
	path.capture.file_octets = 100000;
	path.capture.files = 3;
	path.Run(in.path, out.path);
	for (unsigned i = 0; i < 100; i++) {
		std::string name = out.path + "." + std::to_string(i);

		if (access(name.c_str(), F_OK) != 0)
			continue;
		files++;
		for (const Packet &p : read_pcap(name))
			kept.push_back(p);
		unlink(name.c_str());
	}
	EXPECT_EQ(3u, files);
	ASSERT_GT(kept.size(), 100u);
	EXPECT_EQ(packets.back().bytes, kept.back().bytes);
	for (size_t i = 0; i < kept.size(); i++)
		ASSERT_EQ(packets[packets.size() - kept.size() + i].bytes, kept[i].bytes);
}

/* one frame in the buffer and no room for another: the lcore goes on, and nobody forgets what is missing */
TEST(Capture, WhatFindsNoRoomIsCounted)
{
	File in, out;
	Path path;

	write_pcap(in.path, some_packets(15000));
	path.capture.patient = false;
	path.capture.buffer = 1;
	path.Run(in.path, out.path);
	auto n = path.Captured();
	EXPECT_EQ(n.seen, n.written + n.dropped + n.filtered);
	EXPECT_GT(n.dropped, 0u);
	EXPECT_EQ(n.written, read_pcap(out.path).size());
}

TEST(Capture, BadInputIsNamed)
{
	File missing, text, other, empty;
	fg_replay_config config = {};
	fg_replay *replay = nullptr;
	fg_capture *capture = nullptr;
	fg_error err = {};

	FILE *f = fopen(text.path.c_str(), "w");
	fputs("this is no capture at all, only some text", f);
	fclose(f);
	write_pcap(other.path, some_packets(1), DLT_RAW);
	write_pcap(empty.path, {});
	config.speed = 1;
	config.max_frame = 1518;
	for (const std::string &path : {missing.path, text.path, other.path, empty.path}) {
		config.path = path.c_str();
		EXPECT_GT(0, fg_replay_open(&config, &replay, &err));
		EXPECT_EQ(path, err.where);
	}
	fg_capture_config c = {};
	c.path = missing.path.c_str();
	c.filter = "port and starboard";
	EXPECT_EQ(-EINVAL, fg_capture_open(&c, &capture, &err));
	EXPECT_STREQ("filter", err.where);
	c.filter = nullptr;
	c.path = "/nowhere/at/all";
	EXPECT_EQ(-ENOENT, fg_capture_open(&c, &capture, &err));
}

/* cut anywhere: what is whole is sent, and it is said that the rest is missing */
TEST(Capture, ATruncatedFileIsRefusedWithItsPlace)
{
	File in;
	fg_replay_config config = {};
	fg_replay *replay = nullptr;
	fg_error err = {};

	write_pcap(in.path, some_packets(10));
	ASSERT_EQ(0, truncate(in.path.c_str(), 24 + 16 + 30));
	config.path = in.path.c_str();
	config.speed = 1;
	config.max_frame = 1518;
	EXPECT_EQ(-EINVAL, fg_replay_open(&config, &replay, &err));
	EXPECT_NE(nullptr, strstr(err.message, "after frame 0")) << err.message;
}
