/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors on purpose, alone and together with a device's: what the device did is told exactly. */
#include <cmath>

#include "engine_departures.h"
#include "fg_crc32c.h"

namespace
{

fg_stream_faults
none()
{
	fg_stream_faults faults = {};

	/* of TestFrame() */
	faults.fields = {24, 40, 16, 38, 4, 3, 60};
	return faults;
}

void
every(fg_stream_faults &faults, fg_inject kind, uint64_t n, uint32_t run = 1, uint32_t places = 1)
{
	faults.program.rule[kind].trigger.every = n;
	faults.program.rule[kind].run = run;
	faults.program.rule[kind].places = places;
}

void
random(fg_stream_faults &faults, fg_inject kind, double chance, uint32_t run = 1, uint32_t places = 1)
{
	faults.program.rule[kind] = {{0, chance}, run, 0, places};
}

/* the numbers that a stream sent, as its signatures say; a copy's have '=' before them */
std::string
numbers(const Watch &watch)
{
	std::string text;

	for (const Departure &d : watch.list)
		text += (text.empty() ? "" : " ") + std::string(d.number & FG_SIGNATURE_COPY ? "=" : "") +
			std::to_string(d.number & ~FG_SIGNATURE_COPY);
	return text;
}

Stream
stream(const Template &frame, const fg_stream_faults &faults, uint64_t frames, double fps = 100000)
{
	Stream s = {0, 1, frame, {{fps, frames}}};

	s.measure = FG_MEASURE_VARIATION | FG_MEASURE_PAYLOAD;
	s.faults = &faults;
	return s;
}

/* nothing is held against the device */
void
expect_no_blame(const fg_stream_result &r)
{
	ExpectConsistent(r);
	EXPECT_EQ(0, r.lost);
	EXPECT_EQ(0u, r.duplicates + r.stale + r.reordered + r.loss_bursts + r.corrupted);
	EXPECT_EQ(r.rx, r.latency.count);
	EXPECT_EQ(r.latency.min_ns, r.latency.max_ns);
}

const Times tenth = {0, 100, 100, 0};

} // namespace

TEST(EngineFaults, NumbersAreLeftOutRepeatedAndPutOff)
{
	Template frame = TestFrame(64);
	fg_stream_faults faults = none();

	every(faults, FG_INJECT_SKIP, 7);
	every(faults, FG_INJECT_DUPLICATE, 5);
	every(faults, FG_INJECT_REORDER, 10, 1, 2);
	Bench b(Device(1e9));
	Watch watch;
	run_watched(b, {stream(frame, faults, 16)}, tenth, watch);
	/* 6 and 13 are left out, 4, 9 and 14 are sent twice, 9 two departures later than its time */
	EXPECT_EQ("0 1 2 3 4 =4 5 7 8 10 11 9 =9 12 14 =14", numbers(watch));

	fg_stream_result r = b.engine.Result(0);

	expect_no_blame(r);
	EXPECT_EQ(16u, r.rx);
	EXPECT_EQ(2u, r.faults[FG_INJECT_SKIP].sent);
	EXPECT_EQ(3u, r.faults[FG_INJECT_DUPLICATE].sent);
	EXPECT_EQ(3u, r.faults[FG_INJECT_DUPLICATE].received);
	EXPECT_EQ(1u, r.faults[FG_INJECT_REORDER].sent);
	EXPECT_EQ(1u, r.faults[FG_INJECT_REORDER].received);
	/* evenly, as without */
	for (size_t i = 1; i < watch.list.size(); i++)
		EXPECT_EQ(10000u, watch.list[i].ns - watch.list[i - 1].ns);
}

