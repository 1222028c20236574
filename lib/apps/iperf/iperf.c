/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iperf3, so that the other end can be an ordinary host: our client for its `iperf3 -s`, our server for its
 * `iperf3 -c`.
 *
 * In addition to the streams of a test there is a connection that controls it: both sides send single octets
 * for the states that they reach, and exchange parameters and results as JSON with its length in front. Each
 * connection begins with the same cookie, which the client has drawn. A connection that a server takes must
 * send the cookie before it is a stream; the first of all is the control connection and says which cookie
 * that is.
 *
 * Here is what happens to the connections and datagrams in both roles; what follows from it is in client.c
 * and server.c. What streams send is a function of the position, as everywhere, and of what they receive only
 * the amount counts, since the peer sends anything.
 */
#include <errno.h>
#include <stdlib.h>

#include "iperf_priv.h"

enum {
	KEEPALIVE_MS = 5000, /* for a client that disappears silently */
	CONTROL_BUFFER = 1 << 20,
};
static const uint64_t GREETING_NS = 10000000000;

static void
deny(struct fg_l4 *w, struct fg_stream *s)
{
	iperf_conn_of(s)->phase = PHASE_DENIED;
	fg_stream_write(w, s, 1);
	fg_stream_close(w, s);
}

/* a client that connects has this time to send its request */
static void
taken(struct fg_l4 *w, struct fg_stream *s)
{
	struct iperf *p = iperf_of(w, s);

	fg_stream_timer(w, s, GREETING_NS);
	if (p->state == IPERF_IDLE && !atomic_load_explicit(&p->stop, memory_order_relaxed))
		iperf_server_begin(w, p, s);
	else if (p->state == IPERF_CREATE_STREAMS && !p->params.udp)
		iperf_conn_of(s)->phase = PHASE_GREETING;
	else
		deny(w, s);
}

static void
opened(struct fg_l4 *w, struct fg_stream *s)
{
	struct iperf *p = iperf_of(w, s);

	if (iperf_conn_of(s)->phase == PHASE_CONTROL)
		iperf_send(w, p, p->cookie, IPERF_COOKIE);
	else
		fg_stream_write(w, s, IPERF_COOKIE);
}

/* the connection may be a stream: its octet number @p offset is of the cookie */
static void
greet(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t octet)
{
	struct iperf *p = iperf_of(w, s);

	if (offset >= IPERF_COOKIE || iperf_conn_of(s)->phase != PHASE_GREETING)
		return;
	if (p->state != IPERF_CREATE_STREAMS || octet != (uint8_t)p->cookie[offset]) {
		deny(w, s);
	} else if (offset == IPERF_COOKIE - 1) {
		fg_stream_timer(w, s, UINT64_MAX);
		iperf_conn_of(s)->phase = PHASE_STREAM;
		iperf_conn_of(s)->index = p->streams;
		iperf_add_stream(p)->conn = s;
		iperf_server_stream(w, p);
	}
}

static void
text_is_whole(struct fg_l4 *w, struct iperf *p)
{
	p->in[p->text] = '\0';
	p->expected = A_STATE;
	(p->server ? iperf_server_text : iperf_client_text)(w, p);
}

/* four octets: the length of a text, or the number of a fault */
static void
take_number(struct fg_l4 *w, struct iperf *p, uint8_t octet)
{
	p->length[p->length_octets++] = octet;
	if (p->length_octets < IPERF_LENGTH_OCTETS)
		return;
	p->length_octets = 0;
	p->text = 0;
	p->wanted = (uint32_t)get_number(p->length, IPERF_LENGTH_OCTETS);
	if (p->expected == A_FAULT) {
		iperf_client_fault(w, p, p->wanted);
		return;
	}
	p->expected = A_TEXT;
	if (p->wanted > 0 && p->wanted <= IPERF_MAX_IN)
		return;
	text_is_whole(w, p); /* longer than any message: as if it were empty */
}

static void
take(struct fg_l4 *w, struct iperf *p, uint8_t octet)
{
	if (p->expected == A_STATE) {
		(p->server ? iperf_server_state : iperf_client_state)(w, p, octet);
	} else if (p->expected != A_TEXT) {
		take_number(w, p, octet);
	} else {
		p->in[p->text++] = (char)octet;
		if (p->text == p->wanted)
			text_is_whole(w, p);
	}
}

