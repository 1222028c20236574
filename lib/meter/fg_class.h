/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_profile.h"

__BEGIN_DECLS

/*
 * Which service a frame belongs to, and which colour it comes with: by its tags and by the DSCP of its IP
 * header. These are the fields that a provider's edge uses.
 */

/** The fields of a frame that decide. */
struct fg_class_fields {
	bool tagged, tagged_twice, ip;
	bool dei;             /* of the outermost tag */
	uint8_t pcp;          /* of the outermost tag; 0 without one */
	uint8_t dscp, ecn;    /* 0 when it is no IP */
	uint16_t vlan, inner; /* of the outermost tag and the next one; 0: none */
};

/** Read a frame that starts at its destination address. Tags: 0x8100 and 0x88a8. */
struct fg_class_fields fg_class_read(const uint8_t *frame, size_t length);

bool fg_class_matches(const struct fg_class *class_, const struct fg_class_fields *fields);

/**
 * Write a code point into a frame: DSCP or ECN into its IP header, whose checksum stays right, PCP or DEI
 * into its outermost tag. A frame that has no such field stays as it is.
 */
void fg_class_mark(uint8_t *frame, size_t length, enum fg_mark_kind kind, unsigned value);

enum fg_colour fg_class_colour(const struct fg_colouring *colouring, const struct fg_class_fields *fields);

__END_DECLS
