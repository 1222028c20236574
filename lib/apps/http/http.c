/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kind HTTP. All heads that one side sends have the same length, so where an octet of the stream belongs
 * follows from its position: on the client's side because all requests are alike, on the server's because
 * only one response is under way at a time.
 */
#include <stdlib.h>

#include "http_priv.h"

static void
http_free(struct application *a)
{
	free(((struct http *)a)->request);
	free(((struct http *)a)->last);
}

static const struct app_kind http = {
	"HTTP",
	.streams = true,
	.size = sizeof(struct http),
	.client = &http_client_ops,
	.server = &http_server_ops,
	.own = {[HTTP_4XX] = "http_4xx",
		[HTTP_5XX] = "http_5xx",
		[HTTP_OTHER] = "http_other",
		[HTTP_LENGTH] = "http_length",
		[HTTP_CUT] = "http_cut"},
	.create = http_create,
	.free = http_free,
};

const struct app_kind *const app_kinds_of_http[] = {&http, NULL};
