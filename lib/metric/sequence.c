/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tracker of one stream, everything but the frame that comes in order.
 *
 * Which numbers came is kept in words of 64 bits. `head` is the word that `next` belongs to; the W/64 words
 * before it stand in a ring. When `next` enters a new word, the oldest leaves the ring, and what it still
 * misses is lost for good: the runs of missing numbers are counted there, a word at a time, so that numbers
 * in order cost nothing. Words before the first number are full, so that nothing is missed there.
 *
 * A second ring of words has the numbers that came more than once; only a copy reads it. Late arrivals go to
 * order.c. Where the window is large, rank.c counts by groups of words, so that neither a late frame nor a
 * long outage takes time in proportion to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sequence_priv.h"

enum {
	POINTS_MIN = FG_ORDER_DEGREES, /* a jump before those remembered is further away than any degree */
	POINTS_FEW = 1024,
};

static uint32_t
words_for(unsigned window)
{
	if (window < 64 || window > FG_SEQUENCE_WINDOW_MAX || (window & (window - 1)) != 0)
		return 0;
	return window / 64;
}

static unsigned
points_for(unsigned window)
{
	unsigned points = window / 64 < POINTS_FEW ? window / 64 : POINTS_FEW;

	points = window / 256 > points ? window / 256 : points;
	return points < POINTS_MIN ? POINTS_MIN : points;
}

size_t
fg_sequence_size_apart(unsigned window, unsigned points)
{
	uint32_t words = words_for(window);
	size_t size = 2 * words * sizeof(uint64_t) + points * sizeof(struct fg_order_point);

	return words == 0 ? 0 : (size + rank_size(words) + 63) & ~(size_t)63;
}

size_t
fg_sequence_size(unsigned window)
{
	size_t apart = fg_sequence_size_apart(window, points_for(window));

	return apart == 0 ? 0 : sizeof(struct fg_sequence) + apart;
}

int
fg_sequence_init_apart(struct fg_sequence *t, unsigned window, unsigned points, void *apart, uint64_t first,
		       struct fg_error *err)
{
	uint32_t words = words_for(window);

	if (words == 0)
		return fg_error_set(err, EINVAL, "sequence.window",
				    "%u numbers is not a power of two from 64 to %u", window,
				    FG_SEQUENCE_WINDOW_MAX);
	t->word_mask = words - 1;
	t->point_mask = points - 1;
	t->words = (ptrdiff_t)((uintptr_t)apart - (uintptr_t)t);
	fg_sequence_reset(t, first);
	return 0;
}

int
fg_sequence_init(struct fg_sequence *t, unsigned window, uint64_t first, struct fg_error *err)
{
	return fg_sequence_init_apart(t, window, points_for(window), t + 1, first, err);
}

struct fg_sequence *
fg_sequence_create(unsigned window, uint64_t first, struct fg_error *err)
{
	size_t size = fg_sequence_size(window);
	struct fg_sequence *t = aligned_alloc(64, size == 0 ? 64 : size);

	if (t == NULL) {
		fg_error_set(err, ENOMEM, "sequence", "no memory for %zu bytes", size);
		return NULL;
	}
	if (fg_sequence_init(t, window, first, err) != 0) {
		free(t);
		return NULL;
	}
	return t;
}

void
fg_sequence_free(struct fg_sequence *t)
{
	free(t);
}

void
fg_sequence_reset(struct fg_sequence *t, uint64_t first)
{
	uint32_t words = t->word_mask + 1, points = t->point_mask + 1;
	ptrdiff_t place = t->words;

	memset(t, 0, sizeof(*t));
	t->word_mask = words - 1;
	t->point_mask = points - 1;
	t->words = place;
	t->first = first;
	t->next = first;
	t->head = (1ULL << (first & 63)) - 1;
	memset(words_of(t), 0, fg_sequence_size_apart(words * 64, points));
	memset(words_of(t), 0xff, words * sizeof(uint64_t));
	rank_fill(t, true);
}

