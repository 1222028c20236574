/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions, and how their data connections come to be: opened to a port that the peer has named, or waited
 * for at one of ours, which is one session's alone, so that whose connection it is follows from the port.
 * Only the host of the control connection may connect there; TCP answers others as on every closed port.
 *
 * No connection may be opened where events are told, so those that are wanted wait for the next poll.
 */
#include <errno.h>

#include "ftp_priv.h"

enum { PORTS = 65536, FLOW_TRIES = 16 };
static const uint64_t LINGER_NS = 5000000000, RETRY_NS = 1000000;

int
ftp_sessions_create(struct ftp *f, struct fg_error *err)
{
	f->waits_at = fg_memory_reserve(PORTS * sizeof(*f->waits_at));
	if (f->waits_at == NULL ||
	    !fg_pool_create(&f->sessions, fg_u32_min(f->app.room, FTP_SESSIONS), sizeof(struct ftp_session)))
		return fg_error_set(err, ENOMEM, "l4", "no memory for sessions of FTP");
	return 0;
}

void
ftp_sessions_free(struct ftp *f)
{
	fg_pool_free(&f->sessions);
	fg_memory_release(f->waits_at, PORTS * sizeof(*f->waits_at));
}

struct ftp_session *
ftp_session_begin(struct fg_l4 *w, struct fg_stream *s)
{
	struct ftp *f = ftp_of(w, s);
	uint32_t number = fg_pool_take(&f->sessions);
	struct ftp_session *p;

	if (number == 0)
		return NULL;
	p = ftp_session_at(f, number);
	memset(p, 0, offsetof(struct ftp_session, line));
	p->control = s;
	p->progress_at = w->now;
	ftp_conn_of(s)->session = (uint16_t)number;
	ftp_conn_of(s)->role = FTP_CONTROL;
	return p;
}

static void
unlisten(struct ftp *f, struct ftp_session *p)
{
	if (p->port != 0)
		f->waits_at[p->port] = 0;
	p->port = 0;
}

static void
want_no_more(struct ftp *f, struct ftp_session *p)
{
	uint32_t before = 0, i = f->first_wanted;

	if (!p->wanted)
		return;
	while (ftp_session_at(f, i) != p) {
		before = i;
		i = ftp_session_at(f, i)->next_wanted;
	}
	if (before == 0)
		f->first_wanted = p->next_wanted;
	else
		ftp_session_at(f, before)->next_wanted = p->next_wanted;
	if (f->last_wanted == i)
		f->last_wanted = before;
	p->wanted = false;
}

/* a connection that does not matter any more: it may linger for a while */
static void
let_go(struct fg_l4 *w, struct fg_stream *s)
{
	ftp_conn_of(s)->role = FTP_LEFT;
	ftp_conn_of(s)->session = 0;
	fg_stream_timer(w, s, LINGER_NS);
	fg_stream_close(w, s);
}

void
ftp_data_leave(struct fg_l4 *w, struct ftp_session *p, bool abort)
{
	struct ftp *f = ftp_of(w, p->control);
	struct fg_stream *s = p->data;

	unlisten(f, p);
	want_no_more(f, p);
	p->data = NULL;
	p->target = 0;
	p->data_open = p->data_ended = false;
	if (s == NULL)
		return;
	let_go(w, s);
	if (abort)
		fg_stream_abort(w, s);
}

void
ftp_session_end(struct fg_l4 *w, struct fg_stream *s)
{
	struct ftp *f = ftp_of(w, s);
	uint32_t number = ftp_conn_of(s)->session;

	ftp_data_leave(w, ftp_session_at(f, number), true);
	ftp_conn_of(s)->session = 0;
	fg_pool_give(&f->sessions, &number);
}

uint16_t
ftp_data_listen(struct fg_l4 *w, struct ftp_session *p)
{
	struct ftp *f = ftp_of(w, p->control);
	const struct fg_l4_app *config = &f->app.config;
	uint32_t ports = (uint32_t)config->port_last - config->port_first + 1;

	ftp_data_leave(w, p, true);
	for (uint32_t i = 0; i < ports; i++) {
		uint16_t port = (uint16_t)(config->port_first + f->next_port++ % ports);

		if (f->waits_at[port] != 0 || port == config->port)
			continue;
		f->waits_at[port] = ftp_conn_of(p->control)->session;
		p->port = port;
		return port;
	}
	return 0;
}

/* the session that waits for a connection; 0: none */
static uint32_t
waiting_for(const struct ftp *f, const struct fg_flow *flow)
{
	uint32_t number = f->waits_at[flow->local_port];
	const struct fg_flow *control;

	if (number == 0)
		return 0;
	control = fg_stream_flow(ftp_session_at(f, number)->control);
	/* addresses lie together */
	return memcmp(control, flow, offsetof(struct fg_flow, local_port)) == 0 ? number : 0;
}

