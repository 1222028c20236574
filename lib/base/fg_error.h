/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <sys/cdefs.h>

__BEGIN_DECLS

/**
 * Why a call failed: an errno, the thing it was about ("ports.east.device", "stream.rate") and a sentence for
 * the person at the other end. Filled by the callee, owned by the caller; plain data, so it needs no freeing.
 */
struct fg_error {
	int code; /* positive errno, 0 when unset */
	char where[96];
	char message[416];
};

/**
 * Fill @p err and return the negative errno, so that a failing function ends in one line.
 *
 * @param err      may be NULL: then only the return value reports the error
 * @param code     positive errno
 * @param where    the key, file or object concerned; cut when longer than the field
 * @param format   printf format of the sentence, without a full stop or newline
 * @return         -code
 */
int fg_error_set(struct fg_error *err, int code, const char *where, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

__END_DECLS
