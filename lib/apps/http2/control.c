/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that are about the connection (SETTINGS, PING, GOAWAY), about windows, or end a stream: RFC 9113, 6.
 * A peer that sends too many of them in a second is disconnected (10.5).
 */
#include "http2_priv.h"

enum { MOST_A_SECOND = 1000 };
enum setting { ENABLE_PUSH = 2, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE };
static const uint64_t SECOND_NS = 1000000000;

enum h2_error
h2_count(const struct fg_l4 *w, struct h2_conn *c, enum h2_flood what)
{
	if (w->now >= c->second + SECOND_NS) {
		c->second = w->now;
		memset(c->flood, 0, sizeof(c->flood));
	}
	return ++c->flood[what] > MOST_A_SECOND ? H2_ENHANCE_YOUR_CALM : H2_NO_ERROR;
}

/* enlarge a window granted by the peer. @return false: above its maximum */
static bool
widen(int32_t *window, int64_t octets)
{
	int64_t sum = *window + octets;

	if (sum > H2_WINDOW_MAX || sum < INT32_MIN)
		return false;
	*window = (int32_t)sum;
	return true;
}

static void
note_window_of(const struct fg_l4 *w, struct http2 *a, struct h2_exchange *x)
{
	if (x->window > 0)
		note_unblocked(w, &a->app, FG_L4_WINDOW_STREAM, &x->blocked);
}

/* the window of all present streams (6.9.2) */
static enum h2_error
take_initial_window(const struct fg_l4 *w, struct http2 *a, struct h2_conn *c, uint32_t octets)
{
	int64_t more = (int64_t)octets - c->stream_window;

	if (octets > H2_WINDOW_MAX)
		return H2_FLOW_CONTROL_ERROR;
	for (uint32_t i = c->first; i != 0; i = h2_exchange_at(a, i)->next) {
		if (!widen(&h2_exchange_at(a, i)->window, more))
			return H2_FLOW_CONTROL_ERROR;
		note_window_of(w, a, h2_exchange_at(a, i));
	}
	c->stream_window = (int32_t)octets;
	return H2_NO_ERROR;
}

static enum h2_error
take_setting(const struct fg_l4 *w, struct http2 *a, struct h2_conn *c)
{
	uint32_t value = (uint32_t)get_number(c->frame.part + 2, 4);

	switch (get_number(c->frame.part, 2)) {
	case ENABLE_PUSH:
		return value > 1 || (a->role->is_client && value == 1) ? H2_PROTOCOL_ERROR : H2_NO_ERROR;
	case MAX_CONCURRENT_STREAMS:
		c->streams_max = value;
		return H2_NO_ERROR;
	case INITIAL_WINDOW_SIZE:
		return take_initial_window(w, a, c, value);
	case MAX_FRAME_SIZE: /* ours are never larger than the least of these */
		return value < H2_FRAME_MAX || value >= 1 << 24 ? H2_PROTOCOL_ERROR : H2_NO_ERROR;
	default:
		return H2_NO_ERROR;
	}
}

void
h2_renew(struct fg_l4 *w, struct fg_stream *s, uint32_t id, int32_t *credit, int32_t full)
{
	if (*credit >= full / 2)
		return;
	h2_send_control(w, s, H2_WINDOW_UPDATE, 0, id, (uint64_t)((int64_t)full - *credit), 4);
	*credit = full;
}

/*
 * The peer knows our window now. A stream's may be smaller than the peer assumed, and even used up: then
 * it sends nothing by which it could be renewed.
 */
static void
take_ack(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	const struct http2 *a = http2_of(w, s);
	int32_t less = c->stream_credit - a->window;

	if (c->flags & H2_SETTLED)
		return;
	c->flags |= H2_SETTLED;
	c->stream_credit = a->window;
	for (uint32_t i = c->first; i != 0; i = h2_exchange_at(a, i)->next) {
		struct h2_exchange *x = h2_exchange_at(a, i);

		x->credit -= less;
		if (x->receives)
			h2_renew(w, s, x->id, &x->credit, a->window);
	}
}

