/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of IGMP and MLD. MLDv2 is IGMPv3, and MLDv1 is IGMPv2, with longer addresses and in ICMPv6. So the
 * IP version determines the header of a message, and the protocol version its content.
 */
#include <arpa/inet.h>
#include <string.h>

#include "fg_membership.h"
#include "net_priv.h"

enum {
	QUERY = 0x11,
	REPORT_V1 = 0x12,
	REPORT_V2 = 0x16,
	LEAVE = 0x17,
	REPORT_V3 = 0x22,
	MLD_QUERY = 130,
	MLD_REPORT = 131,
	MLD_DONE = 132,
	MLD_REPORT_V2 = 143,

	IS_INCLUDE = 1,
	IS_EXCLUDE,
	TO_INCLUDE,
	TO_EXCLUDE,
	ALLOW,
	BLOCK,

	IPV4_HEADER = sizeof(struct fg_ipv4) + 4, /* with the router alert option (RFC 2113) */
	IPV6_HEADER = sizeof(struct fg_ipv6) + 8, /* with hop-by-hop options (RFC 2711) */
	REPORT_HEADER = 8,
	ROBUSTNESS = 2,
	INTERNETWORK_CONTROL = 0xc0,
};
static const uint64_t TENTH_NS = 100000000, MS_NS = 1000000;
/* longest response time without an exponent, in one byte and in two */
static const uint64_t MAX_TENTHS = 127, MAX_MS = 32767;

static size_t
address_size(enum fg_membership_version version)
{
	return fg_membership_is_ipv6(version) ? 16 : 4;
}

static bool
has_records(enum fg_membership_version version)
{
	return version == FG_IGMPV3 || version == FG_MLDV2;
}

unsigned
fg_membership_records(enum fg_membership_version version, bool sources)
{
	size_t ip = fg_membership_is_ipv6(version) ? IPV6_HEADER : IPV4_HEADER;
	size_t record = 4 + address_size(version) * (sources ? 2 : 1);

	return has_records(version) ? (unsigned)((1500 - ip - REPORT_HEADER) / record) : 1;
}

void
fg_membership_mac(enum fg_membership_version version, const uint8_t *group, uint8_t mac[6])
{
	if (fg_membership_is_ipv6(version)) {
		memcpy(mac, (const uint8_t[]){0x33, 0x33}, 2);
		memcpy(mac + 2, group + 12, 4);
	} else {
		memcpy(mac, (const uint8_t[]){0x01, 0x00, 0x5e}, 3);
		mac[3] = group[1] & 0x7f;
		memcpy(mac + 4, group + 2, 2);
	}
}

/* the host's own address if it is link-local, else one made from its MAC (RFC 4291, appendix A) */
static void
link_local(const struct fg_host *host, uint8_t out[16])
{
	const uint8_t *m = host->mac;

	if (host->has_ipv6 && host->ipv6[0] == 0xfe && (host->ipv6[1] & 0xc0) == 0x80)
		memcpy(out, host->ipv6, 16);
	else
		memcpy(out,
		       (const uint8_t[]){0xfe, 0x80, 0, 0, 0, 0, 0, 0, m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3],
					 m[4], m[5]},
		       16);
}

static void
finish_ipv4(const struct fg_host *host, const uint8_t *to, size_t message, uint8_t *ip_at)
{
	struct fg_ipv4 *ip = (struct fg_ipv4 *)ip_at;

	*ip = (struct fg_ipv4){.tos = INTERNETWORK_CONTROL, .ttl = 1, .protocol = FG_IP_IGMP};
	memcpy(ip + 1, (const uint8_t[]){0x94, 4, 0, 0}, 4);
	fg_ipv4_finish(ip, host->ipv4, to, IPV4_HEADER, message);
	net_put_checksum(ip_at + IPV4_HEADER, 0, message);
}

static void
finish_ipv6(const struct fg_host *host, const uint8_t *to, size_t message, uint8_t *ip_at)
{
	struct fg_ipv6 *ip = (struct fg_ipv6 *)ip_at;
	uint8_t from[16];

	link_local(host, from);
	fg_ipv6_put(ip, from, to, FG_IP_HOP_BY_HOP, 1, 8 + message);
	memcpy(ip + 1, (const uint8_t[]){FG_IP_ICMPV6, 0, 5, 2, 0, 0, 1, 0}, 8);
	net_finish_icmpv6(ip, ip_at + IPV6_HEADER, message);
}

/* the start of a message, with all bytes 0 */
static uint8_t *
begin(enum fg_membership_version version, uint8_t *frame)
{
	memset(frame, 0, FG_MEMBERSHIP_ROOM);
	return frame + FG_ETHER_HEADER + (fg_membership_is_ipv6(version) ? IPV6_HEADER : IPV4_HEADER);
}

