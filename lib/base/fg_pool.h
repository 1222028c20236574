/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * Objects of one size, identified by numbers from 1 on; number 0 is reserved. Memory is reserved at once, and
 * a page of it is taken when the first thing in it is. The first word of a free thing is the pool's. One
 * thread owns a pool.
 */
struct fg_pool {
	uint8_t *at;
	size_t size;                 /* of a thing */
	uint32_t count, fresh, free; /* never used from `fresh` on */
};

/** Room for @p count things of @p size bytes. @return false: no memory */
bool fg_pool_create(struct fg_pool *p, uint32_t count, size_t size);
/** A pool of zeros is legal. */
void fg_pool_free(struct fg_pool *p);
/** @return 0 when all are taken; what is in it is what was in it */
uint32_t fg_pool_take(struct fg_pool *p);
/** Give it back, unless it is nobody; @p index is nobody then. */
void fg_pool_give(struct fg_pool *p, uint32_t *index);

/** Memory for @p bytes, whose pages are taken as they are touched, all zero. @return NULL: none */
void *fg_memory_reserve(size_t bytes);
void fg_memory_release(void *memory, size_t bytes);

__END_DECLS
