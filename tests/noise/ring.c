/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded into the tester (LD_PRELOAD): the device between two ports that are DPDK's ring ports by name, as
 * vdev:net_ring0 and vdev:net_ring1. A frame arrives at the device in the moment in which the driver is
 * called to send it; what becomes of it is settled there and then (model.h). So nobody has to look, and no
 * busy host can disturb the device: only the tester. The receiving side has a ring of descriptors as a card
 * has, which overflows when the tester does not look at it.
 *
 * NOISE_DEVICE: keys of the model, and
 *    rx_ring=N      descriptors (1024)
 *    counts=0       the card does not count what finds its ring full
 *    hold_tx_ms=T   of every second it keeps the buffers it has sent for so long, as a card that must pause
 *    starve_ms=T    of every 100 ms it gets no buffers to receive into for so long
 * NOISE_ORDERS: page of orders. NOISE_LEDGER: file for what it counted.
 */
#include <dlfcn.h>
#include <pthread.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "ledger.h"

enum { SLOTS = 16384, OCTETS = 1600, HELD = 65536, SIDES = 2 };

struct slot {
	uint64_t due;
	struct noise_stream *stream;
	uint16_t length;
	uint8_t frame[OCTETS];
};

/* one way: frames that went in at this side, and the ring of descriptors at the other one */
struct way {
	struct noise_model model;
	struct slot *slot;
	_Atomic uint64_t head, tail;
	uint64_t given;   /* up to here a frame that was due has a descriptor, or is lost */
	unsigned in_ring; /* descriptors that hold a frame */
	struct rte_mempool *pool;
	struct rte_mbuf *held[HELD];
	unsigned n_held;
	_Atomic uint64_t missed, no_mbuf, sent, received, looked;
};

static struct {
	struct way way[SIDES];
	int side_of[RTE_MAX_ETHPORTS]; /* and one; 0: not ours */
	unsigned rx_ring, hold_tx_ms, starve_ms;
	bool counts;
	struct noise_ledger ledger;
} device;

static bool
holds_buffers(uint64_t now)
{
	return device.hold_tx_ms > 0 && now / 1000000 % 1000 < device.hold_tx_ms;
}

static bool
is_starved(uint64_t now)
{
	return device.starve_ms > 0 && now / 1000000 % 100 < device.starve_ms;
}

static enum noise_fate
arrive(struct way *w, const struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned length = rte_pktmbuf_data_len(m), octets = RTE_MAX(length, 60u) + 4;
	struct noise_stream *stream = noise_stream_of(&device.ledger, frame, frame + length, now);
	struct noise_orders *o = device.ledger.orders;
	enum noise_fate fate = NOISE_OUTAGE;
	uint64_t head = atomic_load(&w->head);
	struct slot *s = &w->slot[head % SLOTS];

	if (!noise_within(&o->outage_from, &o->outage_until, now) &&
	    !noise_within(&o->link_from, &o->link_until, now)) {
		s->due = noise_model_pass(&w->model, now, octets, &fate);
		if (fate == NOISE_PASSED && length <= OCTETS && head - atomic_load(&w->tail) < SLOTS) {
			s->length = (uint16_t)length;
			s->stream = stream;
			memcpy(s->frame, frame, length);
			atomic_store(&w->head, head + 1);
		}
	}
	if (stream != NULL)
		stream->fate[fate]++;
	return fate;
}

static uint16_t
send_at(struct way *w, struct rte_mbuf **frames, uint16_t n)
{
	uint64_t now = noise_now();
	bool holds = holds_buffers(now);

	if (!holds && w->n_held > 0) {
		rte_pktmbuf_free_bulk(w->held, w->n_held);
		w->n_held = 0;
	}
	for (uint16_t i = 0; i < n; i++) {
		arrive(w, frames[i], now);
		if (holds && w->n_held < HELD)
			w->held[w->n_held++] = frames[i];
		else
			rte_pktmbuf_free(frames[i]);
	}
	w->sent += n;
	return n;
}

/*
 * Frames that are due take descriptors, one behind the other. One that finds no descriptor is lost: it
 * stays in the list, without a length.
 */
static void
give_descriptors(struct way *w, uint64_t now)
{
	uint64_t head = atomic_load(&w->head);

	for (; w->given != head; w->given++) {
		struct slot *s = &w->slot[w->given % SLOTS];

		if (s->due > now)
			break;
		if (w->in_ring < device.rx_ring && !is_starved(s->due)) {
			w->in_ring++;
			continue;
		}
		s->length = 0;
		if (s->stream != NULL)
			s->stream->overflow++;
		if (is_starved(s->due))
			w->no_mbuf++;
		else if (device.counts)
			w->missed++;
	}
}

static struct rte_mbuf *
take_out(struct way *w, struct slot *s)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->pool);

	if (m == NULL) {
		w->no_mbuf++;
		return NULL;
	}
	memcpy(rte_pktmbuf_append(m, s->length), s->frame, s->length);
	return m;
}