/* runs and distances are classed by their order of magnitude */
static unsigned
length_class(uint64_t n)
{
	unsigned log2 = 63 ^ (unsigned)__builtin_clzll(n);

	return log2 < FG_LOSS_CLASSES ? log2 : FG_LOSS_CLASSES - 1;
}

/* @p n more numbers are missing */
static void
lengthen_run(struct fg_sequence_bursts *b, uint64_t n)
{
	if (b->run == 0 && b->count > 0)
		b->distances[length_class(b->after + 1)]++;
	b->run += n;
	b->after = 0;
}

static void
end_run(struct fg_sequence_bursts *b)
{
	if (b->run == 0)
		return;
	b->count++;
	b->total += b->run;
	b->lengths[length_class(b->run)]++;
	b->max = b->run > b->max ? b->run : b->max;
	b->run = 0;
}

/* Count the runs among the next @p n numbers, at most 64; the lowest bit is the first of them. */
static void
count_runs(struct fg_sequence_bursts *b, uint64_t came, unsigned n)
{
	unsigned alike;

	while (n > 0) {
		alike = came == 0 ? 64 : (unsigned)__builtin_ctzll(came);
		if (alike > 0)
			lengthen_run(b, alike < n ? alike : n);
		if (alike >= n)
			return;
		end_run(b);
		came >>= alike;
		n -= alike;
		alike = came == UINT64_MAX ? 64 : (unsigned)__builtin_ctzll(~came);
		b->after += alike < n ? alike : n;
		if (alike >= n)
			return;
		came >>= alike;
		n -= alike;
	}
}

/* Leave word @p at: it goes into the ring, where the oldest makes room. */
static void
turn_word(struct fg_sequence *t, uint64_t at)
{
	uint64_t *slot = &words_of(t)[at & t->word_mask];

	if (__builtin_expect(*slot == UINT64_MAX && t->bursts.run == 0, 1))
		t->bursts.after += 64;
	else
		count_runs(&t->bursts, *slot, 64);
	*slot = t->head;
	t->head = 0;
	twice_of(t)[at & t->word_mask] = t->head_twice;
	t->head_twice = 0;
	if ((at & (GROUP - 1)) == GROUP - 1 && rank_is_kept(t))
		rank_close(t, at);
}

/* Leave a whole block at once, which begins with word @p at, if that which makes room is full or empty. */
static bool
turn_block(struct fg_sequence *t, uint64_t at)
{
	uint64_t slot = at & t->word_mask;
	unsigned came = rank_of_oldest(t, at);

	if (came == 0) {
		lengthen_run(&t->bursts, GROUP * 64);
	} else if (came == GROUP * 64) {
		end_run(&t->bursts);
		t->bursts.after += GROUP * 64;
	} else {
		return false;
	}
	memset(&words_of(t)[slot], 0, GROUP * sizeof(uint64_t));
	memset(&twice_of(t)[slot], 0, GROUP * sizeof(uint64_t));
	rank_close(t, at + GROUP - 1);
	return true;
}

/* From word @p from to word @p to. However far, only as many words as there are need to be looked at. */
static void
skip_words(struct fg_sequence *t, uint64_t from, uint64_t to)
{
	/* the ring and the head: then nothing is left but missing numbers */
	uint64_t all = t->word_mask + 2ULL, steps = to - from, i = 0;

	while (i < steps && i < all) {
		uint64_t at = from + i;

		/* the first word is the head, and has numbers that came */
		if (i > 0 && (at & (GROUP - 1)) == 0 && to - at >= GROUP && i + GROUP <= all &&
		    rank_is_kept(t) && turn_block(t, at)) {
			i += GROUP;
		} else {
			turn_word(t, at);
			i++;
		}
	}
	if (steps <= all)
		return;
	lengthen_run(&t->bursts, (steps - all) * 64);
	rank_fill(t, false);
}

/* A number above the one expected: those between may be lost, or come late. */
static void
jump(struct fg_sequence *t, uint64_t number, uint64_t now)
{
	order_jump(t, number, now);
	skip_words(t, t->next >> 6, number >> 6);
}

