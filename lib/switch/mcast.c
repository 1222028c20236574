/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of groups of the reference switch. An entry is a group in a VLAN. For each port it has the start
 * and end of the membership and the time of the next query. A heap has the next action at its top. A hash
 * finds entries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_sift.h"
#include "mcast_priv.h"

int
mcast_init(struct mcast *s, uint32_t size, unsigned ports, struct fg_error *err)
{
	uint32_t buckets = rte_align32pow2(size);

	s->size = size;
	s->ports = ports;
	s->each = RTE_ALIGN_CEIL(sizeof(struct group) + ports * sizeof(struct membership), 8);
	s->mask = buckets - 1;
	s->entry = calloc(size, s->each);
	s->bucket = malloc(buckets * sizeof(*s->bucket));
	s->heap = malloc((size_t)size * ports * sizeof(*s->heap));
	s->gap = malloc(((size_t)size * ports + 1) * sizeof(*s->gap));
	if (s->entry == NULL || s->bucket == NULL || s->heap == NULL || s->gap == NULL)
		return fg_error_set(err, ENOMEM, "snooping.groups", "no memory for %u groups", size);
	for (uint32_t i = 0; i < buckets; i++)
		s->bucket[i] = MCAST_NONE;
	for (uint32_t i = 0; i < size; i++)
		mcast_at(s, i)->next = i + 1 < size ? (int)i + 1 : MCAST_NONE;
	for (uint32_t i = 0; i <= size * ports; i++)
		s->gap[i].next = i < size * ports ? i + 1 : 0;
	return 0;
}

void
mcast_free(struct mcast *s)
{
	free(s->entry);
	free(s->bucket);
	free(s->heap);
	free(s->gap);
}

static int *
hash_bucket(const struct mcast *s, const struct group_key *key)
{
	uint64_t a, b;

	memcpy(&a, key->group, 8);
	memcpy(&b, key->group + 8, 8);
	a = (a ^ b * 0x9e3779b97f4a7c15ULL ^ (uint64_t)key->vlan << 32) * 0x9e3779b97f4a7c15ULL;
	return &s->bucket[(uint32_t)(a >> 32) & s->mask];
}

int
mcast_find(const struct mcast *s, const struct group_key *key)
{
	int i = *hash_bucket(s, key);

	while (i != MCAST_NONE && memcmp(&mcast_at(s, (uint32_t)i)->key, key, sizeof(*key)) != 0)
		i = mcast_at(s, (uint32_t)i)->next;
	return i;
}

/* ties: the earlier entry in the table first, then the lower port */
static inline bool
is_before(const struct mcast *s, const uint32_t *a, const uint32_t *b)
{
	uint64_t first = mcast_due(s, *a), second = mcast_due(s, *b);

	return first < second || (first == second && *a < *b);
}

static inline void
put(const struct mcast *s, uint32_t *heap, size_t at, uint32_t place)
{
	heap[at] = place;
	mcast_membership(s, place)->place = (uint32_t)at;
}

FG_SIFT(sift, const struct mcast, uint32_t, is_before, put)

void
mcast_changed(struct mcast *s, uint32_t place)
{
	struct membership *m = mcast_membership(s, place);

	if (m->place == MCAST_NOT_DUE) {
		m->place = s->due;
		s->heap[s->due++] = place;
	}
	sift(s, s->heap, s->due, m->place);
}

/* no later frame needs the gaps that are over at @p now */
static void
free_gaps(struct mcast *s, uint32_t *link, uint64_t now)
{
	while (*link != 0 && s->gap[*link].until > now)
		link = &s->gap[*link].next;
	while (*link != 0) {
		uint32_t i = *link;

		*link = s->gap[i].next;
		s->gap[i].next = s->gap[0].next;
		s->gap[0].next = i;
	}
}

bool
groups_resume(struct mcast *s, struct membership *m, uint64_t begin, uint64_t now)
{
	uint32_t i;

	free_gaps(s, &m->gap, now);
	if (m->gap != 0 && m->until <= s->gap[m->gap].until) { /* the membership would have ended in a gap */
		s->gap[m->gap].until = begin;
		return true;
	}
	i = s->gap[0].next;
	if (i == 0)
		return false;
	s->gap[0].next = s->gap[i].next;
	s->gap[i] = (struct group_gap){.from = m->until, .until = begin, .next = m->gap};
	m->gap = i;
	return true;
}

void
mcast_forget(struct mcast *s, uint32_t place)
{
	struct membership *m = mcast_membership(s, place);
	uint32_t i = place / s->ports, at = m->place;
	struct group *g = mcast_at(s, i);
	int *link;

	s->heap[at] = s->heap[--s->due];
	if (at < s->due)
		sift(s, s->heap, s->due, at);
	m->place = MCAST_NOT_DUE;
	m->from = m->until = 0;
	free_gaps(s, &m->gap, UINT64_MAX);
	if (--g->members > 0)
		return;
	for (link = hash_bucket(s, &g->key); *link != (int)i;)
		link = &mcast_at(s, (uint32_t)*link)->next;
	*link = g->next;
	g->next = s->unused;
	s->unused = (int)i;
	s->used--;
}

int
mcast_enter(struct mcast *s, const struct group_key *key)
{
	int i = s->unused, *bucket = hash_bucket(s, key);
	struct group *g;

	if (i == MCAST_NONE)
		return MCAST_NONE;
	g = mcast_at(s, (uint32_t)i);
	s->unused = g->next;
	g->key = *key;
	g->next = *bucket;
	g->members = 0;
	for (unsigned k = 0; k < s->ports; k++)
		g->port[k] = (struct membership){.query = UINT64_MAX, .place = MCAST_NOT_DUE};
	*bucket = i;
	s->used++;
	s->most = RTE_MAX(s->most, s->used);
	return i;
}
