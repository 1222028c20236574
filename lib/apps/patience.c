/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests without an answer. While a client's stream waits, bytes have to move on it in either direction;
 * after config.patience_ns without any, the client resets the connection and counts a failure. The streams
 * are looked at a few at a time, so that neither a request nor a poll pays for it, and something is given up
 * up to a quarter of that time late. What waits when the trial ends is counted, too.
 *
 * The elapsed time is recorded as a lower bound of the transaction time. Otherwise a device that stops
 * answering would get better percentiles.
 */
#include "app_priv.h"
#include "fg_pool.h"

enum { AT_A_TIME = 1024, LOOKS = 8 };

/** A stream's last state, and the time of its last change. */
struct silence {
	uint32_t look, since; /* since: ms */
};

bool
patience_create(struct application *a)
{
	if (a->config.patience_ns == 0 || a->config.server || a->kind->waits == NULL)
		return true;
	a->silences = a->room + 1;
	a->silence = fg_memory_reserve(a->silences * sizeof(*a->silence));
	return a->silence != NULL;
}

void
patience_free(struct application *a)
{
	fg_memory_release(a->silence, a->silences * sizeof(*a->silence));
}

static uint32_t
now_ms(const struct fg_l4 *w)
{
	return (uint32_t)(w->now / 1000000);
}

/* another stream in the same place also has a different state */
static uint32_t
look_of(const struct fg_stream *s)
{
	return (uint32_t)(s->received * 0x9e3779b1 + s->acked * 0x85ebca77 + s->written * 0xc2b2ae3d) +
	       s->opened_at;
}

/* awaited answers; a handshake or a close counts as one */
static uint32_t
awaited(struct fg_l4 *w, const struct fg_stream *s)
{
	if (s->ended || !fg_stream_is_established(w, s))
		return 1;
	return application_of(w, s)->kind->waits(w, s, NULL);
}

/* @return ms since the last progress of an awaited answer */
static uint32_t
silence_of(struct fg_l4 *w, const struct fg_stream *s)
{
	const struct application *a = application_of(w, s);
	uint32_t number = fg_stream_number(w, s), look = look_of(s);
	struct silence *silence;

	if (number >= a->silences)
		return 0;
	silence = &a->silence[number];
	if (silence->look != look || awaited(w, s) == 0)
		*silence = (struct silence){look, now_ms(w)};
	return now_ms(w) - silence->since;
}

/* a handshake of TLS or QUIC has a time of its own, which begins when the connection below is there */
static bool
is_over(const struct fg_l4 *w, const struct fg_stream *s, uint32_t silent_ms)
{
	const struct application *a = application_of(w, s);
	uint64_t most = a->config.patience_ns;

	if (a->base.layer != NULL && !fg_stream_is_established(w, s))
		most += a->handshake_ns;
	return silent_ms * 1000000ULL >= most;
}

void
note_unanswered(struct fg_l4 *w, struct application *a, uint64_t since)
{
	if (since < w->measure_from || since >= w->stop_at)
		return;
	fg_histogram_record(a->transaction, (int64_t)(w->now - since));
	a->at_least++;
}

/* @return how the connection has ended */
static enum fg_l4_end
note_failure(struct fg_l4 *w, struct fg_stream *s)
{
	struct application *a = application_of(w, s);

	a->kind->waits(w, s, note_unanswered);
	if (!fg_stream_is_established(w, s) && !s->ended && a->base.layer == NULL)
		return FG_L4_END_NO_ANSWER;
	a->base.tally.expired += awaited(w, s);
	return FG_L4_END_EXPIRED;
}

static void
look_at(struct fg_l4 *w, struct fg_stream *s)
{
	struct application *a = application_of(w, s);
	uint64_t *ended = a->base.tally.ended, aborted;
	enum fg_l4_end end;

	if (!is_over(w, s, silence_of(w, s)))
		return;
	if (fg_l4_room(w) == NULL) { /* for the RST */
		a->look_again = true;
		return;
	}
	end = note_failure(w, s);
	aborted = ended[FG_L4_END_ABORTED];
	a->gives_up = true;
	fg_stream_abort(w, s);
	a->gives_up = false;
	ended[end] += ended[FG_L4_END_ABORTED] - aborted;
	ended[FG_L4_END_ABORTED] = aborted;
}

uint64_t
patience_poll(struct fg_l4 *w, struct application *a)
{
	uint64_t round = a->config.patience_ns / LOOKS;
	uint32_t next;

	if (a->silence == NULL)
		return UINT64_MAX;
	if (w->now < a->look_at)
		return a->look_at;
	a->look_again = false;
	next = fg_stream_some(w, a->base.index, a->look_from, AT_A_TIME, look_at);
	if (a->look_again)
		return w->now;
	a->look_from = next;
	a->look_at = w->now + (next == 0 ? round : round * AT_A_TIME / a->silences + 1);
	return a->look_at;
}

/* nothing more is sent: only the figures show whether it is over or waits */
static void
end_one(struct fg_l4 *w, struct fg_stream *s)
{
	struct application *a = application_of(w, s);
	uint32_t n = awaited(w, s);

	if (is_over(w, s, silence_of(w, s))) {
		a->base.tally.ended[note_failure(w, s)]++;
		a->base.open--;
	} else if (n > 0) {
		a->outstanding += n;
		a->kind->waits(w, s, note_unanswered);
	}
}

void
fg_l4_finish(struct fg_l4 *w, uint64_t now)
{
	w->now = now > w->now ? now : w->now;
	for (unsigned i = 0; i < w->applications; i++) {
		const struct application *a = (const struct application *)w->app[i];

		if (a->silence != NULL)
			fg_stream_each(w, i, end_one);
		if (a->kind->note_unblocked != NULL)
			fg_stream_each(w, i, a->kind->note_unblocked);
	}
}
