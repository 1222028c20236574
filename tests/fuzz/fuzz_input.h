/* SPDX-License-Identifier: BSD-3-Clause */
/* What fuzz targets that play a train of actions read their input by: bytes, and zeros at its end */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static const uint8_t *input;
static size_t input_left;

static inline void
check(bool condition)
{
	if (!condition)
		abort();
}

static inline uint8_t
octet(void)
{
	if (input_left == 0)
		return 0;
	input_left--;
	return *input++;
}
