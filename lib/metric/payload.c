/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device made of a payload that it was to leave alone. Nearly always the answer is nothing. */
#include <string.h>

#include "fg_payload.h"

uint64_t
fg_payload_errors(const uint8_t *expected, const uint8_t *received, size_t octets)
{
	uint64_t errors = 0;

	if (memcmp(expected, received, octets) == 0)
		return 0;
	for (size_t i = 0; i < octets; i++)
		errors += (unsigned)__builtin_popcount(expected[i] ^ received[i]);
	return errors;
}
