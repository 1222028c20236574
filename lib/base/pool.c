/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools: see fg_pool.h. */
#include <string.h>
#include <sys/mman.h>

#include "fg_pool.h"

void *
fg_memory_reserve(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void
fg_memory_release(void *memory, size_t bytes)
{
	if (memory != NULL)
		munmap(memory, bytes);
}

bool
fg_pool_create(struct fg_pool *p, uint32_t count, size_t size)
{
	*p = (struct fg_pool){.size = size, .count = count + 1, .fresh = 1};
	p->at = fg_memory_reserve(p->count * size);
	return p->at != NULL;
}

void
fg_pool_free(struct fg_pool *p)
{
	fg_memory_release(p->at, p->count * p->size);
	p->at = NULL;
}

uint32_t
fg_pool_take(struct fg_pool *p)
{
	uint32_t index = p->free;

	if (index != 0)
		memcpy(&p->free, p->at + index * p->size, sizeof(p->free));
	else if (p->fresh < p->count)
		index = p->fresh++;
	return index;
}

void
fg_pool_give(struct fg_pool *p, uint32_t *index)
{
	if (*index == 0)
		return;
	memcpy(p->at + *index * p->size, &p->free, sizeof(p->free));
	p->free = *index;
	*index = 0;
}