static size_t
finish(const struct fg_host *host, enum fg_membership_version version, const uint8_t *to, size_t message,
       uint8_t *frame)
{
	bool six = fg_membership_is_ipv6(version);
	uint8_t mac[6];

	fg_membership_mac(version, to, mac);
	net_put_ether(host, mac, six ? FG_ETHER_IPV6 : FG_ETHER_IPV4, (struct fg_ether *)frame);
	(six ? finish_ipv6 : finish_ipv4)(host, to, message, frame + FG_ETHER_HEADER);
	return FG_ETHER_HEADER + (six ? IPV6_HEADER : IPV4_HEADER) + message;
}

static uint8_t
record_type(enum fg_membership_change change, bool has_source)
{
	switch (change) {
	case FG_MEMBERSHIP_JOIN:
		return has_source ? ALLOW : TO_EXCLUDE;
	case FG_MEMBERSHIP_LEAVE:
		return has_source ? BLOCK : TO_INCLUDE;
	default:
		return has_source ? IS_INCLUDE : IS_EXCLUDE;
	}
}

/* @return bytes of the records */
static size_t
write_records(enum fg_membership_version version, enum fg_membership_change change,
	      const struct fg_membership_group *group, unsigned n, uint8_t *out)
{
	size_t size = address_size(version), at = 0;

	for (unsigned i = 0; i < n; i++) {
		out[at] = record_type(change, group[i].has_source);
		out[at + 3] = group[i].has_source; /* how many sources */
		memcpy(out + at + 4, group[i].group, size);
		at += 4 + size;
		if (group[i].has_source) {
			memcpy(out + at, group[i].source, size);
			at += size;
		}
	}
	return at;
}

size_t
fg_membership_report(const struct fg_host *host, enum fg_membership_version version,
		     enum fg_membership_change change, const struct fg_membership_group *group, unsigned n,
		     uint8_t *out)
{
	static const uint8_t routers[16] = {0xff, 2, [15] = 2}, routers4[4] = {224, 0, 0, 2};
	static const uint8_t v2_routers[16] = {0xff, 2, [15] = 0x16}, v3_routers[4] = {224, 0, 0, 22};
	bool six = fg_membership_is_ipv6(version), leave = change == FG_MEMBERSHIP_LEAVE;
	uint8_t *message = begin(version, out);

	if (has_records(version)) {
		message[0] = six ? MLD_REPORT_V2 : REPORT_V3;
		message[6] = (uint8_t)(n >> 8);
		message[7] = (uint8_t)n;
		return finish(host, version, six ? v2_routers : v3_routers,
			      REPORT_HEADER +
				      write_records(version, change, group, n, message + REPORT_HEADER),
			      out);
	}
	if (six) {
		message[0] = leave ? MLD_DONE : MLD_REPORT;
		memcpy(message + 8, group->group, 16);
		return finish(host, version, leave ? routers : group->group, 24, out);
	}
	message[0] = leave ? LEAVE : REPORT_V2;
	memcpy(message + 4, group->group, 4);
	return finish(host, version, leave ? routers4 : group->group, 8, out);
}

size_t
fg_membership_query(const struct fg_host *host, enum fg_membership_version version, const uint8_t *group,
		    uint64_t response_ns, uint8_t *out)
{
	static const uint8_t nodes[16] = {0xff, 2, [15] = 1}, nodes4[4] = {224, 0, 0, 1};
	bool six = fg_membership_is_ipv6(version);
	uint64_t unit = six ? MS_NS : TENTH_NS, most = six ? MAX_MS : MAX_TENTHS;
	uint64_t response = response_ns / unit < most ? response_ns / unit : most;
	size_t at = six ? 8 : 4, size = at + address_size(version);
	uint8_t *message = begin(version, out);

	message[0] = six ? MLD_QUERY : QUERY;
	if (six) {
		message[4] = (uint8_t)(response >> 8);
		message[5] = (uint8_t)response;
	} else {
		message[1] = (uint8_t)response;
	}
	if (group != NULL)
		memcpy(message + at, group, address_size(version));
	if (has_records(version)) {
		message[size] = ROBUSTNESS;
		message[size + 1] = 125; /* s, the interval that both RFCs recommend */
		size += 4;
	}
	return finish(host, version, group != NULL ? group : six ? nodes : nodes4, size, out);
}

static bool
open_query(struct fg_membership_message *m, const uint8_t *message, size_t size)
{
	bool six = fg_membership_is_ipv6(m->version);
	size_t at = six ? 8 : 4, plain = at + address_size(m->version);
	uint64_t response = six ? (uint64_t)message[4] << 8 | message[5] : message[1];
	uint64_t most = six ? MAX_MS : MAX_TENTHS;
	unsigned bits = six ? 12 : 4;

	m->query = true;
	if (size >= plain + 4) { /* then the time may have an exponent (RFC 3376, 4.1.1; RFC 3810, 5.1.3) */
		m->version = six ? FG_MLDV2 : FG_IGMPV3;
		if (response > most)
			response = ((response & ((1u << bits) - 1)) | 1u << bits)
				   << ((response >> bits & 7) + 3);
	}
	m->response_ns = response * (six ? MS_NS : TENTH_NS);
	memcpy(m->group, message + at, address_size(m->version));
	return true;
}

