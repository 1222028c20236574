/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

enum { FG_SIZES_MAX = 65536 };

/**
 * The sizes of a stream's frames: a cycle that comes again and again (RFC 6985: the IMIX "genome"). What
 * frame n measures follows from n alone, and so does the number of bytes before it, which is what a bit rate
 * is paced by. A random order is a cycle, too: one that was drawn beforehand, so that its mean is known and
 * exact.
 *
 * One piece of memory, immutable; streams can share it.
 */
struct fg_sizes {
	uint32_t length;  /* frames in the cycle */
	uint32_t kinds;   /* different sizes */
	uint64_t octets;  /* of a whole cycle, FCS included */
	uint16_t *size;   /* of each kind, bytes with FCS, in the order in which they first occur */
	uint16_t *kind;   /* of each place in the cycle */
	uint32_t *before; /* bytes of the cycle before each place */
};

/**
 * @param list  bytes with FCS of each frame of the cycle, not 0
 * @param n     frames, 1 to FG_SIZES_MAX
 * @return      0, -ERANGE, -ENOMEM. Free with fg_sizes_free().
 */
int fg_sizes_create(const uint16_t *list, unsigned n, struct fg_sizes **out, struct fg_error *err);
void fg_sizes_free(struct fg_sizes *sizes);

/** @return the same in memory of its own, NULL without memory */
struct fg_sizes *fg_sizes_copy(const struct fg_sizes *sizes, struct fg_error *err);

__END_DECLS
