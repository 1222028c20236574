/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One way of the relay. Frames that the output port did not take stay pending, and no more are fetched until
 * they are gone. So frames wait in the delay line, which is bounded, or without one in the ring of the input
 * port, which counts the frames that it has no room for.
 */
#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "fg_filter.h"
#include "fg_oam.h"
#include "fg_signature.h"
#include "relay_priv.h"

/* flags of the reception do not hold for sending; flags of the buffer do */
static inline void
forget_reception(struct rte_mbuf *m)
{
	m->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
}

/* @return whether all that was pending is gone */
static inline bool
send_pending(struct way *w, uint64_t now)
{
	unsigned n = w->pendings - w->sent, taken;

	if (n == 0)
		return true;
	taken = w->to->tx(w->to, w->pending + w->sent, (uint16_t)n, now);
	w->counters.forwarded += taken;
	w->sent += taken;
	if (w->sent < w->pendings) {
		w->counters.refused++;
		return false;
	}
	w->sent = w->pendings = 0;
	return true;
}

/* a question to the reflector itself */
static __rte_noinline bool
answer(struct way *w, struct rte_mbuf *m)
{
	size_t length = 0;

	if (m->nb_segs == 1 && m->data_len + rte_pktmbuf_tailroom(m) >= FG_ANSWER_ROOM)
		length = fg_net_answer(&w->host, rte_pktmbuf_mtod(m, uint8_t *), m->data_len);
	if (length == 0) {
		w->counters.not_reflected++;
		return false;
	}
	w->counters.answered++;
	m->data_len = m->pkt_len = (uint16_t)length;
	return true;
}

static inline bool
is_wanted(const struct way *w, const struct rte_mbuf *m, const uint8_t *frame, bool is_test)
{
	if (likely(w->filter.bf_insns == NULL))
		return is_test;
	return fg_filter_passes(&w->filter, frame, m->pkt_len, m->data_len);
}

/* a request becomes its reply. It came after this poll began, so the time is taken anew, twice */
static __rte_noinline bool
answer_oam(struct way *w, struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	size_t length = 0;

	if (m->nb_segs == 1 && rte_pktmbuf_tailroom(m) >= FG_OAM_ROOM)
		length = fg_oam_reflector_answer(w->oam, frame, m->data_len,
						 fg_clock_ns(w->clock, rte_rdtsc()));
	if (length == 0)
		return answer(w, m);
	m->data_len = m->pkt_len = (uint16_t)length;
	fg_oam_reflector_depart(w->oam, frame, length, fg_clock_ns(w->clock, rte_rdtsc()));
	return true;
}

/* @return false: not sent back */
static inline bool
turn_round(struct way *w, struct rte_mbuf *m, uint64_t now)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *end = frame + m->data_len;
	struct fg_signature s;
	bool is_test;

	if (w->oam != NULL)
		return answer_oam(w, m);
	is_test = fg_signature_read(end, m->data_len, &s);
	if (unlikely(!is_wanted(w, m, frame, is_test) || !fg_net_reflect(frame, m->data_len)))
		return answer(w, m);
	if (w->restamps && is_test)
		fg_signature_write(end, s.stream, s.sequence, fg_clock_ns(w->clock, now));
	return true;
}

/* a port whose MTU fits the frame sends an 802.1Q tag in addition. @return whether it is too long even so */
static __rte_noinline bool
is_too_long(struct way *w, const struct rte_mbuf *m)
{
	const uint8_t *type = rte_pktmbuf_mtod_offset(m, const uint8_t *, 2 * RTE_ETHER_ADDR_LEN);

	if (m->pkt_len - FG_NET_TAG <= w->longest && (type[0] << 8 | type[1]) == RTE_ETHER_TYPE_VLAN)
		return false;
	w->counters.too_long++;
	return true;
}

/*
 * Frees what cannot be sent. What was left to a card is done here, before anything is done to the frame.
 * @return frames that remain, at the beginning of the list
 */
