/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_net.h"

__BEGIN_DECLS

/*
 * Membership reports and queries of multicast groups: IGMP for IPv4, Multicast Listener Discovery (MLD) for
 * IPv6. A tester makes reports and answers queries; a switch that snoops reads them and makes queries. Bytes
 * in, bytes out. Frames have no VLAN tag when made, and any number when read. An IPv4 address takes the first
 * four bytes.
 */

enum fg_membership_version {
	FG_IGMPV2, /* RFC 2236 */
	FG_IGMPV3, /* RFC 3376 */
	FG_MLDV1,  /* RFC 2710 */
	FG_MLDV2,  /* RFC 3810 */
};

/** A change of a host's membership. */
enum fg_membership_change {
	FG_MEMBERSHIP_JOIN,
	FG_MEMBERSHIP_LEAVE,
	FG_MEMBERSHIP_ANSWER, /* to a query: still a member */
};

enum {
	FG_MEMBERSHIP_ROOM = 1514, /* longest message in bytes, without FCS */
};

struct fg_membership_group {
	uint8_t group[16];
	uint8_t source[16];
	bool has_source; /* only frames from this source, else from any; IGMPv3 and MLDv2 */
};

static inline bool
fg_membership_is_ipv6(enum fg_membership_version version)
{
	return version >= FG_MLDV1;
}

/** Most groups in one message, with or without sources. 1 with IGMPv2 and MLDv1. */
unsigned fg_membership_records(enum fg_membership_version version, bool sources);

/** The MAC address of a group (RFC 1112, 6.4; RFC 2464, 7). */
void fg_membership_mac(enum fg_membership_version version, const uint8_t *group, uint8_t mac[6]);

/**
 * Make a report, IGMPv2 leave or MLDv1 done, to the destination of its protocol, with the router alert option
 * and TTL 1. Its source is the host's IPv4 address or a link-local one: the host's, else one made from its
 * MAC.
 * @param n    groups, at most fg_membership_records()
 * @param out  FG_MEMBERSHIP_ROOM bytes
 * @return     bytes of the frame without FCS; it may be shorter than the least of Ethernet
 */
size_t fg_membership_report(const struct fg_host *host, enum fg_membership_version version,
			    enum fg_membership_change change, const struct fg_membership_group *group,
			    unsigned n, uint8_t *out);

/**
 * Make a query: for all groups, or for one of them.
 * @param group        NULL: a general query
 * @param response_ns  the longest time until an answer
 */
size_t fg_membership_query(const struct fg_host *host, enum fg_membership_version version,
			   const uint8_t *group, uint64_t response_ns, uint8_t *out);

/** One group's record in a message. */
struct fg_membership_record {
	enum fg_membership_change change; /* JOIN also for an answer to a query */
	bool sources;                     /* of some sources only */
	uint8_t group[16];
};

/** A message while its records are read. */
struct fg_membership_message {
	enum fg_membership_version version;
	bool query;
	uint8_t group[16];    /* of a query; all 0: a general one */
	uint64_t response_ns; /* of a query */
	uint16_t vlan;        /* id of the outermost tag, 0: none */
	/* of a report: records not read yet */
	const uint8_t *at, *end;
	unsigned left;
};

/**
 * Is this frame an undamaged message of IGMP or MLD? IGMPv1 queries count as IGMPv2's; its reports as well.
 * @param length  bytes without FCS
 */
bool fg_membership_open(const uint8_t *frame, size_t length, struct fg_membership_message *out);

/** The next group of a report. @return false: no more groups. Records without a change are skipped. */
bool fg_membership_next(struct fg_membership_message *message, struct fg_membership_record *out);

__END_DECLS
