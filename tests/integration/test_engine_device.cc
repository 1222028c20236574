/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device makes of frames, and which of it is still the frame that was sent: by a device of this
 * process's, which does to each what the test wants. And a card whose stamps step back.
 */
#include <rte_cycles.h>
#include <rte_mbuf_dyn.h>

#include "device_of_lanes.h"
#include "engine_under_test.h"
#include "fg_sizes.h"

namespace
{

const uint64_t frames_sent = 300;
const size_t ether = 14, ip = 20;

fg_engine_config
one_lcore()
{
	fg_engine_config c = {};

	c.time = FG_TIME_TSC;
	c.buffers = 8191;
	c.lcores = 1;
	return c;
}

/* frames that go out at a port and come in there again */
struct Loop {
	explicit Loop(std::function<void(rte_mbuf *, uint64_t)> change, unsigned queues = 1)
	    : east(queues), west(1), engine(config(queues), &east, &west)
	{
		east.change = change;
	}

	static fg_engine_config
	config(unsigned queues)
	{
		fg_engine_config c = one_lcore();

		c.port[0].queues = queues;
		return c;
	}
	fg_stream_result
	Send(const Template &frame, unsigned measure = 0, unsigned to = 0)
	{
		RunOut({{0, to, frame, {{2000, frames_sent}}, {}, false, measure}});
		ExpectConsistent(engine.Result(0));
		return engine.Result(0);
	}
	/* until all have come back, as whatever they are then */
	void
	RunOut(const std::vector<Stream> &streams)
	{
		engine.RunOut(streams, [this] { return east.Empty(); });
	}

	LaneDevice east, west;
	Engine engine;
};

uint8_t *
data(rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, uint8_t *);
}

void
put16(uint8_t *at, unsigned value)
{
	at[0] = uint8_t(value >> 8);
	at[1] = uint8_t(value);
}

/* bytes put into a frame, zero */
uint8_t *
insert(rte_mbuf *m, size_t at, size_t octets)
{
	size_t behind = m->data_len - at;

	EXPECT_NE(nullptr, rte_pktmbuf_append(m, uint16_t(octets)));
	memmove(data(m) + at + octets, data(m) + at, behind);
	memset(data(m) + at, 0, octets);
	return data(m) + at;
}

void
remove(rte_mbuf *m, size_t at, size_t octets)
{
	memmove(data(m) + octets, data(m), at);
	rte_pktmbuf_adj(m, uint16_t(octets));
}

void
outer_ipv4(uint8_t *at, size_t length, uint8_t protocol)
{
	at[0] = 0x45;
	put16(at + 2, unsigned(length));
	at[8] = 64;
	at[9] = protocol;
}

/* port unreachable, as a host that has no such port answers */
void
quote(rte_mbuf *m, uint64_t)
{
	size_t packet = m->data_len - ether;
	uint8_t *at = insert(m, ether, ip + 8);

	outer_ipv4(at, packet + ip + 8, 1);
	at[ip] = 3;
	at[ip + 1] = 3;
}

/* the last of two fragments; the first one has 40 bytes behind its header */
void
fragment(rte_mbuf *m, uint64_t)
{
	remove(m, ether + ip, 40);
	put16(data(m) + ether + 2, m->data_len - unsigned(ether));
	put16(data(m) + ether + 6, 40 / 8);
}

void
tag(rte_mbuf *m, uint64_t)
{
	put16(insert(m, 12, 4), 0x8100);
}

void
vxlan(rte_mbuf *m, uint64_t)
{
	size_t inner = m->data_len;
	uint8_t *at = insert(m, 0, 50);

	put16(at + 12, 0x0800);
	outer_ipv4(at + ether, inner + 36, 17);
	put16(at + ether + ip + 2, 4789);
	put16(at + ether + ip + 4, unsigned(inner) + 16);
}

/* what a host's receive offload does: one packet of what two carried */
void
join(rte_mbuf *m, uint64_t)
{
	size_t content = m->data_len - ether - ip - 8;

	memcpy(insert(m, ether + ip + 8, content), data(m) + m->data_len - content, content);
	put16(data(m) + ether + 2, m->data_len - unsigned(ether));
}

void
expect_received(const fg_stream_result &r, const char *what)
{
	EXPECT_EQ(frames_sent, r.rx) << what;
	EXPECT_EQ(0, r.lost) << what;
	for (uint64_t frames : r.altered)
		EXPECT_EQ(0u, frames) << what;
}

void
expect_altered(const fg_stream_result &r, fg_altered kind, const char *what)
{
	EXPECT_EQ(frames_sent, r.tx) << what;
	EXPECT_EQ(0u, r.rx + r.latency.count + r.rx_octets + r.corrupted) << what;
	for (unsigned k = 0; k < FG_ALTERED_KINDS; k++)
		EXPECT_EQ(k == kind ? frames_sent : 0, r.altered[k]) << what << ", kind " << k;
}

} // namespace

