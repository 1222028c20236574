/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UDP_STREAM and UDP_RR.
 *
 * A stream's datagrams carry stream, number and time; the receiver judges each stream by number, as all of
 * Framegauge does, and its jitter by RFC 3550. What the sender has not sent by max_lag after its time is
 * dropped.
 *
 * The number that a request begins with (as much of it as there is room for) comes back in the answer, so
 * that a late answer is not taken for another's.
 */
#include <errno.h>
#include <stdlib.h>

#include "requests_priv.h"

enum {
	NUMBER_OCTETS = 8,
	REMEMBERED_S = 2,          /* as long as the usual drain, datagrams may be late and are not lost */
	REMEMBERED_MOST = 1 << 26, /* numbers of all streams: 16 MiB, and half of that for discontinuities */
};

/* --- UDP_STREAM */

/** One stream, as its receiver knows it. */
struct received {
	struct fg_sequence *sequence;
	struct jitter jitter;
};

struct udp_stream {
	struct application app;    /* first */
	struct received *received; /* server */
	double next_at;            /* client, ns: when the next datagram is due */
	uint64_t sent;             /* datagrams of all streams */
};

static void
send_datagram(struct fg_l4 *w, struct udp_stream *u)
{
	const struct fg_l4_app *config = &u->app.config;
	uint64_t stream = u->sent % config->connections, number = u->sent / config->connections;
	uint8_t *payload = fg_datagram_room(w, config->ipv6);
	struct fg_flow f;

	flow_at(&u->app, stream, &f);
	fg_put16(payload, (uint16_t)stream);
	put_number(payload + 2, number, 6);
	fg_put64(payload + 8, w->now);
	payload_fill(CLIENT_STREAM, number, payload + FG_L4_DATAGRAM_MIN,
		     config->datagram - FG_L4_DATAGRAM_MIN);
	fg_datagram_send(w, &f, config->datagram);
	u->sent++;
	u->app.base.tally.datagrams_out++;
}

static uint64_t
stream_poll(struct fg_l4 *w, struct fg_app *app)
{
	struct udp_stream *u = (struct udp_stream *)app;
	double gap = u->app.config.datagrams_per_s == 0 ? 0 : 1e9 / u->app.config.datagrams_per_s;

	if (w->now < w->start_at)
		return w->start_at;
	u->app.off_schedule += pace_catch_up(w, &u->next_at, w->start_at, gap);
	while (w->now < w->stop_at && u->next_at <= (double)w->now) {
		if (fg_l4_room(w) == NULL)
			return w->now;
		send_datagram(w, u);
		note_departure(w, &u->app, u->next_at, gap);
		pace_next(w, &u->next_at, gap);
	}
	return w->now >= w->stop_at ? UINT64_MAX : (uint64_t)u->next_at + 1;
}

static bool
stream_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		uint32_t length)
{
	const struct udp_stream *u = (const struct udp_stream *)app;
	uint64_t stream, number;

	if (flow->local_port != app->port)
		return false;
	stream = length < FG_L4_DATAGRAM_MIN ? UINT64_MAX : fg_get16(data);
	if (stream >= u->app.config.connections) {
		w->counters.rx_malformed++;
		return true;
	}
	number = get_number(data + 2, 6);
	if (!fg_sequence_observe(u->received[stream].sequence, number, w->now))
		return true; /* only the first copy counts */
	note_jitter(&u->received[stream].jitter, w->now - fg_get64(data + 8));
	w->counters.wrong_octets +=
		payload_wrong(CLIENT_STREAM, number, data + FG_L4_DATAGRAM_MIN, length - FG_L4_DATAGRAM_MIN);
	app->tally.datagrams_in++;
	app->tally.datagram_octets_in += length;
	return true;
}

static bool
no_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
	    uint32_t length)
{
	return false;
}

/* the sender goes on, as it does when nothing is reported */
static bool
stream_unreachable(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *quoted,
		   uint32_t length)
{
	const struct udp_stream *u = (const struct udp_stream *)app;

	return flow->remote_port == app->port && length >= FG_L4_DATAGRAM_MIN &&
	       fg_get16(quoted) < u->app.config.connections && get_number(quoted + 2, 6) < u->sent;
}

static int
stream_check(const struct fg_l4_app *a, uint32_t mtu, struct fg_error *err)
{
	if (a->datagram < FG_L4_DATAGRAM_MIN)
		return fg_error_set(err, EINVAL, "l4", "datagrams of %u bytes: at least %d", a->datagram,
				    FG_L4_DATAGRAM_MIN);
	return datagrams_check(a, a->datagram, mtu, err);
}

/* numbers that a stream remembers; all that there is room for where datagrams go as fast as they can */
static unsigned
window_for(const struct fg_l4_app *config)
{
	uint64_t room = REMEMBERED_MOST / config->connections, window = FG_SEQUENCE_WINDOW;
	double wanted = config->datagrams_per_s * REMEMBERED_S / config->connections;

	while (window * 2 <= room && ((double)window < wanted || (wanted <= 0 && window < 1 << 22)))
		window *= 2;
	return (unsigned)window;
}

