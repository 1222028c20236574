/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SEQUENCE_TRACKER_H
#define SEQUENCE_TRACKER_H

/* Arrivals, and a sequence tracker that frees itself, for the tests of lib/metric. */
#include <cstring>
#include <memory>

#include "fg_sequence.h"

namespace
{

struct Arrival {
	uint64_t number;
	uint64_t time;
};

struct Free {
	void
	operator()(fg_sequence *t) const
	{
		fg_sequence_free(t);
	}
};
using Tracker = std::unique_ptr<fg_sequence, Free>;

Tracker
make(unsigned window, uint64_t first)
{
	return Tracker(fg_sequence_create(window, first, nullptr));
}

fg_sequence_counts
result(const Tracker &t, uint64_t sent)
{
	fg_sequence_counts r;

	memset(&r, 0xa5, sizeof(r));
	fg_sequence_read(t.get(), sent, &r);
	return r;
}

} // namespace

#endif
