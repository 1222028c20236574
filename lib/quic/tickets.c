/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions that are resumed. A server gives tickets when a handshake is over. A client keeps each with what
 * the server's transport parameters were, uses it for one connection (RFC 8446, C.4), the newest first, and
 * may send early data then (0-RTT; RFC 9001, 4.6).
 */
#include <errno.h>
#include <stdlib.h>

#include "quic_priv.h"

enum { MAX_TICKETS = 4096, FOR_ONE_RESUMED = 1 };
/* how old a ticket may be, ms: GnuTLS refuses early data beyond that. And of QUIC all of it is allowed */
static const unsigned WINDOW_MS = 3600000;
static const size_t ALL_EARLY_DATA = 0xffffffff;

struct ticket {
	gnutls_datum_t session;
	struct params_kept params;
};

/* GnuTLS asks whether early data was seen before, and is told what the plan says */
static int
on_offer(void *carrier, time_t expires, const gnutls_datum_t *key, const gnutls_datum_t *data)
{
	struct carrier *c = carrier;
	uint32_t every = c->config.tls.refuse_every;

	c->tally.early_offered++;
	return every > 0 && c->tally.early_offered % every == 0 ? GNUTLS_E_DB_ENTRY_EXISTS : 0;
}

static int
create_guard(struct carrier *c)
{
	int rc = gnutls_anti_replay_init(&c->guard);

	if (rc != 0)
		return rc;
	gnutls_anti_replay_set_window(c->guard, WINDOW_MS);
	gnutls_anti_replay_set_add_function(c->guard, on_offer);
	gnutls_anti_replay_set_ptr(c->guard, c);
	return 0;
}

int
tickets_create(struct carrier *c)
{
	const struct fg_tls_config *tls = &c->config.tls;
	int rc = 0;

	if (tls->server && tls->tickets > 0)
		rc = gnutls_session_ticket_key_generate(&c->ticket_key);
	if (rc == 0 && tls->server && tls->early_data > 0)
		rc = create_guard(c);
	if (rc == 0 && !tls->server && tls->resume) {
		c->ticket = calloc(MAX_TICKETS, sizeof(*c->ticket));
		rc = c->ticket == NULL ? GNUTLS_E_MEMORY_ERROR : 0;
	}
	return rc;
}

void
tickets_free(struct carrier *c)
{
	while (c->tickets > 0)
		gnutls_free(c->ticket[--c->tickets].session.data);
	free(c->ticket);
	gnutls_free(c->ticket_key.data);
	if (c->guard != NULL)
		gnutls_anti_replay_deinit(c->guard);
}

unsigned
tickets_flags(const struct carrier *c)
{
	bool early = c->config.tls.early_data > 0 && (c->config.tls.server || c->tickets > 0);

	return early ? GNUTLS_ENABLE_EARLY_DATA | GNUTLS_NO_END_OF_EARLY_DATA : 0;
}

/* the first ticket of those that are used again and again stays the only one */
static int
on_ticket(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
	  const gnutls_datum_t *message)
{
	struct quic *q = session_owner(session);
	struct carrier *c = q->carrier;
	struct ticket *t = &c->ticket[c->tickets];

	q->has_ticket = true;
	c->tally.tickets++;
	if (c->tickets < (c->config.tls.reuse ? 1 : MAX_TICKETS) && params_keep(q->conn, &t->params) &&
	    gnutls_session_get_data2(session, &t->session) == 0)
		c->tickets++;
	return 0;
}

static int
use(struct quic *q, gnutls_session_t session)
{
	struct carrier *c = q->carrier;
	struct ticket *t = &c->ticket[c->tickets - 1];
	int rc = gnutls_session_set_data(session, t->session.data, t->session.size);

	q->may_be_early = rc == 0 && c->config.tls.early_data > 0 && params_use(q->conn, &t->params);
	if (!c->config.tls.reuse) {
		gnutls_free(t->session.data);
		c->tickets--;
	}
	return rc;
}

int
tickets_configure(struct quic *q, gnutls_session_t session)
{
	struct carrier *c = q->carrier;
	int rc = 0;

	if (c->ticket_key.data != NULL)
		rc = gnutls_session_ticket_enable_server(session, &c->ticket_key);
	if (c->guard != NULL) {
		gnutls_anti_replay_enable(session, c->guard);
		gnutls_record_set_max_early_data_size(session, ALL_EARLY_DATA);
	}
	if (c->ticket == NULL)
		return rc;
	gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_NEW_SESSION_TICKET, GNUTLS_HOOK_POST,
					   on_ticket);
	return c->tickets > 0 ? use(q, session) : 0;
}

void
tickets_send(const struct quic *q)
{
	const struct carrier *c = q->carrier;
	bool resumed = gnutls_session_is_resumed(q->session) != 0;

	if (c->ticket_key.data != NULL)
		gnutls_session_ticket_send(q->session, resumed ? FOR_ONE_RESUMED : c->config.tls.tickets, 0);
}

bool
tickets_expected(const struct quic *q)
{
	return q->carrier->ticket != NULL && !q->has_ticket;
}