TEST(EngineDevice, AQuotedFrameIsNone)
{
	Template frame = TestFrame(128);

	for (unsigned measure : {0, FG_MEASURE_VARIATION | FG_MEASURE_SERIES | FG_MEASURE_PAYLOAD})
		expect_altered(Loop(quote).Send(frame, measure), FG_ALTERED_QUOTED, "quoted");
	expect_altered(Loop(quote, 2).Send(frame), FG_ALTERED_QUOTED, "over two queues");
}

TEST(EngineDevice, AQuotedFrameIsNotMisdirected)
{
	Loop l(quote);
	Template frame = TestFrame(128);

	expect_altered(l.Send(frame, 0, 1), FG_ALTERED_QUOTED, "back at the sender");
	EXPECT_EQ(0u, l.engine.PortResult(0).misdirected);
}

TEST(EngineDevice, AFragmentIsNoFrame)
{
	expect_altered(Loop(fragment).Send(TestFrame(256)), FG_ALTERED_FRAGMENT, "fragments");
	expect_altered(Loop(join).Send(TestFrame(256)), FG_ALTERED_LENGTH, "two joined");
	expect_altered(Loop([](rte_mbuf *m, uint64_t n) {
			       join(m, n);
			       data(m)[ether + 9] = 6;
		       }).Send(TestFrame(256)),
		       FG_ALTERED_PROTOCOL, "another protocol");
}

TEST(EngineDevice, OfManyStreamsEachCountsItsOwn)
{
	const unsigned streams = 70; /* more than RX_FEW, and frames enough that they are noted */
	const uint64_t sent = 2100;
	Loop l([](rte_mbuf *m, uint64_t n) {
		if (n % 7 == 6)
			quote(m, n);
		else if (n % 11 == 0)
			tag(m, n);
	});
	Template frame = TestFrame(128);
	std::vector<Stream> all;
	uint64_t altered = 0, rx = 0;

	for (unsigned i = 0; i < streams; i++)
		all.push_back({0, 0, frame, {{10000, sent}}, {i, 1, streams}});
	l.RunOut(all);
	for (unsigned i = 0; i < streams; i++) {
		fg_stream_result r = l.engine.Result(i);

		EXPECT_EQ(uint64_t(r.lost), r.altered[FG_ALTERED_QUOTED]);
		altered += r.altered[FG_ALTERED_QUOTED];
		rx += r.rx;
	}
	EXPECT_EQ(sent / 7, altered);
	EXPECT_EQ(sent - sent / 7, rx);
}

TEST(EngineDevice, TagsTunnelsAndTranslationLeaveAFrameWhatItIs)
{
	const struct {
		const char *what;
		std::function<void(rte_mbuf *, uint64_t)> change;
	} cases[] = {
		{"tagged", tag},
		{"now and then", [](rte_mbuf *m, uint64_t n) { n % 3 == 0 ? tag(m, n) : void(); }},
		{"in VXLAN", vxlan},
		{"in a tunnel that nobody knows",
		 [](rte_mbuf *m, uint64_t) { put16(insert(m, 0, 26) + 12, 0x9999); }},
		{"IP in IP",
		 [](rte_mbuf *m, uint64_t) {
			 size_t packet = m->data_len - ether;
			 outer_ipv4(insert(m, ether, ip), packet + ip, 4);
		 }},
		{"with an option",
		 [](rte_mbuf *m, uint64_t) {
			 insert(m, ether + ip, 4)[0] = 148;
			 data(m)[ether] = 0x46;
			 put16(data(m) + ether + 2, m->data_len - unsigned(ether));
		 }},
		{"from IPv4 to IPv6",
		 [](rte_mbuf *m, uint64_t) {
			 uint8_t *at = insert(m, ether, 20);
			 put16(data(m) + 12, 0x86dd);
			 memset(at, 0, 40);
			 at[0] = 0x60;
			 put16(at + 4, m->data_len - unsigned(ether) - 40);
			 at[6] = 17;
		 }},
	};

	for (const auto &c : cases)
		expect_received(Loop(c.change).Send(TestFrame(128)), c.what);
}

