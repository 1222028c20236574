/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

/*
 * Binary heaps in arrays: the first item of all is at 0. This defines
 *
 *    static inline void NAME(OWNER *o, ITEM *heap, size_t n, size_t at)
 *
 * which brings the item at `at` to its place among the n. So it follows a write to the end (a new item), to 0
 * (the first was taken), or wherever an item has changed. BEFORE(o, a, b) compares two items by pointers;
 * PUT(o, heap, at, item) writes one, and may note where it lies.
 */
#define FG_SIFT(NAME, OWNER, ITEM, BEFORE, PUT)                                            \
	static inline void NAME(OWNER *o, ITEM *heap, size_t n, size_t at)                 \
	{                                                                                  \
		const ITEM item = heap[at];                                                \
                                                                                           \
		for (; at > 0 && BEFORE(o, &item, &heap[(at - 1) / 2]); at = (at - 1) / 2) \
			PUT(o, heap, at, heap[(at - 1) / 2]);                              \
		for (size_t child; (child = 2 * at + 1) < n; at = child) {                 \
			if (child + 1 < n && BEFORE(o, &heap[child + 1], &heap[child]))    \
				child++;                                                   \
			if (!BEFORE(o, &heap[child], &item))                               \
				break;                                                     \
			PUT(o, heap, at, heap[child]);                                     \
		}                                                                          \
		PUT(o, heap, at, item);                                                    \
	}

/** PUT of items that nobody looks for. */
#define FG_SIFT_PUT(o, heap, at, item) ((heap)[at] = (item))
