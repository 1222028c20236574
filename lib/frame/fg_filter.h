/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/* Filters in the language of pcap-filter(7), for Ethernet frames. */

struct bpf_program;

/**
 * Compile a filter for fg_filter_passes(); to be freed with pcap_freecode().
 * @param text   NULL: no filter, @p out unchanged
 * @param where  configuration key, for the error
 * @return       0, -EINVAL libpcap does not take it, -ENOMEM
 */
int fg_filter_compile(const char *text, const char *where, struct bpf_program *out, struct fg_error *err);

/**
 * Does a frame match the filter?
 * @param frame   its first @p kept bytes, without FCS
 * @param length  of the whole frame in bytes, without FCS
 */
bool fg_filter_passes(const struct bpf_program *program, const uint8_t *frame, uint32_t length,
		      uint32_t kept);

/** Check a filter's text. @return as above */
int fg_filter_check(const char *text, const char *where, struct fg_error *err);

__END_DECLS