/* one group without a record (IGMPv2, MLDv1): `at` is the message, its first byte the type */
static bool
open_single(struct fg_membership_message *m, const uint8_t *message, size_t size)
{
	m->at = message;
	m->end = message + size;
	m->left = 1;
	return true;
}

static bool
open_records(struct fg_membership_message *m, const uint8_t *message, size_t size)
{
	m->version = fg_membership_is_ipv6(m->version) ? FG_MLDV2 : FG_IGMPV3;
	m->left = (unsigned)message[6] << 8 | message[7];
	m->at = message + REPORT_HEADER;
	m->end = message + size;
	return true;
}

/* @return bytes of the message in an IP packet; 0: no message, or damaged */
static size_t
message_size(const uint8_t *frame, size_t length, const struct fg_net_packet *p)
{
	const struct fg_ipv4 *ip4 = (const struct fg_ipv4 *)(frame + p->header);
	const struct fg_ipv6 *ip6 = (const struct fg_ipv6 *)(frame + p->header);
	size_t end = p->header +
		     (p->version == 4 ? ntohs(ip4->length) : sizeof(*ip6) + ntohs(ip6->payload_length));
	uint64_t sum;

	if (end > length || p->content + 8 > end || p->fragment)
		return 0;
	sum = p->version == 4 ? 0 : fg_checksum_pseudo6(ip6, FG_IP_ICMPV6, (uint32_t)(end - p->content));
	if (fg_checksum_finish(fg_checksum_add(sum, frame + p->content, end - p->content)) != 0)
		return 0;
	return end - p->content;
}

bool
fg_membership_open(const uint8_t *frame, size_t length, struct fg_membership_message *out)
{
	struct fg_net_packet p;
	const uint8_t *message;
	size_t size;

	fg_net_find_packet(frame, length, &p);
	if (!(p.version == 4 && p.protocol == FG_IP_IGMP) && !(p.version == 6 && p.protocol == FG_IP_ICMPV6))
		return false;
	*out = (struct fg_membership_message){.version = p.version == 4 ? FG_IGMPV2 : FG_MLDV1};
	size = message_size(frame, length, &p);
	message = frame + p.content;
	if (fg_net_is_tag((uint16_t)(frame[12] << 8 | frame[13])))
		out->vlan = (uint16_t)((frame[14] << 8 | frame[15]) & 0xfff);
	if (size == 0 || (p.version == 6 && size < (message[0] == MLD_REPORT_V2 ? 8 : 24)))
		return false;
	switch (message[0]) {
	case REPORT_V1:
	case REPORT_V2:
	case LEAVE:
		return p.version == 4 && open_single(out, message, size);
	case QUERY:
		return p.version == 4 && open_query(out, message, size);
	case REPORT_V3:
		return p.version == 4 && open_records(out, message, size);
	case MLD_REPORT:
	case MLD_DONE:
		return p.version == 6 && open_single(out, message, size);
	case MLD_QUERY:
		return p.version == 6 && open_query(out, message, size);
	case MLD_REPORT_V2:
		return p.version == 6 && open_records(out, message, size);
	default:
		return false;
	}
}

/* @return whether the record changes the membership of its group */
static bool
read_record(uint8_t type, unsigned sources, struct fg_membership_record *out)
{
	out->sources = sources > 0;
	switch (type) {
	case IS_INCLUDE:
	case TO_INCLUDE: /* include no source: a leave */
		out->change = sources > 0 ? FG_MEMBERSHIP_JOIN : FG_MEMBERSHIP_LEAVE;
		return true;
	case IS_EXCLUDE:
	case TO_EXCLUDE:
		out->change = FG_MEMBERSHIP_JOIN;
		out->sources = false; /* exclude some sources */
		return true;
	case ALLOW:
		out->change = FG_MEMBERSHIP_JOIN;
		return sources > 0;
	case BLOCK:
		out->change = FG_MEMBERSHIP_LEAVE;
		return sources > 0;
	default:
		return false;
	}
}

bool
fg_membership_next(struct fg_membership_message *m, struct fg_membership_record *out)
{
	size_t size = address_size(m->version), octets;
	const uint8_t *at;
	unsigned sources;

	memset(out, 0, sizeof(*out));
	if (!has_records(m->version)) {
		if (m->left == 0)
			return false;
		m->left = 0;
		out->change =
			*m->at == LEAVE || *m->at == MLD_DONE ? FG_MEMBERSHIP_LEAVE : FG_MEMBERSHIP_JOIN;
		memcpy(out->group, m->at + (size == 16 ? 8 : 4), size);
		return true;
	}
	while (m->left > 0) {
		at = m->at;
		if ((size_t)(m->end - at) < 4 + size)
			return false;
		sources = (unsigned)at[2] << 8 | at[3];
		octets = 4 + size + sources * size + at[1] * 4;
		if ((size_t)(m->end - at) < octets)
			return false;
		m->left--;
		m->at += octets;
		memcpy(out->group, at + 4, size);
		if (read_record(at[0], sources, out))
			return true;
	}
	return false;
}