static inline unsigned
fetch(struct way *w, struct rte_mbuf **frames, uint64_t now)
{
	unsigned n = w->from->rx(w->from, frames, FG_BURST, now), kept = 0;

	w->counters.received += n;
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = frames[i];

		w->counters.octets += m->pkt_len + FG_ETHER_FCS;
		if (unlikely(m->pkt_len > w->longest) && is_too_long(w, m)) {
			rte_pktmbuf_free(m);
			continue;
		}
		if (w->completes && m->nb_segs == 1)
			w->counters.completed +=
				fg_net_complete_checksum(rte_pktmbuf_mtod(m, uint8_t *), m->data_len);
		frames[kept++] = m;
	}
	return kept;
}

uint64_t
way_poll_plain(struct fg_task *task, uint64_t now)
{
	struct way *w = (struct way *)task;
	unsigned n, kept = 0;

	if (!send_pending(w, now))
		return now;
	n = fetch(w, w->pending, now);
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = w->pending[i];

		if (w->reflects && !turn_round(w, m, now)) {
			rte_pktmbuf_free(m);
			continue;
		}
		forget_reception(m);
		w->pending[kept++] = m;
	}
	w->pendings = kept;
	send_pending(w, now);
	return now;
}

static void *
way_own(void *way, void *frame)
{
	return frame; /* no other reference to it */
}

static void *
way_copy(void *way, void *frame)
{
	struct rte_mbuf *m = frame;

	return rte_pktmbuf_copy(m, m->pool, 0, UINT32_MAX);
}

static uint8_t *
way_bytes(void *frame, uint32_t *length)
{
	struct rte_mbuf *m = frame;

	*length = m->data_len;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

static void
way_cut(void *frame, uint32_t length)
{
	struct rte_mbuf *m = frame;

	if (m->nb_segs == 1)
		rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - length));
}

const struct fg_path_frames way_frames = {way_own, way_copy, way_bytes, way_cut};

/* a frame enters the path. @return false: it is lost, and counted */
static inline bool
enter(struct way *w, struct rte_mbuf *m, uint64_t now)
{
	uint64_t time = now;

	if (fg_path_loses(&w->path))
		return false;
	if (unlikely(!fg_delay_line_room(&w->line, 2))) {
		w->counters.line_full++;
		return false;
	}
	if (w->shapes)
		time = fg_shaper_pass(&w->shaper, now, m->pkt_len + FG_ETHER_FCS);
	if (time == UINT64_MAX) {
		w->counters.queue_full++;
		return false;
	}
	forget_reception(m);
	return fg_path_send(&w->path, &w->line, m, time + w->delay);
}

static inline void
leave(struct way *w, uint64_t now)
{
	while (send_pending(w, now)) {
		while (w->pendings < FG_BURST && fg_delay_line_next(&w->line) <= now) {
			w->late = RTE_MAX(w->late, now - fg_delay_line_next(&w->line));
			w->pending[w->pendings++] = fg_delay_line_pop(&w->line);
		}
		if (w->pendings == 0)
			return;
	}
}

uint64_t
way_poll_impaired(struct fg_task *task, uint64_t now)
{
	struct way *w = (struct way *)task;
	struct rte_mbuf *frames[FG_BURST];
	unsigned n = fetch(w, frames, now);

	/*
	 * a frame may have come after this poll began, by much if the thread was descheduled: none may leave
	 * too early
	 */
	if (n > 0)
		now = rte_rdtsc();
	for (unsigned i = 0; i < n; i++)
		if ((w->reflects && !turn_round(w, frames[i], now)) || !enter(w, frames[i], now))
			rte_pktmbuf_free(frames[i]);
	leave(w, now);
	return now;
}

void
way_publish(struct fg_task *task, uint64_t now)
{
	struct way *w = (struct way *)task;
	struct fg_path_counters path;

	fg_path_read_counters(&w->path, &w->line, &path);
#define TAKE(name, text)    w->counters.name = path.name;
#define PUBLISH(name, text) atomic_store_explicit(&w->published.name, w->counters.name, memory_order_relaxed);
	FG_PATH_COUNTERS(TAKE)
	FG_RELAY_COUNTERS(PUBLISH)
	atomic_store_explicit(&w->published_late, task->longest_wait + task->longest_poll + w->late,
			      memory_order_relaxed);
}
