/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of fields (HPACK, RFC 7541). nghttp2 reads them. Its inflater holds the peer's table, so a
 * connection has one of its own only while that table has something in it; the others share a spare one,
 * which is told the size of their table. A block that is the same as the last one, and left no trace in a
 * table, says the same: it is not read at all.
 *
 * Ours have literals without indexing and entries of the static table only.
 */
#include <stdlib.h>
#include <strings.h>

#include "http2_priv.h"

enum { STATIC_ENTRIES = 61, INTEGER_MAX = 6 };
const char h2_dns_type[] = "application/dns-message";

/* --- the peer's table */

static bool
is_dns_type(struct text value)
{
	const size_t length = strlen(h2_dns_type);

	return value.length >= length && strncasecmp((const char *)value.at, h2_dns_type, length) == 0 &&
	       (value.length == length || value.at[length] == ';');
}

void
h2_fields_forget(struct http2 *a, struct h2_conn *c)
{
	fg_heap_give(c->path, &a->heap);
	c->path = NULL;
	c->path_bytes = 0;
	c->is_message = false;
}

/* what DNS over HTTPS needs of a request */
static void
keep_field(struct http2 *a, struct h2_conn *c, struct text name, struct text value)
{
	if (text_is(name, "content-type"))
		c->is_message = is_dns_type(value);
	if (!text_is(name, ":path"))
		return;
	h2_fields_forget(a, c);
	c->path = h2_more(a, NULL, value.length);
	c->path_bytes = c->path == NULL ? 0 : (uint32_t)value.length;
	if (c->path != NULL)
		memcpy(c->path, value.at, value.length);
}

static void
read_field(struct http2 *a, struct h2_conn *c, struct text name, struct text value)
{
	fields_read(&c->fields, name, value);
	if (h2_serves_dns(a))
		keep_field(a, c, name, value);
}

/* @param c  NULL: no fields are expected */
static bool
inflate(nghttp2_hd_inflater *inflater, struct http2 *a, struct h2_conn *c, const uint8_t *data,
	uint32_t length, bool last)
{
	int flags;

	for (;;) {
		nghttp2_nv field;
		ssize_t n;

		flags = 0;
		n = nghttp2_hd_inflate_hd2(inflater, &field, &flags, data, length, last);
		if (n < 0)
			return false;
		if (n > 0) /* an empty block is nowhere, and nothing is added to that */
			data += n;
		length -= (uint32_t)n;
		if (flags & NGHTTP2_HD_INFLATE_EMIT && c != NULL)
			read_field(a, c, (struct text){field.name, field.namelen},
				   (struct text){field.value, field.valuelen});
		if (flags & NGHTTP2_HD_INFLATE_FINAL)
			return nghttp2_hd_inflate_end_headers(inflater) == 0;
		if (!(flags & NGHTTP2_HD_INFLATE_EMIT) && length == 0)
			return !last;
	}
}

/* an inflater with an empty table is told how long that may get (RFC 7541, 6.3) */
static bool
resize(nghttp2_hd_inflater *inflater, uint16_t octets)
{
	uint8_t update[INTEGER_MAX];
	uint32_t n = 0, rest = octets;

	if (nghttp2_hd_inflate_get_max_dynamic_table_size(inflater) == octets)
		return true;
	update[n++] = (uint8_t)(0x20 | (octets < 31 ? octets : 31));
	if (octets >= 31) {
		for (rest -= 31; rest >= 128; rest >>= 7)
			update[n++] = (uint8_t)(0x80 | rest);
		update[n++] = (uint8_t)rest;
	}
	return inflate(inflater, NULL, NULL, update, n, true);
}

/* the connection's own, or the spare one, which is the connection's then */
static bool
take_inflater(struct http2 *a, struct h2_conn *c)
{
	if (c->inflater != NULL)
		return true;
	c->inflater = a->spare;
	a->spare = NULL;
	if (c->inflater == NULL && nghttp2_hd_inflate_new2(&c->inflater, &a->memory) != 0) {
		c->inflater = NULL;
		return false;
	}
	return resize(c->inflater, c->table);
}

/* @return whether the table is empty */
static bool
give_inflater(struct http2 *a, struct h2_conn *c)
{
	c->table = (uint16_t)nghttp2_hd_inflate_get_max_dynamic_table_size(c->inflater);
	if (nghttp2_hd_inflate_get_num_table_entries(c->inflater) > STATIC_ENTRIES)
		return false;
	if (a->spare == NULL)
		a->spare = c->inflater;
	else
		nghttp2_hd_inflate_del(c->inflater);
	c->inflater = NULL;
	return true;
}

