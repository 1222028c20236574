/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of DNS: what is read of a query, what our server answers. Nothing here knows of UDP or workers. */
#ifndef MESSAGE_PRIV_H
#define MESSAGE_PRIV_H

#include "../fg_l4_dns.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	DNS_HEADER = 12,
	DNS_NAME_MAX = 255,
	DNS_OPT = 11, /* bytes of an OPT record without options */
	DNS_PLAIN_MAX = 512,
	DNS_MESSAGE_MAX = 65535, /* over TCP */
};

enum dns_flag {
	DNS_QR = 0x8000,
	DNS_OPCODE = 0x7800,
	DNS_AA = 0x0400,
	DNS_TC = 0x0200,
	DNS_RD = 0x0100,
	DNS_CD = 0x0010
};
enum dns_type {
	DNS_A = 1,
	DNS_TXT = 16,
	DNS_AAAA = 28,
	DNS_TYPE_OPT = 41,
	DNS_HINFO = 13,
	DNS_IXFR = 251,
	DNS_AXFR = 252,
	DNS_ANY = 255,
};
enum dns_class { DNS_IN = 1, DNS_CLASS_ANY = 255 };
enum dns_rcode {
	DNS_NOERROR,
	DNS_FORMERR,
	DNS_SERVFAIL,
	DNS_NXDOMAIN,
	DNS_NOTIMP,
	DNS_REFUSED,
	DNS_BADVERS = 16,
	DNS_DROP = -1, /* not a query, and not answered */
};

/** A query as a server has read it. What could not be read is 0. */
struct dns_query {
	uint16_t id, flags;
	const uint8_t *question; /* name, type and class */
	uint32_t question_bytes, name_bytes;
	uint16_t type;
	uint16_t udp_size; /* of EDNS */
	bool edns, dnssec;
};

/* message.c */
/** @return bytes of the name at @p at without compression, 0: not a name, or it has a pointer */
uint32_t dns_name(const uint8_t *data, uint32_t length, uint32_t at);
/** @return enum dns_rcode, with which the query is to be answered */
int dns_read_query(const uint8_t *data, uint32_t length, struct dns_query *out);
/** Are these as many records as the header says, none more, and each within the message? */
bool dns_is_well_formed(const uint8_t *data, uint32_t length);
/** Are these the same names, without regard to case, with the same type and class? */
bool dns_same_question(const uint8_t *a, const uint8_t *b, uint32_t bytes);
void dns_put_opt(uint8_t *to, uint16_t udp_size, int rcode, bool dnssec);

/** How large an answer over UDP may be, where a datagram has this much room: RFC 6891, 6.2.3. */
static inline uint32_t
dns_datagram_room(const struct fg_l4_dns *zone, const struct dns_query *query, uint32_t room)
{
	uint32_t most = DNS_PLAIN_MAX;

	if (query->edns) {
		uint32_t told = query->udp_size < zone->udp_size ? query->udp_size : zone->udp_size;

		most = told > most ? told : most;
	}
	return most < room ? most : room;
}

/* zone.c */
/**
 * Write the answer to a query.
 * @param room  at least DNS_PLAIN_MAX; what does not fit is left out, and TC says so
 * @return its bytes
 */
uint32_t dns_answer(const struct fg_l4_dns *zone, const struct dns_query *query, int rcode, uint8_t *to,
		    uint32_t room);

#ifdef __cplusplus
}
#endif
#endif
