/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HyStart++ (RFC 9406): leave the first slow start before it fills the queue and loses much of a window. A
 * round is a window of data; when the least round trip of a round is longer than in the round before by
 * an eighth (4 to 16 ms), a queue has begun to grow, and the window grows a quarter as fast (conservative
 * slow start). If the round trip gets shorter again that was a false alarm; after five rounds congestion
 * avoidance begins.
 *
 * Round trips are measured by timestamps, one per acknowledgement, in milliseconds; without timestamps there
 * are too few, and slow start ends with a loss. The state shares its memory with congestion avoidance, which
 * begins later.
 */
#include "congestion_priv.h"

enum {
	DIVISOR = 8,
	LEAST_MS = 4,
	MOST_MS = 16,
	SAMPLES = 8, /* samples of a round before it is judged */
	ROUNDS = 5,
	UNKNOWN = UINT16_MAX,
};

void
hystart_begin(struct conn *c)
{
	c->hystart = (struct hystart){
		.round_end = c->snd_nxt, .last_ms = UNKNOWN, .least_ms = UNKNOWN, .baseline_ms = UNKNOWN};
}

bool
hystart_is_cautious(const struct conn *c)
{
	return c->hystart.rounds > 0;
}

static void
next_round(struct conn *c)
{
	struct hystart *h = &c->hystart;

	h->round_end = c->snd_nxt;
	h->last_ms = h->least_ms;
	h->least_ms = UNKNOWN;
	h->samples = 0;
	if (h->rounds > 0 && h->rounds++ == ROUNDS) {
		c->ssthresh = c->cwnd;
		congestion_forget(c);
	}
}

/* has a queue begun to grow, or was that a false alarm? */
static void
judge(struct conn *c)
{
	struct hystart *h = &c->hystart;
	uint32_t more = fg_u32_max(LEAST_MS, fg_u32_min(h->last_ms / DIVISOR, MOST_MS));

	if (h->samples < SAMPLES || h->least_ms == UNKNOWN)
		return;
	if (h->rounds > 0 && h->least_ms < h->baseline_ms) {
		h->rounds = 0;
		h->baseline_ms = UNKNOWN;
	} else if (h->rounds == 0 && h->last_ms != UNKNOWN && h->least_ms >= h->last_ms + more) {
		h->rounds = 1;
		h->baseline_ms = h->least_ms;
	}
}

void
hystart_acked(const struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	struct hystart *h = &c->hystart;
	uint32_t ms = now_ms(w) + c->ts_offset - s->tsecr;

	if (seq_lt(h->round_end, c->snd_una))
		next_round(c);
	if (c->ssthresh != UINT32_MAX)
		return;
	if (c->flags & USE_TS && s->has_ts && s->tsecr != 0 && ms < UNKNOWN) {
		h->least_ms = (uint16_t)fg_u32_min(h->least_ms, ms);
		h->samples += h->samples < SAMPLES;
	}
	judge(c);
}
