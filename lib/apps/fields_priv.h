/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What HTTP/2 and HTTP/3 have in common: fields of a message, one after the other, whichever way they were
 * compressed, and what is wrong with a response. No state.
 */
#pragma once

#include "app_priv.h"

/** What the fields of a head, or of trailers, say; zeroed at their begin. */
struct fields {
	uint64_t length;         /* Content-Length */
	uint32_t status, number; /* of a response; at the end of a request's path */
	uint8_t pseudo;          /* which pseudo-fields there were: bits of fields.c */
	bool sized, post, head, regular, malformed;
};

struct text {
	const uint8_t *at;
	size_t length;
};

static inline bool
text_is(struct text t, const char *what)
{
	return t.length == strlen(what) && memcmp(t.at, what, t.length) == 0;
}

void fields_read(struct fields *f, struct text name, struct text value);
/** Is it the head of a response, or of a request, as it has to be? */
bool fields_are_head(const struct fields *f, bool of_response);
/** Of a response: does the client go on waiting for another one (RFC 9110, 15.2)? */
bool fields_are_interim(const struct fields *f);
/** Is Content-Length the length of what follows (RFC 9110, 8.6)? @p to_head: the request was HEAD */
bool fields_are_sized(const struct fields *f, bool to_head);

/** tally.own: what was wrong with responses, and with connections. */
enum message_sum {
	MESSAGE_4XX,
	MESSAGE_5XX,
	MESSAGE_OTHER,
	MESSAGE_LENGTH,
	MESSAGE_CUT,
	MESSAGE_RESET,     /* by the peer */
	MESSAGE_MALFORMED, /* RFC 9113, 8.1.1; RFC 9114, 4.1.2 */
	MESSAGE_FAULTY,    /* connections that we ended with an error */
	MESSAGE_AWAY,      /* connections that the peer ended by GOAWAY */
	MESSAGE_FINE,
	MESSAGE_UNKNOWN, /* fine, too, but of another body than ours */
};

/** What such a kind calls them: struct app_kind.own. */
#define MESSAGE_SUMS                                                                             \
	{                                                                                        \
		"http_4xx", "http_5xx", "http_other", "http_length", "http_cut", "stream_reset", \
			"malformed", "connection_error", "goaway"                                \
	}

/** Has a body the requested length, which is @p wanted? */
static inline bool
message_is_wanted(const struct fg_l4_app *config, uint32_t wanted, uint64_t length)
{
	return config->any_body || config->head || length == wanted;
}

/** What is wrong with a response by its head. @p sized: Content-Length fits the body */
enum message_sum message_fault(const struct fg_l4_app *config, uint32_t wanted, const struct fields *f,
			       bool sized);