static uint16_t
receive_at(struct way *w, uint16_t port, struct rte_mbuf **frames, uint16_t n)
{
	uint64_t tail = atomic_load(&w->tail);
	uint16_t got = 0;

	give_descriptors(w, noise_now());
	for (; got < n && tail != w->given; tail++) {
		struct slot *s = &w->slot[tail % SLOTS];

		if (s->length == 0)
			continue;
		w->in_ring--;
		frames[got] = take_out(w, s);
		if (frames[got] == NULL)
			continue;
		frames[got++]->port = port;
	}
	atomic_store(&w->tail, tail);
	w->received += got;
	return got;
}

static uint16_t
send_east(void *queue, struct rte_mbuf **frames, uint16_t n)
{
	return send_at(&device.way[0], frames, n);
}

static uint16_t
send_west(void *queue, struct rte_mbuf **frames, uint16_t n)
{
	return send_at(&device.way[1], frames, n);
}

static uint16_t
receive_east(void *queue, struct rte_mbuf **frames, uint16_t n)
{
	return receive_at(&device.way[1], 0, frames, n);
}

static uint16_t
receive_west(void *queue, struct rte_mbuf **frames, uint16_t n)
{
	return receive_at(&device.way[0], 1, frames, n);
}

/* --- what the tester calls, and finds here first */

static bool
is_ours(uint16_t port)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	rte_eth_dev_get_name_by_port(port, name);
	return strcmp(name, "net_ring0") == 0 || strcmp(name, "net_ring1") == 0;
}

/* a card says how many descriptors it has */
int
rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t port, uint16_t *rx, uint16_t *tx)
{
	int (*next)(uint16_t, uint16_t *, uint16_t *) = dlsym(RTLD_NEXT, "rte_eth_dev_adjust_nb_rx_tx_desc");

	if (is_ours(port))
		*rx = (uint16_t)device.rx_ring;
	return next(port, rx, tx);
}

int
rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors, unsigned socket,
		       const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	int (*next)(uint16_t, uint16_t, uint16_t, unsigned, const struct rte_eth_rxconf *,
		    struct rte_mempool *) = dlsym(RTLD_NEXT, "rte_eth_rx_queue_setup");
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	rte_eth_dev_get_name_by_port(port, name);
	if (is_ours(port)) {
		device.side_of[port] = name[8] - '0' + 1;
		device.way[1 - (name[8] - '0')].pool = pool;
	}
	return next(port, queue, descriptors, socket, conf, pool);
}

int
rte_eth_dev_start(uint16_t port)
{
	int (*next)(uint16_t) = dlsym(RTLD_NEXT, "rte_eth_dev_start");
	int ret = next(port), side = device.side_of[port] - 1;

	if (ret == 0 && side >= 0) {
		rte_eth_fp_ops[port].tx_pkt_burst = side == 0 ? send_east : send_west;
		rte_eth_fp_ops[port].rx_pkt_burst = side == 0 ? receive_east : receive_west;
	}
	return ret;
}

int
rte_eth_stats_get(uint16_t port, struct rte_eth_stats *stats)
{
	int (*next)(uint16_t, struct rte_eth_stats *) = dlsym(RTLD_NEXT, "rte_eth_stats_get");
	int ret = next(port, stats), side = device.side_of[port] - 1;

	if (ret == 0 && side >= 0) {
		stats->opackets = device.way[side].sent;
		stats->ipackets = device.way[1 - side].received;
		stats->imissed = device.way[1 - side].missed;
		stats->rx_nombuf = device.way[1 - side].no_mbuf;
	}
	return ret;
}

int
rte_eth_link_get_nowait(uint16_t port, struct rte_eth_link *link)
{
	int (*next)(uint16_t, struct rte_eth_link *) = dlsym(RTLD_NEXT, "rte_eth_link_get_nowait");
	int ret = next(port, link);
	struct noise_orders *o = device.ledger.orders;

	if (ret == 0 && device.side_of[port] != 0 && noise_within(&o->link_from, &o->link_until, noise_now()))
		link->link_status = RTE_ETH_LINK_DOWN;
	return ret;
}

__attribute__((constructor)) static void
begin(void)
{
	const char *text = getenv("NOISE_DEVICE");

	unsetenv("LD_PRELOAD"); /* what the tester starts is not tested */
	if (text == NULL)
		return;
	noise_ledger_open(&device.ledger, getenv("NOISE_ORDERS"));
	device.rx_ring = (unsigned)noise_number(text, "rx_ring", 1024);
	device.counts = noise_number(text, "counts", 1) != 0;
	device.hold_tx_ms = (unsigned)noise_number(text, "hold_tx_ms", 0);
	device.starve_ms = (unsigned)noise_number(text, "starve_ms", 0);
	for (int i = 0; i < SIDES; i++) {
		noise_model_init(&device.way[i].model, text);
		device.way[i].slot = calloc(SLOTS, sizeof(struct slot));
	}
}

__attribute__((destructor)) static void
end(void)
{
	if (device.ledger.stream != NULL)
		noise_ledger_write(&device.ledger, getenv("NOISE_LEDGER"));
}
