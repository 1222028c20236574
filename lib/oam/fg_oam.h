/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_net.h"

__BEGIN_DECLS

/*
 * Active OAM: STAMP (RFC 8762, extensions of RFC 8972), TWAMP Light (RFC 5357, appendix I) and the loopback,
 * delay, synthetic loss and loss messages of ITU-T Y.1731. Formats, and the reflector that answers them.
 * Bytes in, bytes out: no DPDK. Unauthenticated only.
 *
 * Times are nanoseconds since 1970 by the clock that fg_oam_reflector_set_clock() describes.
 */

enum { FG_OAM_PORT = 862, FG_OAM_ROOM = 32 };

enum fg_oam_test {
	FG_OAM_STAMP,
	FG_OAM_TWAMP_LIGHT,
	FG_OAM_LOOPBACK,  /* LBM, LBR */
	FG_OAM_DELAY,     /* DMM, DMR */
	FG_OAM_SYNTHETIC, /* SLM, SLR */
	FG_OAM_LOSS,      /* LMM, LMR: frames of a service are counted */
};

/** NTP time stamp (RFC 5905), 32.32 bits since 1900, rounded down; and back, of the era that ends in 2036. */
uint64_t fg_oam_to_ntp(int64_t unix_ns);
int64_t fg_oam_from_ntp(uint64_t ntp);

/** PTP truncated time stamp (RFC 8186): seconds and nanoseconds, 32 bits each, of the same epoch as ours. */
uint64_t fg_oam_to_ptp(int64_t unix_ns);
int64_t fg_oam_from_ptp(uint64_t ptp);

enum { FG_OAM_SYNCHRONISED = 0x8000, FG_OAM_PTP = 0x4000 };

/**
 * Error estimate (RFC 4656, 4.1.2): the least one that is no less than @p error_ns.
 * @param flags  FG_OAM_SYNCHRONISED, FG_OAM_PTP
 */
uint16_t fg_oam_estimate(double error_ns, unsigned flags);

/** The error that an estimate declares, ns; 0: invalid, its multiplier is 0. */
double fg_oam_estimate_ns(uint16_t estimate);

/** TLV of a STAMP packet (RFC 8972, 4). */
enum { FG_OAM_TLV_PADDING = 1, FG_OAM_TLV_CLASS = 4 };
enum { FG_OAM_TLV_UNRECOGNISED = 0x80, FG_OAM_TLV_MALFORMED = 0x40 };

/** What a reflector answers. */
struct fg_oam_reflector_config {
	enum fg_oam_test test; /* STAMP or TWAMP_LIGHT; any other: the messages of Y.1731 */
	struct fg_host host;   /* its addresses; without one of a family every address of it is answered */
	uint16_t port;         /* UDP */
	bool stateless;        /* replies have the sender's sequence numbers (RFC 8762, 4.3) */
	uint8_t level;         /* of its MEP, 0 to 7; frames of other levels are not answered */
	uint16_t mep;          /* its id, in SLR */
};

/** Counts of a reflector. Writer: the lcore that calls it. */
struct fg_oam_reflector_counts {
	uint64_t answered;
	uint64_t refused;  /* malformed, or damaged: no reply */
	uint64_t sessions; /* that are remembered */
	uint64_t crowded;  /* requests not answered because too many sessions are remembered */
};

struct fg_oam_reflector;

/** @return 0, -EINVAL, -ENOMEM */
int fg_oam_reflector_create(const struct fg_oam_reflector_config *config, struct fg_oam_reflector **out,
			    struct fg_error *err);
void fg_oam_reflector_free(struct fg_oam_reflector *reflector);

/**
 * Set the offset of the common time from the endpoint's clock, and its error estimate (without FG_OAM_PTP).
 * At any time; from one time to the next the lcore may combine old and new.
 */
void fg_oam_reflector_set_clock(struct fg_oam_reflector *reflector, int64_t unix_ahead_ns, uint16_t estimate);

/**
 * Turn a request into its reply, in place. A reflector of Y.1731 counts each other frame as one of the
 * service. It returns the frames of the test `loss` that are for its MAC.
 *
 * @param frame    starts at the destination MAC; FG_OAM_ROOM bytes behind @p length must be writable
 * @param length   bytes without FCS
 * @param arrival  when it came, ns of the clock; the reply leaves at once, until fg_oam_reflector_depart()
 * @return         bytes of the reply, 0: no request for this reflector, and nothing was changed
 */
size_t fg_oam_reflector_answer(struct fg_oam_reflector *reflector, uint8_t *frame, size_t length,
			       uint64_t arrival);

/** Frames of the service came that fg_oam_reflector_answer() does not get; an LMR counts them, too. */
void fg_oam_reflector_count(struct fg_oam_reflector *reflector, uint64_t frames);

/** The reply @p frame that fg_oam_reflector_answer() made leaves at @p departure, ns of the clock. */
void fg_oam_reflector_depart(const struct fg_oam_reflector *reflector, uint8_t *frame, size_t length,
			     uint64_t departure);

void fg_oam_reflector_read(const struct fg_oam_reflector *reflector, struct fg_oam_reflector_counts *out);

__END_DECLS
