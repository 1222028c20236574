/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client of DNS over TCP: several queries at a time on a connection, whose answers come in any order
 * (RFC 7766, 6.2.1 and 7). Which query stands at a position of the stream follows from the first one; its id
 * from its number. An answer that a connection ends without is not asked for again.
 *
 * In a closed loop the next query follows an answer. With a rate (fg_l4_app.requests_per_s) queries are due
 * at times that do not depend on answers, and count from these; each goes on the connection that has been
 * able to take one for longest. What is due while none can waits, and is left out after max_lag.
 */
#include "dns_priv.h"

static const uint64_t NO_NUMBER = UINT64_MAX;

static struct dns_asked *
asked_at(const struct dns *d, uint32_t i)
{
	return (struct dns_asked *)(void *)d->entries.at + i;
}

static uint32_t
most_waiting(const struct dns *d)
{
	return fg_u32_max(d->config.pipeline, 1);
}

static bool
has_asked_enough(const struct fg_l4 *w, const struct dns *d, const struct dns_conn *c)
{
	uint32_t requests = c->flags & DNS_AGAIN ? 1 : d->requests.app.config.requests;

	return (requests > 0 && c->asked >= requests) || (!(c->flags & DNS_AGAIN) && w->now >= w->stop_at);
}

/* --- the ring of connections that can take a query that is due */

static void
ready_remove(struct dns *d, struct dns_conn *c)
{
	if (!(c->flags & DNS_READY))
		return;
	c->flags &= ~(uint32_t)DNS_READY;
	dns_conn_at(d, c->previous_ready)->next_ready = c->next_ready;
	dns_conn_at(d, c->next_ready)->previous_ready = c->previous_ready;
}

static void
ready_append(const struct fg_l4 *w, struct dns *d, struct dns_conn *c)
{
	struct dns_conn *head = dns_conn_at(d, 0);
	uint32_t i = (uint32_t)(c - head);

	if (c->flags & DNS_READY)
		return;
	c->flags |= DNS_READY;
	c->since = w->now;
	c->next_ready = 0;
	c->previous_ready = head->previous_ready;
	dns_conn_at(d, head->previous_ready)->next_ready = i;
	head->previous_ready = i;
}

/* --- queries */

static uint32_t
question_of(const struct dns *d, const struct dns_conn *c, uint64_t number)
{
	return (uint32_t)((c->question + number) % d->questions.n);
}

/* @return its bytes in the stream; 0: there is no room */
static uint32_t
lay_out_query(struct fg_l4 *w, struct dns *d, struct dns_conn *c, uint64_t due)
{
	struct dns_asked *x = dns_append(w, d, c);
	uint32_t question = question_of(d, c, c->asked);

	if (x == NULL)
		return 0;
	x->number = c->asked++;
	x->since = due;
	dns_note(&d->requests.app, DNS_SUM_QUERIES);
	return DNS_PREFIX + d->questions.at[question + 1] - d->questions.at[question];
}

static void
start_timer(struct fg_l4 *w, struct dns *d, struct dns_conn *c)
{
	uint64_t at;

	if (c->flags & DNS_TIMED || c->first == 0)
		return;
	at = asked_at(d, c->first)->since + d->requests.app.config.timeout_ns;
	c->flags |= DNS_TIMED;
	fg_stream_timer(w, c->stream, at > w->now ? at - w->now : 1);
}

/* as many as may wait at a time */
static void
ask_more(struct fg_l4 *w, struct dns *d, struct dns_conn *c)
{
	uint64_t octets = 0;
	uint32_t one = 1;

	while (one > 0 && c->waiting < most_waiting(d) && !has_asked_enough(w, d, c)) {
		one = lay_out_query(w, d, c, w->now);
		octets += one;
	}
	start_timer(w, d, c);
	if (octets > 0) {
		fg_stream_write(w, c->stream, octets);
	} else if (one == 0 && c->waiting == 0) { /* nothing would ever wake it */
		w->counters.no_spans++;
		fg_stream_abort(w, c->stream);
	}
}

