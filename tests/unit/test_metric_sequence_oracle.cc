/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "draws.h"
#include "fg_sequence.h"
#include "sequence_tracker.h"

namespace
{

/*
 * The definitions of RFC 4737, RFC 5560 and RFC 7680 word by word, on the whole list of arrivals. What the
 * tracker may forget is put in where it is documented: the window and the last K discontinuities.
 */
class Oracle
{
      public:
	Oracle(unsigned window, uint64_t first) : window(window), first(first), next(first)
	{
	}

	bool
	observe(uint64_t number, uint64_t time)
	{
		r.received++;
		if (number < first || number + window < next) {
			r.stale++;
			return false;
		}
		seen.resize(std::max(seen.size(), size_t(number) + 1));
		if (seen[number]) {
			r.duplicates++;
			r.duplicated += twice.insert(number).second;
			return false;
		}
		seen[number] = 1;
		r.unique++;
		unique.push_back({number, time});
		if (number >= next) {
			if (number > next) {
				r.order.discontinuities++;
				jumps.push_back(unique.size() - 1);
			}
			next = number + 1;
			r.order.in_order++;
			run++;
			return true;
		}
		r.reordered++;
		r.order.runs++;
		r.order.run_squares += run * run;
		run = 0;
		offset();
		degree();
		extent();
		return true;
	}

	fg_sequence_counts
	result(uint64_t sent)
	{
		uint64_t missing = 0, end = std::max(first + sent, next), last = 0;

		r.sent = sent;
		r.lost = (int64_t)sent - (int64_t)r.unique;
		r.excess = next > first + sent ? next - first - sent : 0;
		r.bursts = r.burst_max = r.burst_total = 0;
		memset(r.burst_lengths, 0, sizeof(r.burst_lengths));
		memset(r.burst_distances, 0, sizeof(r.burst_distances));
		for (uint64_t n = first; n <= end; n++) {
			if (n < end && !(n < seen.size() && seen[n])) {
				if (missing++ == 0 && r.bursts > 0)
					r.burst_distances[magnitude(n - last)]++;
				last = n;
				continue;
			}
			if (missing == 0)
				continue;
			r.bursts++;
			r.burst_total += missing;
			r.burst_max = std::max(r.burst_max, missing);
			r.burst_lengths[magnitude(missing)]++;
			missing = 0;
		}
		gaps();
		return r;
	}

      private:
	static unsigned
	magnitude(uint64_t n)
	{
		unsigned i = 0;

		while (i + 1 < FG_LOSS_CLASSES && n >= 2ULL << i)
			i++;
		return i;
	}

	void
	offset()
	{
		const Arrival *last = &unique.back();
		uint64_t above = 0;

		for (const Arrival *a = unique.data(); a < last; a++)
			above += a->number > last->number;
		r.order.offset_sum += above;
		r.order.offset_max = std::max(r.order.offset_max, above);
	}

	/* "s[j] > s[i] for all j such that i - n <= j < i" */
	void
	degree()
	{
		size_t i = unique.size() - 1;

		for (size_t n = 1; n <= FG_ORDER_DEGREES && n <= i && unique[i - n].number > unique[i].number;
		     n++)
			r.order.n_reordered[n - 1]++;
	}

	/* between those discontinuities that made something reordered, one after the other */
	void
	gaps()
	{
		const size_t *before = nullptr;

		r.order.gaps = r.order.gap_min = r.order.gap_max = r.order.gap_sum = r.order.gap_time_sum = 0;
		for (const size_t &j : made_late) {
			if (before != nullptr) {
				uint64_t gap = j - *before;

				r.order.gap_min = r.order.gaps == 0 ? gap : std::min(r.order.gap_min, gap);
				r.order.gap_max = std::max(r.order.gap_max, gap);
				r.order.gap_sum += gap;
				r.order.gap_time_sum += unique[j].time - unique[*before].time;
				r.order.gaps++;
			}
			before = &j;
		}
	}

	/* "the smallest j < i with s[j] > s[i]", of the arrival that came last */
	void
	extent()
	{
		size_t i = unique.size() - 1, j = 0;
		size_t kept = std::max(16u, window / 64);

		for (const Arrival *a = unique.data(); a[j].number < a[i].number;)
			j++;
		ASSERT_NE(jumps.end(), std::find(jumps.begin(), jumps.end(), j));
		if (jumps.size() > kept && j < jumps[jumps.size() - kept]) {
			r.order.extent_beyond++;
			return;
		}
		made_late.insert(j);
		r.order.extent_last = i - j;
		r.order.extent_sum += i - j;
		r.order.extent_max = std::max<uint64_t>(r.order.extent_max, i - j);
		r.order.late_max = std::max(r.order.late_max, unique[i].time - unique[j].time);
	}

