/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Create and free senders in addition to the responders of ports: emulated hosts (hosts.c), and the protocols
 * of links (link.c). The lcores rest meanwhile.
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
