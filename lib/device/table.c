/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference device as a learning bridge (IEEE 802.1D, 7.8 and 7.9). It notes behind which of its two
 * sides the source of each frame is, as many as it has room for, and forgets those that have not been heard
 * for a while. A frame for somebody on the side it came from is not forwarded; one for somebody unknown, or
 * for many, is: with two ports that is all there is to flooding.
 *
 * Entries are kept in the order in which they were heard last, so that those to be forgotten are at one end,
 * and are found by a hash. The table outlives trials, as that of a device does.
 */
#include <errno.h>
#include <stdlib.h>

#include "device_priv.h"

enum { NONE = -1 };
static const double PS_PER_NS = 1e3, PS_PER_S = 1e12;

struct entry {
	uint64_t mac;
	uint64_t heard; /* ps */
	unsigned side;
	int next;           /* of the same hash */
	int before, behind; /* in the order of the last frames: earlier, later */
};

struct table {
	uint32_t size, used;
	uint64_t ageing;     /* ps; 0: nothing is forgotten */
	uint64_t learn_time; /* ps that learning an address takes; 0: none */
	uint64_t learn_free; /* when the next one can be learned */
	uint32_t skip, skipped;
	uint32_t mask;
	int *bucket;
	struct entry *entry;
	int oldest, latest, unused; /* the unused by `next` */
};

static uint64_t
mac_of(const uint8_t *octets)
{
	uint64_t mac = 0;

	for (unsigned i = 0; i < 6; i++)
		mac = mac << 8 | octets[i];
	return mac;
}

static int *
bucket_of(const struct table *t, uint64_t mac)
{
	return &t->bucket[(mac * 0x9e3779b97f4a7c15ULL >> 32) & t->mask];
}

int
wire_table_create(const struct fg_device_config *config, struct table **out, struct fg_error *err)
{
	const struct fg_device_table *c = &config->table;
	struct table *t = calloc(1, sizeof(*t));
	uint32_t buckets = 1;

	if (t == NULL)
		return fg_error_set(err, ENOMEM, "reference_device.mac_table", "no memory");
	*out = t;
	while (buckets < c->size)
		buckets *= 2;
	t->size = c->size;
	t->ageing = (uint64_t)(c->ageing_ns * PS_PER_NS);
	t->learn_time = c->learning_rate > 0 ? (uint64_t)(PS_PER_S / c->learning_rate) : 0;
	t->skip = c->skip_every;
	t->mask = buckets - 1;
	t->bucket = malloc(buckets * sizeof(*t->bucket));
	t->entry = calloc(c->size, sizeof(*t->entry));
	if (t->bucket == NULL || t->entry == NULL)
		return fg_error_set(err, ENOMEM, "reference_device.mac_table", "no memory for %u addresses",
				    c->size);
	for (uint32_t i = 0; i < buckets; i++)
		t->bucket[i] = NONE;
	for (uint32_t i = 0; i < c->size; i++)
		t->entry[i].next = i + 1 < c->size ? (int)i + 1 : NONE;
	t->oldest = t->latest = NONE;
	return 0;
}

void
wire_table_free(struct table *t)
{
	if (t == NULL)
		return;
	free(t->bucket);
	free(t->entry);
	free(t);
}

static void
take_out(struct table *t, int i)
{
	struct entry *e = &t->entry[i];

	*(e->before == NONE ? &t->oldest : &t->entry[e->before].behind) = e->behind;
	*(e->behind == NONE ? &t->latest : &t->entry[e->behind].before) = e->before;
}

static void
put_last(struct table *t, int i)
{
	struct entry *e = &t->entry[i];

	e->before = t->latest;
	e->behind = NONE;
	*(t->latest == NONE ? &t->oldest : &t->entry[t->latest].behind) = i;
	t->latest = i;
}

static void
forget_old(struct table *t, uint64_t now)
{
	int i;

	while (t->ageing > 0 && (i = t->oldest) != NONE && t->entry[i].heard + t->ageing <= now) {
		int *link = bucket_of(t, t->entry[i].mac);

		while (*link != i)
			link = &t->entry[*link].next;
		*link = t->entry[i].next;
		take_out(t, i);
		t->entry[i].next = t->unused;
		t->unused = i;
		t->used--;
	}
}

static int
find(const struct table *t, uint64_t mac)
{
	int i = *bucket_of(t, mac);

	while (i != NONE && t->entry[i].mac != mac)
		i = t->entry[i].next;
	return i;
}

/* @return a new entry, NONE: it cannot be learned now */
static int
enter(struct table *t, uint64_t mac, uint64_t now)
{
	int i = t->unused, *bucket = bucket_of(t, mac);

	if (i == NONE || now < t->learn_free)
		return NONE;
	if (t->skip > 0 && ++t->skipped >= t->skip) {
		t->skipped = 0;
		return NONE;
	}
	t->learn_free = now + t->learn_time;
	t->unused = t->entry[i].next;
	t->entry[i].mac = mac;
	t->entry[i].next = *bucket;
	*bucket = i;
	t->used++;
	put_last(t, i);
	return i;
}

static void
learn(struct table *t, const uint8_t *frame, unsigned side, uint64_t now, struct fg_device_counters *counters)
{
	uint64_t mac = mac_of(frame + 6);
	int i = find(t, mac);

	if (frame[6] & 1)
		return;
	if (i != NONE) {
		take_out(t, i);
		put_last(t, i);
	} else {
		i = enter(t, mac, now);
	}
	if (i == NONE) {
		counters->unlearned++;
		return;
	}
	t->entry[i].side = side;
	t->entry[i].heard = now;
}

bool
wire_table_forwards(struct table *t, const uint8_t *frame, unsigned side, uint64_t now,
		    struct fg_device_counters *counters)
{
	int i;

	forget_old(t, now);
	learn(t, frame, side, now, counters);
	i = find(t, mac_of(frame));
	counters->flooded += i == NONE;
	if (i == NONE || t->entry[i].side != side)
		return true;
	counters->filtered++;
	return false;
}
