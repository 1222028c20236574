/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many drawn cases a test plays: all, and with AddressSanitizer a tenth, unless the tests are long. Each
 * takes four times as long there, and goes through the same memory; the figures are what all of them are for.
 */
#ifndef DRAWS_H
#define DRAWS_H

#include <cstdlib>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

static inline unsigned
draws(unsigned all)
{
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
	return std::getenv("FRAMEGAUGE_LONG") == nullptr ? (all + 9) / 10 : all;
#else
	return all;
#endif
}

#endif
