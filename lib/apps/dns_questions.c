/* SPDX-License-Identifier: BSD-3-Clause */
/* The queries of a client, made once: what is sent is a copy with an id of its own. */
#include <errno.h>
#include <stdlib.h>

#include "dns_message_priv.h"

enum { LABEL_MAX = 63, QUERY_MAX = DNS_HEADER + DNS_NAME_MAX + 4 + DNS_OPT };

static const struct {
	const char *name;
	uint16_t number;
} types[] = {
	{"A", DNS_A},     {"NS", 2},          {"CNAME", 5}, {"SOA", 6},    {"PTR", 12},      {"MX", 15},
	{"TXT", DNS_TXT}, {"AAAA", DNS_AAAA}, {"SRV", 33},  {"HTTPS", 65}, {"ANY", DNS_ANY},
};

/* its number; 0: no such type */
static uint16_t
type_of(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == length && strncmp(types[i].name, text, length) == 0)
			return types[i].number;
	return 0;
}

/* a name in text as labels; @return its bytes, 0: not a name */
static uint32_t
put_name(const char *text, size_t length, uint8_t *to)
{
	uint32_t at = 0;

	if (length > 0 && text[length - 1] == '.')
		length--;
	while (length > 0) {
		const char *dot = memchr(text, '.', length);
		size_t label = dot == NULL ? length : (size_t)(dot - text);

		if (label == 0 || label > LABEL_MAX || at + label + 2 > DNS_NAME_MAX || label + 1 == length)
			return 0;
		to[at++] = (uint8_t)label;
		memcpy(to + at, text, label);
		at += (uint32_t)label;
		text += label + (dot != NULL);
		length -= label + (dot != NULL);
	}
	to[at++] = 0;
	return at;
}

/* @return the query's bytes, 0: the line is not a query */
static uint32_t
put_query(const struct fg_l4_dns *config, const char *line, size_t length, uint8_t *to)
{
	const char *blank = memchr(line, ' ', length);
	uint16_t type = blank == NULL ? 0 : type_of(blank + 1, length - (size_t)(blank + 1 - line));
	uint32_t name = type == 0 ? 0 : put_name(line, (size_t)(blank - line), to + DNS_HEADER);
	uint32_t at = DNS_HEADER + name;

	if (name == 0)
		return 0;
	memset(to, 0, DNS_HEADER);
	fg_put16(to + 2, config->recursion ? DNS_RD : 0);
	fg_put16(to + 4, 1);
	fg_put16(to + 10, config->udp_size > 0);
	fg_put16(to + at, type);
	fg_put16(to + at + 2, DNS_IN);
	at += 4;
	if (config->udp_size > 0) {
		dns_put_opt(to + at, config->udp_size, DNS_NOERROR, config->dnssec);
		at += DNS_OPT;
	}
	return at;
}

static uint32_t
count_lines(const char *text)
{
	uint32_t n = 0;

	for (; text != NULL && *text != '\0'; n++) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return n;
}

int
dns_questions_make(const struct fg_l4_dns *config, struct dns_questions *out, struct fg_error *err)
{
	const char *line = config->questions;
	uint32_t n = count_lines(line), at = 0;
	size_t fixed = DNS_HEADER + 2 + 4 + DNS_OPT; /* of a query, without its name in text */

	*out = (struct dns_questions){.n = n};
	if (n == 0)
		return fg_error_set(err, EINVAL, "l4.dns", "no questions");
	out->at = calloc(n + 1UL, sizeof(*out->at));
	out->data = malloc(strlen(line) + n * fixed + QUERY_MAX);
	if (out->at == NULL || out->data == NULL)
		return fg_error_set(err, ENOMEM, "l4.dns", "no memory for %u questions", n);
	for (uint32_t i = 0; i < n; i++) {
		size_t length = strcspn(line, "\n");
		uint32_t bytes = put_query(config, line, length, out->data + at);

		if (bytes == 0)
			return fg_error_set(
				err, EINVAL, "l4.dns",
				"question %u, '%.*s': expected a name and a type, as in h1.fg.test A", i + 1,
				(int)(length > 80 ? 80 : length), line);
		at += bytes;
		out->at[i + 1] = at;
		line += length + (line[length] == '\n');
	}
	return 0;
}

void
dns_questions_free(struct dns_questions *q)
{
	free(q->at);
	free(q->data);
}

/* where a query stands in a stream that begins with the first of all */
static uint64_t
begin_at(const struct dns_questions *q, uint32_t i)
{
	return q->at[i] + (uint64_t)DNS_PREFIX * i;
}

/* which query has this byte of such a stream */
static uint32_t
question_at(const struct dns_questions *q, uint64_t at)
{
	uint32_t low = 0, high = q->n;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		*(begin_at(q, middle) <= at ? &low : &high) = middle;
	}
	return low;
}

void
dns_questions_fill(const struct dns_questions *q, uint32_t first, uint16_t salt, uint64_t offset, uint8_t *to,
		   uint32_t length)
{
	uint64_t from = begin_at(q, first) + offset, all = begin_at(q, q->n), at = from % all;
	uint32_t i = question_at(q, at), n;
	uint16_t id = (uint16_t)(salt + from / all * q->n + i - first);
	uint8_t begin[DNS_PREFIX + 2]; /* length and id */

	for (; length > 0; to += n, length -= n) {
		uint32_t bytes = q->at[i + 1] - q->at[i], within = (uint32_t)(at - begin_at(q, i));

		if (within < sizeof(begin)) {
			fg_put16(begin, (uint16_t)bytes);
			fg_put16(begin + DNS_PREFIX, id);
			n = fg_u32_min(length, (uint32_t)sizeof(begin) - within);
			memcpy(to, begin + within, n);
		} else {
			n = fg_u32_min(length, DNS_PREFIX + bytes - within);
			memcpy(to, q->data + q->at[i] + within - DNS_PREFIX, n);
		}
		at += n;
		if (at == begin_at(q, i + 1)) {
			i = i + 1 == q->n ? 0 : i + 1;
			at = begin_at(q, i);
			id++;
		}
	}
}
