/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DNS over HTTPS (RFC 8484): HTTP/2 whose requests are queries, in the path of GET or as the body of POST,
 * and whose bodies are messages of DNS. What is sent has to be there until it is acknowledged, so the spans
 * of the outbox own the parts of an answer; queries and heads are made anew.
 */
#include <errno.h>
#include <stdlib.h>

#include "../dns_message_priv.h"
#include "http2_priv.h"

enum {
	NAMES_MAX = 400 /* bytes of path and host */,
	TYPE_FIELD = 31,
	SHARE = 1 << 18 /* bytes of a server's memory for each connection */,
	SHARES = 4096 /* and for how many connections at most */,
	SUMS = MESSAGE_FINE /* behind HTTP's */
};

struct doh {
	struct fg_l4_dns config;
	struct dns_questions questions; /* client */
	uint64_t asked;
	char *path, *host;
	uint8_t *made; /* an answer of ours, or the one that is expected */
};

int
doh_check(const struct fg_l4_app *config, struct fg_error *err)
{
	if (config->dns == NULL || config->path == NULL ||
	    strlen(config->path) + (config->server ? 0 : strlen(config->host)) > NAMES_MAX)
		return fg_error_set(err, EINVAL, "l4.dns",
				    "DNS over HTTPS needs questions and a path of at most %d bytes",
				    NAMES_MAX);
	return 0;
}

int
doh_create(struct http2 *a, struct fg_error *err)
{
	struct fg_l4_app *config = &a->app.config;
	struct doh *d = calloc(1, sizeof(*d));

	a->doh = d;
	if (d == NULL)
		return fg_error_set(err, ENOMEM, "l4.dns", "no memory");
	d->config = *config->dns;
	/* a client has asked for its answers; one connection of a server may use all its streams */
	a->most = config->server ? (uint64_t)SHARE * fg_u32_min(a->app.room, SHARES) +
					   (uint64_t)a->streams * DNS_MESSAGE_MAX
				 : UINT64_MAX;
	d->path = strdup(config->path);
	d->host = strdup(config->server ? "" : config->host);
	d->made = malloc(DNS_MESSAGE_MAX);
	if (d->path == NULL || d->host == NULL || d->made == NULL)
		return fg_error_set(err, ENOMEM, "l4.dns", "no memory");
	config->any_body = true; /* judged as an answer */
	return config->server ? 0 : dns_questions_make(&d->config, &d->questions, err);
}

void
doh_free(struct http2 *a)
{
	if (a->doh == NULL)
		return;
	dns_questions_free(&a->doh->questions);
	free(a->doh->path);
	free(a->doh->host);
	free(a->doh->made);
	free(a->doh);
}

/* --- base64url without padding (RFC 4648, 5) */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *
encode(char *to, const uint8_t *data, uint32_t length)
{
	for (uint32_t at = 0; at < length; at += 3) {
		uint32_t n = fg_u32_min(length - at, 3), three = (uint32_t)data[at] << 16;

		three |= n > 1 ? (uint32_t)data[at + 1] << 8 : 0;
		three |= n > 2 ? data[at + 2] : 0;
		for (uint32_t i = 0; i <= n; i++)
			*to++ = digits[three >> (18 - 6 * i) & 63];
	}
	return to;
}

/* @return bytes; 0: something else stands there, or a digit is missing or left over */
static uint32_t
decode(uint8_t *to, const uint8_t *text, size_t length)
{
	uint32_t bits = 0, n = 0, bytes = 0;

	for (size_t i = 0; i < length && length % 4 != 1; i++) {
		const char *digit = text[i] == 0 ? NULL : strchr(digits, text[i]);

		if (digit == NULL)
			return 0;
		bits = bits << 6 | (uint32_t)(digit - digits);
		n += 6;
		if (n >= 8) {
			n -= 8;
			to[bytes++] = (uint8_t)(bits >> n);
		}
	}
	return bytes;
}

/* there is no room for a message: a server refuses the request, and the client may send it again */
static void
starve(struct fg_l4 *w, struct h2_exchange *x)
{
	w->counters.held_refused++;
	x->response = H2_NO_ROOM;
}

/* --- the client */

void
doh_ask(struct http2 *a, struct h2_exchange *x)
{
	struct doh *d = a->doh;

	a->app.base.tally.own[SUMS + DNS_SUM_QUERIES]++;
	x->object = (uint32_t)(d->asked++ % d->questions.n);
	if (d->config.post)
		x->message = dns_question(&d->questions, x->object, &x->body);
	x->left = x->body;
}

uint32_t
doh_write_head(const struct http2 *a, uint32_t id, uint32_t question, uint8_t to[DOH_HEAD_MAX])
{
	const struct doh *d = a->doh;
	struct fg_l4_app config = a->app.config;
	char path[DOH_HEAD_MAX], *end = path + strlen(d->path);
	uint32_t bytes, n;
	const uint8_t *query = dns_question(&d->questions, question, &bytes);

	memcpy(path, d->path, strlen(d->path));
	if (!d->config.post)
		end = encode(stpcpy(end, "?dns="), query, bytes);
	*end = '\0';
	config.host = d->host;
	config.request = d->config.post ? bytes : 0;
	n = h2_write_request(&config, path, to + H2_HEADER);
	if (d->config.post)
		n = (uint32_t)(h2_put_field(to + H2_HEADER + n, TYPE_FIELD, h2_dns_type,
					    strlen(h2_dns_type)) -
			       (to + H2_HEADER));
	h2_put_header(to, n, H2_HEADERS, H2_END_HEADERS | (d->config.post ? 0 : H2_END_STREAM), id);
	return H2_HEADER + n;
}

