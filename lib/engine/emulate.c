/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control over what sends in addition to the responders of ports: emulated hosts (hosts.c), and the protocols
 * of links (link.c).
 */
#include <errno.h>

#include "engine_priv.h"

int
fg_engine_hosts(struct fg_engine *e, unsigned port, const struct fg_emulated_host *host, unsigned n,
		struct fg_error *err)
{
	struct responder *r = &e->port[port].responder;
	struct hosts *hosts = NULL;
	int rc;

	if (fg_engine_poll(e) == FG_ENGINE_RUNNING)
		return fg_error_set(err, EBUSY, "engine", "a trial is running");
	rc = n == 0 ? 0 : hosts_create(host, n, r, &hosts, err);
	if (rc != 0)
		return rc;
	engine_rest(e);
	hosts_free(r->hosts);
	r->hosts = hosts;
	engine_idle_tasks(e);
	engine_idle(e);
	return 0;
}

void
fg_engine_hosts_run(struct fg_engine *e, unsigned port, bool run)
{
	if (e->port[port].responder.hosts != NULL)
		hosts_run(e->port[port].responder.hosts, run);
}

bool
fg_engine_host_gateway(const struct fg_engine *e, unsigned port, unsigned i, uint8_t mac[6])
{
	const struct hosts *hosts = e->port[port].responder.hosts;

	return hosts != NULL && hosts_gateway(hosts, i, mac);
}

int
fg_engine_host_ping(struct fg_engine *e, unsigned port, unsigned i, const uint8_t hop[16],
		    const uint8_t to[16])
{
	struct hosts *hosts = e->port[port].responder.hosts;

	return hosts == NULL ? -ENETDOWN : hosts_ping(hosts, i, hop, to);
}

enum fg_ping
fg_engine_host_pinged(const struct fg_engine *e, unsigned port, unsigned i)
{
	const struct hosts *hosts = e->port[port].responder.hosts;

	return hosts == NULL ? FG_PING_SILENT : hosts_pinged(hosts, i);
}

int
fg_engine_link_open(struct fg_engine *e, unsigned port, const uint16_t *type, unsigned n,
		    struct fg_error *err)
{
	struct responder *r = &e->port[port].responder;
	struct link *link = NULL;
	int rc;

	if (fg_engine_poll(e) == FG_ENGINE_RUNNING)
		return fg_error_set(err, EBUSY, "engine", "a trial is running");
	rc = n == 0 ? 0 : link_create(type, n, r, &link, err);
	if (rc != 0)
		return rc;
	engine_rest(e);
	link_free(r->link);
	r->link = link;
	engine_idle_tasks(e);
	engine_idle(e);
	return 0;
}

int
fg_engine_link_send(struct fg_engine *e, unsigned port, const uint8_t *frame, size_t length)
{
	struct link *link = e->port[port].responder.link;

	return link == NULL ? -ENETDOWN : link_send(link, frame, length);
}

size_t
fg_engine_link_receive(struct fg_engine *e, unsigned port, uint8_t frame[FG_LINK_OCTETS])
{
	struct link *link = e->port[port].responder.link;

	return link == NULL ? 0 : link_receive(link, frame);
}

bool
fg_engine_link_waits(const struct fg_engine *e, unsigned port)
{
	const struct link *link = e->port[port].responder.link;

	return link != NULL && link_waits(link);
}
