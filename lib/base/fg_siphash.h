/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * SipHash-2-4 (Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012): a hash that is unpredictable
 * without the key, for cookies that a peer returns.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/cdefs.h>

__BEGIN_DECLS

/** Hash of @p bytes bytes, by a key of 16. On the wire its lowest byte is the first. */
uint64_t fg_siphash(const void *key, const void *data, size_t bytes);

__END_DECLS
