/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

__BEGIN_DECLS

/*
 * A message of the bus of a fleet as a line of JSON: {"subject":, "body":, "reply":} or {"want": pattern}.
 *
 * The bridge passes bodies on byte by byte and reads nothing in them, so that no number is rounded. It only
 * has to know that each is one JSON value on one line: what is not would end the connection of an agent.
 */

/** Part of another text; no 0 follows. NULL: no text. */
struct bridge_text {
	const char *at;
	size_t size;
};

struct bridge_envelope {
	struct bridge_text subject, reply, want; /* without quotes */
	struct bridge_text body;                 /* a JSON value */
};

enum { BRIDGE_MAX_SUBJECT = 255 };

/** Read a line without its newline. @return 0 or -EINVAL; other keys are ignored */
int bridge_envelope_read(const char *line, size_t size, struct bridge_envelope *out);

/** Whether a text is one JSON value without a newline. */
bool bridge_is_json(const char *text, size_t size);

/** Whether a text is words of letters, digits, '_' and '-' with dots between; a pattern also has * and >. */
bool bridge_is_subject(const char *text, size_t size, bool pattern);

__END_DECLS
