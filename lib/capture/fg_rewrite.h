/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * Changing the addresses of frames that were captured elsewhere, so that a device here passes them on.
 * Checksums are mended by the difference (RFC 1624): one that was right is right again, one that was wrong
 * stays wrong.
 */

enum { FG_MAX_MOVES = 8, FG_REWRITE_ROOM = 4 };

/** Addresses of one network become addresses of another: the first `prefix` bits change, the others stay. */
struct fg_move {
	uint8_t from[16], to[16];
	uint8_t prefix; /* bits, at most 8 * bytes */
	uint8_t octets; /* of an address: 4 or 16 */
};

enum fg_vlan_change {
	FG_VLAN_AS_IT_IS,
	FG_VLAN_REMOVE, /* the outermost tag, if there is one */
	FG_VLAN_SET,    /* the number of the outermost tag, or a new one */
};

struct fg_rewrite {
	bool has_source_mac, has_destination_mac;
	uint8_t source_mac[6], destination_mac[6];
	enum fg_vlan_change vlan;
	uint16_t vlan_id;
	unsigned moves;
	struct fg_move move
		[FG_MAX_MOVES]; /* the first that fits an address is taken; source and destination alike */
};

/** Counts of moved addresses. */
struct fg_rewrite_found {
	uint64_t moved[FG_MAX_MOVES]; /* addresses, by move */
	uint64_t unmoved;             /* frames without a moved address; 0 without moves */
};

/**
 * Change a frame: its outermost IP header or ARP, the hops of a routing header, packets quoted by errors of
 * ICMP, neighbour discovery and memberships of groups. A tunnel's inside stays as it is.
 * @param length  bytes without FCS; there is room for FG_REWRITE_ROOM more
 * @param found   adds up what was found; NULL is legal
 * @return        its new length
 */
size_t fg_rewrite_apply(const struct fg_rewrite *rewrite, uint8_t *frame, size_t length,
			struct fg_rewrite_found *found);

__END_DECLS
