/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What sender and reflector share: where a message stands in a frame, and the formats' offsets. Nothing here
 * has state.
 */
#include "fg_bytes.h"
#include "fg_oam.h"

/** Is the test over UDP? Else its messages are Y.1731's. */
static inline bool
oam_is_over_udp(enum fg_oam_test test)
{
	return test == FG_OAM_STAMP || test == FG_OAM_TWAMP_LIGHT;
}

/** A message in a frame: a datagram's content, or what follows the EtherType of Y.1731. */
struct oam_message {
	uint8_t version; /* of IP: 4 or 6; 0: Y.1731 */
	uint8_t ttl, tos;
	size_t ip, udp; /* bytes of the frame before them */
	size_t at;      /* bytes before the message ... */
	size_t length;  /* ... and of it; of Y.1731 with the padding */
};

/** Find the message. @return false: no message, or damaged or truncated */
bool oam_find(const uint8_t *frame, size_t length, struct oam_message *out);

/** The EtherType of a frame, behind its tags; 0: it has none. */
uint16_t oam_type(const uint8_t *frame, size_t length);

/** Write lengths and checksums of the headers around a message of @p length bytes. @return bytes in all */
size_t oam_finish(uint8_t *frame, const struct oam_message *m, size_t length);

/* STAMP and TWAMP, in bytes from the datagram's content (RFC 8762, 4.2.1 and 4.3.1) */
enum {
	STAMP_SEQUENCE = 0,
	STAMP_TIME = 4,
	STAMP_ESTIMATE = 12,
	STAMP_SSID = 14,
	STAMP_SENDER_LEAST = 14, /* of TWAMP */
	STAMP_T2 = 16,
	STAMP_SENDER = 24, /* number, T1, estimate as the sender wrote them */
	STAMP_SENDER_OCTETS = 14,
	STAMP_ZERO = 38,
	STAMP_TTL = 40,
	TWAMP_REPLY = 41,
	STAMP_BASE = 44,
	STAMP_TLV = 4, /* header of a TLV */
};

/** Our own time as a STAMP packet has it. */
static inline uint64_t
oam_stamp_time(int64_t unix_ns, bool ptp)
{
	return ptp ? fg_oam_to_ptp(unix_ns) : fg_oam_to_ntp(unix_ns);
}

static inline int64_t
oam_stamp_unix(uint64_t time, uint16_t estimate)
{
	return estimate & FG_OAM_PTP ? fg_oam_from_ptp(time) : fg_oam_from_ntp(time);
}

/* Y.1731, in bytes from the EtherType on (G.8013, 9) */
enum {
	Y1731_LEVEL = 0, /* three bits, then five of the version */
	Y1731_OPCODE = 1,
	Y1731_FLAGS = 2,
	Y1731_TLV_OFFSET = 3,
	Y1731_FIELDS = 4,
	Y1731_LBR = 2,
	Y1731_LBM = 3,
	Y1731_DMR = 46,
	Y1731_DMM = 47,
	Y1731_LMR = 42,
	Y1731_LMM = 43,
	Y1731_SLR = 54,
	Y1731_SLM = 55,
	Y1731_LB_FIELDS = 4, /* bytes before the first TLV, from Y1731_FIELDS on */
	Y1731_DM_FIELDS = 32,
	Y1731_SL_FIELDS = 16,
	Y1731_LM_FIELDS = 12,
	Y1731_DM_T1 = 4,
	Y1731_DM_T2 = 12,
	Y1731_DM_T3 = 20,
	Y1731_SL_SOURCE = 4,
	Y1731_SL_RESPONDER = 6,
	Y1731_SL_ID = 8,
	Y1731_SL_SENT = 12,
	Y1731_SL_ANSWERED = 16,
	Y1731_LM_SENT = 4, /* frames of the service, by the sender */
	Y1731_LM_CAME = 8, /* by the peer: of these */
	Y1731_LM_BACK = 12,
	Y1731_TLV_DATA = 3,
	Y1731_TLV_HEADER = 3,
};

/*
 * The first 8 bytes of a frame of a service, after its EtherType: "FG-LOSS?" is returned once, as "FG-LOSS!".
 * Two reflectors would else send each other one for ever, or the frame of a stream.
 */
#define OAM_SERVICE  UINT64_C(0x46472d4c4f53533f)
#define OAM_RETURNED UINT64_C(0x46472d4c4f535321)

/** Is it a message of @p opcode, of version @p version or later, with that many bytes of fields? */
bool oam_is_y1731(const uint8_t *message, size_t length, uint8_t opcode, uint8_t fields);

/**
 * What a reflector has to make of the TLVs behind the base of a STAMP packet: those it knows lose their U
 * flag, others keep it, and one that is longer than the packet is marked as malformed (RFC 8972, 4).
 * @param tos   of the request's IP header
 * @param dscp  set to what the reply's IP header shall have, if the request says so
 */
void oam_stamp_answer_tlvs(uint8_t *content, size_t length, uint8_t tos, uint8_t *dscp);

/** Fill the bytes behind the base with one TLV of padding, if one fits. */
void oam_stamp_pad(uint8_t *content, size_t length);

/** Did the reflector return the padding as it must: without flags? */
bool oam_stamp_padding_is_back(const uint8_t *content, size_t length);
