/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process a record after its tag was verified: data for the application, an alert, or a post-handshake
 * message. Everything else is answered by an alert, and ends the stream (RFC 8446, 5, 6).
 */
#include <string.h>

#include "fg_bytes.h"
#include "secure_priv.h"

enum { MAX_EMPTY = 32, MAX_WARNINGS = 5, WARNING = 1, USER_CANCELED = 90, MESSAGE_HEADER = 4 };
enum { HELLO_REQUEST = 0, CLIENT_HELLO = 1, NEW_SESSION_TICKET = 4, KEY_UPDATE = 24 };

static enum outcome
fail(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, int alert)
{
	secure_fail(w, t, tcp, alert);
	return OVER;
}

static enum outcome
take_alert(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const struct fg_tls_opened *r)
{
	uint64_t id = t->id;

	if (r->length != 2)
		return fail(w, t, tcp, FG_TLS_DECODE_ERROR);
	if (r->plain[1] == FG_TLS_CLOSE_NOTIFY) {
		secure_eof(w, t);
		return t->id == id ? TAKEN : OVER;
	}
	if (r->plain[1] == USER_CANCELED ||
	    (t->suite->version == FG_TLS_1_2 && r->plain[0] == WARNING && t->warnings++ < MAX_WARNINGS))
		return TAKEN;
	carrier_of(w, tcp)->tally.alerts_in[r->plain[1] % FG_SECURE_ALERTS]++;
	t->flags |= FAILED;
	t->plain.ended = true;
	fg_stream_close(w, tcp);
	return OVER;
}

/* the peer's keys change with the next record; if it asks for it, so do ours, once until that has left */
static enum outcome
take_key_update(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *body,
		uint32_t length, bool is_last)
{
	struct carrier *c = carrier_of(w, tcp);
	const struct span *last;

	if (!is_last)
		return fail(w, t, tcp, FG_TLS_UNEXPECTED_MESSAGE);
	if (length != 1 || body[0] > 1)
		return fail(w, t, tcp, length != 1 ? FG_TLS_DECODE_ERROR : FG_TLS_ILLEGAL_PARAMETER);
	c->tally.key_updates_in++;
	if (!fg_tls_next_secret(c->all->crypto, t->suite, t->in_secret) ||
	    !fg_tls_keys_of(c->all->crypto, t->suite, t->in_secret, &t->in))
		return fail(w, t, tcp, FG_TLS_INTERNAL_ERROR);
	t->in_next = 0;
	fg_tls_handshake_free(t->handshake); /* a ticket behind this is too late */
	t->handshake = NULL;
	if (body[0] == 0 || t->flags & CLOSE_SENT)
		return TAKEN;
	outbox_cut(w, t, tcp);
	last = t->last_span == 0 ? NULL : span_at(c->all, t->last_span);
	if (last != NULL && last->ends_keys && last->run.at >= fg_stream_sent(tcp))
		return TAKEN;
	if (!outbox_key_update(w, t, tcp))
		return OVER;
	outbox_lay_out(w, t, tcp);
	return TAKEN;
}

/* messages of a handshake that is over */
static enum outcome
take_message(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const struct fg_tls_opened *r)
{
	struct carrier *c = carrier_of(w, tcp);
	const uint8_t *at = r->plain;
	uint32_t left = r->length, length, n;
	bool client = !c->config.tls.server;

	n = fg_u32_min(t->message_left, left); /* the rest of a ticket */
	t->message_left -= n;
	at += n;
	left -= n;
	for (; left > 0; at += n, left -= n) {
		if (left < MESSAGE_HEADER)
			return fail(w, t, tcp, FG_TLS_UNEXPECTED_MESSAGE);
		length = fg_get32(at) & 0xffffff;
		n = fg_u32_min(MESSAGE_HEADER + length, left);
		if (at[0] == NEW_SESSION_TICKET && client && length <= FG_TLS_PLAIN) {
			t->message_left = MESSAGE_HEADER + length - n;
			c->tally.tickets++;
		} else if (at[0] == KEY_UPDATE) {
			return take_key_update(w, t, tcp, at + MESSAGE_HEADER, left - MESSAGE_HEADER,
					       left == MESSAGE_HEADER + length);
		} else {
			return fail(w, t, tcp, FG_TLS_UNEXPECTED_MESSAGE);
		}
	}
	if (t->handshake != NULL)
		fg_tls_handshake_ticket(t->handshake, c->all->crypto, t->suite, &t->in, r->plain, r->length);
	if (t->message_left == 0)
		t->flags &= (uint8_t)~TICKETS_LATE;
	return TAKEN;
}

/* TLS 1.2: a new handshake within the old one is declined (RFC 5246, 7.4.1.1) */
static enum outcome
decline(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const struct fg_tls_opened *r)
{
	static const uint8_t no_renegotiation[] = {WARNING, FG_TLS_NO_RENEGOTIATION};
	uint8_t expected = carrier_of(w, tcp)->config.tls.server ? CLIENT_HELLO : HELLO_REQUEST;

	if (r->plain[0] != expected || t->warnings++ >= MAX_WARNINGS)
		return fail(w, t, tcp, FG_TLS_UNEXPECTED_MESSAGE);
	outbox_cut(w, t, tcp);
	if (!outbox_record(w, t, tcp, FG_TLS_ALERT, no_renegotiation, sizeof(no_renegotiation)))
		return OVER;
	outbox_lay_out(w, t, tcp);
	return TAKEN;
}

static enum outcome
take_opened(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const struct fg_tls_opened *r)
{
	/* nothing stands between the records of a message (RFC 8446, 5.1) */
	if (t->message_left > 0 && r->type != FG_TLS_HANDSHAKE && r->type != FG_TLS_ALERT)
		return fail(w, t, tcp, FG_TLS_UNEXPECTED_MESSAGE);
	if (r->type == FG_TLS_DATA) {
		if (t->handshake != NULL && !(t->flags & TICKETS_LATE)) { /* else they are too late */
			fg_tls_handshake_free(t->handshake);
			t->handshake = NULL;
		}
		t->empty = r->length > 0 ? 0 : t->empty + 1;
		if (t->empty > MAX_EMPTY)
			return fail(w, t, tcp, FG_TLS_UNEXPECTED_MESSAGE);
		return r->length > 0 ? secure_data(w, t, r->plain, r->length) : TAKEN;
	}
	if (r->length == 0)
		return fail(w, t, tcp, FG_TLS_UNEXPECTED_MESSAGE);
	if (r->type == FG_TLS_ALERT)
		return take_alert(w, t, tcp, r);
	if (r->type != FG_TLS_HANDSHAKE)
		return fail(w, t, tcp, FG_TLS_UNEXPECTED_MESSAGE);
	return t->suite->version == FG_TLS_1_3 ? take_message(w, t, tcp, r) : decline(w, t, tcp, r);
}

enum outcome
record_take(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *record, uint32_t length)
{
	struct carrier *c = carrier_of(w, tcp);
	uint64_t number = t->in_next;
	struct fg_tls_opened opened;
	enum outcome outcome;
	int alert;

	if (!(t->flags & ESTABLISHED))
		return handshake_record(w, t, tcp, record, length);
	alert = fg_tls_open(c->all->crypto, t->suite, &t->in, number, record, length, c->all->room, &opened);
	if (alert != 0) {
		c->tally.bad_records += alert == FG_TLS_BAD_RECORD_MAC;
		return fail(w, t, tcp, alert);
	}
	t->in_next++;
	outcome = take_opened(w, t, tcp, &opened);
	if (outcome == STAYS)
		t->in_next = number;
	else
		c->tally.records_in++;
	return outcome;
}
