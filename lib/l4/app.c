/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making applications, and what clients have in common: which address and port a connection gets, and how many may be
 * open at a time. curl-loader's ramp: so many at the start, and so many more each second, up to the most.
 */
#include <errno.h>
#include <stdlib.h>

#include "app_priv.h"

enum { OPENS_A_POLL = 64, FLOW_TRIES = 16, DIGITS = 3 };
static const uint64_t LONGEST_NS = 100000000000;

static const struct kind {
	const struct app_ops *client, *server;
} kinds[FG_L4_KINDS] = {
	[FG_L4_STREAM] = {&stream_client, &stream_server},
	[FG_L4_MAERTS] = {&maerts_client, &maerts_server},
	[FG_L4_SENDFILE] = {&sendfile_client, &sendfile_server},
	[FG_L4_RR] = {&rr_client, &rr_server},
	[FG_L4_CRR] = {&crr_client, &rr_server},
	[FG_L4_CC] = {&cc_client, &cc_server},
	[FG_L4_IPERF] = {&iperf_client, &iperf_server},
	[FG_L4_HTTP] = {&http_client, &http_server},
	[FG_L4_UDP_STREAM] = {&udp_stream_client, &udp_stream_server},
	[FG_L4_UDP_RR] = {&udp_rr_client, &udp_rr_server},
};

static bool
is_udp(const struct fg_l4_app *config)
{
	return config->kind == FG_L4_UDP_STREAM || config->kind == FG_L4_UDP_RR;
}

/* address number @p i of a range */
static void
address_at(const struct fg_l4_app *config, const uint8_t first[16], uint32_t i, uint8_t out[16])
{
	uint32_t last;

	if (config->ipv6)
		memcpy(out, first, 16);
	else
		address_of_ipv4(first, out);
	memcpy(&last, out + 12, 4);
	last = htonl(ntohl(last) + i);
	memcpy(out + 12, &last, 4);
}

/* ports change first, then our addresses, then theirs */
void
next_flow(const struct fg_l4 *w, struct application *a, struct flow *f)
{
	const struct fg_l4_app *config = &a->config;
	uint64_t i = a->next_flow++;
	uint32_t ports = (uint32_t)config->port_last - config->port_first + 1;

	*f = (struct flow){.ipv6 = config->ipv6, .remote_port = config->port};
	f->local_port = (uint16_t)(config->port_first + i % ports);
	i /= ports;
	address_at(config, config->local, (uint32_t)(i % config->locals), f->local);
	i /= config->locals;
	address_at(config, config->remote, (uint32_t)(i % config->remotes), f->remote);
	memcpy(f->mac, config->next_hop, 6);
}

/* open loop: when connection number @p i is due */
static uint64_t
due_at(const struct fg_l4 *w, const struct application *a, uint64_t i)
{
	return w->start_at + (uint64_t)((double)i * 1e9 / a->config.opens_per_s);
}

static struct conn *
open_one(struct fg_l4 *w, struct application *a)
{
	uint64_t i = a->base.tally.opened, at = a->config.opens_per_s > 0 ? due_at(w, a, i) : w->now;
	struct conn *c = NULL;
	struct flow f;

	for (unsigned tries = 0; tries < FLOW_TRIES && c == NULL; tries++) {
		next_flow(w, a, &f);
		c = tcp_open(w, a->base.index, &f);
	}
	if (c == NULL)
		return NULL;
	c->app_time = at;
	c->opened_at = (uint32_t)(at >> OPENED_SHIFT);
	return c;
}

uint64_t
opened_at(const struct fg_l4 *w, const struct conn *c)
{
	uint32_t ago = (uint32_t)(w->now >> OPENED_SHIFT) - c->opened_at;

	return w->now - ((uint64_t)ago << OPENED_SHIFT);
}

void
note_first_octet(const struct fg_l4 *w, const struct conn *c)
{
	note_time(w, application_of(w, c)->first_octet, opened_at(w, c));
}

void
note_last_octet(const struct fg_l4 *w, const struct conn *c)
{
	note_time(w, application_of(w, c)->last_octet, opened_at(w, c));
}

static uint64_t
pause_of(struct application *a)
{
	uint64_t least = a->config.think_ns, most = a->config.think_ns_max;

	return most <= least ? least : least + draw(&a->random) % (most - least + 1);
}

