/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_inject.h"
#include "fg_frame.h"

__BEGIN_DECLS

/** Bytes with FCS of the shortest runt: addresses, type and signature, by which it is still known. */
enum { FG_INJECT_MIN_RUNT = 36 };

/**
 * How the frames of a stream are made wrong: where in them it stands that can be. Bytes from the start; 0:
 * nowhere.
 */
struct fg_inject_fields {
	uint16_t ip_checksum, l4_checksum, ip_length, l4_length;
	int16_t length_by;     /* excess of wrong lengths */
	uint32_t payload_bits; /* that are inverted */
	uint16_t runt_size;    /* bytes with FCS */
};

/**
 * Can the frames of a template be wrong in all the ways of a program?
 * @return 0 or -EINVAL
 */
int fg_inject_check(const struct fg_inject_fields *fields, const struct fg_inject_config *config,
		    const struct fg_template *template_, const char *where, struct fg_error *err);

/**
 * Make a frame wrong that is right, with its signature.
 *
 * @param kinds   bits 1 << enum fg_inject; FG_INJECT_FCS and FG_INJECT_OVERSIZE are not of the bytes and the
 *                caller's
 * @param number  of the frame; decides which bits of the payload are inverted
 * @return        bytes of the frame without FCS, fewer than the template's if it is a runt now
 */
uint16_t fg_inject_apply(const struct fg_inject_fields *fields, const struct fg_template *template_,
			 uint32_t kinds, uint64_t number, uint8_t *frame);

__END_DECLS
