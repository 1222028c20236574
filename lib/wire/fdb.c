/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of addresses of a learning bridge (IEEE 802.1D, 7.8 and 7.9): the reference device's with two
 * sides, the reference switch's with many. It notes behind which side the source of each frame is, as many as
 * it has room for, and forgets those that have not been heard for a while. A table in hardware often has room
 * for a few addresses in each of its buckets only: then it is full for some addresses and not for others.
 *
 * Entries are kept in the order in which they were heard last, so that those to be forgotten are at one end,
 * and are found by a hash. The table outlives trials, as a device's table does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "wire.h"

enum { NONE = -1 };
static const double PS_PER_S = 1e12;

struct entry {
	uint64_t mac;
	uint64_t heard; /* ps */
	unsigned side;
	int next;           /* of the same hash */
	int before, behind; /* in the order of the last frames: earlier, later */
};

struct fdb {
	uint32_t size, used;
	uint64_t ageing;     /* ps; 0: nothing is forgotten */
	uint64_t learn_time; /* ps that learning an address takes; 0: none */
	uint64_t learn_free; /* when the next one can be learned */
	uint64_t learn_wait; /* ps that addresses may wait until they are learned */
	uint32_t skip, skipped;
	uint32_t ways;          /* of a bucket; 0: any number */
	uint32_t buckets, mask; /* one less, if they are a power of two; else 0 */
	int *bucket;
	struct entry *entry; /* one more than `size`: its neighbours are the latest and the oldest */
	int unused;          /* by `next` */
};

static uint64_t
first_octets(const uint8_t *octets)
{
	uint64_t eight;

	memcpy(&eight, octets, sizeof(eight));
	return rte_be_to_cpu_64(eight);
}

static uint64_t
destination_of(const uint8_t *frame)
{
	return first_octets(frame) >> 16;
}

static uint64_t
source_of(const uint8_t *frame)
{
	return first_octets(frame + 4) & 0xffffffffffff;
}

static int *
bucket_of(const struct fdb *t, uint64_t mac)
{
	uint32_t hash = (uint32_t)(mac * 0x9e3779b97f4a7c15ULL >> 32);

	return &t->bucket[likely(t->mask > 0) ? hash & t->mask : hash % t->buckets];
}

int
fdb_create(const struct fg_device_table *c, struct fdb **out, struct fg_error *err)
{
	struct fdb *t = calloc(1, sizeof(*t));
	uint32_t buckets = 1;

	if (t == NULL)
		return fg_error_set(err, ENOMEM, "mac_table", "no memory");
	*out = t;
	while (buckets < c->size)
		buckets *= 2;
	if (c->ways > 0)
		buckets = c->buckets > 0 ? c->buckets : 1;
	t->size = c->size;
	t->ageing = wire_ps(c->ageing_ns);
	t->learn_time = c->learning_rate > 0 ? (uint64_t)(PS_PER_S / c->learning_rate) : 0;
	t->learn_wait = t->learn_time * c->learning_queue;
	t->skip = c->skip_every;
	t->ways = c->ways;
	t->buckets = buckets;
	t->mask = rte_is_power_of_2(buckets) ? buckets - 1 : 0;
	t->bucket = malloc(buckets * sizeof(*t->bucket));
	t->entry = calloc(c->size + 1, sizeof(*t->entry));
	if (t->bucket == NULL || t->entry == NULL)
		return fg_error_set(err, ENOMEM, "mac_table", "no memory for %u addresses", c->size);
	for (uint32_t i = 0; i < buckets; i++)
		t->bucket[i] = NONE;
	for (uint32_t i = 0; i < c->size; i++)
		t->entry[i].next = i + 1 < c->size ? (int)i + 1 : NONE;
	t->entry[c->size] = (struct entry){
		.heard = UINT64_MAX - t->ageing, .before = (int)c->size, .behind = (int)c->size};
	return 0;
}

void
fdb_free(struct fdb *t)
{
	if (t == NULL)
		return;
	free(t->bucket);
	free(t->entry);
	free(t);
}

static void
take_out(struct fdb *t, const struct entry *e)
{
	t->entry[e->before].behind = e->behind;
	t->entry[e->behind].before = e->before;
}

static void
put_last(struct fdb *t, int i)
{
	struct entry *e = &t->entry[i], *end = &t->entry[t->size];

	e->before = end->before;
	e->behind = (int)t->size;
	t->entry[end->before].behind = i;
	end->before = i;
}

static void
forget(struct fdb *t, int i)
{
	struct entry *e = &t->entry[i];
	int *link = bucket_of(t, e->mac);

	while (*link != i)
		link = &t->entry[*link].next;
	*link = e->next;
	take_out(t, e);
	e->next = t->unused;
	t->unused = i;
	if (--t->used == 0)
		t->skipped = 0; /* an empty table counts anew which addresses it skips */
}

/* has an address aged out? The end of the list never does. */
static bool
has_old(const struct fdb *t, uint64_t now)
{
	return t->ageing > 0 && t->entry[t->entry[t->size].behind].heard + t->ageing <= now;
}

static int
find(const struct fdb *t, uint64_t mac)
{
	int i = *bucket_of(t, mac);

	while (i != NONE && t->entry[i].mac != mac)
		i = t->entry[i].next;
	return i;
}

/* is there room left in the bucket? */
static bool
has_room(const struct fdb *t, const int *bucket)
{
	uint32_t used = 0;

	if (t->ways == 0)
		return true;
	for (int i = *bucket; i != NONE; i = t->entry[i].next)
		used++;
	return used < t->ways;
}

/* An address is new. @return false: it cannot be learned now */
static __rte_noinline bool
enter(struct fdb *t, uint64_t mac, unsigned side, uint64_t now)
{
	int i = t->unused, *bucket = bucket_of(t, mac);

	if (i == NONE || now + t->learn_wait < t->learn_free || !has_room(t, bucket))
		return false;
	if (t->skip > 0 && ++t->skipped >= t->skip) {
		t->skipped = 0;
		return false;
	}
	t->learn_free = (now < t->learn_free ? t->learn_free : now) + t->learn_time;
	t->unused = t->entry[i].next;
	t->entry[i] = (struct entry){.mac = mac, .heard = now, .side = side, .next = *bucket};
	*bucket = i;
	t->used++;
	put_last(t, i);
	return true;
}

static __rte_noinline bool
forget_and_learn(struct fdb *t, const uint8_t *frame, unsigned side, uint64_t now)
{
	while (has_old(t, now))
		forget(t, t->entry[t->size].behind);
	return fdb_learn(t, frame, side, now);
}

/* Most frames come from an address that is known: all else is kept out of their way. */
bool
fdb_learn(struct fdb *t, const uint8_t *frame, unsigned side, uint64_t now)
{
	uint64_t mac = source_of(frame);
	int i;

	if (unlikely(has_old(t, now)))
		return forget_and_learn(t, frame, side, now);
	if (unlikely(frame[6] & 1))
		return true;
	i = find(t, mac);
	if (unlikely(i == NONE))
		return enter(t, mac, side, now);
	take_out(t, &t->entry[i]);
	put_last(t, i);
	t->entry[i].side = side;
	t->entry[i].heard = now;
	return true;
}

int
fdb_side(const struct fdb *t, const uint8_t *frame)
{
	int i = find(t, destination_of(frame));

	return i == NONE ? WIRE_UNKNOWN : (int)t->entry[i].side;
}
