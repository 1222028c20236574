/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of DNS over TCP: each query of a connection is answered, in their order (RFC 7766, 6.2.1). What
 * an answer follows from is kept until the peer has all of it. While a connection has too many of these
 * nothing more is read from it. One that is idle for long is closed (RFC 7766, 6.2.3).
 */
#include "dns_priv.h"

enum { MOST_REPLIES = 1024 /* of a connection */ };

static struct dns_reply *
reply_at(const struct dns *d, uint32_t i)
{
	return (struct dns_reply *)(void *)d->entries.at + i;
}

/* the answer with its prefix, made anew unless it was the last */
static const uint8_t *
made_of(struct dns *d, struct dns_reply *x)
{
	if (d->made_last != x->serial) {
		x->query.question = x->question;
		x->bytes = DNS_PREFIX +
			   dns_answer(&d->config, &x->query, x->rcode, d->made + DNS_PREFIX, DNS_MESSAGE_MAX);
		fg_put16(d->made, (uint16_t)(x->bytes - DNS_PREFIX));
		d->made_last = x->serial;
	}
	return d->made;
}

void
dns_server_established(struct fg_l4 *w, struct fg_stream *s)
{
	const struct dns *d = dns_of(application_of(w, s));

	if (dns_begin(w, s) != NULL && d->config.idle_ns > 0)
		fg_stream_timer(w, s, d->config.idle_ns);
}

static void
take_query(struct fg_l4 *w, struct fg_stream *s, const uint8_t *data, uint32_t length)
{
	struct application *a = application_of(w, s);
	struct dns *d = dns_of(a);
	struct dns_conn *c = dns_conn_of(w, s);
	struct dns_reply *x;
	struct dns_query query;
	int rcode = dns_read_query(data, length, &query);
	const uint8_t *made;

	if (rcode == DNS_DROP) {
		dns_note(a, DNS_SUM_MALFORMED);
		return;
	}
	rcode = dns_cookie_serve(w, &d->config, fg_stream_flow(s), false, rcode, &query);
	x = dns_append(w, d, c); /* there is room: can_take() */
	x->query = query;
	if (query.question_bytes > 0)
		memcpy(x->question, query.question, query.question_bytes);
	x->rcode = rcode;
	x->serial = ++d->serials;
	made = made_of(d, x);
	x->at = c->end;
	c->end += x->bytes;
	c->since = w->now;
	dns_note(a, dns_sum_of(made[DNS_PREFIX + 3] & 0xf));
	if (query.answers_cookie)
		dns_note(a, DNS_SUM_COOKIES);
	if ((fg_get16(made + DNS_PREFIX + 2) & DNS_TC) != 0)
		dns_note(a, DNS_SUM_TRUNCATED);
	a->base.tally.transactions++;
}

/* as many queries as these bytes can be? */
static bool
can_take(const struct dns *d, const struct dns_conn *c, uint32_t length)
{
	return c->waiting <= MOST_REPLIES &&
	       d->entries.count - 1 - d->entries_taken >= length / (DNS_PREFIX + DNS_HEADER) + 2;
}

bool
dns_server_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data,
		   uint32_t length, bool early)
{
	const struct dns_conn *c = dns_conn_of(w, s);

	if (c->flags & DNS_OVER)
		return true;
	if (early || !can_take(dns_of(application_of(w, s)), c, length))
		return false;
	return dns_inbox_read(w, s, data, length, take_query);
}

void
dns_server_flush(struct fg_l4 *w, struct fg_stream *s)
{
	const struct dns_conn *c = dns_conn_of(w, s);

	if (!(c->flags & DNS_OVER) && c->end > s->written)
		fg_stream_write(w, s, c->end - s->written);
}

void
dns_server_acked(struct fg_l4 *w, struct fg_stream *s)
{
	struct dns *d = dns_of(application_of(w, s));
	struct dns_conn *c = dns_conn_of(w, s);

	while (c->first != 0 && reply_at(d, c->first)->at + reply_at(d, c->first)->bytes <= s->acked) {
		if (c->recent == c->first)
			c->recent = 0;
		dns_remove(d, c, 0, c->first);
	}
}

void
dns_server_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	struct dns *d = dns_of(application_of(w, s));
	struct dns_conn *c = dns_conn_of(w, s);
	uint32_t i = c->recent, n;

	if (i == 0 || reply_at(d, i)->at > offset)
		i = c->first;
	for (; length > 0; offset += n, to += n, length -= n) {
		while (reply_at(d, i)->at + reply_at(d, i)->bytes <= offset)
			i = reply_at(d, i)->next;
		n = fg_u32_min(length, (uint32_t)(reply_at(d, i)->at + reply_at(d, i)->bytes - offset));
		memcpy(to, made_of(d, reply_at(d, i)) + (offset - reply_at(d, i)->at), n);
		c->recent = i;
	}
}

static void
leave(struct fg_l4 *w, struct fg_stream *s)
{
	dns_conn_of(w, s)->flags |= DNS_OVER;
	fg_stream_close(w, s);
}

void
dns_server_eof(struct fg_l4 *w, struct fg_stream *s)
{
	const struct dns_conn *c = dns_conn_of(w, s);

	if (c->inbox.have > 0)
		dns_note(application_of(w, s), DNS_SUM_MALFORMED);
	dns_server_flush(w, s);
	leave(w, s);
}

void
dns_server_timer(struct fg_l4 *w, struct fg_stream *s)
{
	const struct dns_conn *c = dns_conn_of(w, s);
	uint64_t idle = dns_of(application_of(w, s))->config.idle_ns, since = w->now - c->since;

	if (c->flags & DNS_OVER)
		return;
	if (since >= idle && c->waiting == 0)
		leave(w, s);
	else
		fg_stream_timer(w, s, since >= idle ? idle : idle - since);
}

void
dns_server_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	dns_end(w, s);
}