TEST(EngineFaults, TheDevicesOwnAreToldApart)
{
	fg_device_config device = Device(1e9);
	Template frame = TestFrame(128);
	fg_stream_faults faults = none();
	fg_device_counters truth;

	device.direction[0].impair.loss.every = 100;
	device.direction[0].impair.duplicate.every = 90;
	device.direction[0].impair.reorder.every = 80;
	device.direction[0].impair.reorder_places = 3;
	device.direction[0].impair.reorder_ns = 1e6;
	every(faults, FG_INJECT_SKIP, 7);
	every(faults, FG_INJECT_DUPLICATE, 11, 2);
	every(faults, FG_INJECT_REORDER, 13, 1, 5);
	every(faults, FG_INJECT_DELAY, 17, 1, 40);
	Bench b(device);
	b.engine.Run({stream(frame, faults, 10000)}, tenth);
	fg_device_read_counters(b.wire.Get(), 0, &truth);

	fg_stream_result r = b.engine.Result(0);

	ExpectConsistent(r);
	EXPECT_EQ(10000u, r.tx);
	EXPECT_EQ(100, r.lost);
	EXPECT_EQ(100u, r.loss_bursts);
	EXPECT_EQ(truth.lost_on_path, uint64_t(r.lost));
	EXPECT_EQ(110u, r.duplicates);
	EXPECT_EQ(truth.duplicated, r.duplicates);
	EXPECT_EQ(123u, r.reordered);
	EXPECT_EQ(truth.reordered, r.reordered);
	EXPECT_EQ(3u, r.max_extent);
	EXPECT_EQ(0u, r.stale + r.corrupted);
	/* all numbers up to the last were sent, left out or still wait */
	EXPECT_NEAR(double(10000 + r.faults[FG_INJECT_SKIP].sent - r.faults[FG_INJECT_DUPLICATE].sent) / 7,
		    double(r.faults[FG_INJECT_SKIP].sent), 10);
	EXPECT_GE(r.faults[FG_INJECT_DUPLICATE].sent, r.faults[FG_INJECT_DUPLICATE].received);
}

TEST(EngineFaults, WrongFramesAreCountedByThemselves)
{
	fg_device_config device = Device(1e9);
	Template frame = TestFrame(128), longer = TestFrame(1600);
	fg_stream_faults faults = none();
	fg_engine_config config = free_time();
	fg_device_counters truth;

	device.forwards_up_to = 1518;
	config.max_frame = 1600;
	faults.oversize = longer.get();
	every(faults, FG_INJECT_IP_CHECKSUM, 10);
	every(faults, FG_INJECT_L4_CHECKSUM, 11);
	every(faults, FG_INJECT_IP_LENGTH, 19);
	every(faults, FG_INJECT_L4_LENGTH, 23);
	every(faults, FG_INJECT_PAYLOAD, 29);
	every(faults, FG_INJECT_FCS, 13);
	every(faults, FG_INJECT_RUNT, 17);
	every(faults, FG_INJECT_OVERSIZE, 31);
	Bench b(device, config);
	b.engine.Run({stream(frame, faults, 10000, 10000)}, {0, 1000, 100, 0});
	fg_device_read_counters(b.wire.Get(), 0, &truth);

	fg_stream_result r = b.engine.Result(0);
	uint64_t wrong = 0;

	for (unsigned i = 0; i < 10000; i++)
		wrong += (i + 1) % 10 == 0 || (i + 1) % 11 == 0 || (i + 1) % 19 == 0 || (i + 1) % 23 == 0 ||
			 (i + 1) % 29 == 0 || (i + 1) % 13 == 0 || (i + 1) % 17 == 0 || (i + 1) % 31 == 0;
	ExpectConsistent(r);
	EXPECT_EQ(0, r.lost);
	EXPECT_EQ(0u, r.loss_bursts + r.duplicates + r.reordered + r.corrupted);
	EXPECT_EQ(10000u, r.tx);
	EXPECT_EQ(wrong, r.wrong.sent);
	EXPECT_EQ(10000 - wrong, r.rx);
	EXPECT_EQ(588u, r.faults[FG_INJECT_RUNT].sent);
	EXPECT_EQ(588u, truth.undersized);
	EXPECT_EQ(0u, r.faults[FG_INJECT_RUNT].received);
	EXPECT_EQ(769u, r.faults[FG_INJECT_FCS].sent);
	EXPECT_EQ(769u, truth.bad_fcs + 10000 / (13 * 17)); /* those that are runts, too, are lost as such */
	EXPECT_EQ(0u, r.faults[FG_INJECT_FCS].received);
	EXPECT_EQ(0u, r.faults[FG_INJECT_OVERSIZE].received);
	EXPECT_EQ(r.faults[FG_INJECT_OVERSIZE].sent,
		  truth.oversized + 10000 / (13 * 31) - 10000 / (13 * 17 * 31));
	EXPECT_EQ(r.wrong.sent - r.wrong.received, truth.undersized + truth.bad_fcs + truth.oversized);
	/* a bridge does not look at what is inside */
	EXPECT_GT(r.faults[FG_INJECT_IP_CHECKSUM].received, 800u);
	EXPECT_GT(r.faults[FG_INJECT_PAYLOAD].received, 250u);
}

