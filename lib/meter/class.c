/* SPDX-License-Identifier: BSD-3-Clause */
/* From bytes to a service and a colour, and from a colour to bytes. Sets of DSCP and PCP are bits: a match
 * is one shift. */
#include "fg_class.h"

#include "fg_bytes.h"
#include "fg_net.h"

enum { TYPE_AT = 12, IPV4_CHECKSUM = 10, ECN_BITS = 3 };

/* the type field behind the tags; @p f gets the fields of the first two */
static size_t
read_tags(const uint8_t *frame, size_t length, struct fg_class_fields *f)
{
	size_t at = fg_net_type_at(frame, length);

	f->tagged = at > TYPE_AT;
	if (f->tagged) {
		uint16_t tag = fg_get16(frame + TYPE_AT + 2);

		f->pcp = (uint8_t)(tag >> 13);
		f->dei = tag >> 12 & 1;
		f->vlan = tag & 0xfff;
	}
	f->tagged_twice = at > TYPE_AT + FG_NET_TAG;
	if (f->tagged_twice)
		f->inner = fg_get16(frame + TYPE_AT + FG_NET_TAG + 2) & 0xfff;
	return at;
}

/* one word of an IPv4 header for another (RFC 1624, equation 3) */
static void
replace_word(uint8_t *ipv4, size_t at, uint16_t word)
{
	uint32_t sum = (uint16_t)~fg_get16(ipv4 + IPV4_CHECKSUM) + (uint16_t)~fg_get16(ipv4 + at) + word;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	fg_put16(ipv4 + at, word);
	fg_put16(ipv4 + IPV4_CHECKSUM, (uint16_t)sum);
}

/* DSCP and ECN are one byte, in IPv6 across two (RFC 2474, RFC 3168) */
static void
mark_ip(uint8_t *frame, size_t length, size_t at, uint16_t keep, unsigned bits)
{
	uint8_t *ip = frame + at + 2;

	if (fg_get16(frame + at) == FG_ETHER_IPV4 && at + 2 + IPV4_CHECKSUM + 2 <= length)
		replace_word(ip, 0, (uint16_t)((fg_get16(ip) & (0xff00 | keep)) | bits));
	else if (fg_get16(frame + at) == FG_ETHER_IPV6)
		fg_put16(ip, (uint16_t)((fg_get16(ip) & (0xf00f | keep << 4)) | bits << 4));
}

void
fg_class_mark(uint8_t *frame, size_t length, enum fg_mark_kind kind, unsigned value)
{
	struct fg_class_fields f = {0};
	size_t at = read_tags(frame, length, &f);
	uint8_t *tag = frame + TYPE_AT + 2;

	if (kind == FG_MARK_DSCP && at + 4 <= length)
		mark_ip(frame, length, at, ECN_BITS, value << 2);
	else if (kind == FG_MARK_ECN && at + 4 <= length)
		mark_ip(frame, length, at, (uint8_t)~ECN_BITS, value);
	else if (kind == FG_MARK_PCP && f.tagged)
		*tag = (uint8_t)((*tag & 0x1f) | value << 5);
	else if (kind == FG_MARK_DEI && f.tagged)
		*tag = (uint8_t)((*tag & 0xef) | (value != 0) << 4);
}

struct fg_class_fields
fg_class_read(const uint8_t *frame, size_t length)
{
	struct fg_class_fields f = {0};
	size_t at = read_tags(frame, length, &f);

	if (at + 4 > length)
		return f;
	if (fg_get16(frame + at) == FG_ETHER_IPV4) {
		f.ip = true;
		f.dscp = frame[at + 3] >> 2;
		f.ecn = frame[at + 3] & ECN_BITS;
	} else if (fg_get16(frame + at) == FG_ETHER_IPV6) {
		f.ip = true;
		f.dscp = (uint8_t)((fg_get16(frame + at + 2) >> 6) & 0x3f);
		f.ecn = frame[at + 3] >> 4 & ECN_BITS;
	}
	return f;
}

bool
fg_class_matches(const struct fg_class *c, const struct fg_class_fields *f)
{
	if (c->vlan != 0 && !(f->tagged && f->vlan == c->vlan))
		return false;
	if (c->inner != 0 && !(f->tagged_twice && f->inner == c->inner))
		return false;
	if (c->pcps != 0 && !(f->tagged && c->pcps >> f->pcp & 1))
		return false;
	return c->dscps == 0 || (f->ip && c->dscps >> f->dscp & 1);
}

enum fg_colour
fg_class_colour(const struct fg_colouring *c, const struct fg_class_fields *f)
{
	bool yellow = (f->ip && c->dscps >> f->dscp & 1) || (f->tagged && c->pcps >> f->pcp & 1) ||
		      (c->dei && f->dei);

	return yellow ? FG_YELLOW : FG_GREEN;
}
