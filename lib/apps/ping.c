/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PING: echo requests (RFC 792; RFC 4443, 4) and their replies. A slot of requests is an identifier, and the
 * sequence number is the lower half of the request's number in its slot. Any host may answer, so a reply is
 * told by these alone, and every byte behind them is compared: it has to come back as it was sent.
 *
 * A slot remembers of its last 64 requests which were answered. So a reply to another request than the one
 * it waits for is a further copy, or late because the request was given up. A reply to a request before
 * these counts as late.
 */
#include <errno.h>
#include <stdlib.h>

#include "requests_priv.h"

enum { HEADER = 8, REMEMBERED = 64 };
enum { PING_LATE, PING_TWICE, PING_REORDERED, PING_MALFORMED };

/** What is known of the requests of a slot. */
struct echoed {
	uint64_t answered; /* bit n: the n-th request before the last one */
	uint64_t order;    /* of the last one among the requests of all slots */
};

struct ping {
	struct requests requests; /* first */
	struct echoed *echoed;
	uint64_t sent, highest; /* requests; and of those answered the last in order */
};

static struct echoed *
echoed_of(struct application *a, uint32_t slot)
{
	return &((struct ping *)a)->echoed[slot];
}

static uint32_t
write_echo(const struct application *a, uint32_t slot, uint64_t number, uint8_t *to)
{
	payload_fill(CLIENT_STREAM, number, to, a->config.request);
	return a->config.request;
}

static void
send_echo(struct fg_l4 *w, struct application *a, const struct fg_flow *flow, uint32_t slot, uint64_t number,
	  uint32_t length)
{
	struct echoed *e = echoed_of(a, slot);

	e->answered <<= 1;
	e->order = ++((struct ping *)a)->sent;
	fg_echo_send(w, flow, true, (uint32_t)flow->local_port << 16 | (uint16_t)number, length);
}

/* a reply to a request that the slot does not wait for */
static void
note_other_reply(struct application *a, uint32_t slot, uint64_t number, const uint8_t *message)
{
	struct echoed *e = echoed_of(a, slot);
	uint16_t before = (uint16_t)((uint16_t)number - fg_get16(message + 6));

	if (before >= number) {
		a->base.tally.own[PING_MALFORMED]++;
		return;
	}
	if (before >= REMEMBERED) {
		a->base.tally.own[PING_LATE]++;
		return;
	}
	a->base.tally.own[e->answered >> before & 1 ? PING_TWICE : PING_LATE]++;
	e->answered |= 1ULL << before;
}

static bool
is_reply(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number, const uint8_t *data,
	 uint32_t length)
{
	struct ping *p = (struct ping *)a;
	struct echoed *e = echoed_of(a, slot);

	if (fg_get16(data + 6) != (uint16_t)number) {
		note_other_reply(a, slot, number, data);
		return false;
	}
	if (length != HEADER + a->config.request) {
		a->base.tally.own[PING_MALFORMED]++;
		return false;
	}
	w->counters.wrong_octets += payload_wrong(CLIENT_STREAM, number, data + HEADER, length - HEADER);
	e->answered |= 1;
	a->base.tally.own[PING_REORDERED] += e->order < p->highest;
	p->highest = e->order > p->highest ? e->order : p->highest;
	return true;
}

static void
stray(struct application *a, uint32_t slot, uint64_t number, bool expired, const uint8_t *data,
      uint32_t length)
{
	note_other_reply(a, slot, number, data);
}

static bool
quotes(uint64_t number, const uint8_t *message)
{
	return fg_get16(message + 6) == (uint16_t)number;
}

static const struct request_ops echo_requests = {
	.write = write_echo,
	.send = send_echo,
	.is_answer = is_reply,
	.stray = stray,
	.quotes = quotes,
	.header = HEADER,
};

static uint64_t
client_poll_pings(struct fg_l4 *w, struct fg_app *app)
{
	return requests_poll(w, app, &echo_requests);
}

static bool
is_message(const struct fg_flow *flow, const uint8_t *message, uint32_t length, uint8_t icmp, uint8_t icmpv6)
{
	return length >= HEADER && message[0] == (flow->ipv6 ? icmpv6 : icmp) && message[1] == 0;
}

static bool
take_reply(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *message,
	   uint32_t length)
{
	struct fg_flow f = *flow;

	if (!is_message(flow, message, length, FG_ICMP_ECHO_REPLY, FG_ICMPV6_ECHO_REPLY))
		return false;
	f.local_port = fg_get16(message + 4);
	f.remote_port = ((const struct application *)app)->config.port;
	return requests_datagram(w, app, &f, message, length, &echo_requests);
}

static bool
unreachable(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *message,
	    uint32_t length)
{
	struct fg_flow f = *flow;

	if (!is_message(flow, message, length, FG_ICMP_ECHO, FG_ICMPV6_ECHO))
		return false;
	f.local_port = fg_get16(message + 4);
	f.remote_port = ((const struct application *)app)->config.port;
	return requests_unreachable(w, app, &f, message, length, &echo_requests);
}

static bool
reply_to(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *message,
	 uint32_t length)
{
	uint8_t *to = fg_datagram_room(w, flow->ipv6);

	if (!is_message(flow, message, length, FG_ICMP_ECHO, FG_ICMPV6_ECHO))
		return false;
	if (to == NULL || length - HEADER > datagram_most(w->config.mtu, flow->ipv6))
		return true; /* a host that is too busy, or whose link does not carry the reply */
	memcpy(to, message + HEADER, length - HEADER);
	fg_echo_send(w, flow, false, fg_get32(message + 4), length - HEADER);
	app->tally.datagrams_in++;
	app->tally.datagram_octets_in += length - HEADER;
	app->tally.datagrams_out++;
	app->tally.transactions++;
	return true;
}

static int
ping_check(const struct fg_l4_app *a, uint32_t mtu, struct fg_error *err)
{
	return datagrams_check(a, a->request, mtu, err);
}

static int
ping_create(struct application *a, struct fg_error *err)
{
	struct ping *p = (struct ping *)a;
	int rc = requests_create(a, err);

	if (rc != 0 || a->config.server)
		return rc;
	p->echoed = calloc(a->config.connections, sizeof(*p->echoed));
	return p->echoed != NULL
		       ? 0
		       : fg_error_set(err, ENOMEM, "l4", "no memory for %u requests", a->config.connections);
}

static void
ping_free(struct application *a)
{
	free(((struct ping *)a)->echoed);
	requests_free(a);
}

static const struct fg_app_ops client = {
	.poll = client_poll_pings, .datagram = take_reply, .unreachable = unreachable};
static const struct fg_app_ops server = {.datagram = reply_to};
static const struct app_kind ping = {
	"PING",
	.echo = true,
	.size = sizeof(struct ping),
	.client = &client,
	.server = &server,
	.own = {[PING_LATE] = "late",
		[PING_TWICE] = "duplicates",
		[PING_REORDERED] = "reordered",
		[PING_MALFORMED] = "malformed"},
	.check = ping_check,
	.create = ping_create,
	.free = ping_free,
};

const struct app_kind *const app_kinds_of_ping[] = {&ping, NULL};
