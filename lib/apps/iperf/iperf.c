/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iperf3, so that the other end can be an ordinary host: our client for its `iperf3 -s`, our server for its
 * `iperf3 -c`.
 *
 * In addition to the streams of a test there is a connection that controls it, whose bytes control reads and
 * writes. Each connection begins with the same cookie, which the client has drawn. A connection that a server
 * takes must send the cookie before it is a stream; the first of all is the control connection.
 *
 * Here is what happens to the connections and datagrams in both roles. What streams send is a function of the
 * position, as everywhere, and of what they receive only the amount counts, since the peer sends anything.
 */
#include <errno.h>
#include <stdlib.h>

#include "iperf_priv.h"

enum {
	KEEPALIVE_MS = 5000, /* for a client that disappears silently */
	CONTROL_BUFFER = 1 << 20,
};
/* for the cookie of a stream */
static const uint64_t GREETING_NS = 10000000000;

/* a client connects; control gives the first connection of a session its time, the others have this */
static void
taken(struct fg_l4 *w, struct fg_stream *s)
{
	struct iperf *p = iperf_of(w, s);
	bool stopped = atomic_load_explicit(&p->orders, memory_order_relaxed) & FG_L4_IPERF_STOP;
	bool gone = atomic_load_explicit(&p->flags, memory_order_relaxed) & FLAG_GONE;

	if (p->step == STEP_NONE && !stopped) {
		iperf_begin(w, p, s);
		return;
	}
	fg_stream_timer(w, s, GREETING_NS);
	if (p->step == STEP_OPEN && !p->test.udp) {
		iperf_conn_of(s)->phase = PHASE_GREETING;
	} else if (gone && p->waiting == NULL && !stopped) {
		iperf_conn_of(s)->phase = PHASE_WAITING;
		p->waiting = s;
	} else {
		iperf_deny(w, s);
	}
}

static void
opened(struct fg_l4 *w, struct fg_stream *s)
{
	if (iperf_conn_of(s)->phase == PHASE_CONTROL)
		iperf_raise(iperf_of(w, s), FLAG_CONNECTED);
	else
		fg_stream_write(w, s, FG_L4_IPERF_COOKIE);
}

/* the connection may be a stream: its byte number @p offset is of the cookie */
static void
greet(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t octet)
{
	struct iperf *p = iperf_of(w, s);

	if (offset >= FG_L4_IPERF_COOKIE || iperf_conn_of(s)->phase != PHASE_GREETING)
		return;
	if (p->step != STEP_OPEN || p->streams >= p->streams_wanted ||
	    octet != (uint8_t)p->test.cookie[offset]) {
		iperf_deny(w, s);
	} else if (offset == FG_L4_IPERF_COOKIE - 1) {
		fg_stream_timer(w, s, UINT64_MAX);
		iperf_conn_of(s)->phase = PHASE_STREAM;
		iperf_conn_of(s)->index = p->streams;
		iperf_add_stream(p)->conn = s;
	}
}

/* for control. What the peer says while the streams run ends the figures, whatever it means */
static void
keep_said(struct fg_l4 *w, struct iperf *p, const uint8_t *data, uint32_t length)
{
	uint32_t received = atomic_load_explicit(&p->received, memory_order_relaxed);

	if (length > IPERF_MAX_IN - received) {
		fg_stream_abort(w, p->control);
		return;
	}
	memcpy(p->in + received, data, length);
	if (p->step == STEP_RUN && p->end_at == 0)
		iperf_halt(w, p);
	atomic_store_explicit(&p->received, received + length, memory_order_release);
}

static bool
receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
	bool early)
{
	uint8_t phase = iperf_conn_of(s)->phase;

	if (phase == PHASE_WAITING)
		return false;
	if (phase == PHASE_STREAM && (offset >= FG_L4_IPERF_COOKIE || !early))
		return true;
	if (early)
		return phase == PHASE_OTHER || phase == PHASE_DENIED;
	if (phase == PHASE_CONTROL)
		keep_said(w, iperf_of(w, s), data, length);
	for (uint32_t i = 0; phase == PHASE_GREETING && i < length; i++)
		greet(w, s, offset + i, data[i]);
	return true;
}

static void
arrived(struct fg_l4 *w, struct fg_stream *s)
{
	if (iperf_conn_of(s)->phase == PHASE_STREAM)
		iperf_stream_of(iperf_of(w, s), s)->arrived_at = w->now;
}

static void
fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	const struct iperf *p = iperf_of(w, s);

	if (iperf_conn_of(s)->phase == PHASE_CONTROL) {
		memcpy(to, p->out + offset, length);
		return;
	}
	if (iperf_conn_of(s)->phase == PHASE_DENIED) {
		memset(to, IPERF_DENIED, length);
		return;
	}
	for (; length > 0 && !p->server && offset < FG_L4_IPERF_COOKIE; length--)
		*to++ = (uint8_t)p->test.cookie[offset++];
	payload_fill(p->server ? SERVER_STREAM : CLIENT_STREAM, offset, to, length);
}

static void
eof(struct fg_l4 *w, struct fg_stream *s)
{
	struct iperf *p = iperf_of(w, s);

	if (s == p->control && p->step != STEP_END)
		iperf_raise(p, FLAG_GONE);
	else
		fg_stream_close(w, s);
}

