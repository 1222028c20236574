/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds by name, and the applications of a worker. */
#include <errno.h>
#include <stdlib.h>

#include "page_priv.h"

enum { DIGITS = 3, MAX_APPS = UINT8_MAX / 2 /* each with a layer */ };
static const uint64_t LONGEST_NS = 100000000000;

/* kind number @p i; NULL: there are no more */
static const struct app_kind *
kind_at(unsigned i)
{
	for (const struct app_kind *const *const *file = app_kinds; *file != NULL; file++)
		for (const struct app_kind *const *kind = *file; *kind != NULL; kind++)
			if (i-- == 0)
				return *kind;
	return NULL;
}

static const struct app_kind *
kind_of(const char *name)
{
	const struct app_kind *kind = NULL;

	for (unsigned i = 0; name != NULL && (kind = kind_at(i)) != NULL && strcmp(kind->name, name) != 0;)
		i++;
	return kind;
}

const char *
fg_l4_kind_name(unsigned i)
{
	const struct app_kind *kind = kind_at(i);

	return kind == NULL ? NULL : kind->name;
}

const char *
fg_l4_own_name(const char *name, unsigned i)
{
	const struct app_kind *kind = kind_of(name);

	return kind == NULL || i >= FG_L4_OWN_SUMS ? NULL : kind->own[i];
}

void
fg_l4_http_octets(const struct fg_l4_app *app, uint32_t *request, uint32_t *response)
{
	kind_of(app->kind)->octets(app, request, response);
}

static int
check(const struct fg_l4_app *a, const struct app_kind *kind, uint32_t mtu, struct fg_error *err)
{
	if (kind == NULL || a->locals == 0 || a->port == 0)
		return fg_error_set(err, EINVAL, "l4", "an application of kind %s at port %u",
				    a->kind == NULL ? "none" : a->kind, a->port);
	if (!a->server &&
	    (a->connections == 0 || a->remotes == 0 || a->port_first == 0 || a->port_last < a->port_first))
		return fg_error_set(err, EINVAL, "l4", "%u connections from ports %u to %u", a->connections,
				    a->port_first, a->port_last);
	if (a->tls != NULL && !kind->secures)
		return fg_error_set(err, EINVAL, "l4", "%s does not go through TLS", kind->name);
	if (a->quic != NULL && (!kind->secures || a->tls != NULL))
		return fg_error_set(err, EINVAL, "l4", "%s does not go through QUIC", kind->name);
	if (a->page != NULL && !kind->pages)
		return fg_error_set(err, EINVAL, "l4", "%s loads no pages", kind->name);
	if (a->page != NULL && !a->server && page_check(a->page, err) != 0)
		return -EINVAL;
	return kind->check == NULL ? 0 : kind->check(a, mtu, err);
}

static int
histograms_create(struct application *a, struct fg_error *err)
{
	struct fg_histogram **all[] = {&a->setup, &a->transaction, &a->first_octet, &a->last_octet,
				       &a->base.rtt};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if ((*all[i] = fg_histogram_create(DIGITS, LONGEST_NS, err)) == NULL)
			return -ENOMEM;
	return 0;
}

static int
application_create(struct fg_l4 *w, const struct fg_l4_app *config, struct fg_error *err)
{
	const struct app_kind *kind = kind_of(config->kind);
	struct application *a;
	int rc = check(config, kind, w->config.mtu, err);

	if (rc != 0)
		return rc;
	a = calloc(1, kind->size > 0 ? kind->size : sizeof(*a));
	if (a == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	a->config = *config;
	a->kind = kind;
	a->room = w->config.connections;
	a->next_flow = config->first_flow;
	a->random = w->config.seed ^ w->apps;
	a->base.ops = config->server ? kind->server : kind->client;
	a->base.tcp = config->tcp;
	a->base.index = (uint8_t)w->apps;
	a->base.udp = kind->datagrams;
	a->base.echo = kind->echo;
	a->base.gathers = kind->gathers;
	a->base.resets_at_once = kind->resets_at_once;
	w->endpoint.echo_requests |= kind->echo && config->server;
	w->endpoint.echo_replies |= kind->echo && !config->server;
	a->base.listens = config->server && kind->streams;
	a->base.locals = config->locals;
	a->base.port = config->port;
	address_at(config, config->local, 0, a->base.local);
	w->app[w->apps++] = &a->base;
	w->applications = w->apps;
	a->handshake_ns = config->tls != NULL    ? config->tls->timeout_ns
			  : config->quic != NULL ? config->quic->handshake_ns
						 : 0;
	rc = histograms_create(a, err);
	if (rc == 0 && config->page != NULL && !config->server)
		rc = page_create(a, err);
	if (rc == 0 && !patience_create(a))
		rc = fg_error_set(err, ENOMEM, "l4", "no memory for %u connections", a->room);
	if (rc == 0 && kind->create != NULL)
		rc = kind->create(a, err);
	for (unsigned i = 0; rc == 0 && kind->join != NULL && i < a->base.index; i++) {
		struct application *other = (struct application *)w->app[i];

		if (other->kind == kind)
			kind->join(a, other);
	}
	return rc;
}

static void
application_free(struct application *a)
{
	if (a->kind->free != NULL)
		a->kind->free(a);
	page_free(a);
	patience_free(a);
	fg_histogram_free(a->setup);
	fg_histogram_free(a->transaction);
	fg_histogram_free(a->first_octet);
	fg_histogram_free(a->last_octet);
	fg_histogram_free(a->base.rtt);
	free(a->snapshot);
	free(a);
}

int
fg_l4_create(const struct fg_l4_config *config, unsigned apps, const struct fg_l4_app *app,
	     struct fg_l4 **out, struct fg_error *err)
{
	struct fg_l4 *w;
	int rc;

	if (apps == 0 || apps > MAX_APPS)
		return fg_error_set(err, EINVAL, "l4", "%u applications: 1 to %d", apps, MAX_APPS);
	rc = fg_l4_worker_create(config, &w, err);
	if (rc != 0)
		return rc;
	payload_init();
	w->snapshot = take_snapshots;
	w->app = calloc(2UL * apps, sizeof(struct fg_app *));
	if (w->app == NULL)
		rc = fg_error_set(err, ENOMEM, "l4", "no memory");
	for (unsigned i = 0; i < apps && rc == 0; i++)
		rc = application_create(w, &app[i], err);
	/* behind all applications, for these are known by their numbers */
	for (unsigned i = 0; i < apps && rc == 0; i++)
		rc = app[i].tls != NULL    ? fg_secure_add(w, w->app[i], app[i].tls, err)
		     : app[i].quic != NULL ? fg_quic_add(w, w->app[i], app[i].quic, err)
					   : 0;
	if (rc != 0) {
		fg_l4_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

void
fg_l4_free(struct fg_l4 *w)
{
	if (w == NULL)
		return;
	fg_secure_free(w);
	fg_quic_free(w);
	for (unsigned i = 0; i < w->applications; i++)
		application_free((struct application *)w->app[i]);
	free(w->app);
	fg_l4_worker_free(w);
}

struct fg_endpoint *
fg_l4_endpoint(struct fg_l4 *w)
{
	return &w->endpoint;
}
