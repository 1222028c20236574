/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of random numbers that forgets: eight places for each of 8,192 groups, which the number itself
 * chooses. A new number pushes the oldest of its group out.
 */
#include <stdlib.h>
#include <string.h>

#include "fg_tls_handshake.h"

enum { GROUPS = 8192, PLACES = 8 };

struct fg_tls_replays {
	uint64_t id[GROUPS][PLACES]; /* the newest first; 0: none */
};

struct fg_tls_replays *
fg_tls_replays_create(void)
{
	return calloc(1, sizeof(struct fg_tls_replays));
}

void
fg_tls_replays_free(struct fg_tls_replays *r)
{
	free(r);
}

bool
fg_tls_replays_seen(struct fg_tls_replays *r, uint64_t id)
{
	uint64_t *group = r->id[id % GROUPS];

	for (unsigned i = 0; i < PLACES; i++)
		if (group[i] == id)
			return true;
	memmove(group + 1, group, (PLACES - 1) * sizeof(*group));
	group[0] = id;
	return false;
}
