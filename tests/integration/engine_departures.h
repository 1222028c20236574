/* SPDX-License-Identifier: BSD-3-Clause */
/* Every test frame that arrived, as the tap saw it, and streams of several sizes. */
#ifndef ENGINE_DEPARTURES_H
#define ENGINE_DEPARTURES_H

#include <rte_mbuf.h>

#include "engine_on_wire.h"
#include "fg_signature.h"
#include "fg_sizes.h"

/* when frame number so-and-so left, by its own stamp */
struct Departure {
	uint16_t stream;
	uint64_t number, ns, arrival_ns;
	unsigned size;
};

struct Watch : fg_tap {
	Watch() : fg_tap{see_it}
	{
	}
	static void
	see_it(fg_tap *tap, rte_mbuf *const *frames, const uint64_t *arrival_ns, unsigned n)
	{
		auto *w = static_cast<Watch *>(tap);

		for (unsigned i = 0; i < n; i++) {
			const rte_mbuf *m = frames[i];
			fg_signature s;

			if (fg_signature_read(rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len), m->data_len,
					      &s))
				w->list.push_back(
					{s.stream, s.sequence, s.time_ns, arrival_ns[i], m->pkt_len + 4});
		}
	}
	std::vector<Departure> list;
};

/* a cycle of sizes with a frame for each */
class Mix
{
      public:
	explicit Mix(const std::vector<uint16_t> &cycle)
	{
		EXPECT_EQ(0, fg_sizes_create(cycle.data(), unsigned(cycle.size()), &sizes, nullptr));
		for (unsigned k = 0; k < sizes->kinds; k++) {
			made.push_back(TestFrame(sizes->size[k]));
			frames.push_back(made.back().get());
		}
	}
	~Mix()
	{
		fg_sizes_free(sizes);
	}
	Mix(const Mix &) = delete;
	Mix &operator=(const Mix &) = delete;

	double
	Mean() const
	{
		return double(sizes->octets) / sizes->length;
	}

	fg_sizes *sizes = nullptr;
	std::vector<Template> made;
	std::vector<const fg_template *> frames;
};

/* a trial whose frames from port 0 to port 1 are watched */
inline uint64_t
run_watched(Bench &b, const std::vector<Stream> &streams, const Times &times, Watch &watch,
	    const std::function<void()> &before_start = {})
{
	uint64_t start_ns = 0;

	EXPECT_EQ(0, b.engine.Prepare(streams, times, 1000000, &start_ns, [&](fg_trial_config &c) {
		c.tap[1] = &watch;
	})) << b.engine.err.message;
	if (before_start)
		before_start();
	fg_engine_start(b.engine.Get());
	b.engine.Await();
	return start_ns;
}

#endif
