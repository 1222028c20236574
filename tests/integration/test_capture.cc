/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture replayed over the wire and captured at the other end: the same frames, in order, at their
 * times. */
#include <fcntl.h>
#include <sys/stat.h>

#include "capture_under_test.h"

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

/* a clock that is set back by 2 s in the middle, and queues that disagree by 1 ms */
TEST(Capture, TimesThatGoBackKeepTheirDistances)
{
	for (uint64_t memory : {uint64_t(0), uint64_t(1000)}) {
		File in, out;
		Path path;
		auto packets = some_packets(40);
		fg_replay_facts facts;

		for (size_t i = 0; i < packets.size(); i++)
			packets[i].ns = packets[0].ns + i * 10000000 - (i >= 20 ? 2000000000 : 0);
		packets[31].ns -= 11000000;
		write_pcap(in.path, packets);
		path.config.memory = memory;
		path.capture.filter = "ether proto 0x88b5";
		path.Run(in.path, out.path);
		for (size_t i = 0; i < packets.size(); i++)
			packets[i].ns = packets[0].ns + i * 10000000;
		auto got = read_pcap(out.path);
		ASSERT_EQ(packets.size(), got.size());
		EXPECT_GT(1000000u, got[31].ns - got[30].ns);
		packets.erase(packets.begin() + 31);
		got.erase(got.begin() + 31);
		expect_same(packets, got, path.started);
		fg_replay_get_facts(path.replay, &facts);
		EXPECT_EQ(2u, facts.times_back);
		EXPECT_EQ(1u, facts.times_anew);
		EXPECT_EQ(10000000u * 39, facts.duration_ns);
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
	ASSERT_EQ(0, mkfifo(missing.path.c_str(), 0600));
	c.path = missing.path.c_str(); /* with nobody at its other end */
	EXPECT_EQ(-ENXIO, fg_capture_open(&c, &capture, &err));
	EXPECT_STREQ("cannot be written: no process reads it", err.message);
	c.path = "/dev/ptmx"; /* a terminal takes some bytes, and then none until somebody reads them */
	EXPECT_EQ(-ENOTTY, fg_capture_open(&c, &capture, &err));
	EXPECT_STREQ("cannot be written: it is a terminal", err.message);
}

/* more than a pipe holds, and a reader that takes nothing */
TEST(Capture, EndsWhereItsReaderStops)
{
	File in, pipe;
	Path path;

	write_pcap(in.path, some_packets(3000));
	ASSERT_EQ(0, mkfifo(pipe.path.c_str(), 0600));
	const int reader = open(pipe.path.c_str(), O_RDONLY | O_NONBLOCK);
	path.written = -EPIPE;
	alarm(60);
	path.Run(in.path, pipe.path);
	EXPECT_EQ(3000u, path.Captured().seen);
	EXPECT_GT(path.Captured().dropped, 2000u);
	EXPECT_EQ(3000u, path.Captured().written + path.Captured().dropped);
	alarm(0);
	close(reader);
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

TEST(Capture, WhatWasSeenBeforeTheEndIsWritten)
{
	uint8_t octets[60] = {};
	uint64_t arrivals[32] = {};
	rte_mbuf m = {}, *frames[32];

	m.buf_addr = octets;
	m.data_len = m.pkt_len = sizeof(octets);
	std::fill(frames, frames + 32, &m);
	for (unsigned i = 0; i < 50; i++) { /* the writer rests most of the time */
		fg_capture_config config = {};
		fg_capture *capture = nullptr;
		fg_error err = {};
		File out;

		config.path = out.path.c_str();
		ASSERT_EQ(0, fg_capture_open(&config, &capture, &err)) << err.message;
		fg_tap *tap = fg_capture_tap(capture);
		tap->see(tap, frames, arrivals, 32);
		fg_capture_close(capture);
		ASSERT_EQ(32u, read_pcap(out.path).size());
	}
}
