/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__BEGIN_DECLS

/** Differences of received payloads from the sent ones. */
struct fg_payload_errors {
	uint64_t octets, bits;
};

/**
 * Add the differences of two payloads. Equal ones are recognised at the speed of memory.
 * @return false: they are the same
 */
bool fg_payload_compare(const uint8_t *expected, const uint8_t *received, size_t octets,
			struct fg_payload_errors *errors);

__END_DECLS
