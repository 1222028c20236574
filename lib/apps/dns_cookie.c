/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DNS cookies (RFC 7873): a client sends 8 bytes of its own, a server sends them back with bytes behind
 * them that the client sends from then on. Our server makes them as RFC 9018 has it: version, time and a
 * keyed hash of these, the client's bytes and its address, so nothing is kept of a client, and every lcore
 * that has the key knows them.
 */
#include "dns_message_priv.h"
#include "fg_siphash.h"

enum {
	HASHED = DNS_COOKIE_CLIENT + 8, /* bytes of a cookie before its hash */
	LEAST = 16,                     /* of a cookie with a server's part */
	VERSION = 1,
	AT_VERSION = DNS_COOKIE_CLIENT,
	AT_TIME = DNS_COOKIE_CLIENT + 4,
};
enum { SECOND_WORD = 1 };                         /* of a key: which output of the secret's generator */
enum { TOO_OLD = 3600, OLD = 1800, AHEAD = 300 }; /* seconds: RFC 9018, 4.3 */

static void
put_hash(const uint64_t key[2], const uint8_t cookie[HASHED], const struct fg_flow *flow, uint8_t *to)
{
	uint8_t data[HASHED + sizeof(flow->remote)];
	uint32_t address = flow->ipv6 ? 16 : 4;
	uint64_t hash;

	memcpy(data, cookie, HASHED);
	memcpy(data + HASHED, flow->remote + sizeof(flow->remote) - address, address);
	hash = fg_siphash(key, data, HASHED + address);
	for (unsigned i = 0; i < sizeof(hash); i++)
		to[i] = (uint8_t)(hash >> (8 * i));
}

/* is this one of ours? *age: seconds */
static bool
is_ours(const uint64_t key[2], const struct dns_query *q, const struct fg_flow *flow, uint32_t now,
	int32_t *age)
{
	uint8_t hash[DNS_COOKIE - HASHED];

	if (q->cookie_bytes != DNS_COOKIE || q->cookie[AT_VERSION] != VERSION)
		return false;
	*age = (int32_t)(now - fg_get32(q->cookie + AT_TIME)); /* RFC 1982 */
	put_hash(key, q->cookie, flow, hash);
	return *age <= TOO_OLD && *age >= -AHEAD && memcmp(hash, q->cookie + HASHED, sizeof(hash)) == 0;
}

int
dns_cookie_answer(const uint64_t key[2], uint32_t now, const struct fg_flow *flow, int rcode,
		  struct dns_query *q)
{
	int32_t age = 0;
	bool ours;

	if (q->cookie == NULL)
		return rcode;
	if (q->cookie_bytes != DNS_COOKIE_CLIENT &&
	    (q->cookie_bytes < LEAST || q->cookie_bytes > DNS_COOKIE_MAX))
		return DNS_FORMERR;
	ours = is_ours(key, q, flow, now, &age);
	q->answers_cookie = true;
	memset(q->answer_cookie, 0, DNS_COOKIE);
	memcpy(q->answer_cookie, q->cookie, ours && age < OLD ? DNS_COOKIE : DNS_COOKIE_CLIENT);
	if (!ours || age >= OLD) {
		q->answer_cookie[AT_VERSION] = VERSION;
		fg_put32(q->answer_cookie + AT_TIME, now);
		put_hash(key, q->answer_cookie, flow, q->answer_cookie + HASHED);
	}
	if (q->empty) /* a client that asks for a cookie only: RFC 7873, 5.4 */
		return ours || q->cookie_bytes == DNS_COOKIE_CLIENT ? DNS_NOERROR : DNS_BADCOOKIE;
	return ours || rcode != DNS_NOERROR ? rcode : DNS_BADCOOKIE;
}

int
dns_cookie_serve(const struct fg_l4 *w, const struct fg_l4_dns *zone, const struct fg_flow *flow,
		 bool datagram, int rcode, struct dns_query *q)
{
	uint64_t secret = w->config.secret != 0 ? w->config.secret : w->config.seed;
	const uint64_t key[2] = {fg_random_mix(secret), fg_random_at(secret, SECOND_WORD)};
	int answer;

	if (!zone->cookies || rcode == DNS_DROP)
		return rcode;
	answer = dns_cookie_answer(key, (uint32_t)(w->config.epoch_s + w->now / 1000000000), flow, rcode, q);
	return answer != DNS_BADCOOKIE || q->empty || (zone->cookies_required && datagram) ? answer : rcode;
}

bool
dns_cookie_take(const struct dns_query *answer, uint8_t cookie[DNS_COOKIE_MAX], uint32_t *bytes)
{
	if (answer->cookie == NULL)
		return *bytes == DNS_COOKIE_CLIENT; /* this server has no cookies, so far */
	if (answer->cookie_bytes < LEAST || answer->cookie_bytes > DNS_COOKIE_MAX ||
	    memcmp(answer->cookie, cookie, DNS_COOKIE_CLIENT) != 0)
		return false;
	memcpy(cookie, answer->cookie, answer->cookie_bytes);
	*bytes = answer->cookie_bytes;
	return true;
}

uint32_t
dns_cookie_put(uint8_t *opt_end, const uint8_t *cookie, uint32_t bytes)
{
	fg_put16(opt_end - 2, (uint16_t)(DNS_OPTION + bytes));
	fg_put16(opt_end, DNS_OPTION_COOKIE);
	fg_put16(opt_end + 2, (uint16_t)bytes);
	memcpy(opt_end + DNS_OPTION, cookie, bytes);
	return DNS_OPTION + bytes;
}
