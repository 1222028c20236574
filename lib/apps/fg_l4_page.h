/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_l4_app.h"

__BEGIN_DECLS

/*
 * Pages, for clients of the kinds PAGE (HTTP/1.1), HTTP2 and HTTP3: objects; some of them are not requested
 * before another one has come. A page is loaded again and again, each time on connections of its own:
 * fg_l4_app.connections pages at a time. Object number i with its bytes is requested as /octets/ and ten
 * digits.
 *
 * A page begins with its first SYN or Initial, and ends with the last byte of its last object. What fails of
 * it lets all of it fail: that page is counted, and no figure is of it.
 */

enum { FG_L4_OBJECTS_MAX = 500, FG_L4_PAGE_CONNECTIONS_MAX = 32 };

struct fg_l4_object {
	uint32_t octets;
	uint32_t after;    /* it waits for the object of that number, from 1 on; 0: for nothing */
	uint64_t think_ns; /* and then for so long */
};

/** Needed until fg_l4_create() returns. Its first object, which waits for nothing, is the document. */
struct fg_l4_page {
	const struct fg_l4_object *object;
	uint32_t objects;
	uint32_t connections; /* PAGE: at a time for one page */
};

/** What happened to an object, ns since its page was begun. */
struct fg_l4_moments {
	uint64_t ready; /* it waited for nothing any more but a connection or a stream */
	uint64_t asked;
	uint64_t first_octet; /* of the response; HTTP2, HTTP3: its head was whole */
	uint64_t over;        /* the last one */
	uint32_t connection;  /* PAGE: which one of the page's, from 1 on */
};

/**
 * The objects of the first page that application @p app loaded in the time that is measured.
 * @return how many there are, 0: no page was; at most @p max are written
 */
unsigned fg_l4_page_moments(const struct fg_l4 *l4, unsigned app, struct fg_l4_moments *out, unsigned max);

__END_DECLS
