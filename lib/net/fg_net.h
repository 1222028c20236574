/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_bytes.h"
#include "fg_error.h"

__BEGIN_DECLS

/*
 * Headers as on the wire, and the protocols (ARP, Neighbor Discovery, echo) that a tester needs with its
 * neighbours. Bytes in, bytes out: no DPDK, no state of its own. All multi-octet fields are in network byte
 * order.
 */

enum {
	FG_ETHER_ARP = 0x0806,
	FG_ETHER_IPV4 = 0x0800,
	FG_ETHER_IPV6 = 0x86dd,
	FG_ETHER_VLAN = 0x8100,
	FG_ETHER_QINQ = 0x88a8,  /* service tag */
	FG_ETHER_CFM = 0x8902,   /* IEEE 802.1ag and Y.1731 */
	FG_ETHER_LOCAL = 0x88b5, /* for experiments */
	FG_ETHER_HEADER = 14,
	FG_ETHER_FCS = 4,
	FG_ETHER_MIN = 64,      /* bytes with FCS */
	FG_ETHER_OVERHEAD = 20, /* preamble 7, start delimiter 1, minimum gap 12 */
	FG_FRAME_MAX = 16128,   /* largest frame we make, bytes with FCS */
	FG_ANSWER_ROOM = 128,   /* longest answer in bytes, for a request of any length */
};

/** Protocols of IP (the field of IPv4, and the next header of IPv6), and the extension headers of IPv6. */
enum {
	FG_IP_HOP_BY_HOP = 0,
	FG_IP_ICMP = 1,
	FG_IP_IGMP = 2,
	FG_IP_IPV4 = 4,
	FG_IP_TCP = 6,
	FG_IP_UDP = 17,
	FG_IP_IPV6 = 41,
	FG_IP_ROUTING = 43,
	FG_IP_FRAGMENT = 44,
	FG_IP_GRE = 47,
	FG_IP_AUTHENTICATION = 51,
	FG_IP_ICMPV6 = 58,
	FG_IP_DESTINATION_OPTIONS = 60,
	FG_IP_SCTP = 132,
};

/** Types of ICMP and ICMPv6 messages (RFC 792, RFC 4443). */
enum { FG_ICMP_ECHO_REPLY = 0, FG_ICMP_UNREACHABLE = 3, FG_ICMP_ECHO = 8 };
enum { FG_ICMPV6_UNREACHABLE = 1, FG_ICMPV6_TOO_BIG = 2, FG_ICMPV6_ECHO = 128, FG_ICMPV6_ECHO_REPLY = 129 };

struct fg_ether {
	uint8_t dst[6];
	uint8_t src[6];
	uint16_t type;
} __attribute__((packed));

struct fg_arp {
	uint16_t hardware;
	uint16_t protocol;
	uint8_t hardware_length;
	uint8_t protocol_length;
	uint16_t operation; /* 1 request, 2 reply */
	uint8_t sender_mac[6];
	uint8_t sender_ip[4];
	uint8_t target_mac[6];
	uint8_t target_ip[4];
} __attribute__((packed));

struct fg_ipv4 {
	uint8_t version_ihl;
	uint8_t tos;
	uint16_t length;
	uint16_t id;
	uint16_t fragment;
	uint8_t ttl;
	uint8_t protocol;
	uint16_t checksum;
	uint8_t src[4];
	uint8_t dst[4];
} __attribute__((packed));

struct fg_ipv6 {
	uint32_t version_class_flow;
	uint16_t payload_length;
	uint8_t next_header;
	uint8_t hop_limit;
	uint8_t src[16];
	uint8_t dst[16];
} __attribute__((packed));

struct fg_udp {
	uint16_t src;
	uint16_t dst;
	uint16_t length;
	uint16_t checksum;
} __attribute__((packed));

struct fg_icmp {
	uint8_t type;
	uint8_t code;
	uint16_t checksum;
	uint32_t rest; /* echo: identifier and sequence; Neighbor Advertisement: flags */
} __attribute__((packed));

/** Neighbor Solicitation and Advertisement with one link-layer address option (RFC 4861, 4.3, 4.4, 4.6.1). */
struct fg_neighbour {
	struct fg_icmp icmp;
	uint8_t target[16];
	uint8_t option_type; /* 1 source, 2 target link-layer address */
	uint8_t option_length;
	uint8_t option_mac[6];
} __attribute__((packed));

/**
 * Complete an IPv4 header whose other fields are set: version, lengths, addresses and checksum.
 * @param header   bytes of it, with its options
 * @param content  bytes behind it
 */
void fg_ipv4_finish(struct fg_ipv4 *ip, const uint8_t src[4], const uint8_t dst[4], size_t header,
		    size_t content);

/** Write an IPv6 header. @param payload  bytes behind it */
void fg_ipv6_put(struct fg_ipv6 *ip, const uint8_t src[16], const uint8_t dst[16], uint8_t next, uint8_t hops,
		 size_t payload);