static void
count_copy(struct fg_sequence *t, uint64_t *twice, uint64_t bit)
{
	t->duplicates++;
	t->duplicated += (*twice & bit) == 0;
	*twice |= bit;
}

/* A number not ahead of the received ones: late, a copy, or not of the stream. */
static bool
observe_behind(struct fg_sequence *t, uint64_t number, uint64_t now)
{
	uint64_t window = (t->word_mask + 1ULL) * 64;
	uint64_t at = number >> 6, bit = 1ULL << (number & 63);
	bool in_head = at == t->next >> 6;
	uint64_t *word = in_head ? &t->head : &words_of(t)[at & t->word_mask];

	if (number < t->first || number > t->next || t->next - number > window) {
		t->stale++;
		return false;
	}
	if (*word & bit) {
		count_copy(t, in_head ? &t->head_twice : &twice_of(t)[at & t->word_mask], bit);
		return false;
	}
	*word |= bit;
	rank_add(t, at);
	t->unique++;
	t->reordered++;
	order_late(t, number, rank_above(t, number), now);
	return true;
}

bool
fg_sequence_observe_slow(struct fg_sequence *t, uint64_t number, uint64_t now)
{
	/* no sender can be 2^63 or more ahead: such a number counts as behind, and as stale */
	if (number - t->next > INT64_MAX)
		return observe_behind(t, number, now);
	if (number != t->next)
		jump(t, number, now);
	t->unique++;
	t->head |= 1ULL << (number & 63);
	t->next = number + 1;
	if ((t->next & 63) == 0)
		turn_word(t, number >> 6);
	return true;
}

/* The bursts that have left the window, those in it, and what is missing at the end. */
static struct fg_sequence_bursts
all_bursts(const struct fg_sequence *t, uint64_t end)
{
	struct fg_sequence_bursts b = t->bursts;

	for (uint64_t i = 0; i <= t->word_mask; i++)
		count_runs(&b, words_of(t)[((t->next >> 6) + i) & t->word_mask], 64);
	count_runs(&b, t->head, t->next & 63);
	if (end > t->next)
		lengthen_run(&b, end - t->next);
	end_run(&b);
	return b;
}

void
fg_sequence_read(const struct fg_sequence *t, uint64_t sent, struct fg_sequence_counts *out)
{
	uint64_t end = t->first + sent;
	struct fg_sequence_bursts bursts = all_bursts(t, end);

	out->sent = sent;
	out->received = t->unique + t->duplicates + t->stale;
	out->unique = t->unique;
	out->duplicates = t->duplicates;
	out->duplicated = t->duplicated;
	out->stale = t->stale;
	out->lost = (int64_t)(sent - t->unique);
	out->excess = t->next > end ? t->next - end : 0;
	out->bursts = bursts.count;
	out->burst_max = bursts.max;
	out->burst_total = bursts.total;
	out->last_lost = (end > t->next ? end : t->next) - 1 - bursts.after;
	out->reordered = t->reordered;
	memcpy(out->burst_lengths, bursts.lengths, sizeof(out->burst_lengths));
	memcpy(out->burst_distances, bursts.distances, sizeof(out->burst_distances));
	order_read(t, &out->order);
}

void
fg_sequence_counts_add(struct fg_sequence_counts *total, const struct fg_sequence_counts *one)
{
	total->sent += one->sent;
	total->received += one->received;
	total->unique += one->unique;
	total->duplicates += one->duplicates;
	total->duplicated += one->duplicated;
	total->stale += one->stale;
	total->lost += one->lost;
	total->excess += one->excess;
	total->bursts += one->bursts;
	total->burst_total += one->burst_total;
	total->reordered += one->reordered;
	raise_to(&total->burst_max, one->burst_max);
	raise_to(&total->last_lost, one->last_lost);
	for (unsigned i = 0; i < FG_LOSS_CLASSES; i++) {
		total->burst_lengths[i] += one->burst_lengths[i];
		total->burst_distances[i] += one->burst_distances[i];
	}
	if (one->reordered > one->order.extent_beyond)
		total->order.extent_last = one->order.extent_last;
	order_add(&total->order, &one->order);
}
