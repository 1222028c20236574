/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * malloc() and its kin with a count of what is taken, in the form that libraries of protocols ask for: their
 * tables of such functions have a pointer of the user's, which is a struct fg_heap. One thread owns it.
 */
struct fg_heap {
	uint64_t octets, most; /* taken now, and at most at a time, with what malloc() adds to a piece */
};

void *fg_heap_take(size_t size, void *heap);
void *fg_heap_zeros(size_t n, size_t size, void *heap);
void *fg_heap_change(void *memory, size_t size, void *heap);
void fg_heap_give(void *memory, void *heap);

__END_DECLS
