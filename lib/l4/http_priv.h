/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HTTP_PRIV_H
#define HTTP_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define HTTP_NUMBER_MAX 4000000000U

enum { HTTP_BODY = 0x80 /* state: the head is over */ };

/** What is known of the head that is being read. Zeroed: nothing yet. */
struct http_head {
	uint32_t number; /* in the second word of the first line: status, or what the path asks for */
	uint32_t length; /* Content-Length */
	uint8_t state;
	bool post; /* of a request: with a body; head: without one in the answer */
	bool head;
	bool close; /* the connection ends with this message */
};

/** Read on. @return octets that belong to the head: all, unless the state is HTTP_BODY now */
uint32_t http_read(struct http_head *h, const uint8_t *data, uint32_t length);

#endif
