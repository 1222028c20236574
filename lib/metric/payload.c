/* SPDX-License-Identifier: BSD-3-Clause */
/* Compare a payload with the sent one. Nearly always they are equal. */
#include <string.h>

#include "fg_payload.h"

bool
fg_payload_compare(const uint8_t *expected, const uint8_t *received, size_t octets,
		   struct fg_payload_errors *errors)
{
	if (memcmp(expected, received, octets) == 0)
		return false;
	for (size_t i = 0; i < octets; i++) {
		unsigned wrong = expected[i] ^ received[i];

		errors->octets += wrong != 0;
		errors->bits += (unsigned)__builtin_popcount(wrong);
	}
	return true;
}