static void
closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	struct iperf *p = iperf_of(w, s);

	if (iperf_conn_of(s)->phase == PHASE_STREAM) {
		struct iperf_stream *stream = iperf_stream_of(p, s);

		stream->all.octets = iperf_octets(p, stream);
		stream->conn = NULL;
	}
	iperf_conn_of(s)->phase = PHASE_OTHER;
	if (s == p->waiting)
		p->waiting = NULL;
	if (s != p->control)
		return;
	p->control = NULL;
	iperf_raise(p, FLAG_GONE);
}

/* it has had its time */
static void
expired(struct fg_l4 *w, struct fg_stream *s)
{
	if (iperf_conn_of(s)->phase != PHASE_STREAM && iperf_conn_of(s)->phase != PHASE_CONTROL)
		fg_stream_abort(w, s);
}

static bool
datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
	 uint32_t length)
{
	struct iperf *p = iperf_of_app(app);

	if ((p->server ? flow->local_port : flow->remote_port) != app->port)
		return false;
	iperf_udp_take(w, p, flow, data, length);
	return true;
}

static const struct fg_app_ops client_ops = {
	.established = opened,
	.receive = receive,
	.arrived = arrived,
	.eof = eof,
	.fill = fill,
	.closed = closed,
	.timer = expired,
	.poll = iperf_poll,
	.datagram = datagram,
};
static const struct fg_app_ops server_ops = {
	.established = taken,
	.receive = receive,
	.arrived = arrived,
	.eof = eof,
	.fill = fill,
	.closed = closed,
	.timer = expired,
	.poll = iperf_poll,
	.datagram = datagram,
};

static int
create(struct application *a, struct fg_error *err)
{
	const struct fg_l4_app *config = &a->config;
	struct iperf *p;

	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	((struct iperf_application *)a)->iperf = p;
	p->owner = a;
	p->server = config->server;
	/* control messages leave at once; streams do not depend on it */
	a->config.tcp.nodelay = true;
	if (config->server && config->tcp.keepalive_ms == 0)
		a->config.tcp.keepalive_ms = KEEPALIVE_MS;
	a->base.tcp = a->config.tcp;
	/* the buffers of the streams may be too small for a message */
	a->base.control_buffer = CONTROL_BUFFER;
	return 0;
}

static void
iperf_free(struct application *a)
{
	const struct iperf_application *own = (const struct iperf_application *)a;

	if (!own->joined)
		free(own->iperf);
}

/*
 * A server at the same port as another one's, for the other IP version, is one with it: there is one test at
 * a time.
 */
static void
join(struct application *a, struct application *other)
{
	struct iperf_application *own = (struct iperf_application *)a;

	if (!a->config.server || !other->config.server || a->config.port != other->config.port || own->joined)
		return;
	free(own->iperf);
	own->iperf = ((struct iperf_application *)other)->iperf;
	own->joined = true;
}

static const struct app_kind iperf = {
	"IPERF",
	.streams = true,
	.datagrams = true,
	.size = sizeof(struct iperf_application),
	.client = &client_ops,
	.server = &server_ops,
	.create = create,
	.join = join,
	.free = iperf_free,
};

const struct app_kind *const app_kinds_of_iperf[] = {&iperf, NULL};

static struct iperf *
iperf_at(const struct fg_l4 *w, unsigned app)
{
	return iperf_of_app(w->app[app]);
}

void
fg_l4_iperf_look(const struct fg_l4 *w, unsigned app, struct fg_l4_iperf_state *out)
{
	const struct iperf *p = iperf_at(w, app);
	uint32_t session = atomic_load_explicit(&p->session, memory_order_acquire);
	uint32_t flags = atomic_load_explicit(&p->flags, memory_order_acquire);
	const struct fg_flow *peer;

	*out = (struct fg_l4_iperf_state){
		.session = session,
		.streams = atomic_load_explicit(&p->streams_open, memory_order_acquire),
		.counted = atomic_load_explicit(&p->counted, memory_order_acquire),
		.received = atomic_load_explicit(&p->received, memory_order_acquire),
		.connected = flags & FLAG_CONNECTED,
		.halted = flags & FLAG_HALTED,
		.gone = flags & FLAG_GONE,
		.over = flags & FLAG_OVER,
	};
	if (session == 0)
		return;
	peer = &p->peer[session % 2];
	out->ipv6 = peer->ipv6;
	out->remote_port = peer->remote_port;
	memcpy(out->remote, peer->remote, sizeof(out->remote));
}

const char *
fg_l4_iperf_received(const struct fg_l4 *w, unsigned app)
{
	return iperf_at(w, app)->in;
}

bool
fg_l4_iperf_send(struct fg_l4 *w, unsigned app, const void *data, uint32_t octets)
{
	struct iperf *p = iperf_at(w, app);
	uint32_t queued = atomic_load_explicit(&p->queued, memory_order_relaxed);

	if (octets > IPERF_MAX_OUT - queued)
		return false;
	memcpy(p->out + queued, data, octets);
	atomic_store_explicit(&p->queued, queued + octets, memory_order_release);
	return true;
}

void
fg_l4_iperf_order(struct fg_l4 *w, unsigned app, uint32_t orders, const struct fg_l4_iperf_test *test)
{
	struct iperf *p = iperf_at(w, app);

	if (test != NULL)
		p->wanted = *test;
	atomic_fetch_or_explicit(&p->orders, orders, memory_order_acq_rel);
}

const struct fg_l4_iperf_counts *
fg_l4_iperf_read(const struct fg_l4 *w, unsigned app)
{
	return &iperf_at(w, app)->counts;
}
