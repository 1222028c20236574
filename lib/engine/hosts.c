/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Emulated hosts. They are a task on the lcore of their port's responder, which offers them what the port
 * has received. They are sorted by version, VLANs and address: a frame is looked up by the address that
 * it is about, whether it is a question, an answer to one of ours or an echo.
 *
 * Every ten milliseconds they are looked through for what is due, a few at a poll, so that thousands of hosts
 * neither delay test frames nor ask for their gateways in one burst.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fg_bytes.h"
#include "engine_priv.h"

/* the first request waits until the hosts of other ports answer: they may be the gateways */
enum {
	BEGINS_PER_SECOND = 50,
	LOOKS_PER_SECOND = 100,
	AT_A_TIME = 32,
	AGAIN_S = 1,
	REFRESH_S = 30,
	PATIENCE_S = 1
};

static const uint32_t PRIORITY = 0xf000;
static const uint64_t KNOWN = 1ULL << 48; /* beside the bytes of a MAC */

/* compared by its bytes */
struct key {
	uint32_t version;
	uint32_t tag[FG_HOST_TAGS]; /* without their priorities */
	uint8_t address[16];
};

struct neighbour {
	uint8_t address[16];
	_Atomic uint64_t mac; /* 0: not known. Writer: the tx lcore */
	uint64_t ask_at;      /* ticks. Writer: the same */
};

struct ping {
	/* address of hop, and echo but its MAC: written by control, which does so only while none is under
	 * way */
	struct neighbour hop;
	struct fg_echo echo;
	_Atomic uint32_t asked; /* pings; writer: control */
	_Atomic uint32_t done;  /* of these; writer: the tx lcore, as of the rest */
	_Atomic bool answered;  /* the last one */
	bool begun, sent;
	uint64_t until; /* ticks */
};

struct emulated {
	struct key key;
	unsigned given; /* its place in the list of control */
	unsigned tags;
	struct fg_emulated_host config;
	struct neighbour gateway;
	struct ping ping;
};

struct hosts {
	struct fg_task task;
	struct responder *responder;
	_Atomic uint32_t wanted; /* odd: to speak; each change begins anew. Writer: control */
	_Atomic uint32_t have;   /* what of this is obeyed. Writer: the tx lcore, as of the rest */
	unsigned n, next;
	uint64_t look_at; /* ticks */
	uint64_t second;  /* ticks */
	unsigned *place;  /* of each host that control gave */
	struct emulated one[];
};

static bool
is_ipv4(const struct emulated *h)
{
	return h->config.host.has_ipv4;
}

/* @return whether it was due; without a buffer it stays so */
static bool
ask(struct hosts *hosts, const struct emulated *h, struct neighbour *of, struct responder *r, uint64_t now)
{
	const struct fg_host *host = &h->config.host;
	struct rte_mbuf *m;
	uint8_t *out;

	if (now < of->ask_at || (out = responder_buffer(r, &m)) == NULL)
		return false;
	of->ask_at = now + (of->mac != 0 ? REFRESH_S : AGAIN_S) * hosts->second;
	responder_send_tagged(r, m,
			      is_ipv4(h) ? fg_net_ask_ipv4(host, of->address, out)
					 : fg_net_ask_ipv6(host, of->address, out),
			      h->config.tag, h->tags, now);
	return true;
}

static void
learn_mac(struct hosts *hosts, const struct emulated *h, struct neighbour *of, const uint8_t *frame,
	  size_t length, uint64_t now)
{
	uint8_t mac[8] = {0};

	if (!(is_ipv4(h) ? fg_net_learn_ipv4 : fg_net_learn_ipv6)(frame, length, of->address, mac + 2))
		return;
	atomic_store_explicit(&of->mac, KNOWN | fg_get64(mac), memory_order_relaxed);
	of->ask_at = now + REFRESH_S * hosts->second;
}

static void
write_mac(uint64_t known, uint8_t mac[6])
{
	uint8_t all[8];

	fg_put64(all, known);
	memcpy(mac, all + 2, 6);
}

static void
end_ping(struct ping *p, bool answered)
{
	p->begun = false;
	atomic_store_explicit(&p->answered, answered, memory_order_relaxed);
	atomic_store_explicit(&p->done, p->asked, memory_order_release);
}

static void
begin_ping(struct hosts *hosts, struct emulated *h, uint64_t now)
{
	struct ping *p = &h->ping;
	bool same = h->config.has_gateway && memcmp(p->hop.address, h->gateway.address, 16) == 0;

	p->begun = true;
	p->sent = false;
	p->until = now + PATIENCE_S * hosts->second;
	p->hop.mac = same ? h->gateway.mac : 0;
	p->hop.ask_at = now;
}