static int
stream_create(struct application *a, struct fg_error *err)
{
	struct udp_stream *u = (struct udp_stream *)a;

	if (!a->config.server)
		return 0;
	u->received = calloc(a->config.connections, sizeof(*u->received));
	if (u->received == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory for %u streams", a->config.connections);
	for (uint32_t i = 0; i < a->config.connections; i++) {
		u->received[i].sequence = fg_sequence_create(window_for(&a->config), 0, err);
		if (u->received[i].sequence == NULL)
			return -ENOMEM;
	}
	return 0;
}

static void
stream_free(struct application *a)
{
	struct received *received = ((struct udp_stream *)a)->received;

	for (uint32_t i = 0; received != NULL && i < a->config.connections; i++)
		fg_sequence_free(received[i].sequence);
	free(received);
}

static void
stream_read(const struct application *a, struct fg_l4_result *out)
{
	const struct received *received = ((const struct udp_stream *)a)->received;
	struct fg_sequence_counts counts;
	uint32_t seen = 0;

	for (uint32_t i = 0; received != NULL && i < a->config.connections; i++) {
		/* what was sent behind the last that came is not known here */
		fg_sequence_read(received[i].sequence, received[i].sequence->next, &counts);
		out->lost += (uint64_t)counts.lost;
		out->duplicates += counts.duplicates;
		out->reordered += counts.reordered;
		out->jitter_ns += received[i].jitter.mean;
		seen += received[i].jitter.seen;
	}
	if (seen > 0)
		out->jitter_ns /= seen;
}

static const struct fg_app_ops stream_client = {
	.poll = stream_poll, .datagram = no_datagram, .unreachable = stream_unreachable};
static const struct fg_app_ops stream_server = {.datagram = stream_datagram};
static const struct app_kind udp_stream = {
	"UDP_STREAM",
	.datagrams = true,
	.size = sizeof(struct udp_stream),
	.client = &stream_client,
	.server = &stream_server,
	.check = stream_check,
	.create = stream_create,
	.free = stream_free,
	.read = stream_read,
};

/* --- UDP_RR */

static uint32_t
number_octets(const struct application *a)
{
	return fg_u32_min(NUMBER_OCTETS, fg_u32_min(a->config.request, a->config.response));
}

static uint32_t
write_request(const struct application *a, uint32_t slot, uint64_t number, uint8_t *to)
{
	payload_fill(CLIENT_STREAM, 0, to, a->config.request);
	put_number(to, number, number_octets(a));
	return a->config.request;
}

static bool
is_answer(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number, const uint8_t *data,
	  uint32_t length)
{
	uint32_t octets = number_octets(a);
	uint64_t mask = octets == 8 ? UINT64_MAX : (1ULL << 8 * octets) - 1;

	if (length != a->config.response || get_number(data, octets) != (number & mask))
		return false;
	w->counters.wrong_octets += payload_wrong(SERVER_STREAM, octets, data + octets, length - octets);
	return true;
}

static const struct request_ops rr_requests = {.write = write_request, .is_answer = is_answer};

static uint64_t
rr_poll(struct fg_l4 *w, struct fg_app *app)
{
	return requests_poll(w, app, &rr_requests);
}

static bool
rr_answer(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
	  uint32_t length)
{
	return requests_datagram(w, app, flow, data, length, &rr_requests);
}

static bool
rr_unreachable(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *quoted,
	       uint32_t length)
{
	return requests_unreachable(w, app, flow, quoted, length, &rr_requests);
}

static bool
rr_request(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
	   uint32_t length)
{
	const struct application *a = (const struct application *)app;
	uint8_t *to = fg_datagram_room(w, flow->ipv6);
	uint32_t octets = number_octets(a);

	if (flow->local_port != app->port)
		return false;
	if (length != a->config.request || to == NULL)
		return true; /* the client asks again */
	payload_fill(SERVER_STREAM, 0, to, a->config.response);
	memcpy(to, data, octets);
	requests_answer(w, app, flow, length, a->config.response);
	return true;
}

static int
udp_rr_check(const struct fg_l4_app *a, uint32_t mtu, struct fg_error *err)
{
	if (a->request == 0 || a->response == 0)
		return fg_error_set(err, EINVAL, "l4", "a request and a response have a byte at least");
	return datagrams_check(a, fg_u32_max(a->request, a->response), mtu, err);
}

static const struct fg_app_ops rr_client = {
	.poll = rr_poll, .datagram = rr_answer, .unreachable = rr_unreachable};
static const struct fg_app_ops rr_server = {.datagram = rr_request};
static const struct app_kind udp_rr = {
	"UDP_RR",
	.datagrams = true,
	.size = sizeof(struct requests),
	.client = &rr_client,
	.server = &rr_server,
	.check = udp_rr_check,
	.create = requests_create,
	.free = requests_free,
};

const struct app_kind *const app_kinds_of_udp[] = {&udp_stream, &udp_rr, NULL};
