/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of a worker, in one slab that is reserved whole and paid for as it is used, and a hash of
 * address and port with chains through the slab. A connection that is given back rests for a while in the
 * free list, so its memory is not another's while the call that ended it is still on the stack, and is used
 * again before what was never used: memory is that of the connections there were at a time, not of those
 * there were in all. What a connection needs only when segments are lost or out of order comes from pools.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "tcp_priv.h"

enum { REST = 64 /* connections given back before one is used again */ };
enum { POOL_MIN = 256, POOL_SHARE = 16 /* of the connections can be short of a segment at a time */ };

static void *
reserve(size_t octets)
{
	void *memory = mmap(NULL, octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			    -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void
release(void *memory, size_t octets)
{
	if (memory != NULL)
		munmap(memory, octets);
}

static bool
pool_create(struct pool *p, uint32_t connections, size_t size)
{
	p->size = size;
	p->count = 1 + POOL_MIN + connections / POOL_SHARE;
	p->fresh = 1;
	p->at = reserve(p->count * size);
	return p->at != NULL;
}

int
table_create(struct fg_l4 *w, struct fg_error *err)
{
	own(w)->buckets = 1024;
	while (own(w)->buckets < w->config.connections)
		own(w)->buckets *= 2;
	own(w)->conn = reserve((w->config.connections + 1UL) * sizeof(*own(w)->conn));
	own(w)->bucket = reserve(own(w)->buckets * sizeof(*own(w)->bucket));
	own(w)->challenged = reserve((w->config.connections + 1UL) * sizeof(*own(w)->challenged));
	if (own(w)->conn == NULL || own(w)->bucket == NULL || own(w)->challenged == NULL ||
	    !pool_create(&own(w)->ranges, w->config.connections, sizeof(struct ranges)) ||
	    !pool_create(&own(w)->losses, w->config.connections, sizeof(struct loss_state)))
		return fg_error_set(err, ENOMEM, "l4.connections", "no memory for %u connections",
				    w->config.connections);
	/* what was never used is not linked, so that its pages are not touched */
	own(w)->fresh = 1;
	return 0;
}

void
table_free(struct fg_l4 *w)
{
	release(own(w)->conn, (w->config.connections + 1UL) * sizeof(*own(w)->conn));
	release(own(w)->bucket, own(w)->buckets * sizeof(*own(w)->bucket));
	release(own(w)->challenged, (w->config.connections + 1UL) * sizeof(*own(w)->challenged));
	release(own(w)->ranges.at, own(w)->ranges.count * own(w)->ranges.size);
	release(own(w)->losses.at, own(w)->losses.count * own(w)->losses.size);
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
	} else { /* what all IPv4 addresses begin with tells nothing */
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

/* line by line, since of so much at once the compiler makes a string instruction, which takes its time */
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
	pool_give(&own(w)->losses, &c->loss);
	pool_give(&own(w)->ranges, &c->holding);
}

uint32_t
pool_take(struct pool *p)
{
	uint32_t index = p->free;

	if (index != 0)
		memcpy(&p->free, p->at + index * p->size, sizeof(p->free));
	else if (p->fresh < p->count)
		index = p->fresh++;
	return index;
}

void
pool_give(struct pool *p, uint32_t *index)
{
	if (*index == 0)
		return;
	memcpy(p->at + *index * p->size, &p->free, sizeof(p->free));
	p->free = *index;
	*index = 0;
}
