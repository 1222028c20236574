/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds DNS and DNS_TCP, and what goes over UDP. A query waits in a slot with a port of its own
 * (requests_priv.h), and its id follows from the slot and from how many were sent from there, so an answer to
 * the query before is not taken for this one's. An answer counts when port, id and question fit; its latency
 * counts from when the query was due. One that is truncated may be asked for again over TCP.
 */
#include <errno.h>
#include <stdlib.h>

#include "dns_priv.h"

/* --- the client */

static uint16_t
id_of(uint32_t slot, uint64_t number)
{
	return (uint16_t)(number + slot * 0x9e37U);
}

/* the query that is sent as number @p number of a slot: slots take them in turn */
static const uint8_t *
query_of(const struct dns *d, uint32_t slot, uint64_t number, uint32_t *bytes)
{
	uint64_t i = ((number - 1) * d->requests.app.config.connections + slot) % d->questions.n;

	return dns_question(&d->questions, (uint32_t)i, bytes);
}

static uint32_t
write_query(const struct application *a, uint32_t slot, uint64_t number, uint8_t *to)
{
	uint32_t bytes;
	const uint8_t *query = query_of(dns_of(a), slot, number, &bytes);

	memcpy(to, query, bytes);
	fg_put16(to, id_of(slot, number));
	return bytes + (dns_of(a)->cookie_bytes == 0
				? 0
				: dns_cookie_put(to + bytes, dns_of(a)->cookie, dns_of(a)->cookie_bytes));
}

/* without its cookie, which may be renewed meanwhile, and the length of that */
static uint32_t
fixed_of_query(const struct application *a, uint32_t slot, uint64_t number)
{
	uint32_t bytes;

	query_of(dns_of(a), slot, number, &bytes);
	return bytes - (dns_of(a)->cookie_bytes == 0 ? 0 : 2);
}

static void
note_datagram(struct application *a, uint32_t length)
{
	a->base.tally.datagrams_in++;
	a->base.tally.datagram_octets_in += length;
}

/* an answer that asks for another query. @return false: that is asked over TCP, and the slot waits on */
static bool
takes_truncated(struct application *a, uint32_t slot, uint64_t number, uint32_t length)
{
	struct dns *d = dns_of(a);

	if (!d->config.fallback)
		return true;
	note_datagram(a, length);
	if (!dns_ask_again_later(d, slot, number))
		dns_note(a, DNS_SUM_TWICE);
	return false;
}

static const struct request_ops queries;

/* The server asks for its cookie, which has come. Once more, by the second time over TCP: RFC 7873, 5.3. */
static bool
takes_bad_cookie(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number, uint32_t length)
{
	uint64_t *resent = &dns_of(a)->resent[slot];

	dns_note(a, DNS_SUM_BAD_COOKIE);
	if (*resent == number || !requests_send_again(w, a, slot, number, &queries)) {
		bool answered = takes_truncated(a, slot, number, length);

		if (answered) /* else its answer over TCP counts */
			dns_note(a, DNS_SUM_OTHER);
		return answered;
	}
	*resent = number;
	note_datagram(a, length);
	return false;
}

/* @return false: nobody but somebody who has not seen the query could have sent it */
static bool
takes_cookie(struct application *a, const struct dns_query *answer)
{
	struct dns *d = dns_of(a);
	bool right = dns_cookie_take(answer, d->cookie, &d->cookie_bytes);

	if (!right)
		dns_note(a, DNS_SUM_WRONG_COOKIE);
	else if (d->cookie_bytes > DNS_COOKIE_CLIENT)
		dns_note(a, DNS_SUM_COOKIES);
	return right;
}

static bool
answers_query(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number, const uint8_t *data,
	      uint32_t length)
{
	const struct dns_judge judge = dns_judge_of(a);
	struct dns_query answer;
	uint32_t bytes;
	const uint8_t *query = query_of(dns_of(a), slot, number, &bytes);

	if (length < DNS_HEADER || (fg_get16(data + 2) & DNS_QR) == 0) {
		dns_note(a, DNS_SUM_MALFORMED);
		return false;
	}
	if (fg_get16(data) != id_of(slot, number)) {
		dns_note(a, DNS_SUM_UNEXPECTED);
		return false;
	}
	if (dns_of(a)->cookie_bytes > 0) {
		dns_read_options(data, length, &answer);
		if (!takes_cookie(a, &answer))
			return false;
		if ((answer.rcode_high << 4 | (data[3] & 0xf)) == DNS_BADCOOKIE)
			return takes_bad_cookie(w, a, slot, number, length);
	}
	if (!dns_is_answer(w, &judge, query, bytes, data, length,
			   datagram_most(w->config.mtu, a->config.ipv6)))
		return false;
	return (fg_get16(data + 2) & DNS_TC) == 0 || takes_truncated(a, slot, number, length);
}

