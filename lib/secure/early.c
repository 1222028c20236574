/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Early data (0-RTT; RFC 8446, 2.3). A client asks its application for what it writes first, and lets libssl
 * seal that behind the ClientHello; if the server does not take it, the same bytes are laid out once more
 * when the handshake is over, as if it had been written then. A server hands it on at once, and from then on
 * sends with its own keys while libssl still reads; what libssl adds, tickets above all, is opened and sealed
 * again, with the numbers that come next.
 */
#include <string.h>

#include "secure_priv.h"

enum fg_tls_step
early_begin(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	struct carrier *c = carrier_of(w, tcp);
	uint32_t room = fg_tls_handshake_early_room(t->handshake);

	if (room == 0)
		return fg_tls_handshake_step(t->handshake, NULL, 0);
	if (!secure_begin(w, t))
		return FG_TLS_GOES_ON;
	if (t->plain.written == 0 || t->plain.written > room)
		return fg_tls_handshake_step(t->handshake, NULL, 0);
	t->early = (uint32_t)t->plain.written;
	c->tally.early_offered++;
	ops_above(w, t)->fill(w, &t->plain, 0, c->all->room, t->early);
	return fg_tls_handshake_begin_early(t->handshake, c->all->room, t->early);
}

void
early_settle(struct carrier *c, struct secured *t)
{
	enum fg_tls_early what = fg_tls_handshake_early(t->handshake);

	if (c->config.tls.server) {
		c->tally.early_offered += what != FG_TLS_EARLY_NONE;
		c->tally.early_replayed = fg_tls_context_replays(c->context);
	}
	if (what != FG_TLS_EARLY_ACCEPTED)
		return;
	c->tally.early_accepted++;
	c->tally.early_octets += t->early;
	if (c->config.tls.server)
		return;
	t->laid_out = t->early;
	t->flags |= TICKETS_LATE;
}

/* its application may answer */
static bool
begin_to_write(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	struct carrier *c = carrier_of(w, tcp);
	struct fg_tls_taken taken = {0};

	if (!fg_tls_handshake_take_early(t->handshake, c->all->crypto, &taken)) {
		w->counters.no_secrets++;
		fg_stream_abort(w, tcp);
		return false;
	}
	secure_can_write(c, t, tcp, &taken);
	return secure_begin(w, t);
}

enum outcome
early_take(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	const uint8_t *data;
	uint32_t length = fg_tls_handshake_early_data(t->handshake, &data);
	enum outcome outcome;

	if (length == 0)
		return TAKEN;
	if (!(t->flags & CAN_WRITE) && !begin_to_write(w, t, tcp))
		return OVER;
	outcome = secure_data(w, t, data, length);
	t->early_waits = outcome == STAYS;
	t->early += outcome == TAKEN ? length : 0;
	return outcome;
}

bool
early_output(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *data, size_t length)
{
	struct secure *all = carrier_of(w, tcp)->all;
	struct fg_tls_opened opened;
	uint32_t n, sealed;

	for (uint64_t number = 0; length >= FG_TLS_HEADER; data += n, length -= n, number++) {
		if (fg_tls_record_length(t->suite, data, &n) != 0 || n > length ||
		    fg_tls_open(all->crypto, t->suite, &t->out, number, data, n, all->room, &opened) != 0) {
			w->counters.no_secrets++;
			fg_stream_abort(w, tcp);
			return false;
		}
		memcpy(all->record + fg_tls_plain_at(t->suite), opened.plain, opened.length);
		sealed = fg_tls_seal(all->crypto, t->suite, &t->out, t->out_next++, opened.type, all->record,
				     opened.length);
		if (!outbox_literal(w, t, tcp, all->record, sealed))
			return false;
	}
	return true;
}
