/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_L4_IPERF_H
#define FG_L4_IPERF_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a server of iperf3 (FG_L4_IPERF) tells of the tests that clients make with it, while it goes on: of
 * each one FG_L4_IPERF_TEST, then for each second and each stream FG_L4_IPERF_INTERVAL, in the end for each
 * stream FG_L4_IPERF_RESULT, and always FG_L4_IPERF_END. The lcore writes the reports, control reads them;
 * neither waits. A client reports its one test like this, but for intervals, for which it has the series
 * (fg_l4_series()).
 */

struct fg_l4;

enum fg_l4_iperf_kind { FG_L4_IPERF_TEST, FG_L4_IPERF_INTERVAL, FG_L4_IPERF_RESULT, FG_L4_IPERF_END };

/** How a test ended. */
enum fg_l4_iperf_end {
	FG_L4_IPERF_DONE,
	FG_L4_IPERF_REFUSED,    /* by the server; see `refusal` */
	FG_L4_IPERF_TERMINATED, /* by the person at the other end */
	FG_L4_IPERF_GONE,       /* the control connection was closed or lost */
	FG_L4_IPERF_LATE,       /* the client did not send its next state in time */
	FG_L4_IPERF_NONSENSE,   /* or said what it may not */
	FG_L4_IPERF_STOPPED,    /* by fg_l4_iperf_stop() */
	FG_L4_IPERF_ENDINGS,
};

/** Octets and datagrams of a stream, as one side counted them. Datagrams are 0 of TCP. */
struct fg_l4_iperf_count {
	uint64_t octets;             /* payload */
	uint64_t datagrams;          /* sent; of a receiver, the highest number that came */
	uint64_t lost, out_of_order; /* as iperf3 counts: a copy counts as out of order */
	uint64_t left_out;           /* of ours that sends: datagrams that were due and too late to be sent */
	uint64_t retransmits;        /* segments; first stream: of all; UINT64_MAX: unknown */
	double jitter_ns;            /* RFC 3550, 6.4.1; RFC 1889 */
	double from_s, to_s;         /* since the beginning of the test */
};

struct fg_l4_iperf_report {
	uint8_t kind; /* enum fg_l4_iperf_kind */
	/* FG_L4_IPERF_TEST */
	bool client; /* the test is our client's, and the other end is the server */
	bool ipv6, udp;
	bool reverse, both; /* the server sends; both do */
	uint8_t remote[16]; /* the other end; IPv4 as ::ffff:a.b.c.d */
	uint16_t remote_port;
	uint32_t parallel;               /* streams in each direction */
	uint32_t length;                 /* octets of each datagram or write */
	double omit_s, time_s, rate_bps; /* rate of each stream; 0: as fast as it goes */
	/* FG_L4_IPERF_INTERVAL and FG_L4_IPERF_RESULT */
	uint32_t stream;                       /* its number in iperf3's reports: 1, 3, 4, 5 and so on */
	bool sent;                             /* by us */
	bool omitted;                          /* the interval lies in the time that no result is of */
	struct fg_l4_iperf_count ours, theirs; /* of an interval: only ours */
	/* FG_L4_IPERF_END */
	uint8_t end;      /* enum fg_l4_iperf_end */
	uint32_t refusal; /* iperf3's number for what is wrong */
	uint64_t missed;  /* reports that were not read in time */
};

/**
 * The next report of application @p app. By control, at any time. @return false: no report, as always of
 * other kinds
 */
bool fg_l4_iperf_next(struct fg_l4 *l4, unsigned app, struct fg_l4_iperf_report *out);

/**
 * Tell the client whose test is running that it is over, and take no further one. By control, at any time.
 */
void fg_l4_iperf_stop(struct fg_l4 *l4, unsigned app);

/**
 * FG_L4_IPERF client: what the server counted, in JSON; empty when it has said nothing. Its lifetime is the
 * worker's.
 */
const char *fg_l4_peer_results(const struct fg_l4 *l4, unsigned app);

#ifdef __cplusplus
}
#endif
#endif
