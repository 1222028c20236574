/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a TCP connection to a stream that is established: records of the peer go to libssl, what it answers
 * goes to the outbox, and when it is done its keys are taken and it is freed. A client that wants tickets
 * keeps it until data comes. Failures of all kinds end here, too.
 */
#include "secure_priv.h"

enum { FATAL = 2 };

void
handshake_free(struct secure *all, struct secured *t)
{
	if (t->handshake != NULL && !(t->flags & ESTABLISHED))
		all->under_way--;
	fg_tls_handshake_free(t->handshake);
	t->handshake = NULL;
}

void
secure_fail(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, int alert)
{
	struct carrier *c = carrier_of(w, tcp);
	const uint8_t message[] = {FATAL, (uint8_t)alert};

	c->tally.alerts_out[alert % FG_SECURE_ALERTS]++;
	c->tally.failed += !(t->flags & ESTABLISHED);
	handshake_free(c->all, t);
	outbox_cut(w, t, tcp);
	t->flags |= FAILED;
	t->plain.ended = true;
	if (outbox_record(w, t, tcp, FG_TLS_ALERT, message, sizeof(message)))
		fg_stream_close(w, tcp);
}

/* libssl has given up; its alert, if any, is in the outbox already */
static void
give_up(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	struct carrier *c = carrier_of(w, tcp);
	struct fg_tls_failure why;

	fg_tls_handshake_failure(t->handshake, &why);
	if (why.sent >= 0)
		c->tally.alerts_out[why.sent % FG_SECURE_ALERTS]++;
	if (why.received >= 0)
		c->tally.alerts_in[why.received % FG_SECURE_ALERTS]++;
	c->tally.failed++;
	c->tally.refused += why.verify;
	handshake_free(c->all, t);
	t->flags |= FAILED;
	t->plain.ended = true;
	fg_stream_close(w, tcp);
}

static void
take_over(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const struct fg_tls_taken *taken)
{
	struct carrier *c = carrier_of(w, tcp);

	if (!(t->flags & CAN_WRITE))
		secure_can_write(c, t, tcp, taken);
	t->in = taken->in;
	memcpy(t->in_secret, taken->in_secret, sizeof(t->in_secret));
	t->in_next = taken->in_next;
	early_settle(c, t);
	if (c->config.tls.server || !c->config.tls.resume || t->suite->version == FG_TLS_1_2)
		handshake_free(c->all, t);
	else
		c->all->under_way--;
	t->flags |= ESTABLISHED;
	*(taken->resumed ? &c->tally.resumed : &c->tally.full) += 1;
	c->above->tally.established++;
	if (fg_l4_is_measured(w))
		fg_histogram_record(c->handshakes, (int64_t)(w->now - t->began));
	fg_stream_timer(w, tcp, UINT64_MAX);
}

static enum outcome
finish(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	struct carrier *c = carrier_of(w, tcp);
	struct fg_tls_taken taken = {0};
	bool begun = t->flags & BEGUN;
	uint64_t id = t->id;

	if (!fg_tls_handshake_take(t->handshake, c->all->crypto, &taken)) {
		w->counters.no_secrets++;
		secure_fail(w, t, tcp, FG_TLS_INTERNAL_ERROR);
		return OVER;
	}
	take_over(w, t, tcp, &taken);
	if (!t->plain.ended && !secure_begin(w, t))
		return OVER;
	if (begun) /* what was written early and did not leave, or was refused */
		outbox_lay_out(w, t, tcp);
	if (t->plain.ended)
		secure_finish(w, t, tcp);
	return t->id == id ? TAKEN : OVER;
}

static enum outcome
go_on(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, enum fg_tls_step state)
{
	struct carrier *c = carrier_of(w, tcp);
	const uint8_t *out;
	size_t n = fg_tls_handshake_output(t->handshake, &out);

	c->tally.handshake_octets_out += n;
	if (t->flags & CAN_WRITE ? !early_output(w, t, tcp, out, n) : !outbox_literal(w, t, tcp, out, n))
		return OVER;
	if (state == FG_TLS_FAILED) {
		give_up(w, t, tcp);
		return OVER;
	}
	return state == FG_TLS_FINISHED ? finish(w, t, tcp) : early_take(w, t, tcp);
}

static bool
start(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	struct carrier *c = carrier_of(w, tcp);

	t->handshake = fg_tls_handshake_create(c->context);
	t->began = w->now;
	if (t->handshake == NULL) {
		w->counters.no_secrets++;
		fg_stream_abort(w, tcp);
		return false;
	}
	c->all->under_way++;
	return true;
}

void
handshake_begin(struct fg_l4 *w, struct fg_stream *tcp)
{
	struct carrier *c = carrier_of(w, tcp);
	struct secured *t = c->config.tls.server ? secure_take(w, c, tcp) : secured_of(w, tcp);
	uint64_t id = t->id;
	enum fg_tls_step state;

	t->flags |= CONNECTED;
	fg_stream_timer(w, tcp, c->config.timeout_ns);
	if (ops_above(w, t)->connected != NULL)
		ops_above(w, t)->connected(w, &t->plain);
	if (t->id != id || c->config.tls.server || !start(w, t, tcp))
		return;
	state = early_begin(w, t, tcp);
	if (t->id == id)
		go_on(w, t, tcp, state);
}

enum outcome
handshake_record(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *record,
		 uint32_t length)
{
	if (t->handshake == NULL && !start(w, t, tcp))
		return OVER;
	if (t->early_waits) /* the record was read before */
		return early_take(w, t, tcp);
	carrier_of(w, tcp)->tally.handshake_octets_in += length;
	return go_on(w, t, tcp, fg_tls_handshake_step(t->handshake, record, length));
}