TEST(EngineDevice, AFrameComesOutOfItsTunnel)
{
	std::unique_ptr<fg_frame, void (*)(fg_frame *)> f(fg_frame_create(), fg_frame_free);
	fg_template *out = nullptr;

	for (const char *layer : {"ethernet", "ipv4", "udp", "vxlan", "ethernet", "ipv4", "udp"})
		ASSERT_EQ(0, fg_frame_push(f.get(), layer, nullptr)) << layer;
	ASSERT_EQ(0, fg_frame_finish(f.get(), 256, &out, nullptr));
	Template frame(out);
	expect_received(Loop([](rte_mbuf *m, uint64_t) { rte_pktmbuf_adj(m, 50); }).Send(frame),
			"out of VXLAN");
	expect_altered(Loop(quote).Send(frame), FG_ALTERED_QUOTED, "with its tunnel");
}

TEST(EngineDevice, OfSeveralSizesEachFrameHasItsOwn)
{
	const uint16_t list[] = {100, 128, 100, 256}; /* a quoted 100 is as long as a whole 128 */
	std::vector<Template> frames;
	std::vector<const fg_template *> pointers;
	fg_sizes *sizes = nullptr;
	Template first = TestFrame(100);

	ASSERT_EQ(0, fg_sizes_create(list, 4, &sizes, nullptr));
	for (unsigned k = 0; k < sizes->kinds; k++) {
		frames.push_back(TestFrame(sizes->size[k]));
		pointers.push_back(frames.back().get());
	}
	for (bool quoted : {false, true}) {
		Loop l(quoted ? quote : [](rte_mbuf *, uint64_t) {});

		l.RunOut({{0,
			   0,
			   first,
			   {{2000, frames_sent}},
			   {},
			   false,
			   0,
			   0,
			   false,
			   sizes,
			   pointers.data()}});
		if (quoted)
			expect_altered(l.engine.Result(0), FG_ALTERED_QUOTED, "quoted");
		else
			expect_received(l.engine.Result(0), "as they were sent");
	}
	fg_sizes_free(sizes);
}

TEST(EngineDevice, TellsThatAddressesWereTranslated)
{
	const auto as_it_is = [](rte_mbuf *, uint64_t) {};
	const auto turn_round = [](rte_mbuf *m, uint64_t) { fg_net_reflect(data(m), m->data_len); };
	const auto masquerade = [](rte_mbuf *m, uint64_t) {
		tag(m, 0);
		memcpy(data(m) + 30, "\xc6\x13\x01\x01", 4);
		put16(data(m) + 38, 40000);
	};
	Template frame = TestFrame(128);

	for (bool turned : {false, true}) {
		fg_translation none = turned ? Loop(turn_round).Send(frame).translation
					     : Loop(as_it_is).Send(frame).translation;
		EXPECT_FALSE(none.source || none.destination) << turned;
	}
	fg_translation t = Loop(masquerade).Send(frame).translation;
	EXPECT_TRUE(t.source && t.ports);
	EXPECT_FALSE(t.destination);
	EXPECT_EQ(4u, t.version);
	EXPECT_EQ(0, memcmp(t.source_ip, "\xc6\x13\x01\x01", 4));
	EXPECT_EQ(40000u, t.source_port);
}

/* every tenth frame is stamped a microsecond before the one ahead of it, and half a second of them is lost */
TEST(EngineDevice, StampsThatStepBackHideNoOutage)
{
	static int offset;
	static uint64_t flag, before, after;
	LaneDevice east(1), west(1);

	ASSERT_EQ(0, rte_mbuf_dyn_rx_timestamp_register(&offset, &flag));
	east.caps.rx_timestamp = true;
	east.change = [last = uint64_t(0)](rte_mbuf *m, uint64_t n) mutable {
		uint64_t now = rte_rdtsc();

		before = n == 499 ? now : before;
		after = n == 1000 ? now : after;
		*RTE_MBUF_DYNFIELD(m, offset, uint64_t *) =
			n % 10 == 5 ? last - rte_get_tsc_hz() / 1000000 : now;
		last = now;
		m->ol_flags |= flag;
		if (n >= 500 && n < 1000)
			put16(data(m) + m->data_len - 18, 0); /* its signature is gone */
	};
	Engine engine(one_lcore(), &east, &west);
	Template frame = TestFrame(64);

	engine.RunOut({{0, 0, frame, {{1000, 1500}}}}, [&] { return east.Empty(); });
	fg_stream_result r = engine.Result(0);
	EXPECT_EQ(500, r.lost);
	/* as it was stamped: shorter than half a second where the tester was held up and sent late */
	const double gap = 1e9 * static_cast<double>(after - before) / static_cast<double>(rte_get_tsc_hz());
	EXPECT_GT(static_cast<double>(r.longest_gap_ns), 0.99 * gap);
	EXPECT_LT(r.longest_gap_ns, 10000000000u);
	EXPECT_GT(static_cast<double>(r.loss.longest_outage_ns), 0.99 * gap - 2e6);
	EXPECT_LE(r.loss.longest_outage_ns, r.longest_gap_ns);
}