static void
note_stray(struct application *a, uint32_t slot, uint64_t number, bool expired, const uint8_t *data,
	   uint32_t length)
{
	bool of_last = length >= DNS_HEADER && fg_get16(data) == id_of(slot, number);

	dns_note(a, !of_last ? DNS_SUM_UNEXPECTED : expired ? DNS_SUM_LATE : DNS_SUM_TWICE);
}

static const struct request_ops queries = {.write = write_query,
					   .fixed = fixed_of_query,
					   .is_answer = answers_query,
					   .stray = note_stray,
					   .unexpected = DNS_SUM_UNEXPECTED};

static uint64_t
poll_both(struct fg_l4 *w, struct fg_app *app, struct dns *d)
{
	uint64_t again = dns_ask_again(w, d), next = requests_poll(w, app, &queries);

	return again < next ? again : next;
}

static uint64_t
client_poll_queries(struct fg_l4 *w, struct fg_app *app)
{
	struct dns *d = dns_of((struct application *)app);

	return d->queued > 0 ? poll_both(w, app, d) : requests_poll(w, app, &queries);
}

static bool
client_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		uint32_t length)
{
	return requests_datagram(w, app, flow, data, length, &queries);
}

static bool
client_unreachable(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *quoted,
		   uint32_t length)
{
	return requests_unreachable(w, app, flow, quoted, length, &queries);
}

/* --- the server */

static bool
server_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		uint32_t length)
{
	struct application *a = (struct application *)app;
	struct dns_query query;
	uint32_t out;
	uint8_t *to;
	int rcode;

	if (flow->local_port != app->port)
		return false;
	rcode = dns_read_query(data, length, &query);
	if (rcode == DNS_DROP) {
		dns_note(a, DNS_SUM_MALFORMED);
		return true;
	}
	to = fg_datagram_room(w, flow->ipv6);
	if (to == NULL)
		return true; /* the client asks again */
	rcode = dns_cookie_serve(w, &dns_of(a)->config, flow, true, rcode, &query);
	out = dns_answer(
		&dns_of(a)->config, &query, rcode, to,
		dns_datagram_room(&dns_of(a)->config, &query, datagram_most(w->config.mtu, flow->ipv6)));
	dns_note(a, dns_sum_of(to[3] & 0xf));
	if ((fg_get16(to + 2) & DNS_TC) != 0)
		dns_note(a, DNS_SUM_TRUNCATED);
	if (rcode == DNS_BADCOOKIE)
		dns_note(a, DNS_SUM_BAD_COOKIE);
	if (query.answers_cookie)
		dns_note(a, DNS_SUM_COOKIES);
	requests_answer(w, app, flow, length, out);
	return true;
}

/* --- the kind */

static int
dns_check(const struct fg_l4_app *a, uint32_t mtu, struct fg_error *err)
{
	if (a->dns == NULL)
		return fg_error_set(err, EINVAL, "l4.dns", "nothing is said of questions and answers");
	return datagrams_check(a, DNS_PLAIN_MAX, mtu, err);
}

static int
dns_tcp_check(const struct fg_l4_app *a, uint32_t mtu, struct fg_error *err)
{
	if (a->dns == NULL)
		return fg_error_set(err, EINVAL, "l4.dns", "nothing is said of questions and answers");
	if (a->quic != NULL)
		return fg_error_set(err, EINVAL, "l4.dns", "DNS_TCP does not go through QUIC");
	return 0;
}

/* what is asked again over TCP */
static int
create_queue(struct dns *d, struct fg_error *err)
{
	uint32_t slots = d->requests.app.config.connections;

	d->queue = calloc(slots, sizeof(*d->queue));
	d->again = calloc(slots, sizeof(*d->again));
	return d->queue != NULL && d->again != NULL ? 0 : fg_error_set(err, ENOMEM, "l4.dns", "no memory");
}

/* the first bytes of a cookie, which stay the same */
static int
create_cookie(struct dns *d, struct fg_error *err)
{
	struct application *a = &d->requests.app;

	d->resent = calloc(a->config.connections, sizeof(*d->resent));
	if (d->resent == NULL)
		return fg_error_set(err, ENOMEM, "l4.dns", "no memory");
	fg_put64(d->cookie, fg_random_next(&a->random));
	d->cookie_bytes = DNS_COOKIE_CLIENT;
	return 0;
}

