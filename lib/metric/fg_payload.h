/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_PAYLOAD_H
#define FG_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @return bits in which two payloads differ; 0 when they are the same, which is told at the speed of memory */
uint64_t fg_payload_errors(const uint8_t *expected, const uint8_t *received, size_t octets);

#ifdef __cplusplus
}
#endif
#endif