TEST(EngineFaults, DevicesOwnLossAmongWrongFramesIsNoLossOfOurs)
{
	fg_device_config device = Device(1e9);
	Template frame = TestFrame(64);
	fg_stream_faults faults = none();

	/* the device loses every 10th frame, and every 5th is wrong: all it loses are wrong ones */
	device.direction[0].impair.loss.every = 10;
	every(faults, FG_INJECT_L4_CHECKSUM, 5);
	Bench b(device);
	b.engine.Run({stream(frame, faults, 10000)}, tenth);

	fg_stream_result r = b.engine.Result(0);

	expect_no_blame(r);
	EXPECT_EQ(2000u, r.wrong.sent);
	EXPECT_EQ(1000u, r.wrong.received);
	EXPECT_EQ(8000u, r.rx);
}

TEST(EngineFaults, RandomOnesAreAsOftenAsToldInEachOfAHundredStreams)
{
	fg_device_config device = Device(1e9);
	Template frame = TestFrame(64);
	std::vector<fg_stream_faults> faults(100, none());
	std::vector<Stream> streams;
	const double n = 5000;
	fg_device_counters truth;
	uint64_t skipped = 0, copies = 0, late = 0;
	int64_t lost = 0;

	device.direction[0].impair.loss.random = 0.01;
	for (unsigned i = 0; i < 100; i++) {
		faults[i].program.seed = i;
		random(faults[i], FG_INJECT_SKIP, 0.05);
		random(faults[i], FG_INJECT_DUPLICATE, 0.03, 2);
		random(faults[i], FG_INJECT_REORDER, 0.02, 1, 7);
		streams.push_back(stream(frame, faults[i], uint64_t(n), n));
		streams.back().phase = i / 100.0;
	}
	Bench b(device);
	b.engine.Run(streams, {0, 1000, 100, 0});
	fg_device_read_counters(b.wire.Get(), 0, &truth);
	for (unsigned i = 0; i < 100; i++) {
		fg_stream_result r = b.engine.Result(i);

		ExpectConsistent(r);
		EXPECT_EQ(0u, r.duplicates + r.stale + r.reordered);
		lost += r.lost;
		skipped += r.faults[FG_INJECT_SKIP].sent;
		copies += r.faults[FG_INJECT_DUPLICATE].sent;
		late += r.faults[FG_INJECT_REORDER].sent;
		EXPECT_NEAR(n * 0.05 / 0.95, double(r.faults[FG_INJECT_SKIP].sent), 5 * std::sqrt(n * 0.05));
	}
	EXPECT_EQ(truth.lost_on_path, uint64_t(lost));
	/* of N numbers 5 % are left out; N less those and with the copies, two of every 1/0.03 + 1, were
	 * sent */
	const double share = 2 / (1 / 0.03 + 1), total = 100 * n / (0.95 * (1 + share));

	EXPECT_NEAR(0.05 * total, double(skipped), 4 * std::sqrt(0.05 * total));
	EXPECT_NEAR(0.95 * share * total, double(copies), 8 * std::sqrt(share * total));
	EXPECT_NEAR(0.95 * 0.02 * total, double(late), 4 * std::sqrt(0.02 * total));
}

TEST(EngineFaults, APayloadIsWrongInItsBitsAndNothingElse)
{
	struct Look : fg_tap {
		Look() : fg_tap{see_it}
		{
		}
		static void
		see_it(fg_tap *tap, rte_mbuf *const *frames, const uint64_t *, unsigned n)
		{
			auto *look = static_cast<Look *>(tap);

			for (unsigned i = 0; i < n; i++) {
				const uint8_t *data = rte_pktmbuf_mtod(frames[i], const uint8_t *);
				unsigned bits = 0;

				for (unsigned k = 0; k + FG_SIGNATURE_SIZE < frames[i]->data_len; k++)
					bits += unsigned(__builtin_popcount(data[k] ^ look->right->bytes[k]));
				look->bits.push_back(bits);
			}
		}
		const fg_template *right = nullptr;
		std::vector<unsigned> bits;
	} look;
	Template frame = TestFrame(100);
	fg_stream_faults faults = none();

	look.right = frame.get();
	every(faults, FG_INJECT_PAYLOAD, 4);
	Bench b(Device(1e9));
	ASSERT_EQ(0, b.engine.Prepare({stream(frame, faults, 400)}, tenth, 1000000, nullptr,
				      [&](fg_trial_config &c) { c.tap[1] = &look; }));
	fg_engine_start(b.engine.Get());
	b.engine.Await();
	ASSERT_EQ(400u, look.bits.size());
	for (unsigned i = 0; i < 400; i++)
		EXPECT_EQ(i % 4 == 3 ? 3u : 0u, look.bits[i]) << i;
}

