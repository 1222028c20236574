/* SPDX-License-Identifier: BSD-3-Clause */
/* Made and freed, and what control reads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_random.h"
#include "quic_priv.h"

enum { DIGITS = 3 };
static const uint64_t LONGEST_NS = 100000000000;

const char *
fg_quic_sum_name(unsigned i)
{
#define SUM_NAME(name, text) #name,
	static const char *const names[] = {FG_QUIC_SUMS(SUM_NAME)};
#undef SUM_NAME

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

const char *
fg_quic_library(void)
{
	return ngtcp2_version(0)->version_str;
}

static void
carrier_free(struct fg_l4 *w, struct carrier *c)
{
	for (uint32_t i = 1; i < c->pool.fresh; i++)
		if (quic_at(c, i)->phase != NOBODY) {
			conn_call(w, quic_at(c, i));
			conn_free(w, quic_at(c, i));
		}
	credentials_free(c);
	qlogs_free(c);
	fg_histogram_free(c->handshakes);
	fg_histogram_free(c->gaps);
	fg_memory_release(c->heap, w->config.connections * sizeof(*c->heap));
	fg_memory_release(c->bucket, c->buckets * sizeof(*c->bucket));
	fg_pool_free(&c->pool);
	free(c);
}

static int
carrier_create(const struct fg_l4 *w, struct carrier *c, struct fg_error *err)
{
	uint32_t connections = w->config.connections;
	uint64_t seed = w->config.seed ^ 0x71756963;

	c->random = fg_random_next(&seed) ^ c->base.index;
	random_fill(c, c->secret, sizeof(c->secret));
	c->memory = (ngtcp2_mem){&c->taken, fg_heap_take, fg_heap_give, fg_heap_zeros, fg_heap_change};
	for (c->buckets = 1; c->buckets < connections;)
		c->buckets *= 2;
	c->handshakes = fg_histogram_create(DIGITS, LONGEST_NS, err);
	c->gaps = fg_histogram_create(DIGITS, LONGEST_NS, err);
	c->heap = fg_memory_reserve(connections * sizeof(*c->heap));
	c->bucket = fg_memory_reserve(c->buckets * sizeof(*c->bucket));
	if (c->handshakes == NULL || c->gaps == NULL || c->heap == NULL || c->bucket == NULL ||
	    !qlogs_create(c) || !fg_pool_create(&c->pool, connections, sizeof(struct quic)))
		return fg_error_set(err, ENOMEM, "l4.quic", "no memory for %u connections", connections);
	return credentials_create(c, err);
}

int
fg_quic_add(struct fg_l4 *w, struct fg_app *app, const struct fg_quic_config *config, struct fg_error *err)
{
	struct carrier *c;
	int rc;

	if (app->ops->place == NULL && app->ops->streams == NULL)
		return fg_error_set(err, EINVAL, "l4", "this kind does not go through QUIC");
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return fg_error_set(err, ENOMEM, "l4.quic", "no memory");
	c->base = (struct fg_app){
		.ops = &quic_ops,
		.index = (uint8_t)w->apps,
		.udp = true,
		.locals = app->locals,
		.port = app->port,
	};
	memcpy(c->base.local, app->local, sizeof(c->base.local));
	c->above = app;
	c->config = *config;
	if (!app->ops->early)
		c->config.tls.early_data = 0;
	rc = carrier_create(w, c, err);
	if (rc != 0) {
		carrier_free(w, c);
		return rc;
	}
	app->listens = false;
	app->layer = &quic_layer;
	app->below = c->base.index;
	w->app[w->apps++] = &c->base;
	return 0;
}

void
fg_quic_free(struct fg_l4 *w)
{
	for (unsigned i = 0; i < w->apps; i++) {
		if (w->app[i]->ops != &quic_ops)
			continue;
		carrier_free(w, (struct carrier *)w->app[i]);
		w->app[i--] = w->app[--w->apps];
	}
}

bool
fg_quic_read(const struct fg_l4 *w, const struct fg_app *app, struct fg_quic_read *out)
{
	const struct carrier *c = (const struct carrier *)w->app[app->below];

	if (app->layer != &quic_layer)
		return false;
	*out = (struct fg_quic_read){
		.tally = &c->tally,
		.handshakes = c->handshakes,
		.gaps = c->gaps,
		.agreed = &c->agreed,
		.reason = c->reason,
		.versions = c->versions,
		.key_log = c->log == NULL ? "" : c->log,
		.key_log_lost = c->log_lost,
		.memory = c->taken.most,
		.sessions = c->tickets,
	};
	return true;
}
