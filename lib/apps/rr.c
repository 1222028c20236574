/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests and responses over TCP: on connections that last (TCP_RR), on one for each (TCP_CRR), and
 * connections without either (TCP_CC). Neither side keeps more than a count: how many requests are complete
 * follows from the bytes received, and how many responses were given from the bytes written.
 */
#include <errno.h>

#include "app_priv.h"

/** A client's own of a stream. */
struct rr_stream {
	struct client_stream client; /* first */
	uint64_t whole_at;           /* bytes at which the response is whole */
};

static_assert(sizeof(struct rr_stream) <= FG_STREAM_AREA, "the area of a stream");

static struct rr_stream *
rr_of(const struct fg_stream *s)
{
	return (struct rr_stream *)client_of(s);
}

static void
rr_send_request(struct fg_l4 *w, struct fg_stream *s)
{
	const struct fg_l4_app *config = &application_of(w, s)->config;

	client_of(s)->since = w->now;
	rr_of(s)->whole_at += config->response;
	if (config->half_close && s->written / config->request + 1 == config->requests)
		write_last(w, s, config->request);
	else
		fg_stream_write(w, s, config->request);
}

static void
rr_established(struct fg_l4 *w, struct fg_stream *s)
{
	note_setup(w, s);
	rr_send_request(w, s);
}

static void
rr_arrived(struct fg_l4 *w, struct fg_stream *s)
{
	uint64_t requests = s->written / application_of(w, s)->config.request;

	if (s->received < rr_of(s)->whole_at)
		return;
	note_transaction(w, s);
	if (requests == 1)
		note_last_octet(w, s);
	next_request(w, s, requests, false, rr_send_request);
}

/* a stream that waits for a response is closed when it has come */
static void
rr_stop(struct fg_l4 *w, struct fg_stream *s)
{
	if (fg_stream_is_established(w, s) && s->received >= rr_of(s)->whole_at)
		client_close(w, s);
}

static uint32_t
rr_waits(struct fg_l4 *w, const struct fg_stream *s,
	 void (*note)(struct fg_l4 *w, struct application *a, uint64_t since))
{
	if (s->received >= rr_of(s)->whole_at)
		return 0;
	if (note != NULL)
		note(w, application_of(w, s), client_of(s)->since);
	return 1;
}

/* the server has ended a connection in good order, but not its answer */
static void
note_cut(struct fg_l4 *w, const struct fg_stream *s, enum fg_l4_end end)
{
	application_of(w, s)->base.tally.refused += end == FG_L4_END_CLOSED;
}

static void
rr_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	if (s->received < rr_of(s)->whole_at)
		note_cut(w, s, end);
}

/* the pause is over, or the time is */
static void
rr_timer(struct fg_l4 *w, struct fg_stream *s)
{
	if (w->now >= w->stop_at)
		rr_stop(w, s);
	else
		rr_send_request(w, s);
}

static void
answer(struct fg_l4 *w, struct fg_stream *s)
{
	const struct fg_l4_app *config = &application_of(w, s)->config;
	uint64_t asked = s->received / config->request, answered = s->written / config->response;

	if (asked > answered && !s->ended)
		fg_stream_write(w, s, (asked - answered) * config->response);
}

static const struct fg_app_ops rr_client = {
	PLAIN_CLIENT,    .established = rr_established, .arrived = rr_arrived, .timer = rr_timer,
	.stop = rr_stop, .closed = rr_closed,           .early = true,
};
static const struct fg_app_ops rr_server = {
	PLAIN_SERVER,
	.arrived = answer,
	.eof = fg_stream_close,
	.early = true,
};

/* --- CRR and CC: a connection for each */

static void
crr_established(struct fg_l4 *w, struct fg_stream *s)
{
	note_setup(w, s);
	rr_of(s)->whole_at = application_of(w, s)->config.response;
	if (application_of(w, s)->config.half_close)
		write_last(w, s, application_of(w, s)->config.request);
	else
		fg_stream_write(w, s, application_of(w, s)->config.request);
}

static void
crr_arrived(struct fg_l4 *w, struct fg_stream *s)
{
	if (s->received < rr_of(s)->whole_at)
		return;
	note_last_octet(w, s);
	fg_stream_close(w, s);
}

/* it counts if all of the response has come */
static void
crr_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	if (s->received < rr_of(s)->whole_at)
		note_cut(w, s, end);
	else if (end == FG_L4_END_CLOSED)
		note_transaction(w, s);
}

static uint32_t
crr_waits(struct fg_l4 *w, const struct fg_stream *s,
	  void (*note)(struct fg_l4 *w, struct application *a, uint64_t since))
{
	if (note != NULL)
		note(w, application_of(w, s), client_of(s)->since);
	return 1;
}

static void
cc_established(struct fg_l4 *w, struct fg_stream *s)
{
	note_setup(w, s);
	fg_stream_close(w, s);
}

/* the FIN leaves with the response */
static void
crr_answer(struct fg_l4 *w, struct fg_stream *s)
{
	answer(w, s);
	if (s->written > 0)
		fg_stream_close(w, s);
}

static const struct fg_app_ops crr_client = {
	PLAIN_CLIENT,  .established = crr_established, .arrived = crr_arrived, .closed = crr_closed,
	.early = true,
};
static const struct fg_app_ops crr_server = {
	PLAIN_SERVER,
	.arrived = crr_answer,
	.eof = fg_stream_close,
	.early = true,
};
static const struct fg_app_ops cc_client = {
	PLAIN_CLIENT,
	.established = cc_established,
	.closed = crr_closed,
};
static const struct fg_app_ops cc_server = {
	PLAIN_SERVER,
	.eof = fg_stream_close,
};

static int
rr_check(const struct fg_l4_app *a, uint32_t mtu, struct fg_error *err)
{
	return a->request > 0 && a->response > 0
		       ? 0
		       : fg_error_set(err, EINVAL, "l4", "a request and a response have a byte at least");
}

static const struct app_kind rr = {
	"TCP_RR",
	.streams = true,
	.secures = true,
	.resets_at_once = true,
	.client = &rr_client,
	.server = &rr_server,
	.check = rr_check,
	.waits = rr_waits,
};
static const struct app_kind crr = {
	"TCP_CRR",
	.streams = true,
	.secures = true,
	.resets_at_once = true,
	.client = &crr_client,
	.server = &crr_server,
	.check = rr_check,
	.waits = crr_waits,
};
static const struct app_kind cc = {
	"TCP_CC",          .streams = true, .secures = true, .client = &cc_client, .server = &cc_server,
	.waits = crr_waits};

const struct app_kind *const app_kinds_of_rr[] = {&rr, &crr, &cc, NULL};