/* a tap that counts frames whose SCTP has the right CRC, and others */
struct Crcs : fg_tap {
	Crcs() : fg_tap{see_it}
	{
	}
	static void
	see_it(fg_tap *tap, rte_mbuf *const *frames, const uint64_t *, unsigned n)
	{
		auto *crcs = static_cast<Crcs *>(tap);

		for (unsigned i = 0; i < n; i++) {
			const uint8_t *packet = rte_pktmbuf_mtod_offset(frames[i], const uint8_t *, 34);
			std::vector<uint8_t> octets(packet, packet + frames[i]->data_len - 34);
			uint32_t found;

			memcpy(&found, packet + 8, 4);
			std::fill_n(octets.begin() + 8, 4, 0);
			(found == fg_crc32c_by_table(0, octets.data(), octets.size()) ? crcs->right
										      : crcs->wrong)++;
		}
	}
	unsigned right = 0, wrong = 0;
};

Template
sctp_frame()
{
	std::unique_ptr<fg_frame, void (*)(fg_frame *)> f(fg_frame_create(), fg_frame_free);
	fg_template *out = nullptr;

	for (const char *protocol : {"ethernet", "ipv4", "sctp"})
		EXPECT_EQ(0, fg_frame_push(f.get(), protocol, nullptr));
	EXPECT_EQ(0, fg_frame_finish(f.get(), 202, &out, nullptr));
	return Template(out);
}

TEST(EngineFaults, ACrcIsRightInEveryFrameButThoseThatShallBeWrong)
{
	Template sctp = sctp_frame();
	fg_stream_faults faults = none();

	faults.fields.l4_checksum = 42;
	every(faults, FG_INJECT_L4_CHECKSUM, 10);
	for (bool wrong : {false, true}) {
		Bench b(Device(1e9));
		Crcs crcs;
		Stream s = stream(sctp, faults, 1000);

		s.faults = wrong ? &faults : nullptr;
		ASSERT_EQ(0, b.engine.Prepare({s}, tenth, 1000000, nullptr,
					      [&](fg_trial_config &c) { c.tap[1] = &crcs; }));
		fg_engine_start(b.engine.Get());
		b.engine.Await();
		EXPECT_EQ(wrong ? 900u : 1000u, crcs.right);
		EXPECT_EQ(wrong ? 100u : 0u, crcs.wrong);
		EXPECT_EQ(0, b.engine.Result(0).lost);
	}
}

TEST(EngineFaults, WhatAPortOrAFrameCannotBeIsRefused)
{
	Template frame = TestFrame(64);
	fg_stream_faults faults = none();
	Bench b(Device(1e9));

	every(faults, FG_INJECT_PAYLOAD, 4);
	EXPECT_EQ(-EINVAL, b.engine.Prepare({stream(frame, faults, 4)}, tenth));
	EXPECT_STREQ("stream.errors.payload", b.engine.err.where);
	faults = none();
	every(faults, FG_INJECT_OVERSIZE, 4);
	EXPECT_EQ(-EINVAL, b.engine.Prepare({stream(frame, faults, 4)}, tenth));
	faults = none();
	faults.fields.runt_size = 64;
	every(faults, FG_INJECT_RUNT, 4);
	EXPECT_EQ(-EINVAL, b.engine.Prepare({stream(frame, faults, 4)}, tenth));
	faults = none();
	faults.fields.l4_length = 0;
	every(faults, FG_INJECT_L4_LENGTH, 4);
	EXPECT_EQ(-EINVAL, b.engine.Prepare({stream(frame, faults, 4)}, tenth));
	faults = none();
	every(faults, FG_INJECT_SKIP, 1);
	EXPECT_EQ(-EINVAL, b.engine.Prepare({stream(frame, faults, 4)}, tenth));
	EXPECT_STREQ("stream.errors.skip", b.engine.err.where);
}
