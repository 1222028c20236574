/* SPDX-License-Identifier: BSD-3-Clause */
/* A pcapng that somebody made up. What must hold: no access out of bounds, no frame longer than its file. */
#include <stdlib.h>

#include "pcapng_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcapng p;
	struct packet packet;
	FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
	int rc;

	if (file == NULL)
		return 0;
	pcapng_open(&p, file);
	while ((rc = pcapng_next(&p, &packet)) == 1) {
		if (packet.kept > size)
			abort();
		for (uint32_t i = 0; i < packet.kept; i++)
			(void)*(const volatile uint8_t *)&packet.octets[i];
	}
	if (rc < 0 && p.problem == NULL)
		abort();
	pcapng_close(&p);
	return 0;
}