bool
ftp_data_expects(const struct fg_l4 *w, const struct fg_app *app, const struct fg_flow *flow)
{
	return waiting_for((const struct ftp *)app, flow) != 0;
}

struct ftp_session *
ftp_data_take(struct fg_l4 *w, struct fg_stream *s)
{
	struct ftp *f = ftp_of(w, s);
	uint32_t number = waiting_for(f, fg_stream_flow(s));
	struct ftp_session *p;

	f->app.beside_opened++;
	f->app.beside_open++;
	if (number == 0) {
		f->app.base.tally.own[FTP_STRAY]++;
		let_go(w, s);
		return NULL;
	}
	p = ftp_session_at(f, number);
	unlisten(f, p);
	p->data = s;
	p->data_octets = 0;
	ftp_conn_of(s)->session = (uint16_t)number;
	ftp_conn_of(s)->role = FTP_DATA;
	return p;
}

void
ftp_data_want(struct fg_l4 *w, struct ftp_session *p)
{
	struct ftp *f = ftp_of(w, p->control);
	uint32_t number = ftp_conn_of(p->control)->session;

	if (p->wanted)
		return;
	p->wanted = true;
	p->next_wanted = 0;
	if (f->first_wanted == 0)
		f->first_wanted = number;
	else
		ftp_session_at(f, f->last_wanted)->next_wanted = number;
	f->last_wanted = number;
}

/* a client connects from any port of its own, a server from the one before its own (RFC 959, 3.2) */
static void
flow_of(struct ftp *f, const struct ftp_session *p, struct fg_flow *flow)
{
	const struct fg_flow *control = fg_stream_flow(p->control);
	struct fg_flow next;

	*flow = *control;
	flow->remote_port = p->target;
	if (f->app.config.server) {
		flow->local_port = (uint16_t)(control->local_port > 1 ? control->local_port - 1 : 20);
	} else {
		next_flow(&f->app, &next);
		flow->local_port = next.local_port;
	}
}

/* @return NULL: there is no room, or no port */
static struct fg_stream *
data_open_one(struct fg_l4 *w, struct ftp *f, struct ftp_session *p)
{
	struct fg_stream *s = NULL;
	struct fg_flow flow;

	for (unsigned tries = 0; tries < FLOW_TRIES && s == NULL; tries++) {
		flow_of(f, p, &flow);
		s = fg_stream_open(w, f->app.base.index, &flow);
	}
	if (s == NULL)
		return NULL;
	ftp_conn_of(s)->client.since = w->now;
	ftp_conn_of(s)->session = ftp_conn_of(p->control)->session;
	ftp_conn_of(s)->role = FTP_DATA;
	f->app.beside_opened++;
	f->app.beside_open++;
	return s;
}

uint64_t
ftp_data_open(struct fg_l4 *w, struct ftp *f)
{
	while (f->first_wanted != 0) {
		struct ftp_session *p = ftp_session_at(f, f->first_wanted);

		p->data = data_open_one(w, f, p);
		if (p->data == NULL)
			return w->now + RETRY_NS;
		p->data_octets = 0;
		want_no_more(f, p);
	}
	return UINT64_MAX;
}

void
ftp_data_count(struct fg_l4 *w, struct ftp_session *p, bool sends)
{
	const struct fg_stream *s = p->data;
	uint64_t now = sends ? (s->acked < s->written ? s->acked : s->written) : s->received;

	application_of(w, s)->base.tally.own[FTP_OCTETS] += now - p->data_octets;
	p->data_octets = now;
	p->progress_at = w->now;
}

bool
ftp_data_goes_on(const struct ftp_session *p, uint64_t upload)
{
	if (p->data == NULL)
		return false;
	if (upload == 0)
		return !p->data_ended;
	/* of what was sent, a path may lose acknowledgements; the server's reply may be here before others */
	return p->data_open && !p->failed && !p->truncated && p->data_octets < upload &&
	       fg_stream_sent(p->data) >= upload;
}

void
ftp_data_send(struct fg_l4 *w, struct ftp_session *p, uint64_t octets)
{
	ftp_conn_of(p->data)->rest = p->rest;
	if (octets > 0)
		fg_stream_write(w, p->data, octets);
	else
		fg_stream_close(w, p->data);
}

bool
ftp_data_refill(struct fg_l4 *w, struct fg_stream *s)
{
	if (ftp_conn_of(s)->role != FTP_DATA || s->ended || s->written == 0 || fg_stream_sent(s) < s->written)
		return false;
	fg_stream_close(w, s);
	return true;
}
