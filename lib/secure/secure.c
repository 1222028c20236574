/* SPDX-License-Identifier: BSD-3-Clause */
/* Made and freed, and what control reads. */
#include <errno.h>
#include <stdlib.h>

#include "secure_priv.h"

enum { SPANS_PER_STREAM = 4, MIN_SPANS = 1024, DIGITS = 3 };
static const uint64_t LONGEST_NS = 100000000000;

const char *
fg_secure_sum_name(unsigned i)
{
#define SUM_NAME(name, text) #name,
	static const char *const names[] = {FG_SECURE_SUMS(SUM_NAME)};
#undef SUM_NAME

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

static struct carrier *
below(const struct fg_l4 *w, const struct fg_app *app)
{
	return app->layer == &secure_layer ? (struct carrier *)w->app[app->below] : NULL;
}

/* what the worker has already; NULL: nothing */
static struct secure *
existing(const struct fg_l4 *w)
{
	for (unsigned i = 0; i < w->apps; i++)
		if (w->app[i]->ops == &secure_ops)
			return ((struct carrier *)w->app[i])->all;
	return NULL;
}

static void
free_all(struct secure *all)
{
	if (all == NULL)
		return;
	for (uint32_t i = 1; all->stream != NULL && i <= all->highest; i++)
		fg_tls_handshake_free(all->stream[i].handshake);
	fg_memory_release(all->stream, (all->streams + 1UL) * sizeof(*all->stream));
	fg_pool_free(&all->spans);
	fg_pool_free(&all->blocks);
	fg_tls_crypto_free(all->crypto);
	free(all->cache);
	free(all);
}

static int
create_all(const struct fg_l4 *w, uint64_t hold, struct secure **out, struct fg_error *err)
{
	uint32_t streams = w->config.connections;
	struct secure *all = calloc(1, sizeof(*all));
	int rc = -ENOMEM;

	if (all != NULL) {
		all->streams = streams;
		all->stream = fg_memory_reserve((streams + 1UL) * sizeof(*all->stream));
		all->cache = calloc(CACHE, sizeof(*all->cache));
		if (all->stream != NULL && all->cache != NULL &&
		    fg_pool_create(&all->spans, MIN_SPANS + SPANS_PER_STREAM * streams,
				   sizeof(struct span)) &&
		    fg_pool_create(&all->blocks, (uint32_t)(hold / BLOCK), sizeof(struct block)))
			rc = fg_tls_crypto_create(&all->crypto, err);
		else
			fg_error_set(err, ENOMEM, "l4.tls.hold", "no memory for %u secured streams", streams);
	}
	if (rc != 0) {
		free_all(all);
		return rc;
	}
	*out = all;
	return 0;
}

int
fg_secure_add(struct fg_l4 *w, struct fg_app *app, const struct fg_secure_config *config,
	      struct fg_error *err)
{
	struct carrier *c = calloc(1, sizeof(*c));
	struct secure *all = existing(w);
	int rc;

	if (c == NULL)
		return fg_error_set(err, ENOMEM, "l4.tls", "no memory");
	c->config = *config;
	if (!app->ops->early)
		c->config.tls.early_data = 0;
	c->handshakes = fg_histogram_create(DIGITS, LONGEST_NS, err);
	rc = c->handshakes == NULL ? -ENOMEM : fg_tls_context_create(&c->config.tls, &c->context, err);
	if (rc == 0 && all == NULL)
		rc = create_all(w, config->hold, &all, err);
	if (rc != 0) {
		fg_histogram_free(c->handshakes);
		fg_tls_context_free(c->context);
		free(c);
		return rc;
	}
	c->base = (struct fg_app){
		.ops = &secure_ops,
		.tcp = app->tcp,
		.index = (uint8_t)w->apps,
		.listens = app->listens,
		.gathers = app->gathers,
		.resets_at_once = app->resets_at_once,
		.locals = app->locals,
		.port = app->port,
		.rtt = app->rtt,
	};
	memcpy(c->base.local, app->local, sizeof(c->base.local));
	c->all = all;
	c->above = app;
	app->listens = false;
	app->layer = &secure_layer;
	app->below = c->base.index;
	w->app[w->apps++] = &c->base;
	return 0;
}

void
fg_secure_free(struct fg_l4 *w)
{
	free_all(existing(w));
	for (unsigned i = 0; i < w->apps; i++) {
		struct carrier *c = (struct carrier *)w->app[i];

		if (w->app[i]->ops != &secure_ops)
			continue;
		fg_tls_context_free(c->context);
		fg_histogram_free(c->handshakes);
		free(c);
		w->app[i--] = w->app[--w->apps];
	}
}

const struct fg_secure_tally *
fg_secure_tally(const struct fg_l4 *w, const struct fg_app *app)
{
	const struct carrier *c = below(w, app);

	return c == NULL ? NULL : &c->tally;
}

const struct fg_histogram *
fg_secure_handshakes(const struct fg_l4 *w, const struct fg_app *app)
{
	const struct carrier *c = below(w, app);

	return c == NULL ? NULL : c->handshakes;
}

const struct fg_tls_context *
fg_secure_context(const struct fg_l4 *w, const struct fg_app *app)
{
	const struct carrier *c = below(w, app);

	return c == NULL ? NULL : c->context;
}

const struct fg_l4_tally *
fg_secure_carried(const struct fg_l4 *w, const struct fg_app *app)
{
	const struct carrier *c = below(w, app);

	return c == NULL ? NULL : &c->base.tally;
}
