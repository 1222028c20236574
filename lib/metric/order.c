/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late arrivals by RFC 4737.
 *
 * Extent, late time and gap of a reordered frame i need j, the first arrival with a larger number. No arrival
 * before j had a larger number than i, so j was in order; and it jumped over i's number, which was still
 * missing: j is one of the discontinuities. They are few, with growing numbers, and the last K of them are
 * kept. One that leaves is accounted for in the gaps then, so that these come in the order of their begin,
 * whatever came late into which.
 *
 * n-reordering asks how many arrivals just before i had a larger number. Between j and i, only late arrivals
 * can have a smaller one, and of those the last few are kept.
 */
#include "sequence_priv.h"

static struct fg_order_point *
point_at(const struct fg_sequence *t, uint64_t index)
{
	return points_of(t) + (index & t->point_mask);
}

/* the next reordering discontinuity, if it is one */
static void
count_gap(struct fg_order_gaps *g, const struct fg_order_point *point)
{
	uint64_t gap = point->index - g->index;

	if (!point->awaited)
		return;
	if (g->points > 0) {
		g->total += gap;
		g->time_total += point->time - g->time;
		g->max = gap > g->max ? gap : g->max;
		g->min = g->points == 1 || gap < g->min ? gap : g->min;
	}
	g->points++;
	g->index = point->index;
	g->time = point->time;
}

void
order_jump(struct fg_sequence *t, uint64_t number, uint64_t now)
{
	struct fg_order *o = &t->order;
	struct fg_order_point *point = point_at(t, o->discontinuities);

	if (o->discontinuities > t->point_mask) {
		o->forgotten = point->number;
		count_gap(&o->gaps, point);
	}
	*point = (struct fg_order_point){.number = number, .index = t->unique + 1, .time = now};
	o->discontinuities++;
}

static void
measure_extent(struct fg_sequence *t, uint64_t number, uint64_t now)
{
	struct fg_order *o = &t->order;
	uint64_t kept = t->point_mask + 1ULL;
	uint64_t at = o->discontinuities > kept ? o->discontinuities - kept : 0;
	struct fg_order_point *point;

	if (number < o->forgotten) {
		o->extent_beyond++;
		return;
	}
	for (uint64_t last = o->discontinuities - 1;
	     at < last;) { /* the first above it: their numbers grow */
		uint64_t middle = at + (last - at) / 2;

		if (point_at(t, middle)->number > number)
			last = middle;
		else
			at = middle + 1;
	}
	point = point_at(t, at);
	point->awaited = 1;
	o->extent_last = t->unique - point->index;
	o->extent_sum += o->extent_last;
	raise_to(&o->extent_max, o->extent_last);
	raise_to(&o->late_max, now - point->time);
}

/* how many arrivals just before this one had larger numbers, as far as it is told apart */
static void
measure_degree(struct fg_sequence *t, uint64_t number)
{
	struct fg_order *o = &t->order;
	uint64_t index = t->unique, before = t->reordered - 1, degree = index - 1;

	for (uint64_t i = before; i > 0 && before - i < FG_ORDER_DEGREES; i--) {
		uint64_t at = (i - 1) % FG_ORDER_DEGREES;

		if (o->late[at].number < number) {
			degree = index - 1 - o->late[at].index;
			break;
		}
	}
	/* but not beyond j, before which all numbers were smaller */
	if (o->extent_last < degree && number >= o->forgotten)
		degree = o->extent_last;
	if (degree > 0)
		o->degrees[degree < FG_ORDER_DEGREES ? degree - 1 : FG_ORDER_DEGREES - 1]++;
	o->late[before % FG_ORDER_DEGREES].number = number;
	o->late[before % FG_ORDER_DEGREES].index = index;
}

void
order_late(struct fg_sequence *t, uint64_t number, uint64_t above, uint64_t now)
{
	struct fg_order *o = &t->order;
	uint64_t in_order = t->unique - t->reordered, run = in_order - o->run_begin;

	o->runs++;
	o->run_squares += run * run;
	o->run_begin = in_order;
	o->offset_sum += above;
	raise_to(&o->offset_max, above);
	measure_extent(t, number, now);
	measure_degree(t, number);
}

static void
gaps_read(const struct fg_sequence *t, struct fg_order_counts *out)
{
	struct fg_order_gaps gaps = t->order.gaps;
	uint64_t n = t->order.discontinuities, kept = t->point_mask + 1ULL;

	for (uint64_t i = n > kept ? n - kept : 0; i < n; i++)
		count_gap(&gaps, point_at(t, i));
	out->gaps = gaps.points > 1 ? gaps.points - 1 : 0;
	out->gap_min = gaps.min;
	out->gap_max = gaps.max;
	out->gap_sum = gaps.total;
	out->gap_time_sum = gaps.time_total;
}

void
order_read(const struct fg_sequence *t, struct fg_order_counts *out)
{
	const struct fg_order *o = &t->order;
	uint64_t n = 0;

	out->discontinuities = o->discontinuities;
	out->extent_last = o->extent_last;
	out->extent_max = o->extent_max;
	out->extent_sum = o->extent_sum;
	out->extent_beyond = o->extent_beyond;
	out->late_max = o->late_max;
	out->offset_max = o->offset_max;
	out->offset_sum = o->offset_sum;
	out->runs = o->runs;
	out->in_order = t->unique - t->reordered;
	out->run_squares = o->run_squares;
	gaps_read(t, out);
	/* a frame reordered by this extent is reordered by less, too */
	for (unsigned i = FG_ORDER_DEGREES; i-- > 0;)
		out->n_reordered[i] = n += o->degrees[i];
}

void
order_add(struct fg_order_counts *total, const struct fg_order_counts *one)
{
	total->discontinuities += one->discontinuities;
	raise_to(&total->extent_max, one->extent_max);
	total->extent_sum += one->extent_sum;
	total->extent_beyond += one->extent_beyond;
	raise_to(&total->late_max, one->late_max);
	raise_to(&total->offset_max, one->offset_max);
	total->offset_sum += one->offset_sum;
	if (one->gaps > 0 && (total->gaps == 0 || one->gap_min < total->gap_min))
		total->gap_min = one->gap_min;
	raise_to(&total->gap_max, one->gap_max);
	total->gaps += one->gaps;
	total->gap_sum += one->gap_sum;
	total->gap_time_sum += one->gap_time_sum;
	total->runs += one->runs;
	total->in_order += one->in_order;
	total->run_squares += one->run_squares;
	for (unsigned i = 0; i < FG_ORDER_DEGREES; i++)
		total->n_reordered[i] += one->n_reordered[i];
}
