/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a stream, each behind two bytes of its length (RFC 1035, 4.2.2), whichever way they are cut
 * into segments. One that comes whole is read where it lies; one in parts is kept in blocks of a pool until
 * it is whole.
 */
#include "dns_priv.h"

static struct dns_block *
block_at(const struct dns *d, uint32_t i)
{
	return (struct dns_block *)(void *)d->blocks.at + i;
}

/* for all of this, if none of it is a whole message */
static bool
has_blocks_for(const struct dns *d, uint32_t length)
{
	return d->blocks.count - 1 - d->blocks_taken >= length / DNS_BLOCK + 2;
}

/* bytes of the message itself; there is room */
static void
keep(struct dns *d, struct dns_inbox *in, const uint8_t *data, uint32_t length)
{
	for (uint32_t n; length > 0; data += n, length -= n, in->have += n) {
		uint32_t within = (in->have - DNS_PREFIX) % DNS_BLOCK;

		if (within == 0) {
			uint32_t i = fg_pool_take(&d->blocks);

			d->blocks_taken++;
			block_at(d, i)->next = 0;
			*(in->last_block == 0 ? &in->first_block : &block_at(d, in->last_block)->next) = i;
			in->last_block = i;
		}
		n = fg_u32_min(length, DNS_BLOCK - within);
		memcpy(block_at(d, in->last_block)->data + within, data, n);
	}
}

void
dns_inbox_free(struct dns *d, struct dns_inbox *in)
{
	while (in->first_block != 0) {
		uint32_t next = block_at(d, in->first_block)->next;

		fg_pool_give(&d->blocks, &in->first_block);
		d->blocks_taken--;
		in->first_block = next;
	}
	*in = (struct dns_inbox){0};
}

/* all that is kept, in one piece. @return its bytes */
static uint32_t
gather_parts(struct dns *d, struct dns_inbox *in)
{
	uint32_t length = in->length, at = 0;

	for (uint32_t i = in->first_block, n; at < length; at += n, i = block_at(d, i)->next) {
		n = fg_u32_min(length - at, DNS_BLOCK);
		memcpy(d->whole + at, block_at(d, i)->data, n);
	}
	dns_inbox_free(d, in);
	return length;
}

/* @return bytes read, at least one */
static uint32_t
read_piece(struct dns *d, struct dns_inbox *in, const uint8_t *data, uint32_t length)
{
	uint32_t n = 1;

	if (in->have < DNS_PREFIX) {
		in->length = (uint16_t)(in->length << 8 | *data);
		in->have++;
	} else {
		n = fg_u32_min(length, DNS_PREFIX + in->length - in->have);
		keep(d, in, data, n);
	}
	return n;
}

bool
dns_inbox_read(struct fg_l4 *w, struct fg_stream *s, const uint8_t *data, uint32_t length,
	       void (*take)(struct fg_l4 *w, struct fg_stream *s, const uint8_t *message, uint32_t length))
{
	struct dns *d = dns_of(application_of(w, s));
	struct dns_conn *c = dns_conn_of(w, s);
	struct dns_inbox *in = &c->inbox;
	uint32_t n;

	if (!has_blocks_for(d, length)) {
		w->counters.held_refused++;
		return false;
	}
	for (; length > 0 && !(c->flags & DNS_OVER); data += n, length -= n) {
		if (in->have == 0 && length >= DNS_PREFIX && length - DNS_PREFIX >= fg_get16(data)) {
			n = DNS_PREFIX + fg_get16(data);
			take(w, s, data + DNS_PREFIX, n - DNS_PREFIX);
			continue;
		}
		n = read_piece(d, in, data, length);
		if (in->have >= DNS_PREFIX && in->have == (uint32_t)DNS_PREFIX + in->length)
			take(w, s, d->whole, gather_parts(d, in));
	}
	return true;
}