void
next_request(struct fg_l4 *w, struct conn *c, uint64_t requests, bool last,
	     void (*send)(struct fg_l4 *w, struct conn *c))
{
	struct application *a = application_of(w, c);
	uint64_t pause;

	if (w->now >= w->stop_at || last) {
		tcp_close(w, c);
	} else if (a->config.requests > 0 && requests >= a->config.requests) {
		if (!a->config.hold)
			tcp_close(w, c);
	} else if ((pause = pause_of(a)) > 0) {
		c->app_at = tick_after(w, pause);
		timer_update(w, c);
	} else {
		send(w, c);
	}
}

/* how many may be open now, and when there will be one more */
static uint32_t
allowed(const struct fg_l4 *w, const struct application *a, uint64_t *more_at)
{
	const struct fg_l4_app *config = &a->config;
	double may;

	*more_at = UINT64_MAX;
	if (config->connections_per_s == 0)
		return config->connections;
	may = config->connections_start + (double)(w->now - w->start_at) * 1e-9 * config->connections_per_s;
	if (may >= config->connections)
		return config->connections;
	*more_at = w->start_at +
		   (uint64_t)((double)((uint64_t)may + 1 - config->connections_start) * 1e9 /
			      config->connections_per_s) +
		   1;
	return (uint32_t)may;
}

