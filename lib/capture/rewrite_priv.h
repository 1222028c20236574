/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_rewrite.h"

/*
 * What the parts of rewriting share while they change one frame: which addresses move, what was found, and
 * what the frame was before. One thread.
 */
struct rewriting {
	const struct fg_rewrite *how;
	struct fg_rewrite_found *found; /* NULL: not counted */
	bool moved;                     /* an address of this frame */
	uint8_t old_destination_mac[6], old_source_mac[6];
	const uint8_t *destination; /* of the outermost IP header; NULL: no IP */
	uint8_t old_destination[16], destination_octets;
};

/** Mend a checksum after @p n bytes, an even number of them, have changed. NULL is legal. */
void rewrite_mend(uint8_t *checksum, const uint8_t *old, const uint8_t *new_, size_t n);

/** Move an IP address of this length, and mend both checksums; each may be NULL. */
void rewrite_address(struct rewriting *c, uint8_t *address, uint8_t octets, uint8_t *sum, uint8_t *other_sum);

/** A MAC address in a payload follows the frame's addresses. */
void rewrite_mac(const struct rewriting *c, uint8_t *mac, uint8_t *sum);

/** An IP packet; it may be shorter than it says, and followed by padding. */
void rewrite_ipv4(struct rewriting *c, uint8_t *ip, size_t length);
void rewrite_ipv6(struct rewriting *c, uint8_t *ip, size_t length);
