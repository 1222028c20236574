/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "fg_unique_name.h"

enum { FIRST = 100 }; /* users name devices net_tap0, net_tap1, ... */

void
fg_unique_name(char *out, size_t size, const char *prefix)
{
	static unsigned number = FIRST;

	snprintf(out, size, "%s%u", prefix, number++);
}