/** One interface of the tester: the addresses it answers for. */
struct fg_host {
	uint8_t mac[6];
	bool has_ipv4;
	bool has_ipv6;
	uint8_t ipv4[4];
	uint8_t ipv6[16];
	uint32_t addresses; /* number of consecutive addresses from these on; 0 is taken as 1 */
};

/** "02:00:00:00:00:01"; either case, six pairs. @return 0 or -EINVAL */
int fg_mac_parse(const char *text, uint8_t mac[6], struct fg_error *err);

/** Dotted quad, or RFC 4291 text. @return 0 or -EINVAL */
int fg_ipv4_parse(const char *text, uint8_t address[4], struct fg_error *err);
int fg_ipv6_parse(const char *text, uint8_t address[16], struct fg_error *err);

/**
 * Answer an ARP request, Neighbor Solicitation or ICMP/ICMPv6 echo request for @p host, in place.
 *
 * @param frame   starts at the destination MAC; at least FG_ANSWER_ROOM bytes must be writable
 * @param length  bytes without FCS
 * @return        length of the answer in @p frame; 0: not a request for this host
 */
size_t fg_net_answer(const struct fg_host *host, uint8_t *frame, size_t length);

enum { FG_NET_TAG = 4 }; /* bytes of a VLAN tag */
/** A priority tag: EtherType and VLAN id 0. */
static const uint32_t FG_NET_PRIORITY_TAG = 0x81000000;

/**
 * Take the outermost VLAN tag (0x8100) out of a frame, which then starts FG_NET_TAG bytes later.
 * @return the tag with its EtherType; 0: no tag, frame unchanged
 */
uint32_t fg_net_untag(uint8_t *frame, size_t length);

/** Is this the EtherType of a VLAN tag (IEEE 802.1Q)? */
static inline bool
fg_net_is_tag(uint16_t ethertype)
{
	return ethertype == FG_ETHER_VLAN || ethertype == FG_ETHER_QINQ;
}

/** Bytes before the EtherType behind a frame's tags; if the frame ends in a tag, before that tag. */
static inline size_t
fg_net_type_at(const uint8_t *frame, size_t length)
{
	size_t at = FG_ETHER_HEADER - 2;

	while (length >= at + 2 + FG_NET_TAG && fg_net_is_tag(fg_get16(frame + at)))
		at += FG_NET_TAG;
	return at;
}

/** Is the outermost tag @p tag (EtherType and VLAN id, any priority)? */
bool fg_net_has_tag(const uint8_t *frame, size_t length, uint32_t tag);

/**
 * Which tag in front of a frame is its port's: the one of the port's VLAN or, at a port without VLAN, a
 * priority tag. A priority tag has VLAN id 0 and is equal to no tag (IEEE 802.1Q, 6.9.1).
 *
 * @param tag  EtherType and id of the port's VLAN; 0: the port has no VLAN
 * @return     bytes of the tag to remove; 0: no tag; -1: frame of another VLAN
 */
int fg_net_own_tag(const uint8_t *frame, size_t length, uint32_t tag);

/** Put a tag into the frame that starts FG_NET_TAG bytes after @p frame; it then starts at @p frame. */
void fg_net_tag(uint8_t *frame, uint32_t tag);

/** Kinds of frames that the tester did not send in this trial. */
enum fg_net_kind {
	FG_NET_KIND_TEST, /* with a signature; never returned by fg_net_kind() */
	FG_NET_KIND_ARP,
	FG_NET_KIND_ND, /* neighbor and router discovery, RFC 4861 */
	FG_NET_KIND_ICMP,
	FG_NET_KIND_MEMBERSHIP, /* IGMP, MLD */
	FG_NET_KIND_IPV4,
	FG_NET_KIND_IPV6,
	FG_NET_KIND_MPLS,
	FG_NET_KIND_LLDP,
	FG_NET_KIND_STP, /* and its successors */
	FG_NET_KIND_LACP,
	FG_NET_KIND_PAUSE, /* and other MAC control, IEEE 802.3, 31 */
	FG_NET_KIND_OTHER,
	FG_NET_KINDS,
};

/** The kind of a frame, behind its tags. @param length  bytes without FCS */
enum fg_net_kind fg_net_kind(const uint8_t *frame, size_t length);

/** "arp"; NULL for FG_NET_KINDS and above. */
const char *fg_net_kind_name(enum fg_net_kind kind);

/** The IP packet of a frame: behind VLAN tags, MPLS labels and PPPoE, and the innermost one of IP in IP. */
struct fg_net_packet {
	uint8_t version;  /* 4 or 6; 0: no IP, the members below are not set */
	uint8_t protocol; /* protocol of the payload, behind extension headers */
	bool fragment;    /* one of several (RFC 791, RFC 8200) */
	bool error;       /* an ICMP error message, which quotes another packet (RFC 792, RFC 4443) */
	size_t header;    /* bytes of the frame before the IP header ... */
	size_t content;   /* ... and before the payload */
};

