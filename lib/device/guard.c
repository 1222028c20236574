/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stateful devices on the wire. The NAT translates a frame before the router sees it. The firewall
 * decides when a frame is about to leave the device. Frames that it delays take the line of the impaired
 * path, where frames of other sessions pass them.
 */
#include <string.h>

#include "device_priv.h"
#include "firewall_priv.h"
#include "nat_priv.h"

/* the frame becomes RST, and is trimmed */
static void
make_rst(struct rte_mbuf *m, bool back)
{
	size_t length = firewall_rst(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, back);

	rte_pktmbuf_trim(m, (uint16_t)(m->data_len - length));
}

static void
send_back(struct side *side, struct rte_mbuf *m, uint64_t at)
{
	static const uint8_t nobody[6];
	struct fg_ether *ether = rte_pktmbuf_mtod(m, struct fg_ether *);

	make_rst(m, true);
	if (memcmp(side->neighbour, nobody, 6) != 0) { /* a router: it has addressed the frame anew */
		memcpy(ether->dst, side->neighbour, 6);
		memcpy(ether->src, side->router.mac, 6);
	}
	if (!wire_path_answer(side, m, at))
		rte_pktmbuf_free(m);
}

struct rte_mbuf *
wire_guard(struct side *side, struct rte_mbuf *m, uint64_t *at)
{
	struct fg_device *wire = side->wire;
	enum firewall_verdict verdict = firewall_pass(wire->firewall, (unsigned)(side - wire->side),
						      rte_pktmbuf_mtod(m, uint8_t *), m->data_len, at);
	struct rte_mbuf *copy;

	if (likely(verdict == FIREWALL_PASS))
		return m;
	if (verdict == FIREWALL_REFUSE || verdict == FIREWALL_RESET) {
		copy = wire_path_copy(side, m);
		if (copy != NULL)
			send_back(side, copy, *at);
	}
	if (verdict == FIREWALL_RESET) {
		copy = wire_path_copy(side, m);
		rte_pktmbuf_free(m);
		if (copy != NULL)
			make_rst(copy, false);
		return copy;
	}
	side->direction.counters.forwarded--;
	rte_pktmbuf_free(m);
	return NULL;
}

void
fg_device_read_firewall(const struct fg_device *wire, struct fg_firewall_counters *out)
{
	if (wire->firewall == NULL)
		*out = (struct fg_firewall_counters){0};
	else
		firewall_counters(wire->firewall, out);
}

struct rte_mbuf *
wire_translate(struct side *side, struct rte_mbuf *m, uint64_t *at)
{
	struct fg_device *wire = side->wire;
	struct rte_mbuf *copy = wire_path_copy(side, m);
	enum nat_verdict verdict = NAT_DROP;

	if (copy != NULL)
		verdict = nat_pass(wire->nat, (unsigned)(side - wire->side),
				   rte_pktmbuf_mtod(copy, uint8_t *), copy->data_len, at);
	if (verdict == NAT_UNTOUCHED) {
		rte_pktmbuf_free(copy);
		return m;
	}
	rte_pktmbuf_free(m);
	if (verdict == NAT_TRANSLATED)
		return copy;
	rte_pktmbuf_free(copy);
	return NULL;
}

void
fg_device_read_nat(const struct fg_device *wire, struct fg_nat_counters *out)
{
	if (wire->nat == NULL)
		*out = (struct fg_nat_counters){0};
	else
		nat_counters(wire->nat, out);
}

uint64_t
fg_device_clear_nat(struct fg_device *wire, uint64_t now_ns)
{
	const uint64_t ps_per_ns = FG_DEVICE_HZ / 1000000000;

	return wire->nat == NULL ? 0 : nat_clear(wire->nat, now_ns * ps_per_ns) / ps_per_ns;
}