static enum h2_error
update_window(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	uint32_t more = (uint32_t)get_number(c->frame.part, 4) & H2_WINDOW_MAX, id = c->frame.id;
	struct h2_exchange *x = id == 0 ? NULL : h2_find(http2_of(w, s), c, id);

	if (id == 0 && more == 0)
		return H2_PROTOCOL_ERROR;
	if (id == 0 && !widen(&c->window, more))
		return H2_FLOW_CONTROL_ERROR;
	if (id == 0 && c->window > 0)
		note_unblocked(w, application_of(w, s), FG_L4_WINDOW_CONNECTION, &c->blocked);
	if (id == 0)
		return H2_NO_ERROR;
	if (id > c->last_id || id % 2 == 0)
		return H2_PROTOCOL_ERROR;
	if (x != NULL && more == 0)
		h2_reset(w, s, x, H2_PROTOCOL_ERROR);
	else if (x != NULL && !widen(&x->window, more))
		h2_reset(w, s, x, H2_FLOW_CONTROL_ERROR);
	else if (x != NULL)
		note_window_of(w, http2_of(w, s), x);
	return H2_NO_ERROR;
}

/* what answers a frame of a flood of ours */
static bool
is_asked_for(const struct fg_l4 *w, const struct fg_stream *s, const struct h2_conn *c)
{
	const enum fg_l4_flood flood = application_of(w, s)->config.flood;

	if (!http2_of(w, s)->role->is_client)
		return false;
	return c->frame.type == H2_RST_STREAM ? flood == FG_L4_FLOOD_RST
					      : c->frame.flags & H2_ACK && flood != FG_L4_FLOOD_NONE;
}

static enum h2_error
take_reset(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	struct http2 *a = http2_of(w, s);
	uint32_t code = (uint32_t)get_number(c->frame.part, 4);
	struct h2_exchange *x = h2_find(a, c, c->frame.id);

	if (c->frame.id > c->last_id || c->frame.id % 2 == 0)
		return H2_PROTOCOL_ERROR;
	if (x != NULL) {
		if (a->role->is_client && code == H2_REFUSED_STREAM && !x->again && c->load == 0)
			c->again++;
		else
			a->role->failed(w, s, x, MESSAGE_RESET);
		note_unblocked(w, &a->app, FG_L4_WINDOW_STREAM, &x->blocked);
		note_unblocked(w, &a->app, FG_L4_WINDOW_CONNECTION, &c->blocked); /* do not block other
										   * connections */
		h2_give(a, c, x);
	}
	return is_asked_for(w, s, c) ? H2_NO_ERROR : h2_count(w, c, H2_RESET_FRAMES);
}

static enum h2_error
take_goaway(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	uint32_t last = (uint32_t)get_number(c->frame.part, 4) & H2_WINDOW_MAX, next;
	struct http2 *a = http2_of(w, s);

	c->flags |= H2_LEAVING;
	if (get_number(c->frame.part + 4, 4) != H2_NO_ERROR)
		h2_note(w, s, MESSAGE_AWAY);
	for (uint32_t i = c->first; i != 0 && a->role->is_client; i = next) {
		struct h2_exchange *x = h2_exchange_at(a, i);

		next = x->next;
		if (x->id > last) /* not processed: another connection repeats the request */
			h2_give(a, c, x);
	}
	return H2_NO_ERROR;
}

enum h2_error
h2_control_part(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	switch (c->frame.type) {
	case H2_SETTINGS:
		return take_setting(w, http2_of(w, s), c);
	case H2_RST_STREAM:
		return take_reset(w, s, c);
	case H2_PING:
		if (!(c->frame.flags & H2_ACK))
			h2_send_control(w, s, H2_PING, H2_ACK, 0, get_number(c->frame.part, 8), 8);
		return is_asked_for(w, s, c) ? H2_NO_ERROR : h2_count(w, c, H2_PINGS);
	case H2_WINDOW_UPDATE:
		return update_window(w, s, c);
	case H2_GOAWAY:
		return take_goaway(w, s, c);
	default:
		return H2_NO_ERROR;
	}
}

enum h2_error
h2_control_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	if (c->frame.type != H2_SETTINGS)
		return H2_NO_ERROR;
	c->flags |= H2_BEGUN;
	if (c->frame.flags & H2_ACK)
		take_ack(w, s, c);
	else
		h2_send_control(w, s, H2_SETTINGS, H2_ACK, 0, 0, 0);
	return is_asked_for(w, s, c) ? H2_NO_ERROR : h2_count(w, c, H2_SETTINGS_FRAMES);
}
