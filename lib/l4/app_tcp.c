/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What applications do over TCP. Neither side keeps more than a count: how many requests are complete follows from
 * the octets received, and how many responses were given from the octets written.
 */
#include "app_priv.h"

static bool
check_octets(struct fg_l4 *w, uint32_t stream, uint64_t offset, const uint8_t *data, uint32_t length)
{
	w->counters.wrong_octets += payload_wrong(stream, offset, data, length);
	return true;
}

static bool
receive_of_server(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length,
		  bool early)
{
	if (offset == 0 && !early)
		note_first_octet(w, c);
	return check_octets(w, SERVER_STREAM, offset, data, length);
}

static bool
receive_of_client(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length,
		  bool early)
{
	return check_octets(w, CLIENT_STREAM, offset, data, length);
}

static void
fill_by_client(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t *to, uint32_t length)
{
	payload_fill(CLIENT_STREAM, offset, to, length);
}

static void
fill_by_server(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t *to, uint32_t length)
{
	payload_fill(SERVER_STREAM, offset, to, length);
}

static void
nothing(struct fg_l4 *w, struct conn *c)
{
}

static void
close_too(struct fg_l4 *w, struct conn *c)
{
	tcp_close(w, c);
}

static void
note_setup(struct fg_l4 *w, struct conn *c)
{
	note_time(w, application_of(w, c)->setup, c->app_time);
}

static void
note_transaction(struct fg_l4 *w, struct conn *c)
{
	application_of(w, c)->base.tally.transactions++;
	note_time(w, application_of(w, c)->transaction, c->app_time);
}

static void
closed(struct fg_l4 *w, struct conn *c, enum fg_l4_end end)
{
}

/* --- STREAM and MAERTS: one side writes until the stop, or so many octets */

static void
write_all(struct fg_l4 *w, struct conn *c)
{
	struct application *a = application_of(w, c);
	uint64_t octets = a->config.octets;

	if (a->first_at == 0)
		a->first_at = w->now;
	if (w->now >= w->stop_at) { /* a client that comes too late */
		tcp_close(w, c);
		return;
	}
	if (a->config.message > 0) {
		tcp_ready(w, c); /* one_message() does the rest */
		return;
	}
	tcp_write(w, c, octets > 0 ? octets : UINT64_MAX / 4);
	if (octets > 0)
		tcp_close(w, c);
}

/* a write that does not block: the whole message has room in the send buffer, or nothing else is there */
static bool
one_message(struct fg_l4 *w, struct conn *c)
{
	const struct fg_l4_app *config = &application_of(w, c)->config;
	uint64_t length = config->message, buffered = c->snd_end - c->snd_offset;

	if (length == 0 || c->flags & FIN_WANTED)
		return false;
	if (buffered > 0 && buffered + length > tcp_of(w, c)->send_buffer)
		return false;
	if (config->octets > 0 && config->octets - c->snd_end <= length) {
		tcp_write(w, c, config->octets - c->snd_end);
		tcp_close(w, c);
	} else {
		tcp_write(w, c, length);
	}
	return true;
}

static void
stream_established(struct fg_l4 *w, struct conn *c)
{
	note_setup(w, c);
	write_all(w, c);
}

static void
note_arrival(struct fg_l4 *w, struct conn *c)
{
	struct application *a = application_of(w, c);

	if (a->first_at == 0)
		a->first_at = w->now;
	a->last_at = w->now;
}

static void
note_acked(struct fg_l4 *w, struct conn *c)
{
	application_of(w, c)->last_at = w->now;
}

/* what is in flight is all that will be sent */
static void
end_writing(struct fg_l4 *w, struct conn *c)
{
	tcp_truncate(w, c);
	tcp_close(w, c);
}

static void
maerts_established(struct fg_l4 *w, struct conn *c)
{
	note_setup(w, c);
	if (w->now >= w->stop_at)
		tcp_close(w, c);
}

const struct app_ops stream_client = {
	.established = stream_established,
	.receive = receive_of_server,
	.eof = close_too,
	.more = one_message,
	.acked = note_acked,
	.fill = fill_by_client,
	.closed = closed,
	.timer = nothing,
	.poll = client_poll,
	.stop = end_writing,
};
const struct app_ops stream_server = {
	.established = nothing,
	.receive = receive_of_client,
	.arrived = note_arrival,
	.eof = close_too,
	.fill = fill_by_server,
	.closed = closed,
	.timer = nothing,
};
const struct app_ops maerts_client = {
	.established = maerts_established,
	.receive = receive_of_server,
	.arrived = note_arrival,
	.eof = close_too,
	.fill = fill_by_client,
	.closed = closed,
	.timer = nothing,
	.poll = client_poll,
	.stop = close_too,
};
const struct app_ops maerts_server = {
	.established = write_all,
	.receive = receive_of_client,
	.eof = end_writing,
	.more = one_message,
	.acked = note_acked,
	.fill = fill_by_server,
	.closed = closed,
	.timer = nothing,
};

