/* SPDX-License-Identifier: BSD-3-Clause */
/* What a peer says in JSON, read where it lies (json.c). */
#ifndef JSON_PRIV_H
#define JSON_PRIV_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind { JSON_NUMBER, JSON_BOOLEAN, JSON_STRING, JSON_END_OF_OBJECT };

/** A value that has no parts, or the end of an object. */
struct json_value {
	enum json_kind kind;
	const char *key; /* without quotes, not terminated; NULL: item of an array */
	size_t key_octets;
	unsigned depth;   /* objects and arrays around it; of an end, around the object */
	double number;    /* of a boolean 0 or 1 */
	const char *text; /* of a string: as written, with escapes; not terminated */
	size_t text_octets;
};

/** Is the value's key @p name? */
bool json_is(const struct json_value *v, const char *name);

/**
 * Read a text of one object (RFC 8259) and tell of its values in the order in which they stand. Numbers are
 * what strtod() makes of them; escapes are not undone.
 *
 * @return false: it is not JSON, or is nested deeper than 16. What was told before is then worth nothing.
 */
bool json_read(const char *text, size_t octets, void (*tell)(void *context, const struct json_value *v),
	       void *context);

#endif
