/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The multicast groups of the reference switch, with the member ports and times. Written by the lcore that
 * polls the ports, as all of the switch (switch_priv.h). mcast.c keeps the table and the next actions;
 * snoop.c reads messages and carries the actions out.
 */
#include "fg_membership.h"
#include "wire.h"

/** Never due: a membership without end. */
static const uint64_t MCAST_FOR_EVER = UINT64_MAX - 1;
enum { MCAST_NONE = -1 };
static const uint32_t MCAST_NOT_DUE = UINT32_MAX;

struct group_key {
	uint8_t group[16];
	uint16_t vlan;
	uint8_t version; /* of IP */
	uint8_t unused;
};

/** A membership rests from `from` to before `until`, ps: a join takes effect later than the leave before. */
struct group_gap {
	uint64_t from, until;
	uint32_t next; /* in the table; 0: none */
};

/** A port of an entry. It is a member from `from` to before `until`, ps, except in its gaps. */
struct membership {
	uint64_t from, until;
	uint64_t query;   /* when the next query of the group is due; UINT64_MAX: never */
	uint32_t queries; /* still to be sent */
	uint32_t place;   /* in the heap; MCAST_NOT_DUE: none */
	uint32_t gap;     /* the last gap; each links to the one before it */
	bool include;     /* of some sources only (RFC 3376, 3.1) */
};

struct group {
	struct group_key key;
	enum fg_membership_version version; /* of the last report */
	int next;                           /* next entry of the same hash, or next unused one */
	unsigned members;                   /* ports whose membership has not been forgotten */
	struct membership port[];
};

struct mcast {
	unsigned ports;
	size_t each; /* bytes of an entry */
	uint8_t *entry;
	int *bucket, unused;
	uint32_t size, mask, used, most;
	uint32_t *heap, due;   /* entry * ports + port, the first due at the top; its size */
	struct group_gap *gap; /* one per membership; [0].next is the first unused one */
};

static inline struct group *
mcast_at(const struct mcast *s, uint32_t i)
{
	return (struct group *)(void *)(s->entry + i * s->each);
}

static inline struct membership *
mcast_membership(const struct mcast *s, uint32_t place)
{
	return &mcast_at(s, place / s->ports)->port[place % s->ports];
}

/** When an action is due at a place of the table. */
static inline uint64_t
mcast_due(const struct mcast *s, uint32_t place)
{
	const struct membership *m = mcast_membership(s, place);

	return RTE_MIN(m->query, m->until);
}

/** Is the port a member at @p now? */
static inline bool
groups_is_member(const struct mcast *s, const struct membership *m, uint64_t now)
{
	uint32_t i = m->gap;

	if (now < m->from || now >= m->until)
		return false;
	while (i != 0 && now < s->gap[i].from)
		i = s->gap[i].next;
	return i == 0 || now >= s->gap[i].until;
}

/** Is it a group that reaches beyond the local network (RFC 4541, 2.1.2)? */
static inline bool
mcast_reaches_far(unsigned version, const uint8_t *address)
{
	if (version == 4)
		return address[0] >> 4 == 14 && !(address[0] == 224 && address[1] == 0 && address[2] == 0);
	return address[0] == 0xff && (address[1] & 0x0f) > 2;
}

/** @return 0 or -ENOMEM; free it also then */
int mcast_init(struct mcast *groups, uint32_t size, unsigned ports, struct fg_error *err);
void mcast_free(struct mcast *groups);
/** @return the entry of a group, MCAST_NONE: no entry */
int mcast_find(const struct mcast *groups, const struct group_key *key);
/** Make an entry, without members. @return MCAST_NONE: there is no room */
int mcast_enter(struct mcast *groups, const struct group_key *key);
/** The times of a membership (entry * ports + port) have changed. */
void mcast_changed(struct mcast *groups, uint32_t place);
/**
 * A membership that is about to end begins anew at @p begin, after its end.
 * @param now  gaps that are over by then are forgotten
 * @return     false: no room for one more gap
 */
bool groups_resume(struct mcast *groups, struct membership *m, uint64_t begin, uint64_t now);
/** A port is no longer a member; an entry without members is freed. */
void mcast_forget(struct mcast *groups, uint32_t place);
