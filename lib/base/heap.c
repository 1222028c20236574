/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is counted: see fg_heap.h. */
#include <malloc.h>
#include <stdlib.h>

#include "fg_heap.h"

static void *
count(struct fg_heap *h, void *memory)
{
	h->octets += malloc_usable_size(memory);
	if (h->octets > h->most)
		h->most = h->octets;
	return memory;
}

void *
fg_heap_take(size_t size, void *heap)
{
	return count(heap, malloc(size));
}

void *
fg_heap_zeros(size_t n, size_t size, void *heap)
{
	return count(heap, calloc(n, size));
}

void *
fg_heap_change(void *memory, size_t size, void *heap)
{
	size_t before = malloc_usable_size(memory);
	void *now = realloc(memory, size);

	if (now == NULL)
		return NULL;
	((struct fg_heap *)heap)->octets -= before;
	return count(heap, now);
}

void
fg_heap_give(void *memory, void *heap)
{
	((struct fg_heap *)heap)->octets -= malloc_usable_size(memory);
	free(memory);
}
