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

/* of a test that draws more where tests are long; a tenth of these with the sanitizer */
static inline unsigned
draws_if_long(unsigned few, unsigned all)
{
	if (std::getenv("FRAMEGAUGE_LONG") == nullptr)
		return few;
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
	return (all + 9) / 10;
#else
	return all;
#endif
}

#endif
