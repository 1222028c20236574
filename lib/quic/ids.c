/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection IDs. Ours say which connection it is, and are checked against what is part of all of its own:
 *
 *   0..3  its number   4..6  random, drawn once for the connection   7  a count of its IDs
 *
 * The first packets of a client go to an ID that it chose itself; those are found by a table.
 */
#include <string.h>

#include "fg_bytes.h"
#include "fg_random.h"
#include "quic_priv.h"

enum { TAG_AT = 4, OWN_AT = 7 };

uint64_t
random_word(struct carrier *c)
{
	return fg_random_next(&c->random);
}

void
random_fill(struct carrier *c, uint8_t *to, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = (uint8_t)(random_word(c) >> 56);
}

void
id_make(struct quic *q, ngtcp2_cid *out)
{
	out->datalen = ID_BYTES;
	fg_put32(out->data, index_of(q));
	fg_put32(out->data + TAG_AT, q->tag);
	out->data[OWN_AT] = q->ids++;
}

static uint32_t
bucket_of(const struct carrier *c, const uint8_t *id, size_t length)
{
	uint64_t hash = c->base.port;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ id[i]) * 0x100000001b3; /* FNV-1a */
	return (uint32_t)(hash >> 16) & (c->buckets - 1);
}

static struct quic *
find_first(const struct carrier *c, const uint8_t *id, size_t length)
{
	for (uint32_t i = c->bucket[bucket_of(c, id, length)]; i != 0; i = quic_at(c, i)->id_next) {
		const ngtcp2_cid *first = &quic_at(c, i)->first_id;

		if (first->datalen == length && memcmp(first->data, id, length) == 0)
			return quic_at(c, i);
	}
	return NULL;
}

struct quic *
id_find(const struct carrier *c, const uint8_t *id, size_t length)
{
	uint32_t i = length == ID_BYTES ? fg_get32(id) : 0;

	if (i > 0 && i < c->pool.fresh && quic_at(c, i)->phase != NOBODY &&
	    (fg_get32(id + TAG_AT) ^ quic_at(c, i)->tag) >> 8 == 0)
		return quic_at(c, i);
	return c->bucket == NULL ? NULL : find_first(c, id, length);
}

void
first_id_add(struct quic *q, const ngtcp2_cid *id)
{
	uint32_t *bucket = &q->carrier->bucket[bucket_of(q->carrier, id->data, id->datalen)];

	q->first_id = *id;
	q->id_next = *bucket;
	*bucket = index_of(q);
}

void
first_id_remove(struct quic *q)
{
	const struct carrier *c = q->carrier;
	uint32_t *at;

	if (q->first_id.datalen == 0)
		return;
	at = &c->bucket[bucket_of(c, q->first_id.data, q->first_id.datalen)];
	while (*at != index_of(q))
		at = &quic_at(c, *at)->id_next;
	*at = q->id_next;
	q->first_id.datalen = 0;
}
