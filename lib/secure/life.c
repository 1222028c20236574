/* SPDX-License-Identifier: BSD-3-Clause */
/* The begin of a secured stream, its data, and the end of each direction. */
#include <string.h>

#include "secure_priv.h"

struct secured *
secure_take(struct fg_l4 *w, struct carrier *c, const struct fg_stream *tcp)
{
	struct secure *all = c->all;
	uint32_t number = fg_stream_number(w, tcp);
	struct secured *t = &all->stream[number];
	struct fg_app *app = c->above;
	uint64_t octets;

	memset(t, 0, sizeof(*t));
	t->id = ++all->ids;
	t->plain.app = app->index;
	app->tally.opened++;
	app->open++;
	app->open_max = fg_u32_max(app->open_max, app->open);
	all->highest = fg_u32_max(all->highest, number);
	octets = all->highest * sizeof(*t) + (all->spans.fresh - 1) * all->spans.size +
		 (all->blocks.fresh - 1) * all->blocks.size;
	w->layer_octets += octets - all->octets;
	all->octets = octets;
	return t;
}

bool
secure_begin(struct fg_l4 *w, struct secured *t)
{
	const struct fg_app_ops *ops = ops_above(w, t);
	uint64_t id = t->id;

	if (t->flags & BEGUN)
		return true;
	t->flags |= BEGUN;
	if (ops->established != NULL)
		ops->established(w, &t->plain);
	return t->id == id;
}

void
secure_can_write(struct carrier *c, struct secured *t, const struct fg_stream *tcp,
		 const struct fg_tls_taken *taken)
{
	uint32_t segment = fg_stream_segment(tcp);

	t->suite = taken->suite;
	t->out = taken->out;
	memcpy(t->out_secret, taken->out_secret, sizeof(t->out_secret));
	t->out_next = taken->out_next;
	t->full = c->config.record > 0 ? c->config.record
				       : segment - fg_u32_min(segment / 2, t->suite->overhead);
	t->flags |= CAN_WRITE;
}

enum outcome
secure_data(struct fg_l4 *w, struct secured *t, const uint8_t *data, uint32_t length)
{
	const struct fg_app_ops *ops = ops_above(w, t);
	uint64_t id = t->id;

	if (w->held != NULL)
		w->held->data = data;
	if (!ops->receive(w, &t->plain, t->plain.received, data, length, false)) {
		w->counters.not_used++;
		return STAYS;
	}
	if (t->id != id)
		return OVER;
	t->plain.received += length;
	w->app[t->plain.app]->tally.octets_in += length;
	if (ops->arrived != NULL)
		ops->arrived(w, &t->plain);
	return t->id == id ? TAKEN : OVER;
}

void
secure_finish(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	static const uint8_t close_notify[] = {1, FG_TLS_CLOSE_NOTIFY};

	if (!(t->flags & ESTABLISHED) || t->laid_out < t->plain.written || t->flags & CLOSE_SENT)
		return;
	t->flags |= CLOSE_SENT;
	if (outbox_record(w, t, tcp, FG_TLS_ALERT, close_notify, sizeof(close_notify)))
		fg_stream_close(w, tcp);
}

void
secure_eof(struct fg_l4 *w, struct secured *t)
{
	t->flags |= CLOSE_RECEIVED;
	ops_above(w, t)->eof(w, &t->plain);
}
