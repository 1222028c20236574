/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON as far as it takes to find the end of a value (RFC 8259): one function for each kind of value, which
 * takes it from the front of the text and returns whether it was there.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "envelope.h"

enum { MAX_DEPTH = 100 };

struct reader {
	const char *at, *end;
	unsigned depth;
};

static bool take_value(struct reader *r);

static void
skip_space(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
}

static bool
take(struct reader *r, char c)
{
	skip_space(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static bool
take_word(struct reader *r, const char *word)
{
	const size_t n = strlen(word);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	return true;
}

static bool
take_escape(struct reader *r)
{
	if (r->at == r->end || strchr("\"\\/bfnrtu", *r->at) == NULL || *r->at == 0)
		return false;
	if (*r->at++ != 'u')
		return true;
	for (int i = 0; i < 4; i++)
		if (r->at == r->end || !isxdigit((unsigned char)*r->at++))
			return false;
	return true;
}

/* @param text  its bytes between the quotes, as they stand there; may be NULL */
static bool
take_string(struct reader *r, struct bridge_text *text)
{
	const char *first;

	if (!take(r, '"'))
		return false;
	first = r->at;
	while (r->at < r->end) {
		const unsigned char c = (unsigned char)*r->at++;

		if (c == '"') {
			if (text != NULL)
				*text = (struct bridge_text){first, (size_t)(r->at - 1 - first)};
			return true;
		}
		if (c < ' ' || (c == '\\' && !take_escape(r)))
			return false;
	}
	return false;
}

static bool
take_digits(struct reader *r)
{
	const char *first = r->at;

	while (r->at < r->end && isdigit((unsigned char)*r->at))
		r->at++;
	return r->at > first;
}

static bool
take_number(struct reader *r)
{
	take_word(r, "-");
	if (!take_word(r, "0") && !take_digits(r))
		return false;
	if (take_word(r, ".") && !take_digits(r))
		return false;
	if (take_word(r, "e") || take_word(r, "E")) {
		if (!take_word(r, "+"))
			take_word(r, "-");
		return take_digits(r);
	}
	return true;
}

/* @param each  takes one member */
static bool
take_members(struct reader *r, char close, bool (*each)(struct reader *r))
{
	if (r->depth == MAX_DEPTH)
		return false;
	r->depth++;
	if (!take(r, close)) {
		do {
			if (!each(r))
				return false;
		} while (take(r, ','));
		if (!take(r, close))
			return false;
	}
	r->depth--;
	return true;
}

static bool
take_member(struct reader *r)
{
	return take_string(r, NULL) && take(r, ':') && take_value(r);
}

static bool
take_value(struct reader *r)
{
	skip_space(r);
	if (r->at == r->end)
		return false;
	switch (*r->at) {
	case '{':
		r->at++;
		return take_members(r, '}', take_member);
	case '[':
		r->at++;
		return take_members(r, ']', take_value);
	case '"':
		return take_string(r, NULL);
	case 't':
		return take_word(r, "true");
	case 'f':
		return take_word(r, "false");
	case 'n':
		return take_word(r, "null");
	default:
		return take_number(r);
	}
}

static bool
is_at_end(struct reader *r)
{
	skip_space(r);
	return r->at == r->end;
}

bool
bridge_is_json(const char *text, size_t size)
{
	struct reader r = {.at = text, .end = text + size};

	return take_value(&r) && is_at_end(&r);
}

bool
bridge_is_subject(const char *text, size_t size, bool pattern)
{
	char before = '.';

	if (size == 0 || size > BRIDGE_MAX_SUBJECT)
		return false;
	for (size_t i = 0; i < size; i++) {
		const char c = text[i], after = i + 1 < size ? text[i + 1] : '.';
		const bool wild = c == '*' || c == '>';

		if (wild && (!pattern || before != '.' || after != '.' || (c == '>' && i + 1 < size)))
			return false;
		if (c == '.' ? before == '.' : !wild && !isalnum((unsigned char)c) && c != '_' && c != '-')
			return false;
		before = c;
	}
	return before != '.';
}

static bool
is(const struct bridge_text *text, const char *word)
{
	return text->size == strlen(word) && memcmp(text->at, word, text->size) == 0;
}

/* The destination of a key's value; NULL: ignored, or the body. */
static struct bridge_text *
place_of(struct bridge_envelope *out, const struct bridge_text *key)
{
	return is(key, "subject") ? &out->subject
	       : is(key, "reply") ? &out->reply
	       : is(key, "want")  ? &out->want
				  : NULL;
}

static bool
take_part(struct reader *r, struct bridge_envelope *out)
{
	struct bridge_text key, *place;
	const char *first;

	if (!take_string(r, &key) || !take(r, ':'))
		return false;
	skip_space(r);
	first = r->at;
	place = place_of(out, &key);
	if (place != NULL)
		return take_string(r, place) &&
		       bridge_is_subject(place->at, place->size, place == &out->want);
	if (!take_value(r))
		return false;
	if (is(&key, "body"))
		out->body = (struct bridge_text){first, (size_t)(r->at - first)};
	return true;
}

int
bridge_envelope_read(const char *line, size_t size, struct bridge_envelope *out)
{
	struct reader r = {.at = line, .end = line + size, .depth = 1};

	memset(out, 0, sizeof(*out));
	if (!take(&r, '{'))
		return -EINVAL;
	do {
		if (!take_part(&r, out))
			return -EINVAL;
	} while (take(&r, ','));
	if (!take(&r, '}') || !is_at_end(&r) || (out->subject.at == NULL) == (out->want.at == NULL))
		return -EINVAL;
	return 0;
}
