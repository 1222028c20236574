/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "fg_bytes.h"
#include "fg_net.h"
#include "fg_port.h"
#include "fg_port_clock.h"
#include "fg_probe.h"
#include "fg_unique_name.h"

enum {
	TYPE_1588 = 0x88f7,
	SYNC = 0,
	VERSION = 2,
	SYNC_OCTETS = 44, /* header 34, origin time stamp 10 */
	AT_NUMBER = 30,   /* sequenceId in the header */
	FRAME = 60,
	BUFFERS = 63,
};

/* Written by the lcore that sends, but for `arrived`, which is the other's; read when the trial is over. */
struct fg_probe {
	struct fg_task task;
	struct fg_sink sink;
	struct fg_probe_config config;
	struct rte_mempool *pool;
	uint64_t interval; /* ticks */
	uint64_t next;     /* when the next message is to be sent, ticks; 0: at once */
	uint32_t sent;
	bool waiting;                       /* for the stamp of the last one */
	uint64_t *departed, *arrived;       /* stamps by number, of either port's clock; 0: none */
	struct fg_port_clock_look from, to; /* before */
};

static void
write_message(const struct fg_probe *p, uint8_t *frame)
{
	struct fg_ether *ether = (struct fg_ether *)frame;
	uint8_t *message = frame + FG_ETHER_HEADER;

	memset(frame, 0, FRAME);
	memcpy(ether->dst, p->config.dst, 6);
	memcpy(ether->src, p->config.src, 6);
	ether->type = rte_cpu_to_be_16(TYPE_1588);
	message[0] = SYNC;
	message[1] = VERSION;
	message[3] = SYNC_OCTETS;
	message[AT_NUMBER] = (uint8_t)(p->sent >> 8);
	message[AT_NUMBER + 1] = (uint8_t)p->sent;
}

static void
send_message(struct fg_probe *p, uint64_t now)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool);

	if (m == NULL)
		return;
	m->data_len = FRAME;
	m->pkt_len = FRAME;
	write_message(p, rte_pktmbuf_mtod(m, uint8_t *));
	m->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
	if (p->config.from->tx(p->config.from, &m, 1, now) == 0) {
		rte_pktmbuf_free(m);
		return;
	}
	p->waiting = true;
	p->sent++;
	p->next = now + p->interval;
}

static uint64_t
poll(struct fg_task *task, uint64_t now)
{
	struct fg_probe *p = (struct fg_probe *)task;

	if (p->waiting)
		p->waiting = p->config.from->timesync->sent(p->config.from, &p->departed[p->sent - 1]) != 0;
	if (now >= p->next && p->sent < p->config.most)
		send_message(p, now);
	return now;
}

static bool
take(struct fg_sink *sink, struct rte_mbuf *m, uint64_t arrival_ns)
{
	struct fg_probe *p = RTE_PTR_SUB(sink, offsetof(struct fg_probe, sink));
	const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *message = frame + FG_ETHER_HEADER;
	uint32_t number;

	if (m->data_len < FG_ETHER_HEADER + SYNC_OCTETS || memcmp(frame + 6, p->config.src, 6) != 0 ||
	    ((const struct fg_ether *)frame)->type != rte_cpu_to_be_16(TYPE_1588) || message[0] != SYNC)
		return false;
	number = fg_get16(message + AT_NUMBER);
	if ((m->ol_flags & RTE_MBUF_F_RX_IEEE1588_TMST) != 0 && number < p->config.most &&
	    p->arrived[number] == 0)
		(void)p->config.to->timesync->arrived(p->config.to, m->timesync, &p->arrived[number]);
	rte_pktmbuf_free(m);
	return true;
}

static void
switch_off(const struct fg_probe *p)
{
	p->config.from->timesync->disable(p->config.from);
	p->config.to->timesync->disable(p->config.to);
}