static void
stop_all(struct fg_l4 *w, struct application *a)
{
	for (uint32_t i = 1; i < w->fresh; i++) {
		struct conn *c = &w->conn[i];

		if (c->state != CLOSED && c->app == a->base.index && c->state != TIME_WAIT)
			a->base.ops->stop(w, c);
	}
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* how many of the connections that may be open are to be opened now; and when there will be another one */
static uint32_t
wanted(const struct fg_l4 *w, const struct application *a, uint64_t *more_at)
{
	uint32_t may = allowed(w, a, more_at), cycles = a->config.cycles;
	uint64_t opened = a->base.tally.opened, n = may > a->base.open ? may - a->base.open : 0;

	if (cycles == 0 && a->config.octets > 0)
		cycles = 1; /* so many octets on each connection: none is opened again */
	if (cycles > 0)
		n = least(n, (uint64_t)cycles * may > opened ? (uint64_t)cycles * may - opened : 0);
	if (a->config.opens_per_s > 0) {
		double due = (double)(w->now - w->start_at) * 1e-9 * a->config.opens_per_s;

		n = least(n, (uint64_t)due + 1 > opened ? (uint64_t)due + 1 - opened : 0);
		if (opened + n > due)
			*more_at = least(*more_at, due_at(w, a, opened + n) + 1);
	}
	return (uint32_t)n;
}

uint64_t
client_poll(struct fg_l4 *w, struct app *app)
{
	struct application *a = (struct application *)app;
	uint64_t more_at;
	uint32_t n;

	if (w->now < w->start_at)
		return w->start_at;
	if (w->now >= w->stop_at) {
		if (!a->stopped && app->ops->stop != NULL)
			stop_all(w, a);
		a->stopped = true;
		return UINT64_MAX;
	}
	n = wanted(w, a, &more_at);
	for (unsigned i = 0; i < OPENS_A_POLL && i < n; i++)
		if (open_one(w, a) == NULL)
			return w->now + NS_PER_MS; /* no port or no room: TIME_WAIT ends some time */
	if (n > OPENS_A_POLL)
		return w->now;
	return least(more_at, w->stop_at);
}

static int
check(const struct fg_l4_app *a, uint32_t mtu, struct fg_error *err)
{
	if (a->kind >= FG_L4_KINDS || a->locals == 0 || a->port == 0)
		return fg_error_set(err, EINVAL, "l4", "an application of kind %u at port %u", a->kind,
				    a->port);
	if ((a->kind == FG_L4_RR || a->kind == FG_L4_CRR || a->kind == FG_L4_UDP_RR) &&
	    (a->request == 0 || a->response == 0))
		return fg_error_set(err, EINVAL, "l4", "a request and a response have an octet at least");
	if (a->kind == FG_L4_UDP_STREAM && a->datagram < FG_L4_DATAGRAM_MIN)
		return fg_error_set(err, EINVAL, "l4", "datagrams of %u octets: at least %d", a->datagram,
				    FG_L4_DATAGRAM_MIN);
	if (is_udp(a) && u32_max(a->datagram, u32_max(a->request, a->response)) + (a->ipv6 ? 48U : 28U) > mtu)
		return fg_error_set(err, EINVAL, "l4", "datagrams that do not fit into an MTU of %u", mtu);
	if (a->server)
		return 0;
	if (a->kind == FG_L4_SENDFILE && a->file == NULL)
		return fg_error_set(err, EINVAL, "l4", "which file is to be sent?");
	if (a->connections == 0 || a->remotes == 0 || a->port_first == 0 || a->port_last < a->port_first)
		return fg_error_set(err, EINVAL, "l4", "%u connections from ports %u to %u", a->connections,
				    a->port_first, a->port_last);
	return 0;
}

static int
application_create(const struct fg_l4_app *config, uint32_t mtu, unsigned index, struct application **out,
		   struct fg_error *err)
{
	struct application *a;
	int rc = check(config, mtu, err);

	if (rc != 0)
		return rc;
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	*out = a;
	a->config = *config;
	a->base.ops = config->server ? kinds[config->kind].server : kinds[config->kind].client;
	a->base.tcp = config->tcp;
	a->base.index = (uint8_t)index;
	a->base.udp = is_udp(config) || config->kind == FG_L4_IPERF;
	a->base.listens = config->server && !is_udp(config);
	a->base.locals = config->locals;
	a->base.port = config->port;
	address_at(config, config->local, 0, a->base.local);
	a->setup = fg_histogram_create(DIGITS, LONGEST_NS, err);
	a->transaction = fg_histogram_create(DIGITS, LONGEST_NS, err);
	a->first_octet = fg_histogram_create(DIGITS, LONGEST_NS, err);
	a->last_octet = fg_histogram_create(DIGITS, LONGEST_NS, err);
	a->base.rtt = fg_histogram_create(DIGITS, LONGEST_NS, err);
	if (a->setup == NULL || a->transaction == NULL || a->first_octet == NULL || a->last_octet == NULL ||
	    a->base.rtt == NULL)
		return -ENOMEM;
	if (config->file != NULL)
		return file_map(a, err);
	if (config->kind == FG_L4_HTTP && !config->server)
		return http_create(a, err);
	if (config->kind == FG_L4_IPERF)
		return iperf_create(a, err);
	return a->base.udp ? udp_create(a, err) : 0;
}

static void
application_free(struct application *a)
{
	if (a == NULL)
		return;
	fg_histogram_free(a->setup);
	fg_histogram_free(a->transaction);
	fg_histogram_free(a->first_octet);
	fg_histogram_free(a->last_octet);
	fg_histogram_free(a->base.rtt);
	file_unmap(a);
	udp_free(a);
	iperf_free(a);
	free(a->request);
	free(a->mark);
	free(a);
}

int
fg_l4_create(const struct fg_l4_config *config, unsigned apps, const struct fg_l4_app *app,
	     struct fg_l4 **out, struct fg_error *err)
{
	struct fg_l4 *w;
	int rc;

	if (apps == 0 || apps > UINT8_MAX)
		return fg_error_set(err, EINVAL, "l4", "%u applications: 1 to %d", apps, UINT8_MAX);
	rc = worker_create(config, &w, err);
	if (rc != 0)
		return rc;
	w->app = calloc(apps, sizeof(*w->app));
	if (w->app == NULL)
		rc = fg_error_set(err, ENOMEM, "l4", "no memory");
	for (unsigned i = 0; i < apps && rc == 0; i++) {
		rc = application_create(&app[i], config->mtu, i, (struct application **)&w->app[i], err);
		w->apps = i + 1;
		if (w->app[i] != NULL)
			((struct application *)w->app[i])->random = config->seed ^ i;
		for (unsigned j = 0; j < i && rc == 0; j++)
			iperf_join((struct application *)w->app[i], (struct application *)w->app[j]);
	}
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
	for (unsigned i = 0; i < w->apps; i++)
		application_free((struct application *)w->app[i]);
	worker_free(w);
}

struct fg_endpoint *
fg_l4_endpoint(struct fg_l4 *w)
{
	return &w->endpoint;
}
