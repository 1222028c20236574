/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to the TCP connections of iperf3, in both roles. A connection that a server takes must say the cookie
 * before it is a stream; the first of all is the control connection and says which cookie that is.
 */
#include "iperf_priv.h"

static const uint64_t GREETING_NS = 10000000000;

static struct iperf *
iperf_of(const struct fg_l4 *w, const struct conn *c)
{
	return application_of(w, c)->iperf;
}

static void
deny(struct fg_l4 *w, struct conn *c)
{
	c->app_phase = PHASE_DENIED;
	tcp_write(w, c, 1);
	tcp_close(w, c);
}

/* who connects to the server has so much time to say what it wants */
static void
taken(struct fg_l4 *w, struct conn *c)
{
	struct iperf *p = iperf_of(w, c);

	c->app_at = tick_after(w, GREETING_NS);
	timer_update(w, c);
	if (p->state == IPERF_IDLE && !atomic_load_explicit(&p->stop, memory_order_relaxed))
		iperf_server_begin(w, p, c);
	else if (p->state == IPERF_CREATE_STREAMS && !p->params.udp)
		c->app_phase = PHASE_GREETING;
	else
		deny(w, c);
}

static void
opened(struct fg_l4 *w, struct conn *c)
{
	struct iperf *p = iperf_of(w, c);

	if (c->app_phase == PHASE_CONTROL)
		iperf_say(w, p, p->cookie, IPERF_COOKIE);
	else
		tcp_write(w, c, IPERF_COOKIE);
}

/* the connection may be a stream: its octet number @p offset is of the cookie */
static void
greet(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t octet)
{
	struct iperf *p = iperf_of(w, c);

	if (offset >= IPERF_COOKIE || c->app_phase != PHASE_GREETING)
		return;
	if (p->state != IPERF_CREATE_STREAMS || octet != (uint8_t)p->cookie[offset]) {
		deny(w, c);
	} else if (offset == IPERF_COOKIE - 1) {
		c->app_at = 0;
		c->app_phase = PHASE_STREAM;
		c->app_mark = p->streams;
		iperf_add_stream(p)->conn = c;
		iperf_server_stream(w, p);
	}
}

static void
control(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t octet)
{
	struct iperf *p = iperf_of(w, c);

	if (!p->server || offset >= IPERF_COOKIE) {
		iperf_take(w, p, octet);
		return;
	}
	p->cookie[offset] = (char)octet;
	if (offset == IPERF_COOKIE - 1) {
		c->app_at = 0;
		iperf_server_greeted(w, p);
	}
}

static bool
receive(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length, bool early)
{
	if (c->app_phase == PHASE_STREAM && (offset >= IPERF_COOKIE || !early))
		return true;
	if (early)
		return c->app_phase == PHASE_OTHER || c->app_phase == PHASE_DENIED;
	for (uint32_t i = 0; i < length && c->state != CLOSED; i++) {
		if (c->app_phase == PHASE_CONTROL)
			control(w, c, offset + i, data[i]);
		else if (c->app_phase == PHASE_GREETING)
			greet(w, c, offset + i, data[i]);
	}
	return true;
}

static void
arrived(struct fg_l4 *w, struct conn *c)
{
	if (c->app_phase == PHASE_STREAM)
		iperf_stream_of(iperf_of(w, c), c)->arrived_at = w->now;
}

static void
fill(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t *to, uint32_t length)
{
	const struct iperf *p = iperf_of(w, c);

	if (c->app_phase == PHASE_CONTROL) {
		memcpy(to, p->out + offset, length);
		return;
	}
	if (c->app_phase == PHASE_DENIED) {
		memset(to, IPERF_ACCESS_DENIED, length);
		return;
	}
	for (; length > 0 && !p->server && offset < IPERF_COOKIE; length--)
		*to++ = (uint8_t)p->cookie[offset++];
	payload_fill(p->server ? SERVER_STREAM : CLIENT_STREAM, offset, to, length);
}

static void
eof(struct fg_l4 *w, struct conn *c)
{
	struct iperf *p = iperf_of(w, c);

	if (c == p->control && p->server)
		iperf_server_gone(w, p);
	else
		tcp_close(w, c);
}

static void
closed(struct fg_l4 *w, struct conn *c, enum fg_l4_end end)
{
	struct iperf *p = iperf_of(w, c);

	if (c->app_phase == PHASE_STREAM) {
		struct iperf_stream *s = iperf_stream_of(p, c);

		s->octets = iperf_count(p, s).octets;
		s->conn = NULL;
	}
	c->app_phase = PHASE_OTHER;
	if (c != p->control)
		return;
	p->control = NULL;
	if (p->server)
		iperf_server_gone(w, p);
	else
		iperf_client_gone(w, p);
}

/* it has had its time */
static void
expired(struct fg_l4 *w, struct conn *c)
{
	if (c->app_phase != PHASE_STREAM)
		tcp_abort(w, c);
}

const struct app_ops iperf_client = {
	.established = opened,
	.receive = receive,
	.arrived = arrived,
	.eof = eof,
	.fill = fill,
	.closed = closed,
	.timer = expired,
	.poll = iperf_client_poll,
	.datagram = iperf_datagram,
};
const struct app_ops iperf_server = {
	.established = taken,
	.receive = receive,
	.arrived = arrived,
	.eof = eof,
	.fill = fill,
	.closed = closed,
	.timer = expired,
	.poll = iperf_server_poll,
	.datagram = iperf_datagram,
};
