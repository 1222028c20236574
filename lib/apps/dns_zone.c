/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What our server answers. It follows from the question alone, so every process that knows this file knows
 * it: addresses of the networks for benchmarks (198.18.0.0/15, 2001:2::/48) by a hash of the name, text of a
 * given length, and for a share of the names that there is no such name. Of other types there are no records.
 */
#include "dns_message_priv.h"

enum { POINTER_TO_QUESTION = 0xc000 | DNS_HEADER, RECORD = 12 /* bytes before its data */, STRING_MAX = 255 };

static const uint8_t any[] = {7, 'R', 'F', 'C', '8', '4', '8', '2', 0}; /* RFC 8482, 4.2 */

/* FNV-1a, without regard to case */
static uint64_t
hash_of(const uint8_t *name, uint32_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (uint32_t i = 0; i < bytes; i++) {
		hash ^= name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i];
		hash *= 0x100000001b3;
	}
	return hash;
}

/* bytes of the data of a record of our server; 0: it has none of this type */
static uint32_t
data_bytes(const struct fg_l4_dns *zone, uint16_t type)
{
	switch (type) {
	case DNS_A:
		return 4;
	case DNS_AAAA:
		return 16;
	case DNS_TXT:
		return zone->text == 0 ? 1 : zone->text + (zone->text + STRING_MAX - 1) / STRING_MAX;
	case DNS_ANY:
		return sizeof(any);
	default:
		return 0;
	}
}

static void
put_text(uint64_t hash, uint8_t *to, uint32_t bytes)
{
	while (bytes > 0) {
		uint32_t string = fg_u32_min(bytes - 1, STRING_MAX);

		*to++ = (uint8_t)string;
		for (uint32_t i = 0; i < string; i++)
			*to++ = (uint8_t)('a' + (hash + i) % 26);
		bytes -= string + 1;
	}
}

static void
put_data(uint16_t type, uint64_t hash, uint32_t i, uint8_t *to, uint32_t bytes)
{
	static const uint8_t network[] = {0x20, 0x01, 0x00, 0x02, 0, 0, 0, 0};

	if (type == DNS_A) {
		put_number(to, 198UL << 24 | 18UL << 16 | ((hash + i) & 0x1ffff), 4);
	} else if (type == DNS_AAAA) {
		memcpy(to, network, sizeof(network));
		fg_put64(to + sizeof(network), hash + i);
	} else if (type == DNS_TXT) {
		put_text(hash + i, to, bytes);
	} else {
		memcpy(to, any, sizeof(any));
	}
}

static uint32_t
put_record(const struct fg_l4_dns *zone, uint16_t type, uint64_t hash, uint32_t i, uint8_t *to)
{
	uint32_t bytes = data_bytes(zone, type);

	fg_put16(to, POINTER_TO_QUESTION);
	fg_put16(to + 2, type == DNS_ANY ? DNS_HINFO : type);
	fg_put16(to + 4, DNS_IN);
	put_number(to + 6, zone->ttl, 4);
	fg_put16(to + 10, (uint16_t)bytes);
	put_data(type, hash, i, to + RECORD, bytes);
	return RECORD + bytes;
}

/* is this the name of the zone, or one below? */
static bool
is_in_zone(const struct fg_l4_dns *zone, const uint8_t *name, uint32_t bytes)
{
	while (bytes > zone->zone_bytes && *name != 0) {
		bytes -= 1U + *name;
		name += 1U + *name;
	}
	return bytes == zone->zone_bytes && dns_same_name(name, zone->zone, bytes);
}

uint32_t
dns_answer(const struct fg_l4_dns *zone, const struct dns_query *query, int rcode, uint8_t *to, uint32_t room)
{
	uint64_t hash = hash_of(query->question, query->name_bytes);
	uint32_t bytes = data_bytes(zone, query->type), at = DNS_HEADER + query->question_bytes;
	uint32_t n = query->type == DNS_ANY ? 1 : zone->answers;
	uint16_t flags = DNS_QR | (query->flags & (DNS_OPCODE | DNS_RD | DNS_CD));
	uint32_t cookie = query->answers_cookie ? DNS_OPTION + DNS_COOKIE : 0;

	if (rcode == DNS_NOERROR && !query->empty && zone->zone_bytes > 0 &&
	    !is_in_zone(zone, query->question, query->name_bytes))
		rcode = DNS_REFUSED;
	if (rcode == DNS_NOERROR && !query->empty && (hash >> 32) % 1000000 < zone->nxdomain_ppm)
		rcode = DNS_NXDOMAIN;
	n = rcode == DNS_NOERROR && bytes > 0 ? n : 0;
	if (rcode == DNS_NOERROR || rcode == DNS_NXDOMAIN)
		flags |= DNS_AA;
	if (at + n * (RECORD + bytes) + (query->edns ? DNS_OPT : 0) + cookie > room) {
		flags |= DNS_TC;
		n = 0;
	}
	memset(to, 0, DNS_HEADER);
	fg_put16(to, query->id);
	fg_put16(to + 2, (uint16_t)(flags | (rcode & 0xf)));
	fg_put16(to + 4, query->question_bytes > 0);
	fg_put16(to + 6, (uint16_t)n);
	fg_put16(to + 10, query->edns);
	if (query->question_bytes > 0)
		memcpy(to + DNS_HEADER, query->question, query->question_bytes);
	for (uint32_t i = 0; i < n; i++)
		at += put_record(zone, query->type, hash, i, to + at);
	if (query->edns) {
		dns_put_opt(to + at, zone->udp_size, rcode, query->dnssec);
		at += DNS_OPT;
	}
	if (query->answers_cookie)
		at += dns_cookie_put(to + at, query->answer_cookie, DNS_COOKIE);
	return at;
}