/* @return whether it has sent something */
static bool
go_on_with_ping(struct hosts *hosts, struct emulated *h, struct responder *r, uint64_t now)
{
	struct ping *p = &h->ping;
	struct rte_mbuf *m;
	uint8_t *out;

	if (likely(atomic_load_explicit(&p->asked, memory_order_acquire) == p->done))
		return false;
	if (!p->begun)
		begin_ping(hosts, h, now);
	if (now >= p->until) {
		end_ping(p, false);
		return false;
	}
	if (p->hop.mac == 0)
		return ask(hosts, h, &p->hop, r, now);
	if (p->sent || (out = responder_buffer(r, &m)) == NULL)
		return false;
	p->sent = true;
	write_mac(p->hop.mac, p->echo.mac);
	responder_send_tagged(r, m, fg_net_echo(&h->config.host, &p->echo, out), h->config.tag, h->tags, now);
	return true;
}

static void
begin(struct hosts *hosts, uint32_t wanted, uint64_t now)
{
	for (unsigned i = 0; i < hosts->n; i++) {
		struct emulated *h = &hosts->one[i];

		h->gateway.mac = 0;
		h->gateway.ask_at = now + hosts->second / BEGINS_PER_SECOND;
		end_ping(&h->ping, false);
	}
	hosts->next = 0;
	hosts->look_at = now;
	atomic_store_explicit(&hosts->have, wanted, memory_order_release);
}

static uint64_t
hosts_poll(struct fg_task *task, uint64_t now)
{
	struct hosts *hosts = (struct hosts *)task;
	struct responder *r = hosts->responder;
	uint32_t wanted = atomic_load_explicit(&hosts->wanted, memory_order_acquire);
	unsigned end;
	bool said = false;

	if (unlikely(wanted != hosts->have))
		begin(hosts, wanted, now);
	if (wanted % 2 == 0)
		return UINT64_MAX;
	if (likely(now < hosts->look_at))
		return hosts->look_at;
	for (end = RTE_MIN(hosts->next + AT_A_TIME, hosts->n); hosts->next < end; hosts->next++) {
		struct emulated *h = &hosts->one[hosts->next];

		said |= h->config.has_gateway && ask(hosts, h, &h->gateway, r, now);
		said |= go_on_with_ping(hosts, h, r, now);
	}
	if (hosts->next < hosts->n)
		return now;
	hosts->next = 0;
	hosts->look_at = now + hosts->second / LOOKS_PER_SECOND;
	return said ? now : hosts->look_at;
}

static int
compare_keys(const void *first, const void *second)
{
	return memcmp(first, second, sizeof(struct key)); /* struct emulated begins with it */
}

/* a host may also have the EtherTypes that were used for tags of providers before IEEE 802.1ad */
static bool
is_tag(uint16_t type)
{
	return fg_net_is_tag(type) || type == 0x9100 || type == 0x9200 || type == 0x9300;
}

/* find the host that a frame is about, and take its tags off. A priority tag is no tag (fg_net_own_tag()) */
static struct emulated *
find_host(struct hosts *hosts, struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct key key = {0};
	struct emulated *h;
	size_t tags = 0;
	unsigned n = 0;

	for (; n < FG_HOST_TAGS && m->data_len >= FG_ETHER_HEADER + tags + FG_NET_TAG &&
	       is_tag(fg_get16(frame + FG_ETHER_HEADER - 2 + tags));
	     tags += FG_NET_TAG) {
		uint32_t tag = fg_get32(frame + FG_ETHER_HEADER - 2 + tags) & ~PRIORITY;

		if (tag != FG_NET_PRIORITY_TAG)
			key.tag[n++] = tag;
	}
	key.version = (uint32_t)fg_net_addressed(frame, m->data_len, tags, key.address);
	if (key.version == 0)
		return NULL;
	h = bsearch(&key, hosts->one, hosts->n, sizeof(hosts->one[0]), compare_keys);
	if (h != NULL && tags != 0) {
		memmove(frame + tags, frame, FG_ETHER_HEADER - 2);
		rte_pktmbuf_adj(m, (uint16_t)tags);
	}
	return h;
}

bool
hosts_take(struct hosts *hosts, struct responder *r, struct rte_mbuf *m, uint64_t now)
{
	struct emulated *h = hosts->have % 2 == 1 ? find_host(hosts, m) : NULL;
	size_t length = 0;
	uint8_t *frame;

	if (h == NULL)
		return false;
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	if (h->config.has_gateway)
		learn_mac(hosts, h, &h->gateway, frame, m->data_len, now);
	if (h->ping.begun && !h->ping.sent)
		learn_mac(hosts, h, &h->ping.hop, frame, m->data_len, now);
	if (h->ping.begun && h->ping.sent &&
	    fg_net_echo_replies(&h->config.host, &h->ping.echo, frame, m->data_len))
		end_ping(&h->ping, true);
	if (responder_may_answer(m))
		length = fg_net_answer(&h->config.host, frame, m->data_len);
	if (length == 0)
		rte_pktmbuf_free(m);
	else
		responder_send_tagged(r, m, length, h->config.tag, h->tags, now);
	return true;
}