static void
control(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t octet)
{
	struct iperf *p = iperf_of(w, s);

	if (!p->server || offset >= IPERF_COOKIE) {
		take(w, p, octet);
		return;
	}
	p->cookie[offset] = (char)octet;
	if (offset == IPERF_COOKIE - 1) {
		fg_stream_timer(w, s, UINT64_MAX);
		iperf_server_greeted(w, p);
	}
}

static bool
receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
	bool early)
{
	if (iperf_conn_of(s)->phase == PHASE_STREAM && (offset >= IPERF_COOKIE || !early))
		return true;
	if (early)
		return iperf_conn_of(s)->phase == PHASE_OTHER || iperf_conn_of(s)->phase == PHASE_DENIED;
	for (uint32_t i = 0; i < length && !fg_stream_is_closed(s); i++) {
		if (iperf_conn_of(s)->phase == PHASE_CONTROL)
			control(w, s, offset + i, data[i]);
		else if (iperf_conn_of(s)->phase == PHASE_GREETING)
			greet(w, s, offset + i, data[i]);
	}
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
		memset(to, IPERF_ACCESS_DENIED, length);
		return;
	}
	for (; length > 0 && !p->server && offset < IPERF_COOKIE; length--)
		*to++ = (uint8_t)p->cookie[offset++];
	payload_fill(p->server ? SERVER_STREAM : CLIENT_STREAM, offset, to, length);
}

static void
eof(struct fg_l4 *w, struct fg_stream *s)
{
	struct iperf *p = iperf_of(w, s);

	if (s == p->control && p->server)
		iperf_server_gone(w, p);
	else
		fg_stream_close(w, s);
}

static void
closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	struct iperf *p = iperf_of(w, s);

	if (iperf_conn_of(s)->phase == PHASE_STREAM) {
		struct iperf_stream *stream = iperf_stream_of(p, s);

		stream->octets = iperf_count(p, stream).octets;
		stream->conn = NULL;
	}
	iperf_conn_of(s)->phase = PHASE_OTHER;
	if (s != p->control)
		return;
	p->control = NULL;
	if (p->server)
		iperf_server_gone(w, p);
	else
		iperf_client_gone(w, p);
}

/* it has had its time */
static void
expired(struct fg_l4 *w, struct fg_stream *s)
{
	if (iperf_conn_of(s)->phase != PHASE_STREAM)
		fg_stream_abort(w, s);
}

static bool
datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
	 uint32_t length)
{
	struct iperf *p = iperf_of_app(app);
	bool opened = false;

	if ((p->server ? flow->local_port : flow->remote_port) != app->port)
		return false;
	iperf_udp_take(w, p, flow, data, length, &opened);
	if (opened)
		iperf_server_stream(w, p);
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
	.poll = iperf_client_poll,
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
	.poll = iperf_server_poll,
	.datagram = datagram,
};

static int
create(struct application *a, struct fg_error *err)
{
	const struct fg_l4_app *config = &a->config;
	struct iperf *p;

	if (!config->server &&
	    (config->params == NULL || config->host == NULL || strlen(config->host) != IPERF_COOKIE - 1))
		return fg_error_set(err, EINVAL, "l4", "iperf3 needs parameters, and a cookie of %d bytes",
				    IPERF_COOKIE - 1);
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
	if (config->server)
		return 0;
	memcpy(p->cookie, config->host, IPERF_COOKIE);
	if (iperf_read_params(&p->params, config->params, strlen(config->params), UINT16_MAX) != 0)
		return fg_error_set(err, EINVAL, "l4", "iperf3 has no such parameters: %s", config->params);
	p->deadline = UINT64_MAX;
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

/* NULL: the application is of another kind */
static struct iperf *
iperf_at(const struct fg_l4 *w, unsigned app)
{
	const struct application *a = (const struct application *)w->app[app];

	return a->kind == &iperf ? iperf_of_app(&a->base) : NULL;
}

bool
fg_l4_iperf_next(struct fg_l4 *w, unsigned app, struct fg_l4_iperf_report *out)
{
	struct iperf *p = iperf_at(w, app);

	return p != NULL && iperf_report_next(p, out);
}

void
fg_l4_iperf_stop(struct fg_l4 *w, unsigned app)
{
	atomic_store_explicit(&iperf_at(w, app)->stop, true, memory_order_relaxed);
}

const char *
fg_l4_peer_results(const struct fg_l4 *w, unsigned app)
{
	const struct iperf *p = iperf_at(w, app);

	return p == NULL || p->server ? "" : p->in;
}
