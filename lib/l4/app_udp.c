/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What applications do over UDP.
 *
 * A stream's datagrams carry stream, number and time; the receiver judges each stream by number, as all of Framegauge
 * does, and its jitter by RFC 3550. What the sender has not sent by max_lag after its time it leaves out.
 *
 * A request has one slot, and a slot has a port of ours. It waits for its answer in a list in order of time, so the
 * first of the list is the first to expire. The number that a request begins with (as much of it as there is room
 * for) comes back in the answer, so that a late answer is not taken for another's.
 */
#include <errno.h>
#include <stdlib.h>

#include "app_priv.h"

enum { NUMBER_OCTETS = 8, SEQUENCE_WINDOW = 4096 };

/* client's flow number @p i: a port of its own */
static void
flow_at(const struct fg_l4 *w, struct application *a, uint64_t i, struct flow *f)
{
	a->next_flow = i;
	next_flow(w, a, f);
}

/* --- UDP_STREAM */

static void
send_datagram(struct fg_l4 *w, struct application *a)
{
	uint64_t stream = a->sent % a->config.connections, number = a->sent / a->config.connections;
	uint8_t *payload = frame_room(w) + frame_udp_offset(a->config.ipv6);
	struct flow f;

	flow_at(w, a, stream, &f);
	put_number(payload, stream, 2);
	put_number(payload + 2, number, 6);
	put_number(payload + 8, w->now, 8);
	payload_fill(CLIENT_STREAM, number, payload + FG_L4_DATAGRAM_MIN,
		     a->config.datagram - FG_L4_DATAGRAM_MIN);
	frame_udp(w, &f, a->config.datagram);
	a->sent++;
	a->base.tally.datagrams_out++;
	w->counters.udp_tx++;
}

static uint64_t
udp_stream_poll(struct fg_l4 *w, struct app *app)
{
	struct application *a = (struct application *)app;
	double gap = a->config.datagrams_per_s == 0 ? 0 : 1e9 / a->config.datagrams_per_s;

	if (w->now < w->start_at)
		return w->start_at;
	pace_catch_up(w, &a->next_at, w->start_at, gap);
	while (w->now < w->stop_at && a->next_at <= (double)w->now) {
		if (frame_room(w) == NULL)
			return w->now;
		send_datagram(w, a);
		pace_next(w, &a->next_at, gap);
	}
	return w->now >= w->stop_at ? UINT64_MAX : (uint64_t)a->next_at + 1;
}

static bool
udp_stream_datagram(struct fg_l4 *w, struct app *app, const struct segment *s)
{
	struct application *a = (struct application *)app;
	uint64_t stream, number;

	if (s->flow.local_port != a->config.port)
		return false;
	stream = s->length < FG_L4_DATAGRAM_MIN ? UINT64_MAX : get_number(s->payload, 2);
	if (stream >= a->config.connections) {
		w->counters.rx_malformed++;
		return true;
	}
	number = get_number(s->payload + 2, 6);
	if (!fg_sequence_observe(a->stream[stream].sequence, number, w->now))
		return true; /* only the first copy counts */
	note_jitter(&a->stream[stream].jitter, w->now - get_number(s->payload + 8, 8));
	w->counters.wrong_octets += payload_wrong(CLIENT_STREAM, number, s->payload + FG_L4_DATAGRAM_MIN,
						  s->length - FG_L4_DATAGRAM_MIN);
	a->base.tally.datagrams_in++;
	a->base.tally.datagram_octets_in += s->length;
	return true;
}

static bool
not_ours(struct fg_l4 *w, struct app *app, const struct segment *s)
{
	return false;
}

const struct app_ops udp_stream_client = {.poll = udp_stream_poll, .datagram = not_ours};
const struct app_ops udp_stream_server = {.datagram = udp_stream_datagram};

/* --- UDP_RR */

static void
append(struct udp_slot *list, uint32_t head, uint32_t i)
{
	list[i].next = head;
	list[i].previous = list[head].previous;
	list[list[head].previous].next = i;
	list[head].previous = i;
}

static void
take_out(struct udp_slot *list, uint32_t i)
{
	list[list[i].previous].next = list[i].next;
	list[list[i].next].previous = list[i].previous;
}

/* slot[IDLE] and slot[WAITING] are the heads of two rings */
enum { IDLE, WAITING, FIRST_SLOT };

static uint32_t
number_octets(const struct application *a)
{
	return u32_min(NUMBER_OCTETS, u32_min(a->config.request, a->config.response));
}

static void
fill_message(uint8_t *payload, uint32_t length, uint32_t stream, uint64_t number, uint32_t octets)
{
	payload_fill(stream, 0, payload, length);
	put_number(payload, number, octets);
}

static void
send_request(struct fg_l4 *w, struct application *a, uint32_t i)
{
	struct udp_slot *slot = &a->slot[i];
	uint32_t octets = number_octets(a);
	struct flow f;

	take_out(a->slot, i);
	append(a->slot, WAITING, i);
	flow_at(w, a, i - FIRST_SLOT, &f);
	slot->number++;
	slot->sent_at = w->now;
	fill_message(frame_room(w) + frame_udp_offset(f.ipv6), a->config.request, CLIENT_STREAM, slot->number,
		     octets);
	frame_udp(w, &f, a->config.request);
	a->base.tally.datagrams_out++;
	w->counters.udp_tx++;
}

static void
give_up(struct fg_l4 *w, struct application *a)
{
	uint32_t i;

	while ((i = a->slot[WAITING].next) != WAITING &&
	       a->slot[i].sent_at + a->config.timeout_ns <= w->now) {
		a->base.tally.expired++;
		take_out(a->slot, i);
		append(a->slot, IDLE, i);
	}
}

