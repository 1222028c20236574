// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include "data_plane.h"

extern "C" {
#include "rx_batch.h"
}

namespace
{

const unsigned STREAMS = 100; /* enough for batches */
const uint16_t FIRST_ID = 40;
const int TIME_OFFSET = RTE_ALIGN_CEIL(offsetof(rte_mbuf, dynfield1), 8); /* as DPDK would place it */

struct Frame {
	unsigned stream;
	uint64_t number, arrival_ns, delay_ns;
};

/** Hands out test frames that it is given. */
struct Source : fg_port {
	explicit Source(const fg_template *t) : fg_port{}, frame(t)
	{
		caps.rx_timestamp = true;
		rx = [](fg_port *port, rte_mbuf **frames, uint16_t n, uint64_t) -> uint16_t {
			auto *s = static_cast<Source *>(port);
			uint16_t i = 0;

			for (; i < n && s->next < s->list.size(); i++)
				frames[i] = s->Make(s->list[s->next++]);
			return i;
		};
	}
	rte_mbuf *
	Make(const Frame &f)
	{
		void *object = pool.free.back();
		auto *m = static_cast<rte_mbuf *>(object);

		pool.free.pop_back();
		m->data_off = RTE_PKTMBUF_HEADROOM;
		m->data_len = frame->length;
		m->pkt_len = frame->length;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), frame->bytes, frame->length);
		fg_signature_write(rte_pktmbuf_mtod(m, uint8_t *) + m->data_len,
				   uint16_t(FIRST_ID + f.stream), f.number, f.arrival_ns - f.delay_ns);
		*RTE_MBUF_DYNFIELD(m, TIME_OFFSET, uint64_t *) = f.arrival_ns * 1000;
		return m;
	}
	const fg_template *frame;
	Pool pool;
	std::vector<Frame> list;
	size_t next = 0;
};

struct Receiver {
	/** @p batches: else the same without them */
	Receiver(Senders &senders, bool batches) : port(senders.frame.t)
	{
		rx_task idle = {};
		rx_task_config c = {};
		fg_stream_config stream = {};
		rx_place place = {0, 1, 0, 1};

		idle.port = &port;
		idle.clock = &senders.clock;
		idle.time_offset = TIME_OFFSET;
		idle.standing = &standing;
		EXPECT_EQ(0, rx_idle_init(&idle, 0, 1));
		c.idle = &idle;
		c.queues = 1;
		c.mixed = !batches;
		c.first_id = FIRST_ID;
		stream.frame = senders.frame.t;
		stream.tags = 3;
		stream.tag_first = 5;
		stream.tag_every = 20;
		EXPECT_EQ(0, rx_alloc(&all, STREAMS, 0, 1, 0, nullptr));
		EXPECT_EQ(0, rx_task_init(&all, 0, &c, nullptr));
		for (unsigned i = 0; i < STREAMS; i++)
			EXPECT_EQ(0, rx_stream_init(&all, i, &stream, &place, &senders.all.stream[i], nullptr,
						    nullptr));
		EXPECT_EQ(batches, all.task[0].batches != nullptr);
	}
	~Receiver()
	{
		rx_free(&all);
	}
	void
	Take(const std::vector<Frame> &frames)
	{
		port.list = frames;
		while (port.next < port.list.size()) {
			all.task[0].task.poll(&all.task[0].task, 0);
			if (port.next % 7 == 0)
				rx_publish(&all.task[0].task, 0);
		}
		rx_settle(&all);
	}
	Source port;
	rx_tap standing = {};
	struct rx all;
};

std::vector<Frame>
on_a_bad_day(unsigned seed)
{
	std::vector<uint64_t> next(STREAMS);
	std::vector<Frame> frames;
	std::mt19937 random(seed);
	uint64_t now = 1000000000;

	for (unsigned i = 0; i < 20000; i++) {
		unsigned stream = i % STREAMS, chance = random() % 100;
		Frame f = {stream, next[stream]++, now += 100 + random() % 50, 1000 + random() % 1000};

		if (chance == 0)
			continue; /* lost */
		if (chance == 1)
			f.delay_ns = uint64_t(-5); /* the clocks differ */
		if (chance == 2)
			now += 1000000; /* an outage */
		frames.push_back(f);
		if (chance == 3)
			frames.push_back(f); /* twice */
		if (chance == 4 && frames.size() > 200)
			std::swap(frames.back().number, frames[frames.size() - 1 - STREAMS].number);
	}
	return frames;
}

TEST(RxBatch, MeasuresTheSameAsFrameByFrame)
{
	Senders senders(std::vector<double>(STREAMS, 100));

	for (unsigned seed = 1; seed <= 5; seed++) {
		Receiver batches(senders, true), plain(senders, false);
		std::vector<Frame> frames = on_a_bad_day(seed);

		batches.Take(frames);
		plain.Take(frames);
		EXPECT_EQ(frames.size(), batches.all.task[0].frames);
		EXPECT_EQ(plain.all.task[0].frames, batches.all.task[0].frames);
		ASSERT_EQ(0, memcmp(plain.all.measures.first, batches.all.measures.first,
				    STREAMS * plain.all.measures.each));
		for (unsigned i = 0; i < STREAMS; i++) {
			const rx_stream &a = batches.all.stream[i], &b = plain.all.stream[i];

			EXPECT_EQ(b.octets, a.octets);
			EXPECT_EQ(b.tagged, a.tagged);
			EXPECT_EQ(0, memcmp(b.tag, a.tag, b.tagged * sizeof(b.tag[0])));
			EXPECT_EQ(b.first_arrival, a.first_arrival);
			EXPECT_EQ(b.last_arrival, a.last_arrival);
			EXPECT_EQ(b.longest_gap, a.longest_gap);
			EXPECT_EQ(b.gap_begin, a.gap_begin);
		}
		EXPECT_EQ(256u, batches.port.pool.free.size()) << "every buffer comes back";
	}
}

TEST(RxBatch, FramesInOrderWaitTogetherUntilTheBatchIsFull)
{
	Senders senders(std::vector<double>(STREAMS, 100));
	Receiver r(senders, true);
	unsigned pending = 0;

	for (unsigned k = 0; k < 5; k++)
		r.port.list.push_back({8, k, 1000000000 + k * 1000, 500});
	r.all.task[0].task.poll(&r.all.task[0].task, 0);
	for (unsigned i = 0; i < STREAMS; i++)
		pending += r.all.batches[i].pending;
	EXPECT_EQ(5u, r.all.task[0].frames);
	EXPECT_EQ(5u, pending + r.all.stream[8].latency->count);
	EXPECT_LT(r.all.stream[8].latency->count, 5u);
	rx_settle(&r.all);
	EXPECT_EQ(5u, r.all.stream[8].latency->count);
}

} // namespace
