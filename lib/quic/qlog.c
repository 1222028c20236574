/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The logs (qlog) of the first connections, as libngtcp2 writes them: JSON records (RFC 7464), one a call.
 * The memory of all is reserved before the first packet. A log that is full ends: what would follow is
 * counted.
 */
#include <errno.h>
#include <string.h>

#include "quic_priv.h"

enum { LOG_ROOM = 4 << 20 }; /* 10,700 packets of a stream */

struct qlog {
	size_t used;
	uint64_t lost;       /* records */
	char text[LOG_ROOM]; /* with a zero behind */
};

static void
on_record(void *connection, uint32_t flags, const void *data, size_t length)
{
	const struct quic *q = connection;
	struct qlog *log = &q->carrier->qlog[q->qlog - 1];

	(void)flags;
	if (log->lost > 0 || length >= sizeof(log->text) - log->used) {
		log->lost += length > 0;
		return;
	}
	memcpy(log->text + log->used, data, length);
	log->used += length;
}

bool
qlogs_create(struct carrier *c)
{
	if (c->config.qlog > 0)
		c->qlog = fg_memory_reserve(c->config.qlog * sizeof(*c->qlog));
	return c->config.qlog == 0 || c->qlog != NULL;
}

void
qlogs_free(struct carrier *c)
{
	fg_memory_release(c->qlog, c->config.qlog * sizeof(*c->qlog));
}

void
qlog_begin(struct quic *q, ngtcp2_settings *settings, const ngtcp2_cid *original)
{
	struct carrier *c = q->carrier;

	if (c->qlogs == c->config.qlog)
		return;
	q->qlog = ++c->qlogs;
	set_qlog(settings, on_record, original);
}

const char *
fg_quic_qlog(const struct fg_l4 *w, const struct fg_app *app, uint32_t i, uint64_t *lost)
{
	const struct carrier *c = (const struct carrier *)w->app[app->below];

	if (app->layer != &quic_layer || i >= c->qlogs)
		return NULL;
	*lost = c->qlog[i].lost;
	return c->qlog[i].text;
}
