/* SPDX-License-Identifier: BSD-3-Clause */
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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
		if (!seen.insert(number).second) {
			r.duplicates++;
			return false;
		}
		r.unique++;
		unique.push_back({number, time});
		if (number >= next) {
			if (number > next) {
				r.discontinuities++;
				jumps.push_back(unique.size() - 1);
			}
			next = number + 1;
			return true;
		}
		r.reordered++;
		extent();
		return true;
	}

	fg_sequence_counts
	result(uint64_t sent)
	{
		uint64_t run = 0, end = std::max(first + sent, next);

		r.sent = sent;
		r.lost = (int64_t)sent - (int64_t)r.unique;
		r.excess = next > first + sent ? next - first - sent : 0;
		r.bursts = r.burst_max = r.burst_total = 0;
		for (uint64_t n = first; n <= end; n++) {
			if (n < end && !seen.count(n)) {
				run++;
				continue;
			}
			r.bursts += run > 0;
			r.burst_total += run;
			r.burst_max = std::max(r.burst_max, run);
			run = 0;
		}
		return r;
	}

      private:
	/* "the smallest j < i with s[j] > s[i]", of the arrival that came last */
	void
	extent()
	{
		size_t i = unique.size() - 1, j = 0;
		size_t kept = std::max(8u, window / 64);

		while (unique[j].number < unique[i].number)
			j++;
		ASSERT_NE(jumps.end(), std::find(jumps.begin(), jumps.end(), j));
		if (jumps.size() > kept && j < jumps[jumps.size() - kept]) {
			r.extent_beyond++;
			return;
		}
		r.extent_last = i - j;
		r.extent_sum += i - j;
		r.extent_max = std::max<uint64_t>(r.extent_max, i - j);
		r.late_max = std::max(r.late_max, unique[i].time - unique[j].time);
	}

	unsigned window;
	uint64_t first, next;
	std::set<uint64_t> seen;
	std::vector<Arrival> unique;
	std::vector<size_t> jumps;
	fg_sequence_counts r = {};
};

/* A network that delays, loses, repeats and now and then loses a lot. */
struct Network {
	unsigned delay;    /* at most so many places */
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
	EXPECT_EQ(want.stale, got.stale);
	EXPECT_EQ(want.lost, got.lost);
	EXPECT_EQ(want.excess, got.excess);
	EXPECT_EQ(want.bursts, got.bursts);
	EXPECT_EQ(want.burst_max, got.burst_max);
	EXPECT_EQ(want.burst_total, got.burst_total);
	EXPECT_EQ(want.reordered, got.reordered);
	EXPECT_EQ(want.discontinuities, got.discontinuities);
	EXPECT_EQ(want.extent_last, got.extent_last);
	EXPECT_EQ(want.extent_max, got.extent_max);
	EXPECT_EQ(want.extent_sum, got.extent_sum);
	EXPECT_EQ(want.extent_beyond, got.extent_beyond);
	EXPECT_EQ(want.late_max, got.late_max);
}

class SequenceOracle : public testing::TestWithParam<Network>
{
};

TEST_P(SequenceOracle, AgreesWithTheDefinitions)
{
	for (unsigned seed = 0; seed < 1000 && !HasFailure(); seed++) {
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