static void
send_one_due(struct fg_l4 *w, struct dns *d, struct dns_conn *c, double gap)
{
	struct requests *r = &d->requests;
	uint32_t octets;

	note_departure(w, &r->app, fmax(r->next_at, (double)c->since), gap);
	octets = lay_out_query(w, d, c, (uint64_t)r->next_at);
	pace_next(w, &r->next_at, gap);
	start_timer(w, d, c);
	if (octets > 0)
		fg_stream_write(w, c->stream, octets);
}

/* @return when the next one is */
static uint64_t
send_what_is_due(struct fg_l4 *w, struct dns *d)
{
	struct requests *r = &d->requests;
	const struct dns_conn *head = dns_conn_at(d, 0);
	double gap = 1e9 / r->app.config.requests_per_s;
	bool waited_for_us;
	uint64_t left_out;

	if (w->now < w->start_at || w->now >= w->stop_at)
		return w->now < w->start_at ? w->start_at : UINT64_MAX;
	waited_for_us =
		head->next_ready != 0 && (double)dns_conn_at(d, head->next_ready)->since <= r->next_at;
	left_out = pace_catch_up(w, &r->next_at, w->start_at, gap);
	r->app.off_schedule += waited_for_us ? left_out : 0;
	while (head->next_ready != 0 && r->next_at <= (double)w->now) {
		struct dns_conn *c = dns_conn_at(d, head->next_ready);

		send_one_due(w, d, c, gap);
		ready_remove(d, c);
		if (c->waiting < most_waiting(d) && !has_asked_enough(w, d, c))
			ready_append(w, d, c);
	}
	return head->next_ready != 0 ? (uint64_t)r->next_at + 1 : UINT64_MAX;
}

/* room for a query, or the end */
void
dns_client_go_on(struct fg_l4 *w, struct fg_stream *s)
{
	struct dns *d = dns_of(application_of(w, s));
	struct dns_conn *c = dns_conn_of(w, s);

	if (c->flags & DNS_OVER)
		return;
	if (has_asked_enough(w, d, c)) {
		ready_remove(d, c);
		if (c->waiting == 0 &&
		    (c->flags & DNS_AGAIN || !d->requests.app.config.hold || w->now >= w->stop_at)) {
			c->flags |= DNS_OVER;
			fg_stream_close(w, s);
		}
	} else if (d->requests.app.config.requests_per_s == 0 || c->flags & DNS_AGAIN) {
		ask_more(w, d, c);
	} else if (c->waiting < most_waiting(d)) {
		ready_append(w, d, c);
		send_what_is_due(w, d);
	}
}

uint64_t
dns_client_poll(struct fg_l4 *w, struct fg_app *app)
{
	struct dns *d = dns_of((struct application *)app);
	uint64_t open = client_poll(w, app);
	uint64_t due = d->requests.app.config.requests_per_s > 0 ? send_what_is_due(w, d) : UINT64_MAX;

	return open < due ? open : due;
}

/* connections ask for different names: each goes on where the one before is to end, or shares them evenly */
static uint32_t
first_question(struct dns *d)
{
	const struct fg_l4_app *config = &d->requests.app.config;
	uint32_t step =
		config->requests > 0 ? config->requests : fg_u32_max(1, d->questions.n / config->connections);

	return (uint32_t)(d->begun++ * step % d->questions.n);
}

void
dns_client_established(struct fg_l4 *w, struct fg_stream *s)
{
	struct dns *d = dns_of(application_of(w, s));
	struct dns_conn *c = dns_conn_of(w, s);

	note_setup(w, s);
	if (!(c->flags & DNS_AGAIN)) {
		c = dns_begin(w, s);
		if (c == NULL)
			return;
		c->question = first_question(d);
		c->salt = (uint16_t)(d->begun * DNS_SALT);
	}
	dns_client_go_on(w, s);
}

void
dns_client_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	const struct dns *d = dns_of(application_of(w, s));
	const struct dns_conn *c = dns_conn_of(w, s);

	dns_questions_fill(&d->questions, c->question, c->salt, offset, to, length);
}

/* --- answers */

/* which query has this id: the last one that had; NO_NUMBER: none so far */
static uint64_t
query_number(const struct dns_conn *c, uint16_t id)
{
	uint16_t back = (uint16_t)(c->asked - 1 + c->salt - id);

	return back < c->asked ? c->asked - 1 - back : NO_NUMBER;
}

