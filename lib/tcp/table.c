/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of a worker, in one slab that is reserved whole and paid for as it is used, and a hash of
 * address and port with chains through the slab. A freed connection stays in the free list for a while, so
 * its memory is not reused while the call that ended it is still on the stack. It is reused before an entry
 * never used: memory depends on the connections open at one time, not on their total. State for lost or
 * out-of-order segments comes from pools.
 */
#include <errno.h>
#include <string.h>

#include "tcp_priv.h"

enum { REST = 64 /* connections given back before one is used again */ };
enum { POOL_MIN = 256, POOL_SHARE = 16 /* share of connections that can have loss state at a time */ };
enum { KEPT_MOST = 32768 /* 64 MiB, touched as far as they are used */ };

static uint32_t
pool_count(uint32_t connections)
{
	return POOL_MIN + connections / POOL_SHARE;
}

int
table_create(struct fg_l4 *w, struct fg_error *err)
{
	own(w)->buckets = 1024;
	while (own(w)->buckets < w->config.connections)
		own(w)->buckets *= 2;
	own(w)->conn = fg_memory_reserve((w->config.connections + 1UL) * sizeof(*own(w)->conn));
	own(w)->bucket = fg_memory_reserve(own(w)->buckets * sizeof(*own(w)->bucket));
	own(w)->challenged = fg_memory_reserve((w->config.connections + 1UL) * sizeof(*own(w)->challenged));
	if (own(w)->conn == NULL || own(w)->bucket == NULL || own(w)->challenged == NULL ||
	    !fg_pool_create(&own(w)->ranges, pool_count(w->config.connections), sizeof(struct ranges)) ||
	    !fg_pool_create(&own(w)->losses, pool_count(w->config.connections), sizeof(struct loss_state)) ||
	    !fg_pool_create(&own(w)->kept, KEPT_MOST, sizeof(struct kept)))
		return fg_error_set(err, ENOMEM, "l4.connections", "no memory for %u connections",
				    w->config.connections);
	/* what was never used is not linked, so that its pages are not touched */
	own(w)->fresh = 1;
	return 0;
}

void
table_free(struct fg_l4 *w)
{
	fg_memory_release(own(w)->conn, (w->config.connections + 1UL) * sizeof(*own(w)->conn));
	fg_memory_release(own(w)->bucket, own(w)->buckets * sizeof(*own(w)->bucket));
	fg_memory_release(own(w)->challenged, (w->config.connections + 1UL) * sizeof(*own(w)->challenged));
	fg_pool_free(&own(w)->ranges);
	fg_pool_free(&own(w)->losses);
	fg_pool_free(&own(w)->kept);
}

static inline uint64_t
mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

uint64_t
table_hash(const struct fg_l4 *w, const struct fg_flow *f)
{
	uint64_t word[4], h = own(w)->secret[0];
	uint32_t local, remote;

	if (f->ipv6) {
		memcpy(word, f->local, 16);
		memcpy(word + 2, f->remote, 16);
		h = mix(mix(mix(mix(h, word[0]), word[1]), word[2]), word[3]);
	} else { /* the common prefix of IPv4 addresses does not distinguish them */
		memcpy(&local, f->local + 12, 4);
		memcpy(&remote, f->remote + 12, 4);
		h = mix(h, (uint64_t)local << 32 | remote);
	}
	h = mix(h, (uint64_t)f->local_port << 16 | f->remote_port);
	return mix(h, own(w)->secret[1]);
}

static bool
is_between(const struct conn *c, const struct fg_flow *f)
{
	/* addresses and ports lie together */
	return memcmp(&c->flow, f, offsetof(struct fg_flow, mac)) == 0;
}

struct conn *
table_find(const struct fg_l4 *w, const struct fg_flow *f, uint64_t hash)
{
	uint32_t index = own(w)->bucket[hash & (own(w)->buckets - 1)];

	while (index != 0 && !is_between(&own(w)->conn[index], f))
		index = own(w)->conn[index].hash_next;
	return index == 0 ? NULL : &own(w)->conn[index];
}

/* line by line: for all lines the compiler would use a slow string instruction */
static inline void
clear(struct conn *c)
{
	for (unsigned at = 0; at < sizeof(*c); at += LINE)
		memset((uint8_t *)c + at, 0, LINE);
}

struct conn *
table_take(struct fg_l4 *w, const struct fg_flow *f, uint64_t hash)
{
	uint32_t *bucket = &own(w)->bucket[hash & (own(w)->buckets - 1)], index;
	struct conn *c;

	if (own(w)->given > REST || own(w)->fresh > w->config.connections) {
		index = own(w)->free_head;
		if (index == 0)
			return NULL;
		own(w)->free_head = own(w)->conn[index].hash_next;
		own(w)->given--;
	} else {
		index = own(w)->fresh++;
	}
	c = &own(w)->conn[index];
	clear(c);
	c->flow = *f;
	c->hash_next = *bucket;
	*bucket = index;
	own(w)->open++;
	return c;
}

void
table_remove(struct fg_l4 *w, struct conn *c)
{
	uint32_t index = conn_index(w, c);
	uint32_t *link = &own(w)->bucket[table_hash(w, &c->flow) & (own(w)->buckets - 1)];

	while (*link != index)
		link = &own(w)->conn[*link].hash_next;
	*link = c->hash_next;
	c->hash_next = 0;
}

void
table_give(struct fg_l4 *w, struct conn *c)
{
	uint32_t index = conn_index(w, c);

	if (own(w)->free_head == 0)
		own(w)->free_head = index;
	else
		own(w)->conn[own(w)->free_tail].hash_next = index;
	own(w)->free_tail = index;
	own(w)->given++;
	own(w)->open--;
	fg_pool_give(&own(w)->losses, &c->loss);
	if (c->holding != 0)
		held_free(w, c);
}