static int
begin(struct fg_probe *p, struct fg_error *err)
{
	struct fg_port *ports[] = {p->config.from, p->config.to};
	struct fg_port_clock_look *looks[] = {&p->from, &p->to};

	for (unsigned i = 0; i < 2; i++) {
		int rc = ports[i]->timesync->enable(ports[i]);

		if (rc == 0)
			rc = fg_port_clock_read(ports[i], looks[i]);
		if (rc != 0)
			return fg_error_set(err, EIO, ports[i]->name,
					    "its IEEE 1588 clock does not answer (%d)", rc);
	}
	return 0;
}

static int
check(const struct fg_probe_config *c, struct fg_error *err)
{
	if (c->from->timesync == NULL || c->to->timesync == NULL)
		return fg_error_set(err, ENOTSUP, (c->from->timesync == NULL ? c->from : c->to)->name,
				    "stamps no IEEE 1588 frames");
	if (c->most == 0 || c->most > UINT16_MAX + 1)
		return fg_error_set(err, EINVAL, "probe", "%u messages: 1 to %d", c->most, UINT16_MAX + 1);
	return 0;
}

int
fg_probe_create(const struct fg_probe_config *config, struct fg_probe **out, struct fg_error *err)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	struct fg_probe *p;
	int rc = check(config, err);

	if (rc != 0)
		return rc;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return fg_error_set(err, ENOMEM, "probe", "no memory");
	fg_unique_name(name, sizeof(name), "fg_probe_");
	*p = (struct fg_probe){
		.task = {poll},
		.sink = {take},
		.config = *config,
		.interval = (uint64_t)((double)config->interval_ns * 1e-9 * (double)config->hz),
		.pool = rte_pktmbuf_pool_create(name, BUFFERS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
						config->from->caps.numa_node),
		.departed = calloc(config->most, sizeof(*p->departed)),
		.arrived = calloc(config->most, sizeof(*p->arrived)),
	};
	if (p->pool == NULL || p->departed == NULL || p->arrived == NULL)
		rc = fg_error_set(err, ENOMEM, "probe", "no memory for %u messages", config->most);
	else
		rc = begin(p, err);
	if (rc != 0) {
		switch_off(p);
		fg_probe_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

void
fg_probe_free(struct fg_probe *p)
{
	if (p == NULL)
		return;
	fg_port_pool_free(p->pool);
	free(p->departed);
	free(p->arrived);
	free(p);
}

struct fg_task *
fg_probe_task(struct fg_probe *p)
{
	return &p->task;
}

struct fg_sink *
fg_probe_sink(struct fg_probe *p)
{
	return &p->sink;
}

static void
note(struct fg_probe_result *out, int64_t delay)
{
	out->min_ns = out->count == 0 ? delay : RTE_MIN(out->min_ns, delay);
	out->max_ns = out->count == 0 ? delay : RTE_MAX(out->max_ns, delay);
	out->count++;
	out->mean_ns += ((double)delay - out->mean_ns) / (double)out->count;
}

int
fg_probe_read(struct fg_probe *p, struct fg_probe_result *out, struct fg_error *err)
{
	struct fg_port_clock_look from, to;
	bool answer =
		fg_port_clock_read(p->config.from, &from) == 0 && fg_port_clock_read(p->config.to, &to) == 0;

	switch_off(p);
	if (!answer)
		return fg_error_set(err, EIO, "probe", "an IEEE 1588 clock does not answer any more");
	*out = (struct fg_probe_result){
		.sent = p->sent,
		.error_bound_ns =
			RTE_MAX(p->from.error_ns, from.error_ns) + RTE_MAX(p->to.error_ns, to.error_ns),
	};
	for (uint32_t i = 0; i < p->sent; i++) {
		out->unstamped += p->departed[i] == 0;
		if (p->departed[i] != 0 && p->arrived[i] != 0)
			note(out, (int64_t)(fg_port_clock_machine_ns(&p->to, &to, p->arrived[i]) -
					    fg_port_clock_machine_ns(&p->from, &from, p->departed[i])));
	}
	return 0;
}
