/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explicit congestion notification (RFC 9000, 13.4): what left and came with it, and what the peer's ACK
 * frames count of it. libngtcp2 says which datagrams are marked, and answers CE as a loss. That a path has
 * removed the marks is seen here, as losses are, from frames alone: more packets that left marked are newly
 * acknowledged than counts have grown by.
 */
#include "quic_priv.h"

void
ecn_left(struct quic *q, uint8_t ecn)
{
	struct ecn *e = &q->ecn;

	if (ecn == NGTCP2_ECN_ECT_0) {
		q->carrier->tally.ect_out++;
		if (!e->marks) {
			e->from = e->next;
			e->failed = false;
		}
		e->to = q->losses.last_packet;
	}
	e->marks = ecn == NGTCP2_ECN_ECT_0;
	e->gap |= !e->marks;
	e->next = q->losses.last_packet;
}

void
ecn_came(const struct quic *q, uint8_t ecn)
{
	q->carrier->tally.ect_in += ecn == NGTCP2_ECN_ECT_0 || ecn == NGTCP2_ECN_ECT_1;
	q->carrier->tally.ce_in += ecn == NGTCP2_ECN_CE;
}

static uint64_t
more(uint64_t *before, uint64_t now)
{
	uint64_t grown = now > *before ? now - *before : 0; /* frames may pass each other */

	*before += grown;
	return grown;
}

static void
fail(struct quic *q)
{
	if (q->ecn.failed)
		return;
	q->ecn.failed = true;
	q->carrier->tally.ecn_failed++;
}

void
ecn_acked(struct quic *q, const struct frame *ack, uint64_t packets)
{
	struct ecn *e = &q->ecn;
	uint64_t ect0 = more(&e->ect0, ack->ecn[0]), ce = more(&e->ce, ack->ecn[2]);

	q->carrier->tally.ect_counted += ect0;
	q->carrier->tally.ce_counted += ce;
	if (ack->largest >= e->largest && packets > ect0 + ce)
		fail(q);
	if (ack->largest > e->largest)
		e->largest = ack->largest;
}

void
ecn_shaken(struct quic *q, const uint8_t *frames, size_t length)
{
	const uint8_t *end = frames + length;
	struct frame f;

	while (q->ecn.marks && !q->ecn.gap && frames < end && frame_read(&frames, end, &f))
		if (frame_is_ack(&f) && !frame_counts_ecn(&f))
			fail(q);
}