void
h2_fields_free(nghttp2_hd_inflater **inflater)
{
	if (*inflater != NULL)
		nghttp2_hd_inflate_del(*inflater);
	*inflater = NULL;
}

bool
h2_fields_read(struct http2 *a, struct h2_conn *c, const uint8_t *data, uint32_t length, bool last)
{
	struct h2_seen *seen = &a->seen;
	/* an empty one may have no place, and of a query the path is read each time */
	bool whole = last && length > 0 && c->block == length && !h2_serves_dns(a);
	uint16_t table = c->table;

	if (whole && c->inflater == NULL && seen->octets == length && seen->table == table &&
	    memcmp(seen->text, data, length) == 0) {
		c->fields = seen->fields;
		return true;
	}
	if (!take_inflater(a, c) || !inflate(c->inflater, a, c, data, length, last))
		return false;
	if (last && give_inflater(a, c) && whole && c->table == table && length <= sizeof(seen->text)) {
		seen->fields = c->fields;
		seen->octets = length;
		seen->table = table;
		memcpy(seen->text, data, length);
	}
	return true;
}

/* --- ours */

uint8_t *
h2_put_header(uint8_t *to, uint32_t octets, uint8_t type, uint8_t flags, uint32_t id)
{
	put_number(to, octets, 3);
	to[3] = type;
	to[4] = flags;
	put_number(to + 5, id, 4);
	return to + H2_HEADER;
}

/* a field with a name of the static table, never to be indexed (RFC 7541, 6.2.2) */
uint8_t *
h2_put_field(uint8_t *to, uint8_t name, const char *value, size_t length)
{
	size_t rest = length;

	*to++ = name < 15 ? name : 15;
	if (name >= 15)
		*to++ = (uint8_t)(name - 15);
	*to++ = (uint8_t)(length < 127 ? length : 127);
	if (length >= 127) {
		for (rest -= 127; rest >= 128; rest >>= 7)
			*to++ = (uint8_t)(0x80 | rest);
		*to++ = (uint8_t)rest;
	}
	memcpy(to, value, length);
	return to + length;
}

static uint8_t *
put_length(uint8_t *to, uint32_t length)
{
	char digits[10];
	unsigned at = sizeof(digits);

	do
		digits[--at] = (char)('0' + length % 10);
	while ((length /= 10) > 0);
	return h2_put_field(to, 28, digits + at, sizeof(digits) - at);
}

uint32_t
h2_write_request(const struct fg_l4_app *config, const char *path, uint8_t *to)
{
	uint8_t *p = to;

	if (config->head)
		p = h2_put_field(p, 2, "HEAD", 4);
	else
		*p++ = config->request > 0 ? 0x83 : 0x82; /* POST, GET */
	*p++ = config->tls != NULL ? 0x87 : 0x86;         /* https, http */
	p = h2_put_field(p, 4, path, strlen(path));
	p = h2_put_field(p, 1, config->host, strlen(config->host));
	p = h2_put_field(p, 58, "framegauge", 10);
	p = h2_put_field(p, 19, "*/*", 3);
	if (config->request > 0)
		p = put_length(p, config->request);
	return (uint32_t)(p - to);
}

uint32_t
h2_write_response(uint32_t id, uint32_t length, bool ends, uint8_t what, uint8_t to[H2_RESPONSE_MAX])
{
	uint8_t *p = to + H2_HEADER;

	if (what == H2_UNSUPPORTED)
		p = h2_put_field(p, 8, "415", 3);
	else
		*p++ = what == H2_BAD_REQUEST ? 0x8c : what == H2_NOT_FOUND ? 0x8d : 0x88; /* 400, 404, 200 */
	p = h2_put_field(p, 54, "framegauge", 10);
	if (what == H2_DNS)
		p = h2_put_field(p, 31, h2_dns_type, strlen(h2_dns_type));
	else
		p = h2_put_field(p, 31, "application/octet-stream", 24);
	p = put_length(p, length);
	h2_put_header(to, (uint32_t)(p - to) - H2_HEADER, H2_HEADERS,
		      H2_END_HEADERS | (ends ? H2_END_STREAM : 0), id);
	return (uint32_t)(p - to);
}
