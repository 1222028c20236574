/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of a message of HTTP/2 and HTTP/3, and the judgement of a response: see fields_priv.h. */
#include "fields_priv.h"

/* struct fields.pseudo */
enum { STATUS = 1, METHOD = 2, SCHEME = 4, PATH = 8, AUTHORITY = 16 };
enum { CONTINUE = 100, FINAL = 200, NO_CONTENT = 204, NOT_MODIFIED = 304 };

/* what the digits at its end say */
static uint32_t
number_of(struct text path)
{
	uint64_t number = 0;
	size_t at = path.length;

	while (at > 0 && path.at[at - 1] >= '0' && path.at[at - 1] <= '9')
		at--;
	for (; at < path.length && number < UINT32_MAX; at++)
		number = number * 10 + (path.at[at] - '0');
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* @return false: not a number */
static bool
decimal(struct text value, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < value.length; i++) {
		if (value.at[i] < '0' || value.at[i] > '9' || *out > UINT64_MAX / 10 - 1)
			return false;
		*out = *out * 10 + (value.at[i] - '0');
	}
	return value.length > 0;
}

static void
read_pseudo(struct fields *f, struct text name, struct text value)
{
	uint64_t number = 0;
	uint8_t which = 0;

	if (text_is(name, ":status")) {
		which = STATUS;
		f->malformed |= value.length != 3 || !decimal(value, &number);
		f->status = (uint32_t)number;
	} else if (text_is(name, ":method")) {
		which = METHOD;
		f->post = value.length > 0 && value.at[0] == 'P';
		f->head = text_is(value, "HEAD");
	} else if (text_is(name, ":scheme")) {
		which = SCHEME;
	} else if (text_is(name, ":path")) {
		which = PATH;
		f->number = number_of(value);
		f->malformed |= value.length == 0;
	} else if (text_is(name, ":authority")) {
		which = AUTHORITY;
	}
	/* RFC 9113, 8.3; RFC 9114, 4.3: each once, none that is unknown, and all before the others */
	f->malformed |= which == 0 || (f->pseudo & which) != 0 || f->regular;
	f->pseudo |= which;
}

static bool
is_of_connection(struct text name)
{
	static const char *const names[] = {"connection", "proxy-connection", "keep-alive",
					    "transfer-encoding", "upgrade"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_is(name, names[i]))
			return true;
	return false;
}

/* RFC 9113, 8.2.1; RFC 9114, 4.2 */
static bool
is_lower_case(struct text name)
{
	for (size_t i = 0; i < name.length; i++)
		if (name.at[i] <= ' ' || name.at[i] >= 0x7f || (name.at[i] >= 'A' && name.at[i] <= 'Z'))
			return false;
	return name.length > 0;
}

void
fields_read(struct fields *f, struct text name, struct text value)
{
	uint64_t length;

	if (name.length > 0 && name.at[0] == ':') {
		read_pseudo(f, name, value);
		return;
	}
	f->regular = true;
	if (!is_lower_case(name) || is_of_connection(name)) {
		f->malformed = true;
	} else if (text_is(name, "te")) {
		f->malformed |= !text_is(value, "trailers");
	} else if (text_is(name, "content-length")) {
		f->malformed |= !decimal(value, &length) || (f->sized && f->length != length);
		f->length = length;
		f->sized = true;
	}
}

bool
fields_are_head(const struct fields *f, bool of_response)
{
	return !f->malformed &&
	       (of_response ? f->pseudo == STATUS : (f->pseudo & ~AUTHORITY) == (METHOD | SCHEME | PATH));
}

bool
fields_are_interim(const struct fields *f)
{
	return f->status >= CONTINUE && f->status < FINAL;
}

bool
fields_are_sized(const struct fields *f, bool to_head)
{
	return f->sized && !to_head && f->status != NO_CONTENT && f->status != NOT_MODIFIED;
}

enum message_sum
message_fault(const struct fg_l4_app *config, uint32_t wanted, const struct fields *f, bool sized)
{
	if (!status_is_good(config, f->status))
		return f->status >= 500 ? MESSAGE_5XX : f->status >= 400 ? MESSAGE_4XX : MESSAGE_OTHER;
	if (f->status != usual_status(config))
		return MESSAGE_UNKNOWN;
	return sized && !message_is_wanted(config, wanted, f->length) ? MESSAGE_LENGTH : MESSAGE_FINE;
}
