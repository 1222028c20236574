/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_availability.h"
#include "fg_counts.h"
#include "fg_inject.h"
#include "fg_latency.h"

__BEGIN_DECLS

/*
 * The result of a stream in a trial. Sender and receiver fill in their shares after its end.
 */

/**
 * Loss of a stream in addition to its amount. A burst is a run of consecutive missing numbers, a loss period
 * of RFC 3357.
 */
struct fg_loss_result {
	/* [i]: bursts of 2^i frames and more, below 2^(i+1); the last: any more */
	uint64_t lengths[FG_LOSS_CLASSES];
	/* distances in numbers from the end of a burst to the next one */
	uint64_t distances[FG_LOSS_CLASSES];
	/*
	 * The longest time without an arrival: between two, less the mean interval of departures; or before
	 * the first or after the last one, if frames were lost there.
	 */
	uint64_t longest_outage_ns;
	uint64_t outage_begin_ns; /* last arrival before it, since the start */
};

/** Frames in which a stream was wrong on purpose; of those left out, numbers. */
struct fg_inject_counts {
	uint64_t sent, received; /* different ones received */
};

/** Frames with the signature of a stream's frame that are not that frame. */
enum fg_altered {
	FG_ALTERED_QUOTED,   /* an ICMP error that quotes it */
	FG_ALTERED_FRAGMENT, /* its last fragment */
	FG_ALTERED_LENGTH,   /* its packet is longer or shorter than it was sent */
	FG_ALTERED_PROTOCOL, /* so, and the protocol inside IP is another one */
	FG_ALTERED_PAYLOAD,  /* of those that were compared: with another payload */
	FG_ALTERED_KINDS,
};

/** Addresses and ports with which the first frame of a stream arrived, if a device had translated them. */
struct fg_translation {
	bool source, destination;                  /* address, port or both */
	bool ports;                                /* the protocol has ports */
	uint8_t version;                           /* of IP */
	uint8_t source_ip[16], destination_ip[16]; /* IPv4: the first four bytes */
	uint16_t source_port, destination_port;
};

/** Frames of a stream that arrived with the same marks; further copies do not count. */
struct fg_codepoints {
	bool tagged, dei, ip;
	uint8_t pcp, dscp; /* of the outermost tag, if it is tagged; of the IP header, if it is IP */
	uint64_t frames;
};

/** Different frames of a stream that arrived with the same value (struct fg_value_fields), so far. */
struct fg_value {
	uint64_t value, frames, octets; /* with FCS */
	uint64_t delay_sum_ns, delay_min_ns, delay_max_ns;
	uint64_t first_arrival_ns, last_arrival_ns; /* since the start of traffic */
};

/**
 * What became of a stream, by sequence number, after the drain. What it did wrong on purpose is no loss, no
 * duplicate and no reordering, and the frames that were made wrong enter nothing but `tx`, `octets` and their
 * own counts.
 */
struct fg_stream_result {
	uint64_t intended;       /* frames the schedule held */
	uint64_t tx;             /* sent, but for those that a port which had to pause still held */
	uint64_t octets;         /* sent, with FCS */
	uint64_t late;           /* not sent: overdue by more than max_lag */
	uint64_t off_schedule;   /* sent, but so late that the device saw another pattern (fg_pace.h) */
	uint64_t unsent;         /* not sent: the trial ended before */
	uint64_t refused;        /* times the port did not take a frame that was due; it stayed due */
	uint64_t no_mbuf;        /* times there was no buffer for a frame that was due; it stayed due */
	uint64_t worst_lag_ns;   /* of a frame that was sent */
	uint64_t tx_duration_ns; /* first to last departure */
	uint64_t tx_wait_ns;     /* how long the last frame waited in a port that had to pause */
	uint64_t rx;             /* different frames received */
	int64_t lost;            /* tx - wrong.sent - rx; below 0: the device invented frames */
	uint64_t duplicates;
	uint64_t own_queue_max_ns; /* the longest wait of a frame while the tester's port sent others */
	uint64_t stale;            /* too far out of order to distinguish first and duplicate */
	uint64_t reordered;        /* RFC 4737 */
	uint64_t max_extent;       /* RFC 4737, 4.2 */
	uint64_t loss_bursts, max_loss_burst;
	uint64_t expired; /* frames that came later than `latest_ns`: lost, or further copies */
	uint64_t excess;  /* highest sequence number received beyond the last one sent */
	uint64_t altered[FG_ALTERED_KINDS]; /* at any port; not received, by enum fg_altered */
	struct fg_translation translation;
	uint64_t last_lost_ns;   /* when the last lost frame was due, since the start; if lost > 0 */
	uint64_t rx_duration_ns; /* from the first arrival to the last */
	uint64_t longest_gap_ns; /* between two arrivals */
	uint64_t gap_begin_ns;   /* arrival before that gap, since the start */
	uint64_t first_arrival_ns, last_arrival_ns; /* of different frames, since the start; if rx > 0 */
	struct fg_latency latency;

	uint64_t rx_octets;  /* of the different frames received, FCS included */
	uint64_t duplicated; /* frames that came more than once (RFC 5560) */
	struct fg_loss_result loss;
	struct fg_order_counts order;         /* RFC 4737; times in ns */
	struct fg_variation_counts variation; /* if asked for; ns */
	uint64_t corrupted; /* different frames whose payload had changed; if asked for, as what follows */
	uint64_t payload_octets;           /* compared */
	uint64_t octet_errors, bit_errors; /* of these */
	uint64_t payload_checked;          /* frames that were compared where it was not asked for */
	/*
	 * Substreams: the number of queues of the port that shared in sending it; 1: one queue sent it whole.
	 * Each has sequence numbers of its own, so runs of loss, order and variation are those within it.
	 */
	unsigned parts;
	/* its frames came over several queues of a port: their order is not known, and is 0 here */
	bool unordered;
	uint64_t series_intervals; /* of fg_engine_series() */
	/* if there is a series that seconds can be made of; times in ns */
	struct fg_availability_counts available;
	struct fg_inject_counts wrong;                   /* frames that were made wrong */
	struct fg_inject_counts faults[FG_INJECT_KINDS]; /* by enum fg_inject */
};

__END_DECLS