static void
fill(struct emulated *h, const struct fg_emulated_host *c, unsigned given)
{
	unsigned n = 0;

	*h = (struct emulated){.config = *c, .given = given, .key.version = c->host.has_ipv4 ? 4 : 6};
	for (; h->tags < FG_HOST_TAGS && c->tag[h->tags] != 0; h->tags++)
		if ((c->tag[h->tags] & ~PRIORITY) != FG_NET_PRIORITY_TAG)
			h->key.tag[n++] = c->tag[h->tags] & ~PRIORITY;
	if (c->host.has_ipv4)
		memcpy(h->key.address, c->host.ipv4, 4);
	else
		memcpy(h->key.address, c->host.ipv6, 16);
	memcpy(h->gateway.address, c->gateway, 16);
	h->ping.echo.identifier = (uint16_t)given;
}

int
hosts_create(const struct fg_emulated_host *host, unsigned n, struct responder *responder, struct hosts **out,
	     struct fg_error *err)
{
	struct hosts *hosts;

	if (n > FG_MAX_HOSTS)
		return fg_error_set(err, EINVAL, "hosts", "%u behind a port; at most %d", n, FG_MAX_HOSTS);
	hosts = calloc(1, sizeof(*hosts) + n * sizeof(hosts->one[0]));
	if (hosts != NULL && (hosts->place = calloc(RTE_MAX(n, 1U), sizeof(*hosts->place))) == NULL) {
		free(hosts);
		hosts = NULL;
	}
	if (hosts == NULL)
		return fg_error_set(err, ENOMEM, "hosts", "no memory for %u", n);
	hosts->task.poll = hosts_poll;
	hosts->responder = responder;
	hosts->n = n;
	hosts->second = fg_clock_ticks(responder->clock, 1000000000);
	for (unsigned i = 0; i < n; i++)
		fill(&hosts->one[i], &host[i], i);
	qsort(hosts->one, n, sizeof(hosts->one[0]), compare_keys);
	for (unsigned i = 0; i < n; i++) {
		if (i > 0 && compare_keys(&hosts->one[i - 1], &hosts->one[i]) == 0) {
			hosts_free(hosts);
			return fg_error_set(err, EEXIST, "hosts", "two have the same address and VLANs");
		}
		hosts->place[hosts->one[i].given] = i;
	}
	*out = hosts;
	return 0;
}

struct fg_task *
hosts_task(struct hosts *hosts)
{
	return &hosts->task;
}

void
hosts_free(struct hosts *hosts)
{
	if (hosts != NULL)
		free(hosts->place);
	free(hosts);
}

void
fg_engine_hosts_run(struct fg_engine *e, unsigned port, bool run)
{
	struct hosts *hosts = e->port[port].responder.hosts;

	if (hosts != NULL)
		atomic_store_explicit(&hosts->wanted,
				      hosts->wanted + (hosts->wanted % 2 == (run ? 1 : 0) ? 2 : 1),
				      memory_order_release);
}

/* is the host there, and do they speak as control wants them to? */
static bool
is_awake(const struct hosts *hosts, unsigned i)
{
	uint32_t have;

	if (hosts == NULL || i >= hosts->n)
		return false;
	have = atomic_load_explicit(&hosts->have, memory_order_acquire);
	return have == hosts->wanted && have % 2 == 1;
}

bool
fg_engine_host_gateway(const struct fg_engine *e, unsigned port, unsigned i, uint8_t mac[6])
{
	const struct hosts *hosts = e->port[port].responder.hosts;
	uint64_t known;

	if (!is_awake(hosts, i))
		return false;
	known = atomic_load_explicit(&hosts->one[hosts->place[i]].gateway.mac, memory_order_relaxed);
	write_mac(known, mac);
	return known != 0;
}

int
fg_engine_host_ping(struct fg_engine *e, unsigned port, unsigned i, const uint8_t hop[16],
		    const uint8_t to[16])
{
	struct hosts *hosts = e->port[port].responder.hosts;
	struct ping *p;

	if (!is_awake(hosts, i))
		return -ENETDOWN;
	p = &hosts->one[hosts->place[i]].ping;
	if (atomic_load_explicit(&p->done, memory_order_acquire) != p->asked)
		return -EBUSY;
	memcpy(p->hop.address, hop, 16);
	memcpy(p->echo.to, to, 16);
	p->echo.number++;
	atomic_store_explicit(&p->asked, p->asked + 1, memory_order_release);
	return 0;
}

enum fg_ping
fg_engine_host_pinged(const struct fg_engine *e, unsigned port, unsigned i)
{
	const struct hosts *hosts = e->port[port].responder.hosts;
	const struct ping *p;

	if (hosts == NULL)
		return FG_PING_SILENT;
	p = &hosts->one[hosts->place[i]].ping;
	if (atomic_load_explicit(&p->done, memory_order_acquire) != p->asked)
		return FG_PING_WAITING;
	return p->answered ? FG_PING_ANSWERED : FG_PING_SILENT;
}