	unsigned window;
	uint64_t first, next, run = 0;
	std::vector<char> seen; /* by number */
	std::set<uint64_t> twice;
	std::set<size_t> made_late; /* indexes of arrivals */
	std::vector<Arrival> unique;
	std::vector<size_t> jumps;
	fg_sequence_counts r = {};
};

/* A network that delays, loses, repeats and now and then loses a lot. */
struct Network {
	unsigned delay;    /* places, at most */
	unsigned delayed;  /* of 100 frames */
	unsigned lost;     /* of 100 */
	unsigned repeated; /* of 100 */
	unsigned outage;   /* numbers lost in a row, of 1 in 100 frames */
};

std::vector<uint64_t>
carry(const Network &network, uint64_t first, uint64_t sent, std::mt19937 &random)
{
	std::vector<std::pair<uint64_t, uint64_t>> order;
	std::vector<uint64_t> arrivals;
	auto percent = [&](unsigned share) { return random() % 100 < share; };

	for (uint64_t n = first; n < first + sent; n++) {
		if (network.outage > 0 && percent(1))
			n += random() % network.outage;
		if (n >= first + sent || percent(network.lost))
			continue;
		do
			order.push_back({n + (percent(network.delayed) ? random() % network.delay : 0), n});
		while (percent(network.repeated));
	}
	std::stable_sort(order.begin(), order.end(),
			 [](const auto &a, const auto &b) { return a.first < b.first; });
	for (const auto &o : order)
		arrivals.push_back(o.second);
	return arrivals;
}

void
expect_equal(const fg_sequence_counts &want, const struct fg_sequence_counts &got)
{
	EXPECT_EQ(want.sent, got.sent);
	EXPECT_EQ(want.received, got.received);
	EXPECT_EQ(want.unique, got.unique);
	EXPECT_EQ(want.duplicates, got.duplicates);
	EXPECT_EQ(want.duplicated, got.duplicated);
	EXPECT_EQ(want.stale, got.stale);
	EXPECT_EQ(want.lost, got.lost);
	EXPECT_EQ(want.excess, got.excess);
	EXPECT_EQ(want.bursts, got.bursts);
	EXPECT_EQ(want.burst_max, got.burst_max);
	EXPECT_EQ(want.burst_total, got.burst_total);
	EXPECT_EQ(want.reordered, got.reordered);
	EXPECT_EQ(want.order.discontinuities, got.order.discontinuities);
	EXPECT_EQ(want.order.extent_last, got.order.extent_last);
	EXPECT_EQ(want.order.extent_max, got.order.extent_max);
	EXPECT_EQ(want.order.extent_sum, got.order.extent_sum);
	EXPECT_EQ(want.order.extent_beyond, got.order.extent_beyond);
	EXPECT_EQ(want.order.late_max, got.order.late_max);
	EXPECT_EQ(want.order.offset_max, got.order.offset_max);
	EXPECT_EQ(want.order.offset_sum, got.order.offset_sum);
	EXPECT_EQ(want.order.gaps, got.order.gaps);
	EXPECT_EQ(want.order.gap_min, got.order.gap_min);
	EXPECT_EQ(want.order.gap_max, got.order.gap_max);
	EXPECT_EQ(want.order.gap_sum, got.order.gap_sum);
	EXPECT_EQ(want.order.gap_time_sum, got.order.gap_time_sum);
	EXPECT_EQ(want.order.runs, got.order.runs);
	EXPECT_EQ(want.order.in_order, got.order.in_order);
	EXPECT_EQ(want.order.run_squares, got.order.run_squares);
	for (unsigned i = 0; i < FG_ORDER_DEGREES; i++)
		EXPECT_EQ(want.order.n_reordered[i], got.order.n_reordered[i]) << i + 1 << "-reordering";
	for (unsigned i = 0; i < FG_LOSS_CLASSES; i++) {
		EXPECT_EQ(want.burst_lengths[i], got.burst_lengths[i]) << "length 2^" << i;
		EXPECT_EQ(want.burst_distances[i], got.burst_distances[i]) << "distance 2^" << i;
	}
}

class SequenceOracle : public testing::TestWithParam<Network>
{
};

TEST_P(SequenceOracle, AgreesWithTheDefinitions)
{
	for (unsigned seed = 0; seed < draws(1000) && !HasFailure(); seed++) {
		std::mt19937 random(seed);
		unsigned window = 64u << random() % 4;
		uint64_t first = random() % 300, sent = random() % 800, now = 0;
		Tracker t = make(window, first);
		Oracle oracle(window, first);

		SCOPED_TRACE("seed " + std::to_string(seed) + ", window " + std::to_string(window));
		for (uint64_t number : carry(GetParam(), first, sent, random)) {
			now += random() % 10;
			ASSERT_EQ(oracle.observe(number, now), fg_sequence_observe(t.get(), number, now));
		}
		expect_equal(oracle.result(sent), result(t, sent));
		expect_equal(oracle.result(sent / 2), result(t, sent / 2));
		expect_equal(oracle.result(sent + 100), result(t, sent + 100));
	}
}

INSTANTIATE_TEST_SUITE_P(Networks, SequenceOracle,
			 testing::Values(Network{1, 0, 0, 0, 0}, Network{1, 0, 5, 0, 0},
					 Network{5, 20, 0, 0, 0}, Network{50, 50, 10, 10, 0},
					 Network{1000, 100, 0, 0, 0}, Network{1000, 100, 20, 30, 0},
					 Network{200, 30, 2, 5, 500}, Network{70, 5, 60, 50, 3000},
					 Network{10, 10, 95, 90, 0}));

} // namespace