static int
dns_create(struct application *a, struct fg_error *err)
{
	struct dns *d = dns_of(a);
	bool udp = a->kind->datagrams, client = !a->config.server;
	int rc;

	d->config = *a->config.dns;
	d->queries = &queries;
	rc = udp ? requests_create(a, err) : 0;
	if (rc == 0 && udp && client && d->config.fallback)
		rc = create_queue(d, err);
	if (rc == 0 && udp && client && d->config.cookies && d->config.udp_size > 0)
		rc = create_cookie(d, err);
	if (rc == 0 && (!udp || !client || d->config.fallback))
		rc = dns_streams_create(d, err);
	if (rc != 0 || !client)
		return rc;
	d->expected = malloc(DNS_MESSAGE_MAX);
	if (d->expected == NULL)
		return fg_error_set(err, ENOMEM, "l4.dns", "no memory");
	return dns_questions_make(&d->config, &d->questions, err);
}

static void
dns_free(struct application *a)
{
	struct dns *d = dns_of(a);

	requests_free(a);
	dns_streams_free(d);
	dns_questions_free(&d->questions);
	free(d->expected);
	free(d->queue);
	free(d->again);
	free(d->resent);
}

void
fg_l4_dns_sizes(const struct fg_l4_app *app, bool stream, double *query, double *answer)
{
	struct dns_questions questions;
	struct dns_query one;
	uint64_t out = 0, in = 0;
	uint8_t *room = malloc(DNS_MESSAGE_MAX);
	int rc = dns_questions_make(app->dns, &questions, NULL);

	for (uint32_t i = 0; rc == 0 && room != NULL && i < questions.n; i++) {
		uint32_t bytes = questions.at[i + 1] - questions.at[i], most = DNS_MESSAGE_MAX;

		rc = dns_read_query(questions.data + questions.at[i], bytes, &one);
		if (!stream)
			most = dns_datagram_room(app->dns, &one, most);
		if (!stream && one.edns && app->dns->cookies) {
			one.answers_cookie = true;
			bytes += DNS_OPTION + DNS_COOKIE;
		}
		out += bytes + (stream ? DNS_PREFIX : 0);
		in += dns_answer(app->dns, &one, rc, room, most) + (stream ? DNS_PREFIX : 0);
		rc = 0;
	}
	*query = rc != 0 ? 0 : (double)out / questions.n;
	*answer = rc != 0 ? 0 : (double)in / questions.n;
	dns_questions_free(&questions);
	free(room);
}

#define SUMS(last)                                                                                    \
	{                                                                                             \
		[DNS_SUM_NOERROR] = "noerror", [DNS_SUM_NXDOMAIN] = "nxdomain",                       \
		[DNS_SUM_SERVFAIL] = "servfail", [DNS_SUM_OTHER] = "other_rcode",                     \
		[DNS_SUM_TRUNCATED] = "truncated", [DNS_SUM_MISMATCHED] = "mismatched",               \
		[DNS_SUM_LATE] = "late", [DNS_SUM_TWICE] = "duplicates",                              \
		[DNS_SUM_UNEXPECTED] = "unexpected", [DNS_SUM_MALFORMED] = "malformed",               \
		[DNS_SUM_CUT] = "cut", [DNS_SUM_QUERIES] = last, [DNS_SUM_BAD_COOKIE] = "bad_cookie", \
		[DNS_SUM_WRONG_COOKIE] = "wrong_cookie", [DNS_SUM_COOKIES] = "cookies",               \
	}

static const struct fg_app_ops udp_client_ops = {
	.poll = client_poll_queries,
	.datagram = client_datagram,
	.unreachable = client_unreachable,
	DNS_STREAM_CLIENT,
};
static const struct fg_app_ops tcp_client_ops = {
	.poll = dns_client_poll, .stop = dns_client_stop, DNS_STREAM_CLIENT};
static const struct fg_app_ops udp_server_ops = {.datagram = server_datagram, DNS_STREAM_SERVER};
static const struct fg_app_ops tcp_server_ops = {DNS_STREAM_SERVER};

static const struct app_kind udp = {
	"DNS",
	.streams = true,
	.datagrams = true,
	.size = sizeof(struct dns),
	.client = &udp_client_ops,
	.server = &udp_server_ops,
	.own = SUMS("asked_again"),
	.check = dns_check,
	.create = dns_create,
	.free = dns_free,
};
static const struct app_kind tcp = {
	"DNS_TCP",
	.streams = true,
	.secures = true,
	.size = sizeof(struct dns),
	.client = &tcp_client_ops,
	.server = &tcp_server_ops,
	.own = SUMS("queries"),
	.check = dns_tcp_check,
	.create = dns_create,
	.free = dns_free,
};

const struct app_kind *const app_kinds_of_dns[] = {&udp, &tcp, NULL};
