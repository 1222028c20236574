/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_net.h"
#include "fg_stream_result.h"

__BEGIN_DECLS

/* Counts of streams and ports: while a trial runs, and after its end. */

/** One interval of a series: the frames that departed in it, whenever they arrived. */
struct fg_interval {
	uint64_t tx, rx; /* sent; different ones of them received: the rest is lost */
	uint64_t octets; /* of those received, FCS included */
	uint64_t duplicates, reordered;
	int64_t delay_min_ns, delay_max_ns; /* 0 while rx is 0; so all delays */
	int64_t delay_p999_ns; /* of those that arrived before the interval after the next began */
	double delay_mean_ns;
};

struct fg_port_result {
	/* during the trial */
	uint64_t rx_missed, rx_no_mbuf, rx_errors, tx_errors, link_changes, link_faults;
	uint64_t rx_pause, paused_ns; /* times it received PAUSE; how long frames waited because of it */
	uint64_t tx_waiting;          /* test frames that a port which has to pause held at the end */
	uint64_t link_down, removed, intercepted; /* 1: at the end of it; the last: ever in it */
	/*
	 * of a port whose card stamps what it receives: bound of the stamps' error, times its clock was set,
	 * and frames that were stamped by the tester instead; all 0 of any other
	 */
	uint64_t rx_stamp_error_ns, rx_stamp_jumps, rx_unstamped;
	/*
	 * what the tester's own stamps may be off: the longest time between the stamp of a frame and its
	 * hand-over to the port, and between two looks at a queue of the port; 0 on the wire
	 */
	uint64_t tx_held_ns, rx_wait_ns;
	/*
	 * the card's own counters and ours, of the whole trial with its learning and drain (account.c);
	 * all 0 unless is_accounted
	 */
	uint64_t is_accounted;
	uint64_t tx_handed, tx_card;            /* handed over to it; counted by it as sent */
	uint64_t rx_card, rx_fetched;           /* counted by its queues; given to us */
	uint64_t rx_total;                      /* received by its MAC; 0: not reported */
	int64_t tx_unaccounted, rx_unaccounted; /* excess of the NIC's count over ours; below 0: fewer */
	/*
	 * test frames that came over another queue than the one that measures their stream, and
	 * about which nothing could be told there: tester drops
	 */
	uint64_t rx_overflow;
	uint64_t misdirected;                    /* test frames that belong to another port */
	uint64_t unsolicited;                    /* frames that are no test frames of this trial */
	uint64_t unsolicited_kind[FG_NET_KINDS]; /* of those that no sink took, by enum fg_net_kind */
	/* management queries, verified replies to them, routing updates */
	uint64_t queries, replies, updates;
};

/** Counts of a stream while it runs: whole, if not of the very same moment. */
struct fg_stream_live {
	uint64_t tx_frames;
	uint64_t tx_wrong;   /* of those: wrong on purpose, and not looked for */
	uint64_t tx_octets;  /* with FCS */
	uint64_t rx_frames;  /* different ones */
	uint64_t rx_octets;  /* of those; with FCS */
	uint64_t missing;    /* below the highest number received: lost, or still to come late */
	uint64_t duplicates; /* further copies of those received */
	uint64_t reordered;  /* RFC 4737 */
	/* of its first and its last frame so far, ns since the start of traffic; 0 while none has come */
	uint64_t first_arrival_ns, last_arrival_ns;
	/* of all rx_frames: the mean since the last look is the quotient of two differences */
	uint64_t delay_sum_ns;
	uint64_t delay_min_ns, delay_max_ns;
	uint64_t own_queue_max_ns; /* longest wait of a frame while the port sent others */
};

/** Delays of a stream while it runs, of all its frames so far; ns. All 0 before the first. */
struct fg_stream_delays {
	uint64_t p50_ns, p99_ns, p999_ns;
	double jitter_ns; /* RFC 3550, after the last frame; below 0: variation is not measured */
};

/** Frames that a port received in the trial while it runs, of whatever kind. */
struct fg_port_live {
	uint64_t rx_frames;
	uint64_t rx_octets; /* with FCS; without further copies of test frames */
	bool link_up;       /* now */
};

/** Totals of the running trial, for the screen. */
struct fg_live {
	uint64_t elapsed_ns;       /* since the start of traffic */
	uint64_t copied_ns;        /* the same, when the oldest of the receivers' counts was copied */
	uint64_t tx, rx;           /* without frames that are wrong on purpose */
	uint64_t missing;          /* of all streams, as in struct fg_stream_live */
	uint64_t own_queue_max_ns; /* longest wait of a frame while its port sent others */
};

/** A membership of a multicast group (struct fg_member). */
struct fg_member_result {
	/* when its first report left and its first leave, since the start of traffic; UINT64_MAX: none did */
	uint64_t joined_ns, left_ns;
	uint64_t queries; /* received by its port, of all groups */
	uint64_t answers; /* groups that its port reported because of them */
};

__END_DECLS
