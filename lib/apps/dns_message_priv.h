/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of DNS, over whatever they go: what is read of a query, what our server answers, which queries a
 * client has, and what it makes of an answer. No state.
 */
#pragma once

#include "app_priv.h"
#include "fg_l4_dns.h"

enum {
	DNS_HEADER = 12,
	DNS_NAME_MAX = 255,
	DNS_OPT = 11, /* bytes of an OPT record without options */
	DNS_PLAIN_MAX = 512,
	DNS_MESSAGE_MAX = 65535, /* over TCP */
	DNS_PREFIX = 2,          /* bytes of the length before each message of a stream: RFC 1035, 4.2.2 */
	DNS_OPTION = 4,          /* bytes of an option of OPT before its data */
	DNS_OPTION_COOKIE = 10,
	DNS_COOKIE_CLIENT = 8, /* bytes of a cookie that are the client's */
	DNS_COOKIE = 24,       /* of one with our server's */
	DNS_COOKIE_MAX = 40,   /* of one with any server's */
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
	DNS_BADCOOKIE = 23,
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
	uint8_t rcode_high; /* of EDNS: what stands above the header's four bits */
	bool empty;         /* no question */
	bool answers_cookie;
	const uint8_t *cookie; /* NULL: none */
	uint32_t cookie_bytes;
	uint8_t answer_cookie[DNS_COOKIE]; /* that the answer has, if answers_cookie */
};

/* dns_message.c */
/** @return bytes of the name at @p at without compression, 0: not a name, or it has a pointer */
uint32_t dns_name(const uint8_t *data, uint32_t length, uint32_t at);
/** @return enum dns_rcode, with which the query is to be answered */
int dns_read_query(const uint8_t *data, uint32_t length, struct dns_query *out);
/** What an answer says in its OPT record, as far as it can be read; the rest of @p out is 0. */
void dns_read_options(const uint8_t *data, uint32_t length, struct dns_query *out);
/** Are these as many records as the header says, none more, and each within the message? */
bool dns_is_well_formed(const uint8_t *data, uint32_t length);
/** Are these the same names, without regard to case? */
bool dns_same_name(const uint8_t *a, const uint8_t *b, uint32_t bytes);
/** And with the same type and class? */
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

/* dns_zone.c */
/**
 * Write the answer to a query.
 * @param room  at least DNS_PLAIN_MAX; what does not fit is left out, and TC says so
 * @return its bytes
 */
uint32_t dns_answer(const struct fg_l4_dns *zone, const struct dns_query *query, int rcode, uint8_t *to,
		    uint32_t room);

/* dns_cookie.c */
/**
 * Which cookie the answer to a query has, by RFC 9018.
 * @param now    seconds since 1970
 * @param rcode  with which it would be answered
 * @return with which it is: DNS_BADCOOKIE if its cookie is not one of ours
 */
int dns_cookie_answer(const uint64_t key[2], uint32_t now, const struct fg_flow *flow, int rcode,
		      struct dns_query *q);
/** The same as @p zone has it, by the worker's key and time. */
int dns_cookie_serve(const struct fg_l4 *w, const struct fg_l4_dns *zone, const struct fg_flow *flow,
		     bool datagram, int rcode, struct dns_query *q);
/**
 * Keep the cookie of an answer, as dns_read_options() has read it.
 * @return false: it has one that is not the client's, or none although the server had sent one: RFC 7873, 5.3
 */
bool dns_cookie_take(const struct dns_query *answer, uint8_t cookie[DNS_COOKIE_MAX], uint32_t *bytes);

/** Append a cookie to an OPT record without options, at a message's end. @return bytes that it takes */
uint32_t dns_cookie_put(uint8_t *opt_end, const uint8_t *cookie, uint32_t bytes);

/* tally.own; over HTTPS behind the sums of HTTP */
enum dns_sum {
	DNS_SUM_NOERROR,
	DNS_SUM_NXDOMAIN,
	DNS_SUM_SERVFAIL,
	DNS_SUM_OTHER,
	DNS_SUM_TRUNCATED,
	DNS_SUM_MISMATCHED,
	DNS_SUM_LATE,
	DNS_SUM_TWICE,
	DNS_SUM_UNEXPECTED,
	DNS_SUM_MALFORMED,
	DNS_SUM_CUT,     /* queries whose connection ended before the answer */
	DNS_SUM_QUERIES, /* over TCP: that were sent; over UDP: that were asked again over TCP */
	/* over UDP, not over HTTPS */
	DNS_SUM_BAD_COOKIE,   /* answers BADCOOKIE */
	DNS_SUM_WRONG_COOKIE, /* client: answers without the cookie that they should have */
	DNS_SUM_COOKIES,      /* client: answers with a cookie; server: queries with one of ours */
};

struct dns_questions {
	uint32_t n;
	uint32_t *at;  /* where each begins in data, and behind the last its end */
	uint8_t *data; /* queries with an id of 0 */
};

static inline const uint8_t *
dns_question(const struct dns_questions *q, uint32_t i, uint32_t *bytes)
{
	*bytes = q->at[i + 1] - q->at[i];
	return q->data + q->at[i];
}

static inline enum dns_sum
dns_sum_of(unsigned rcode)
{
	return rcode == DNS_NOERROR    ? DNS_SUM_NOERROR
	       : rcode == DNS_NXDOMAIN ? DNS_SUM_NXDOMAIN
	       : rcode == DNS_SERVFAIL ? DNS_SUM_SERVFAIL
				       : DNS_SUM_OTHER;
}

/** What an answer is held against, and where it is counted. */
struct dns_judge {
	const struct fg_l4_dns *zone;
	uint8_t *expected; /* room for the answer of our server */
	struct fg_l4_tally *tally;
	uint64_t *sums; /* by enum dns_sum */
};

/* dns_questions.c */
/** @return 0, -EINVAL with the line, -ENOMEM */
int dns_questions_make(const struct fg_l4_dns *config, struct dns_questions *out, struct fg_error *err);
void dns_questions_free(struct dns_questions *q);
/**
 * Bytes from @p offset of a stream of all queries in turn from question @p first on, each behind its length;
 * the id of query number k of the stream, from 0, is @p salt + k.
 */
void dns_questions_fill(const struct dns_questions *q, uint32_t first, uint16_t salt, uint64_t offset,
			uint8_t *to, uint32_t length);

/* dns_answer.c */
/**
 * Is this, with the right id, the answer to a query? The kind of answer, or of fault, is counted.
 * @param room  bytes of a datagram, or DNS_MESSAGE_MAX
 */
bool dns_is_answer(struct fg_l4 *w, const struct dns_judge *j, const uint8_t *query, uint32_t bytes,
		   const uint8_t *data, uint32_t length, uint32_t room);