/* the query of a number, most of the time the first; 0: it waits no more. *before: the one before it */
static uint32_t
find_asked(const struct dns *d, const struct dns_conn *c, uint64_t number, uint32_t *before)
{
	uint32_t i = c->first;

	for (*before = 0; i != 0 && asked_at(d, i)->number != number; i = asked_at(d, i)->next)
		*before = i;
	return i;
}

static void
note_answered(struct fg_l4 *w, struct fg_stream *s, const struct dns_conn *c, const struct dns_asked *x)
{
	struct application *a = application_of(w, s);
	struct dns *d = dns_of(a);

	if (c->flags & DNS_AGAIN) {
		if (!requests_answered(w, a, c->slot, c->slot_number, d->queries))
			dns_note(a, DNS_SUM_LATE);
		return;
	}
	client_of(s)->since = x->since;
	note_transaction(w, s);
	if (x->number == 0) {
		note_first_octet(w, s);
		note_last_octet(w, s);
	}
}

static void
take_response(struct fg_l4 *w, struct fg_stream *s, const uint8_t *data, uint32_t length)
{
	struct application *a = application_of(w, s);
	struct dns *d = dns_of(a);
	struct dns_conn *c = dns_conn_of(w, s);
	const struct dns_judge judge = dns_judge_of(a);
	const uint8_t *query;
	uint32_t before, i, bytes;
	uint64_t number;

	if (length < DNS_HEADER || (fg_get16(data + 2) & DNS_QR) == 0) {
		dns_note(a, DNS_SUM_MALFORMED);
		return;
	}
	number = query_number(c, fg_get16(data));
	i = find_asked(d, c, number, &before);
	if (i == 0) {
		dns_note(a, number == NO_NUMBER    ? DNS_SUM_UNEXPECTED
			    : number < c->given_up ? DNS_SUM_LATE
						   : DNS_SUM_TWICE);
		return;
	}
	query = dns_question(&d->questions, question_of(d, c, number), &bytes);
	if (!dns_is_answer(w, &judge, query, bytes, data, length, DNS_MESSAGE_MAX))
		return;
	note_answered(w, s, c, asked_at(d, i));
	dns_remove(d, c, before, i);
}

bool
dns_client_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data,
		   uint32_t length, bool early)
{
	if (dns_conn_of(w, s)->flags & DNS_OVER)
		return true;
	return !early && dns_inbox_read(w, s, data, length, take_response);
}

/* --- what ends without an answer */

/* the first query of a connection */
static void
give_up_first(struct application *a, struct dns_conn *c, bool cut)
{
	struct dns *d = dns_of(a);

	if (cut)
		dns_note(a, DNS_SUM_CUT);
	if (!(c->flags & DNS_AGAIN)) /* else the slot waits, and expires */
		a->base.tally.expired++;
	c->given_up = asked_at(d, c->first)->number + 1;
	dns_remove(d, c, 0, c->first);
}

void
dns_client_timer(struct fg_l4 *w, struct fg_stream *s)
{
	struct application *a = application_of(w, s);
	struct dns *d = dns_of(a);
	struct dns_conn *c = dns_conn_of(w, s);

	c->flags &= ~(uint32_t)DNS_TIMED;
	if (c->flags & DNS_OVER)
		return;
	while (c->first != 0 && asked_at(d, c->first)->since + a->config.timeout_ns <= w->now)
		give_up_first(a, c, false);
	start_timer(w, d, c);
	dns_client_go_on(w, s);
}

void
dns_client_stop(struct fg_l4 *w, struct fg_stream *s)
{
	if (fg_stream_is_established(w, s))
		dns_client_go_on(w, s);
}

void
dns_client_eof(struct fg_l4 *w, struct fg_stream *s)
{
	struct application *a = application_of(w, s);
	struct dns_conn *c = dns_conn_of(w, s);

	c->flags |= DNS_OVER;
	ready_remove(dns_of(a), c);
	if (c->inbox.have > 0)
		dns_note(a, DNS_SUM_MALFORMED);
	while (c->first != 0)
		give_up_first(a, c, true);
	fg_stream_close(w, s);
}

void
dns_client_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	struct application *a = application_of(w, s);
	struct dns_conn *c = dns_conn_of(w, s);

	ready_remove(dns_of(a), c);
	while (c->first != 0)
		give_up_first(a, c, true);
	dns_end(w, s);
}
