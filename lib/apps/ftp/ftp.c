/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kind FTP: what happens to a connection is given to the functions of its side, as what happened to the
 * control or to the data connection of a session.
 */
#include <errno.h>
#include <stdlib.h>

#include "ftp_priv.h"

static const struct ftp_side *
side_of(const struct ftp *f)
{
	return f->app.config.server ? &ftp_server_side : &ftp_client_side;
}

static bool
is_control(const struct ftp *f, const struct fg_stream *s)
{
	const struct fg_flow *flow = fg_stream_flow(s);

	return (f->app.config.server ? flow->local_port : flow->remote_port) == f->app.config.port;
}

static void
ftp_established(struct fg_l4 *w, struct fg_stream *s)
{
	struct ftp *f = ftp_of(w, s);
	struct ftp_session *p;

	if (is_control(f, s)) {
		if (!f->app.config.server)
			note_setup(w, s);
		p = ftp_session_begin(w, s);
		if (p != NULL)
			side_of(f)->begin(w, p);
		else
			fg_stream_abort(w, s);
		return;
	}
	p = ftp_conn_of(s)->role == FTP_DATA ? ftp_session_of(w, s) : ftp_data_take(w, s);
	if (p != NULL)
		side_of(f)->opened(w, p);
}

/* lines, until the session or the connection is over */
static void
take_lines(struct fg_l4 *w, struct fg_stream *s, const uint8_t *data, uint32_t length)
{
	const struct ftp_side *side = side_of(ftp_of(w, s));

	for (uint32_t i = 0; i < length && !s->ended; i++) {
		struct ftp_session *p = ftp_session_of(w, s);
		enum ftp_line what = p == NULL ? FTP_MORE : ftp_line_take(p, data[i]);

		if (what == FTP_WHOLE)
			side->line(w, p);
		else if (what == FTP_TOO_LONG)
			side->overlong(w, p);
	}
}

static bool
ftp_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
	    bool early)
{
	const struct fg_l4_app *config = &application_of(w, s)->config;
	struct ftp_session *p = ftp_session_of(w, s);

	if (p == NULL)
		return true;
	if (ftp_conn_of(s)->role == FTP_CONTROL) {
		if (!early)
			take_lines(w, s, data, length);
		return !early;
	}
	if (offset == 0 && !early && !config->server && p->files == 1)
		note_first_octet(w, p->control);
	if (!config->any_body)
		w->counters.wrong_octets += payload_wrong(config->server ? CLIENT_STREAM : SERVER_STREAM,
							  p->rest + offset, data, length);
	return true;
}

static struct ftp_session *
session_of_data(struct fg_l4 *w, const struct fg_stream *s)
{
	return ftp_conn_of(s)->role == FTP_DATA ? ftp_session_of(w, s) : NULL;
}

static void
ftp_moved(struct fg_l4 *w, struct fg_stream *s)
{
	struct ftp_session *p = session_of_data(w, s);

	if (p != NULL)
		side_of(ftp_of(w, s))->moved(w, p);
}

static void
ftp_eof(struct fg_l4 *w, struct fg_stream *s)
{
	struct ftp_session *p = ftp_session_of(w, s);

	if (p == NULL)
		fg_stream_close(w, s);
	else
		(p->control == s ? side_of(ftp_of(w, s))->eof : side_of(ftp_of(w, s))->ended)(w, p);
}

static void
ftp_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	const struct ftp *f = ftp_of(w, s);

	if (ftp_conn_of(s)->role == FTP_CONTROL)
		ftp_fill_control(ftp_session_of(w, s), offset, to, length);
	else
		payload_fill(f->app.config.server ? SERVER_STREAM : CLIENT_STREAM,
			     ftp_conn_of(s)->rest + offset, to, length);
}

static void
ftp_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	struct ftp *f = ftp_of(w, s);
	struct ftp_session *p = ftp_session_of(w, s);

	if (!is_control(f, s)) { /* a handshake without an end was not counted */
		f->app.beside_opened += ftp_conn_of(s)->role == FTP_NEW;
		f->app.beside_open -= ftp_conn_of(s)->role != FTP_NEW;
	}
	if (p == NULL)
		return;
	if (p->control == s) {
		ftp_session_end(w, s);
		return;
	}
	ftp_conn_of(s)->session = 0;
	p->data = NULL;
	side_of(f)->over(w, p, end == FG_L4_END_CLOSED);
}

