/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

__BEGIN_DECLS

/**
 * CRC32c (RFC 9260, appendix A) over the bytes so far and some more. Begin with 0.
 *
 * By the processor's instruction where it has one, about 5 bytes a cycle.
 */
uint32_t fg_crc32c(uint32_t crc, const uint8_t *data, size_t length);

/** CRC32c without that instruction. */
uint32_t fg_crc32c_by_table(uint32_t crc, const uint8_t *data, size_t length);

__END_DECLS
