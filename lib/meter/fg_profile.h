/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * A bandwidth profile: which frames of a service are within what was agreed. Two token buckets, one filled at
 * the committed rate (CIR, up to CBS bytes), one at the excess rate (EIR, up to EBS).
 */

enum fg_colour { FG_GREEN, FG_YELLOW, FG_RED };

enum fg_meter_kind {
	/**
	 * MEF 10: a frame takes from one bucket only. Without the coupling flag its decisions are the
	 * decisions of RFC 4115 (by its flow chart, which lets a frame pass that takes the last token).
	 */
	FG_METER_MEF,
	/** RFC 2698, two rates: the second bucket fills at the peak rate and a green frame takes from
	 * both. */
	FG_METER_RFC2698,
};

struct fg_meter_config {
	enum fg_meter_kind kind;
	bool aware;       /* the colour a frame comes with counts; false: colour-blind */
	bool coupling;    /* MEF: what overflows the committed bucket goes to the other one */
	uint64_t cir_bps; /* bits of frames with FCS per second; at most 10^15 */
	uint64_t eir_bps; /* the same; RFC 2698: the peak rate (PIR) */
	uint64_t cbs;     /* bytes; at most 2^40 */
	uint64_t ebs;     /* bytes; RFC 2698: of the peak bucket (PBS) */
};

/** A service: all that is given must match. */
struct fg_class {
	uint16_t vlan, inner; /* 0: any */
	uint8_t pcps;         /* bit n: PCP n belongs to it; 0: any */
	uint64_t dscps;       /* bit n: DSCP n belongs to it; 0: any */
};

/** Which frames come as yellow; all others come as green. */
struct fg_colouring {
	uint64_t dscps; /* bit n: DSCP n is yellow */
	uint8_t pcps;   /* bit n: PCP n is yellow */
	bool dei;       /* by the drop eligible indicator */
};

/** What in a frame marks its colour. */
enum fg_mark_kind { FG_MARK_NONE, FG_MARK_DSCP, FG_MARK_PCP, FG_MARK_DEI, FG_MARK_ECN };

/** What a device writes into the frames it lets pass: a DSCP, PCP or DEI. ECN is a path's (lib/path). */
struct fg_marking {
	enum fg_mark_kind kind;
	int green, yellow; /* below 0: they stay as they are */
};

__END_DECLS
