/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was lost, by the frames that left and came: a packet is lost when bytes of a stream that it
 * carried leave again before it was acknowledged, and that was spurious if it is acknowledged later. What
 * leaves again by way of a probe counts, too. Known are the packets from the oldest one that is not
 * acknowledged, in a ring that grows up to MAX_SENT of them; those before it are forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "quic_priv.h"

enum { MIN_SENT = 16, MAX_SENT = 16384 };

static struct sent *
sent_at(const struct losses *r, uint64_t i)
{
	return &r->sent[i & (r->size - 1)];
}

/* number of a packet from its last bytes: the first one behind the last that ends so (RFC 9000, A.3) */
static uint64_t
number_of(const struct losses *r, const uint8_t *header, size_t length)
{
	size_t bytes = (size_t)(header[0] & 3) + 1;
	uint64_t cut = 0, unit = (uint64_t)1 << 8 * bytes;

	for (size_t i = length - bytes; i < length; i++)
		cut = cut << 8 | header[i];
	cut |= r->last_packet & ~(unit - 1);
	return cut < r->last_packet ? cut + unit : cut;
}

static bool
grow(struct losses *r)
{
	uint64_t size = r->size == 0 ? MIN_SENT : 2 * r->size;
	struct sent *sent = size > MAX_SENT ? NULL : calloc(size, sizeof(*sent));

	if (sent == NULL)
		return false;
	for (uint64_t i = r->first; i < r->next; i++)
		sent[i & (size - 1)] = *sent_at(r, i);
	free(r->sent);
	r->sent = sent;
	r->size = size;
	return true;
}

static void
add(struct losses *r, uint64_t packet, const struct frame *f)
{
	if (r->next - r->first == r->size && !grow(r)) {
		if (r->size == 0)
			return;
		r->first++;
	}
	*sent_at(r, r->next++) =
		(struct sent){packet, f->offset, f->stream, (uint32_t)f->length, false, false};
}

/* bytes leave again: whatever packet carried them, and is not acknowledged, is lost */
static void
mark_lost(struct carrier *c, struct losses *r, const struct frame *f)
{
	uint64_t counted = UINT64_MAX;

	for (uint64_t i = r->first; i < r->next; i++) {
		struct sent *s = sent_at(r, i);

		if (s->lost)
			counted = s->packet;
		if (s->acked || s->lost || s->stream != f->stream || s->offset >= f->offset + f->length ||
		    s->offset + s->length <= f->offset)
			continue;
		s->lost = true;
		c->tally.packets_lost += s->packet != counted; /* a packet has several frames, perhaps */
		counted = s->packet;
	}
}

static void
stream_sent(struct quic *q, uint64_t packet, const struct frame *f)
{
	struct losses *r = &q->losses;
	uint64_t end = f->offset + f->length, before;

	if (f->length == 0)
		return;
	before = extent_move(&r->extents, f->stream, end);
	if (f->offset < before) {
		q->carrier->tally.octets_sent_again += (end < before ? end : before) - f->offset;
		mark_lost(q->carrier, r, f);
	}
	add(r, packet, f);
}

void
losses_sent(struct quic *q, const uint8_t *frames, size_t length, const uint8_t *header, size_t header_length)
{
	uint64_t packet = number_of(&q->losses, header, header_length);
	const uint8_t *end = frames + length;
	struct frame f;

	q->losses.last_packet = packet + 1;
	q->carrier->tally.packets_out++;
	while (frames < end && frame_read(&frames, end, &f)) {
		if (frame_is_stream(&f))
			stream_sent(q, packet, &f);
		else if (frame_is_ack(&f))
			q->carrier->tally.acks_out++;
	}
}

/* the first entry of a packet from @p number on */
static uint64_t
find(const struct losses *r, uint64_t number)
{
	uint64_t low = r->first, high = r->next;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (sent_at(r, middle)->packet < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* @return packets that are acknowledged only now, and left marked (ecn.c) */
static uint64_t
acked(struct quic *q, uint64_t low, uint64_t high)
{
	struct losses *r = &q->losses;
	uint64_t counted = UINT64_MAX, last = UINT64_MAX, marked = 0;

	for (uint64_t i = find(r, low); i < r->next && sent_at(r, i)->packet <= high; i++) {
		struct sent *s = sent_at(r, i);

		if (!s->acked && s->lost && s->packet != counted) {
			q->carrier->tally.packets_spurious++;
			counted = s->packet;
		}
		marked += !s->acked && s->packet != last && s->packet >= q->ecn.from && s->packet < q->ecn.to;
		last = s->packet;
		s->acked = true;
	}
	return marked;
}

void
losses_received(struct quic *q, const uint8_t *frames, size_t length)
{
	struct losses *r = &q->losses;
	const uint8_t *end = frames + length;
	uint64_t low, high, marked;
	struct frame f, ack;

	q->carrier->tally.packets_in++;
	while (frames < end && frame_read(&frames, end, &f)) {
		if (!frame_is_ack(&f))
			continue;
		q->carrier->tally.acks_in++;
		ack = f;
		marked = 0;
		while (frame_next_range(&f, &low, &high))
			marked += acked(q, low, high);
		ecn_acked(q, &ack, marked);
	}
	while (r->first < r->next && sent_at(r, r->first)->acked)
		r->first++;
}

void
losses_free(struct quic *q)
{
	free(q->losses.sent);
	free(q->losses.extents.at);
	q->losses = (struct losses){0};
}
