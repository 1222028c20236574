/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in a message: see dns_message_priv.h. Nothing beyond its end is read, whatever stands in it. */
#include "dns_message_priv.h"

enum { LABEL_KIND = 0xc0, POINTER = 0xc0, POINTERS_MAX = 16, RECORD_FIXED = 10, DO = 0x8000 };

uint32_t
dns_name(const uint8_t *data, uint32_t length, uint32_t at)
{
	uint32_t from = at;

	while (at < length && at - from < DNS_NAME_MAX) {
		if (data[at] == 0)
			return at + 1 - from;
		if ((data[at] & LABEL_KIND) != 0)
			return 0;
		at += 1U + data[at];
	}
	return 0;
}

/* behind the name at @p at, which may be compressed, by pointers that go back only; 0: not a name */
static uint32_t
skip_name(const uint8_t *data, uint32_t length, uint32_t at)
{
	uint32_t end = 0, bytes = 0, from = at;

	for (unsigned pointers = 0; at < length; from = at) {
		while (at < length && (data[at] & LABEL_KIND) == 0 && data[at] != 0 && bytes < DNS_NAME_MAX) {
			bytes += 1U + data[at];
			at += 1U + data[at];
		}
		if (at >= length || bytes >= DNS_NAME_MAX)
			return 0;
		if (data[at] == 0)
			return end == 0 ? at + 1 : end;
		if ((data[at] & LABEL_KIND) != POINTER || at + 1 >= length || ++pointers > POINTERS_MAX)
			return 0;
		if (end == 0)
			end = at + 2;
		at = fg_get16(data + at) & 0x3fff;
		if (at >= from)
			return 0;
	}
	return 0;
}

/* behind the record at @p at, and where its fixed part begins; 0: not a record */
static uint32_t
skip_record(const uint8_t *data, uint32_t length, uint32_t at, uint32_t *fixed)
{
	at = skip_name(data, length, at);
	if (at == 0 || at + RECORD_FIXED > length)
		return 0;
	*fixed = at;
	at += RECORD_FIXED + fg_get16(data + at + 8);
	return at <= length ? at : 0;
}

static uint32_t
records(const uint8_t *data)
{
	return (uint32_t)fg_get16(data + 6) + fg_get16(data + 8) + fg_get16(data + 10);
}

/* @return false: an option does not end within the record */
static bool
read_options(const uint8_t *at, uint32_t bytes, struct dns_query *out)
{
	while (bytes > 0) {
		uint32_t data = bytes < DNS_OPTION ? UINT16_MAX : fg_get16(at + 2);

		if (bytes < DNS_OPTION + data)
			return false;
		if (fg_get16(at) == DNS_OPTION_COOKIE && out->cookie == NULL) {
			out->cookie = at + DNS_OPTION;
			out->cookie_bytes = data;
		}
		at += DNS_OPTION + data;
		bytes -= DNS_OPTION + data;
	}
	return true;
}

/* the OPT record; @return enum dns_rcode */
static int
read_edns(const uint8_t *data, uint32_t length, uint32_t at, struct dns_query *out)
{
	uint8_t version = 0;
	uint32_t fixed = 0;

	for (uint32_t n = records(data); n > 0; n--) {
		uint32_t name = at;

		at = skip_record(data, length, at, &fixed);
		if (at == 0)
			return DNS_FORMERR;
		if (fg_get16(data + fixed) != DNS_TYPE_OPT)
			continue;
		if (out->edns || data[name] != 0)
			return DNS_FORMERR;
		out->edns = true;
		out->udp_size = fg_get16(data + fixed + 2);
		out->rcode_high = data[fixed + 4];
		version = data[fixed + 5];
		out->dnssec = (fg_get16(data + fixed + 6) & DO) != 0;
		if (!read_options(data + fixed + RECORD_FIXED, at - fixed - RECORD_FIXED, out))
			return DNS_FORMERR;
	}
	return version == 0 ? DNS_NOERROR : DNS_BADVERS;
}

void
dns_read_options(const uint8_t *data, uint32_t length, struct dns_query *out)
{
	uint32_t at = DNS_HEADER;

	*out = (struct dns_query){0};
	for (uint32_t n = fg_get16(data + 4); n > 0; n--) {
		at = skip_name(data, length, at);
		if (at == 0)
			return;
		at += 4;
	}
	read_edns(data, length, at, out);
}

int
dns_read_query(const uint8_t *data, uint32_t length, struct dns_query *out)
{
	uint32_t name;
	uint16_t class;
	int rcode;

	*out = (struct dns_query){0};
	if (length < DNS_HEADER || (fg_get16(data + 2) & DNS_QR) != 0)
		return DNS_DROP;
	out->id = fg_get16(data);
	out->flags = fg_get16(data + 2);
	if ((out->flags & DNS_OPCODE) != 0)
		return DNS_NOTIMP;
	if (fg_get16(data + 4) == 0) { /* legal only with a cookie: RFC 7873, 5.4 */
		out->empty = true;
		if (read_edns(data, length, DNS_HEADER, out) != DNS_NOERROR)
			*out = (struct dns_query){.id = out->id, .flags = out->flags};
		return DNS_FORMERR;
	}
	name = dns_name(data, length, DNS_HEADER);
	if (fg_get16(data + 4) != 1 || name == 0 || DNS_HEADER + name + 4 > length)
		return DNS_FORMERR;
	out->type = fg_get16(data + DNS_HEADER + name);
	class = fg_get16(data + DNS_HEADER + name + 2);
	rcode = read_edns(data, length, DNS_HEADER + name + 4, out);
	if (rcode == DNS_FORMERR) {
		out->edns = false;
		out->cookie = NULL;
		return rcode;
	}
	out->question = data + DNS_HEADER;
	out->question_bytes = name + 4;
	out->name_bytes = name;
	if (rcode != DNS_NOERROR)
		return rcode;
	if (class != DNS_IN && class != DNS_CLASS_ANY)
		return DNS_REFUSED;
	return out->type == DNS_AXFR || out->type == DNS_IXFR ? DNS_NOTIMP : DNS_NOERROR;
}

bool
dns_is_well_formed(const uint8_t *data, uint32_t length)
{
	uint32_t at = DNS_HEADER, fixed;

	for (uint32_t n = fg_get16(data + 4); n > 0; n--) {
		at = skip_name(data, length, at);
		if (at == 0 || at + 4 > length)
			return false;
		at += 4;
	}
	for (uint32_t n = records(data); n > 0; n--)
		if ((at = skip_record(data, length, at, &fixed)) == 0)
			return false;
	return at == length;
}

bool
dns_same_name(const uint8_t *a, const uint8_t *b, uint32_t bytes)
{
	/* lengths of labels are below 64, so only letters have a case */
	for (uint32_t i = 0; i < bytes; i++) {
		uint8_t x = a[i], y = b[i];

		if (x != y && ((x | 0x20) != (y | 0x20) || (x | 0x20) < 'a' || (x | 0x20) > 'z'))
			return false;
	}
	return true;
}

bool
dns_same_question(const uint8_t *a, const uint8_t *b, uint32_t bytes)
{
	return dns_same_name(a, b, bytes - 4) && memcmp(a + bytes - 4, b + bytes - 4, 4) == 0;
}

void
dns_put_opt(uint8_t *to, uint16_t udp_size, int rcode, bool dnssec)
{
	memset(to, 0, DNS_OPT);
	fg_put16(to + 1, DNS_TYPE_OPT);
	fg_put16(to + 3, udp_size);
	to[5] = (uint8_t)(rcode >> 4);
	fg_put16(to + 7, dnssec ? DO : 0);
}