static void
ftp_timer(struct fg_l4 *w, struct fg_stream *s)
{
	struct ftp_session *p = ftp_session_of(w, s);

	if (p != NULL && p->control == s)
		side_of(ftp_of(w, s))->timer(w, p);
	else
		fg_stream_abort(w, s);
}

static void
ftp_stop(struct fg_l4 *w, struct fg_stream *s)
{
	struct ftp_session *p = ftp_session_of(w, s);

	if (p != NULL && p->control == s)
		ftp_client_stop(w, p);
}

static uint64_t
ftp_client_poll(struct fg_l4 *w, struct fg_app *app)
{
	uint64_t data = ftp_data_open(w, (struct ftp *)app), ramp = client_poll(w, app);

	return data < ramp ? data : ramp;
}

static uint64_t
ftp_server_poll(struct fg_l4 *w, struct fg_app *app)
{
	return ftp_data_open(w, (struct ftp *)app);
}

#define FTP_OPS                                                                                       \
	.established = ftp_established, .receive = ftp_receive, .arrived = ftp_moved, .eof = ftp_eof, \
	.acked = ftp_moved, .refill = ftp_data_refill, .fill = ftp_fill, .closed = ftp_closed,        \
	.timer = ftp_timer, .expects = ftp_data_expects

static const struct fg_app_ops ftp_client_ops = {FTP_OPS, .stop = ftp_stop, .poll = ftp_client_poll};
static const struct fg_app_ops ftp_server_ops = {FTP_OPS, .poll = ftp_server_poll};

static int
ftp_check(const struct fg_l4_app *a, uint32_t mtu, struct fg_error *err)
{
	bool ipv4 = a->ftp_mode == FG_L4_FTP_PASSIVE || a->ftp_mode == FG_L4_FTP_ACTIVE;

	if (a->timeout_ns == 0)
		return fg_error_set(err, EINVAL, "l4", "FTP needs a time-out");
	if (a->server)
		return 0;
	if (a->path == NULL || a->user == NULL || a->password == NULL)
		return fg_error_set(err, EINVAL, "l4", "FTP needs a path, a user and a password");
	if (ipv4 && a->ipv6)
		return fg_error_set(err, EINVAL, "l4", "PASV and PORT are for IPv4");
	return 0;
}

static int
ftp_create(struct application *a, struct fg_error *err)
{
	struct ftp *f = (struct ftp *)a;
	const struct fg_l4_app *config = &a->config;
	int rc = ftp_sessions_create(f, err);

	/* commands and replies leave at once; files do not depend on it */
	a->config.tcp.nodelay = true;
	a->base.tcp = a->config.tcp;
	if (rc != 0 || config->server)
		return rc;
	if (config->ftp_mode >= FG_L4_FTP_EXTENDED_ACTIVE) { /* nobody connects to the server's port here */
		a->base.listens = true;
		a->base.port = 0;
	}
	f->user = strdup(config->user);
	f->password = strdup(config->password);
	f->path = strdup(config->path);
	if (f->user == NULL || f->password == NULL || f->path == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	return 0;
}

static void
ftp_free(struct application *a)
{
	struct ftp *f = (struct ftp *)a;

	ftp_sessions_free(f);
	free(f->user);
	free(f->password);
	free(f->path);
}

static void
ftp_read(const struct application *a, struct fg_l4_result *out)
{
	const struct ftp *f = (const struct ftp *)a;

	out->replies = f->replies;
	out->reply = f->reply;
}

static const struct app_kind ftp = {
	"FTP",
	.streams = true,
	.size = sizeof(struct ftp),
	.client = &ftp_client_ops,
	.server = &ftp_server_ops,
	.own = {[FTP_OCTETS] = "file_bytes",
		[FTP_4XX] = "reply_4xx",
		[FTP_5XX] = "reply_5xx",
		[FTP_OTHER] = "reply_other",
		[FTP_MALFORMED] = "reply_malformed",
		[FTP_OVERLONG] = "line_too_long",
		[FTP_FOREIGN] = "foreign_address",
		[FTP_NO_DATA] = "no_data_connection",
		[FTP_LENGTH] = "file_length",
		[FTP_CUT] = "cut",
		[FTP_SILENT] = "silent",
		[FTP_STRAY] = "stray_connection"},
	.check = ftp_check,
	.create = ftp_create,
	.free = ftp_free,
	.read = ftp_read,
};

const struct app_kind *const app_kinds_of_ftp[] = {&ftp, NULL};
