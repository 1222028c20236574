/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of connections: see connections_priv.h. One array; unused entries in a list; two hashes, one for
 * the tuples of each side; and two lists in the order of time, of open and of closing connections, with the
 * next to time out at the front.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_random.h"
#include "connections_priv.h"

/* entries 0 and 1 are the ends of the two lists; 0 also ends a chain */
enum { OPEN, CLOSING, FIRST };

struct connections {
	uint32_t size, used, unused; /* unused: the first of the list, by next[0]; 0: none */
	uint32_t made;               /* entries ever used; later ones are not in the list */
	uint64_t timeout[2];         /* ps, of each list */
	uint32_t mask;
	uint32_t *bucket[2];
	struct connection *entry;
};

static uint32_t
hash_of(const struct connections *t, const struct tuple *tuple)
{
	uint64_t word[sizeof(*tuple) / 8], h = 0;

	memcpy(word, tuple, sizeof(word));
	for (unsigned i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		h = fg_random_mix(h + word[i] + FG_RANDOM_STEP);
	return (uint32_t)h & t->mask;
}

void
connections_clear(struct connections *t)
{
	for (unsigned side = 0; side < 2; side++)
		memset(t->bucket[side], 0, ((size_t)t->mask + 1) * sizeof(t->bucket[0][0]));
	for (uint32_t i = 0; i < FIRST; i++)
		t->entry[i].before = t->entry[i].behind = i;
	t->used = t->unused = 0;
	t->made = FIRST;
}

int
connections_create(uint32_t size, uint64_t timeout_ps, uint64_t closing_ps, const char *where,
		   struct connections **out, struct fg_error *err)
{
	struct connections *t = calloc(1, sizeof(*t));
	uint64_t buckets = 1;

	if (t == NULL)
		return fg_error_set(err, ENOMEM, where, "no memory");
	while (buckets < 2 * (uint64_t)size)
		buckets *= 2;
	t->size = size;
	t->mask = (uint32_t)buckets - 1;
	t->timeout[OPEN] = timeout_ps;
	t->timeout[CLOSING] = closing_ps;
	t->bucket[0] = calloc(buckets, sizeof(*t->bucket[0]));
	t->bucket[1] = calloc(buckets, sizeof(*t->bucket[1]));
	t->entry = calloc((size_t)size + FIRST, sizeof(*t->entry));
	if (t->bucket[0] == NULL || t->bucket[1] == NULL || t->entry == NULL) {
		connections_free(t);
		return fg_error_set(err, ENOMEM, where, "no memory for %u connections", size);
	}
	connections_clear(t);
	*out = t;
	return 0;
}

void
connections_free(struct connections *t)
{
	if (t == NULL)
		return;
	free(t->bucket[0]);
	free(t->bucket[1]);
	free(t->entry);
	free(t);
}

static void
unlink_entry(struct connections *t, struct connection *c)
{
	t->entry[c->before].behind = c->behind;
	t->entry[c->behind].before = c->before;
}

static void
append_entry(struct connections *t, struct connection *c, uint32_t list, uint64_t now)
{
	uint32_t i = (uint32_t)(c - t->entry), last = t->entry[list].before;

	c->heard = now;
	c->before = last;
	c->behind = list;
	t->entry[last].behind = i;
	t->entry[list].before = i;
}

struct connection *
connections_find(const struct connections *t, unsigned side, const struct tuple *tuple)
{
	uint32_t i = t->bucket[side][hash_of(t, tuple)];

	while (i != 0 && memcmp(&t->entry[i].tuple[side], tuple, sizeof(*tuple)) != 0)
		i = t->entry[i].next[side];
	return i == 0 ? NULL : &t->entry[i];
}

struct connection *
connections_add(struct connections *t, const struct tuple *first, const struct tuple *second, uint64_t now)
{
	uint32_t i = t->unused;
	struct connection *c;

	if (t->used == t->size)
		return NULL;
	if (i == 0)
		i = t->made++;
	else
		t->unused = t->entry[i].next[0];
	c = &t->entry[i];
	*c = (struct connection){.tuple = {*first, *second}};
	for (unsigned side = 0; side < 2; side++) {
		uint32_t *bucket = &t->bucket[side][hash_of(t, &c->tuple[side])];

		c->next[side] = *bucket;
		*bucket = i;
	}
	append_entry(t, c, OPEN, now);
	t->used++;
	return c;
}

void
connections_heard(struct connections *t, struct connection *c, uint64_t now)
{
	if (c->closing)
		return;
	unlink_entry(t, c);
	append_entry(t, c, OPEN, now);
}

void
connections_close(struct connections *t, struct connection *c, uint64_t now)
{
	unlink_entry(t, c);
	c->closing = true;
	append_entry(t, c, CLOSING, now);
}

void
connections_remove(struct connections *t, struct connection *c)
{
	uint32_t i = (uint32_t)(c - t->entry);

	for (unsigned side = 0; side < 2; side++) {
		uint32_t *at = &t->bucket[side][hash_of(t, &c->tuple[side])];

		while (*at != i)
			at = &t->entry[*at].next[side];
		*at = c->next[side];
	}
	unlink_entry(t, c);
	c->next[0] = t->unused;
	t->unused = i;
	t->used--;
}

uint32_t
connections_expire(struct connections *t, uint64_t now)
{
	uint32_t n = 0;

	for (uint32_t list = OPEN; list < FIRST; list++)
		for (uint32_t i; (i = t->entry[list].behind) != list; n += list == OPEN) {
			if (t->entry[i].heard + t->timeout[list] > now)
				break;
			connections_remove(t, &t->entry[i]);
		}
	return n;
}

struct connection *
connections_oldest(const struct connections *t)
{
	uint32_t i = t->entry[OPEN].behind;

	return i == OPEN ? NULL : &t->entry[i];
}

uint32_t
connections_count(const struct connections *t)
{
	return t->used;
}
