/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kind HTTP, and PAGE, whose server is the same. All heads that one side sends have the same length, so
 * where a byte of the stream belongs follows from its position: on the client's side because all requests
 * are as long, on the server's because only one response is under way at a time.
 */
#include "http_priv.h"

/* by enum http_sum */
#define OWN_SUMS                                                                \
	{                                                                       \
		"http_4xx", "http_5xx", "http_other", "http_length", "http_cut" \
	}

static const struct app_kind http = {
	"HTTP",
	.streams = true,
	.resets_at_once = true,
	.secures = true,
	.size = sizeof(struct http),
	.client = &http_client_ops,
	.server = &http_server_ops,
	.own = OWN_SUMS,
	.octets = http_octets,
	.create = http_create,
	.free = http_free,
	.waits = http_waits,
};

static const struct app_kind page = {
	"PAGE",
	.streams = true,
	.resets_at_once = true,
	.secures = true,
	.pages = true,
	.size = sizeof(struct http_page),
	.client = &http_page_ops,
	.server = &http_server_ops,
	.own = OWN_SUMS,
	.check = http_page_check,
	.create = http_page_create,
	.free = http_page_free,
	.waits = http_page_waits,
};

const struct app_kind *const app_kinds_of_http[] = {&http, &page, NULL};