bool
doh_is_answer(struct fg_l4 *w, struct http2 *a, const struct h2_exchange *x)
{
	struct doh *d = a->doh;
	struct fg_l4_tally *t = &a->app.base.tally;
	uint32_t bytes;
	const uint8_t *query = dns_question(&d->questions, x->object, &bytes);
	const struct dns_judge judge = {&d->config, d->made, t, &t->own[SUMS]};
	bool is_answer = false;

	if (x->came_bytes < DNS_HEADER || (fg_get16(x->came + 2) & DNS_QR) == 0)
		t->own[SUMS + DNS_SUM_MALFORMED]++;
	else if (fg_get16(x->came) != fg_get16(query))
		t->own[SUMS + DNS_SUM_UNEXPECTED]++;
	else
		is_answer = dns_is_answer(w, &judge, query, bytes, x->came, x->came_bytes, DNS_MESSAGE_MAX);
	if (!is_answer) {
		t->refused++;
		return false;
	}
	return dns_is_well_formed(x->came, x->came_bytes);
}

/* --- the server */

/* what stands behind "dns=" in the path; its length is 0: nothing */
static struct text
query_in(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *last;

	for (; at != NULL && end - at > 4; at = at == NULL ? NULL : at + 1) {
		last = memchr(at, '&', (size_t)(end - at));
		if (memcmp(at, "dns=", 4) == 0)
			return (struct text){at + 4, (size_t)((last == NULL ? end : last) - at) - 4};
		at = last;
	}
	return (struct text){NULL, 0};
}

void
doh_begin(struct fg_l4 *w, struct http2 *a, const struct h2_conn *c, struct h2_exchange *x)
{
	const uint8_t *end = c->path + c->path_bytes, *mark = NULL;
	size_t length = strlen(a->doh->path);
	struct text query = {NULL, 0};

	x->response = H2_NOT_FOUND;
	if (c->path_bytes >= length && memcmp(c->path, a->doh->path, length) == 0) {
		mark = c->path + length;
		x->response = mark == end || *mark == '?' ? H2_DNS : H2_NOT_FOUND;
	}
	if (x->response == H2_DNS && x->is_post && !c->is_message)
		x->response = H2_UNSUPPORTED;
	if (x->response == H2_DNS && !x->is_post && mark < end)
		query = query_in(mark + 1, end);
	if (query.length > 0 && (x->came = h2_more(a, NULL, query.length)) != NULL)
		x->came_bytes = decode(x->came, query.at, query.length);
	if (c->path == NULL || (query.length > 0 && x->came == NULL))
		starve(w, x);
}

bool
doh_answer(struct fg_l4 *w, struct http2 *a, struct h2_exchange *x)
{
	struct doh *d = a->doh;
	struct dns_query query;
	int rcode = dns_read_query(x->came, x->came_bytes, &query);
	uint32_t bytes;
	uint8_t *own;

	if (x->response == H2_DNS && (rcode == DNS_DROP || x->unwanted))
		x->response = H2_BAD_REQUEST;
	if (x->response != H2_DNS)
		return x->response != H2_NO_ROOM;
	bytes = dns_answer(&d->config, &query, rcode, d->made, DNS_MESSAGE_MAX);
	own = h2_more(a, NULL, bytes);
	if (own == NULL) {
		w->counters.no_spans++;
		return false;
	}
	memcpy(own, d->made, bytes);
	x->message = x->own = own;
	x->body = bytes;
	a->app.base.tally.own[SUMS + dns_sum_of(d->made[3] & 0xf)]++;
	return true;
}

/* --- both */

enum message_sum
doh_take(struct fg_l4 *w, struct http2 *a, struct h2_exchange *x, const uint8_t *data, uint32_t length)
{
	uint8_t *came;

	if (length == 0 || (h2_serves_dns(a) && (!x->is_post || x->response != H2_DNS)))
		return MESSAGE_FINE;
	if (x->came_bytes + length > DNS_MESSAGE_MAX) {
		doh_give(a, x);
		return MESSAGE_LENGTH;
	}
	came = h2_more(a, x->came, x->came_bytes + length);
	if (came == NULL) {
		starve(w, x);
		doh_give(a, x);
		return MESSAGE_CUT;
	}
	memcpy(came + x->came_bytes, data, length);
	x->came = came;
	x->came_bytes += length;
	return MESSAGE_FINE;
}

bool
doh_piece(struct http2 *a, const struct h2_exchange *x, struct h2_span *span, uint32_t data)
{
	const uint8_t *from = x->message + (x->body - x->left);

	if (a->role->is_client) {
		span->text = from;
		return true;
	}
	span->own = fg_heap_take(data, &a->heap);
	if (span->own != NULL)
		memcpy(span->own, from, data);
	span->text = span->own;
	return span->own != NULL;
}

void
doh_give(struct http2 *a, struct h2_exchange *x)
{
	fg_heap_give(x->came, &a->heap);
	fg_heap_give(x->own, &a->heap);
	x->came = x->own = NULL;
	x->came_bytes = 0;
}