/** Find the packet. @param length  bytes without FCS. A truncated header ends the search. */
void fg_net_find_packet(const uint8_t *frame, size_t length, struct fg_net_packet *out);

/**
 * Compute the checksum of TCP, UDP or SCTP if the sender left it to a NIC.
 * @param length  bytes without FCS
 * @return        whether it was computed
 */
bool fg_net_complete_checksum(uint8_t *frame, size_t length);

/** Make an ARP request for @p target (RFC 826). With target == own address: a gratuitous announcement. */
size_t fg_net_ask_ipv4(const struct fg_host *host, const uint8_t target[4], uint8_t *out);

/** Make a Neighbor Solicitation for @p target, sent to its solicited-node group (RFC 4861, 7.2.2). */
size_t fg_net_ask_ipv6(const struct fg_host *host, const uint8_t target[16], uint8_t *out);

/** Make an unsolicited Neighbor Advertisement to all nodes (RFC 4861, 7.2.6). */
size_t fg_net_announce_ipv6(const struct fg_host *host, uint8_t *out);

/**
 * If a frame announces the MAC of @p address (ARP request or reply, Neighbor Advertisement), write the MAC.
 */
bool fg_net_learn_ipv4(const uint8_t *frame, size_t length, const uint8_t address[4], uint8_t mac[6]);
bool fg_net_learn_ipv6(const uint8_t *frame, size_t length, const uint8_t address[16], uint8_t mac[6]);

/**
 * The tester's address in a neighbour's frame: the target in ARP and Neighbor Discovery, else the
 * destination.
 *
 * Only lengths are verified: the host of the address has to verify the frame.
 *
 * @param tags     bytes of VLAN tags in front of the EtherType
 * @param address  of IPv4 the first four bytes; the others are 0
 * @return         its IP version; 0: no address
 */
int fg_net_addressed(const uint8_t *frame, size_t length, size_t tags, uint8_t address[16]);

/** An echo request: its target, and the identification of its reply. */
struct fg_echo {
	uint8_t mac[6]; /* of the next hop */
	uint8_t to[16]; /* of IPv4 the first four bytes */
	uint16_t identifier, number;
};

/** Make the request: ICMP for a host with an IPv4 address, else ICMPv6. @return bytes of the frame */
size_t fg_net_echo(const struct fg_host *host, const struct fg_echo *echo, uint8_t *out);

/** Is this frame the undamaged reply to the request? */
bool fg_net_echo_replies(const struct fg_host *host, const struct fg_echo *echo, const uint8_t *frame,
			 size_t length);

/**
 * Turn a frame round: swap its MAC addresses, IP addresses, and ports of UDP, TCP or SCTP. VLAN tags stay; of
 * other protocols and of tunnels only the MAC addresses are swapped.
 *
 * @param frame   starts at the destination MAC
 * @param length  bytes without FCS
 * @return        false: must not be sent back, unchanged: from or to a group, ARP, ICMP, or a truncated IP
 *                header
 */
bool fg_net_reflect(uint8_t *frame, size_t length);

enum {
	FG_DATAGRAM_ROOM = 320, /* longest datagram below, in bytes */
	FG_SNMP_PORT = 161,
	FG_SNMP_FROM = 49313, /* source port of a query */
	FG_SNMP_OBJECTS =
		5, /* sysUpTime, ifInOctets, ifOutOctets, ifInUcastPkts, ifOutUcastPkts, in this order */
	FG_SNMP_COMMUNITY = 32, /* longest community */
};

/** A management query (RFC 2544, 11.2): SNMP version 1 over IPv4. */
struct fg_snmp_query {
	uint8_t agent_mac[6], agent[4];
	char community[FG_SNMP_COMMUNITY + 1];
	uint32_t interface; /* ifIndex */
	uint32_t request;   /* returned in the reply */
};

/** Make the query. @return bytes of the frame */
size_t fg_net_snmp_query(const struct fg_host *host, const struct fg_snmp_query *query, uint8_t *out);

/**
 * Is this frame the reply to @p request, without error and with a value of the right type for every object?
 */
bool fg_net_snmp_replies(const struct fg_host *host, uint32_t request, const uint8_t *frame, size_t length);

/**
 * Answer a management query as an agent, in place, for any community and interface.
 * @param values  of the objects
 * @param frame   FG_DATAGRAM_ROOM bytes must be writable
 * @return        length of the answer; 0: no query for this host and these objects
 */
size_t fg_net_snmp_answer(const struct fg_host *host, const uint32_t values[FG_SNMP_OBJECTS], uint8_t *frame,
			  size_t length);

/**
 * Make a routing update (RFC 2544, 11.3): a RIP response, broadcast, for six networks behind this host
 * without test frames: 198.18.58.0 to 198.18.63.0 or, for a host in 198.19.0.0/16, the same there.
 * @param second  the second of two states: a larger metric
 * @return        bytes of the frame
 */
size_t fg_net_rip_update(const struct fg_host *host, bool second, uint8_t *out);

__END_DECLS