static uint64_t
udp_rr_poll(struct fg_l4 *w, struct app *app)
{
	struct application *a = (struct application *)app;
	uint32_t first;

	if (w->now < w->start_at)
		return w->start_at;
	give_up(w, a);
	if (w->now >= w->stop_at)
		return UINT64_MAX;
	while (a->slot[IDLE].next != IDLE) {
		if (frame_room(w) == NULL)
			return w->now;
		send_request(w, a, a->slot[IDLE].next);
	}
	first = a->slot[WAITING].next;
	return first == WAITING ? UINT64_MAX : a->slot[first].sent_at + a->config.timeout_ns;
}

static bool
udp_rr_answer(struct fg_l4 *w, struct app *app, const struct segment *s)
{
	struct application *a = (struct application *)app;
	uint32_t i = s->flow.local_port - a->config.port_first + FIRST_SLOT, octets = number_octets(a);
	uint64_t mask = octets == 8 ? UINT64_MAX : (1ULL << 8 * octets) - 1;

	if (s->flow.remote_port != a->config.port || s->flow.local_port < a->config.port_first ||
	    i >= a->config.connections + FIRST_SLOT)
		return false;
	if (s->length != a->config.response || get_number(s->payload, octets) != (a->slot[i].number & mask) ||
	    a->slot[i].sent_at == 0)
		return true; /* late, or no answer at all */
	w->counters.wrong_octets +=
		payload_wrong(SERVER_STREAM, octets, s->payload + octets, s->length - octets);
	a->base.tally.datagrams_in++;
	a->base.tally.datagram_octets_in += s->length;
	a->base.tally.transactions++;
	if (is_measured(w))
		fg_histogram_record(a->transaction, (int64_t)(w->now - a->slot[i].sent_at));
	a->slot[i].sent_at = 0;
	take_out(a->slot, i);
	append(a->slot, IDLE, i);
	if (w->now < w->stop_at && frame_room(w) != NULL)
		send_request(w, a, i);
	return true;
}

static bool
udp_rr_request(struct fg_l4 *w, struct app *app, const struct segment *s)
{
	struct application *a = (struct application *)app;
	uint32_t octets = number_octets(a);

	if (s->flow.local_port != a->config.port)
		return false;
	if (s->length != a->config.request || frame_room(w) == NULL)
		return true; /* the client asks again */
	fill_message(frame_room(w) + frame_udp_offset(s->flow.ipv6), a->config.response, SERVER_STREAM,
		     get_number(s->payload, octets), octets);
	frame_udp(w, &s->flow, a->config.response);
	a->base.tally.datagrams_in++;
	a->base.tally.datagram_octets_in += s->length;
	a->base.tally.datagrams_out++;
	a->base.tally.transactions++;
	w->counters.udp_tx++;
	return true;
}

const struct app_ops udp_rr_client = {.poll = udp_rr_poll, .datagram = udp_rr_answer};
const struct app_ops udp_rr_server = {.datagram = udp_rr_request};

static int
streams_create(struct application *a, struct fg_error *err)
{
	a->stream = calloc(a->config.connections, sizeof(*a->stream));
	if (a->stream == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory for %u streams", a->config.connections);
	for (uint32_t i = 0; i < a->config.connections; i++) {
		a->stream[i].sequence = fg_sequence_create(SEQUENCE_WINDOW, 0, err);
		if (a->stream[i].sequence == NULL)
			return -ENOMEM;
	}
	return 0;
}

static int
slots_create(struct application *a, struct fg_error *err)
{
	uint32_t slots = a->config.connections;

	if (slots > (uint32_t)a->config.port_last - a->config.port_first + 1)
		return fg_error_set(err, EINVAL, "l4", "%u requests at a time need as many ports", slots);
	a->slot = calloc(slots + FIRST_SLOT, sizeof(*a->slot));
	if (a->slot == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory for %u requests", slots);
	for (uint32_t head = 0; head < FIRST_SLOT; head++)
		a->slot[head].next = a->slot[head].previous = head;
	for (uint32_t i = 0; i < slots; i++)
		append(a->slot, IDLE, FIRST_SLOT + i);
	return 0;
}

int
udp_create(struct application *a, struct fg_error *err)
{
	if (a->config.kind == FG_L4_UDP_STREAM && a->config.server)
		return streams_create(a, err);
	if (a->config.kind == FG_L4_UDP_RR && !a->config.server)
		return slots_create(a, err);
	return 0;
}

void
udp_free(struct application *a)
{
	for (uint32_t i = 0; a->stream != NULL && i < a->config.connections; i++)
		fg_sequence_free(a->stream[i].sequence);
	free(a->stream);
	free(a->slot);
}

void
udp_read(const struct application *a, struct fg_l4_result *out)
{
	struct fg_sequence_counts counts;
	uint32_t seen = 0;

	for (uint32_t i = 0; a->stream != NULL && i < a->config.connections; i++) {
		/* what was sent behind the last that came is not known here */
		fg_sequence_read(a->stream[i].sequence, a->stream[i].sequence->next, &counts);
		out->lost += (uint64_t)counts.lost;
		out->duplicates += counts.duplicates;
		out->reordered += counts.reordered;
		out->jitter_ns += a->stream[i].jitter.mean;
		seen += a->stream[i].jitter.seen;
	}
	if (seen > 0)
		out->jitter_ns /= seen;
}