/* --- SENDFILE: as STREAM, but the octets are a file's */

static void
fill_from_file(struct fg_l4 *w, struct conn *c, uint64_t offset, uint8_t *to, uint32_t length)
{
	file_fill(application_of(w, c), offset, to, length);
}

static bool
receive_file(struct fg_l4 *w, struct conn *c, uint64_t offset, const uint8_t *data, uint32_t length,
	     bool early)
{
	w->counters.wrong_octets += file_wrong(application_of(w, c), offset, data, length);
	return true;
}

const struct app_ops sendfile_client = {
	.established = stream_established,
	.receive = receive_of_server,
	.eof = close_too,
	.more = one_message,
	.acked = note_acked,
	.fill = fill_from_file,
	.closed = closed,
	.timer = nothing,
	.poll = client_poll,
	.stop = end_writing,
};
const struct app_ops sendfile_server = {
	.established = nothing,
	.receive = receive_file,
	.arrived = note_arrival,
	.eof = close_too,
	.fill = fill_by_server,
	.closed = closed,
	.timer = nothing,
};

/* --- RR: a request, a response, and so on */

static void
send_request(struct fg_l4 *w, struct conn *c)
{
	c->app_time = w->now;
	c->app_mark +=
		application_of(w, c)->config.response; /* when so much has come, the response is whole */
	tcp_write(w, c, application_of(w, c)->config.request);
}

static void
rr_established(struct fg_l4 *w, struct conn *c)
{
	note_setup(w, c);
	send_request(w, c);
}

static void
rr_arrived(struct fg_l4 *w, struct conn *c)
{
	uint64_t requests = c->snd_end / application_of(w, c)->config.request;

	if (c->rcv_offset < c->app_mark)
		return;
	note_transaction(w, c);
	if (requests == 1)
		note_last_octet(w, c);
	next_request(w, c, requests, false, send_request);
}

/* the pause is over, or the time is */
static void
rr_timer(struct fg_l4 *w, struct conn *c)
{
	if (w->now >= w->stop_at)
		tcp_close(w, c);
	else
		send_request(w, c);
}

/* who waits for a response closes when it has come */
static void
rr_stop(struct fg_l4 *w, struct conn *c)
{
	if (c->state >= ESTABLISHED && c->rcv_offset >= c->app_mark)
		tcp_close(w, c);
}

static void
answer(struct fg_l4 *w, struct conn *c)
{
	const struct fg_l4_app *config = &application_of(w, c)->config;
	uint64_t asked = c->rcv_offset / config->request, answered = c->snd_end / config->response;

	if (asked > answered && !(c->flags & FIN_WANTED))
		tcp_write(w, c, (asked - answered) * config->response);
}

const struct app_ops rr_client = {
	.established = rr_established,
	.receive = receive_of_server,
	.arrived = rr_arrived,
	.eof = close_too,
	.fill = fill_by_client,
	.closed = closed,
	.timer = rr_timer,
	.poll = client_poll,
	.stop = rr_stop,
};
const struct app_ops rr_server = {
	.established = nothing,
	.receive = receive_of_client,
	.arrived = answer,
	.eof = close_too,
	.fill = fill_by_server,
	.closed = closed,
	.timer = nothing,
};

/* --- CRR and CC: a connection for each */

static void
crr_established(struct fg_l4 *w, struct conn *c)
{
	note_setup(w, c);
	c->app_mark = application_of(w, c)->config.response;
	tcp_write(w, c, application_of(w, c)->config.request);
}

static void
crr_arrived(struct fg_l4 *w, struct conn *c)
{
	if (c->rcv_offset < c->app_mark)
		return;
	note_last_octet(w, c);
	tcp_close(w, c);
}

/* it counts if all of the response has come */
static void
crr_closed(struct fg_l4 *w, struct conn *c, enum fg_l4_end end)
{
	if (end == FG_L4_END_CLOSED && c->rcv_offset >= c->app_mark)
		note_transaction(w, c);
}

static void
cc_established(struct fg_l4 *w, struct conn *c)
{
	note_setup(w, c);
	tcp_close(w, c);
}

const struct app_ops crr_client = {
	.established = crr_established,
	.receive = receive_of_server,
	.arrived = crr_arrived,
	.eof = close_too,
	.fill = fill_by_client,
	.closed = crr_closed,
	.timer = nothing,
	.poll = client_poll,
};
const struct app_ops cc_client = {
	.established = cc_established,
	.receive = receive_of_server,
	.eof = close_too,
	.fill = fill_by_client,
	.closed = crr_closed,
	.timer = nothing,
	.poll = client_poll,
};
const struct app_ops cc_server = {
	.established = nothing,
	.receive = receive_of_client,
	.eof = close_too,
	.fill = fill_by_server,
	.closed = closed,
	.timer = nothing,
};
