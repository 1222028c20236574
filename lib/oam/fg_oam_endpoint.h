/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_endpoint.h"
#include "fg_oam.h"

__BEGIN_DECLS

/*
 * Both ends of an OAM session behind a port (fg_endpoint.h): a sender, which keeps a record of every probe,
 * and a reflector. The reader interprets the records.
 */

struct fg_oam_sender_config {
	enum fg_oam_test test;
	struct fg_host host; /* the sender's addresses */
	uint8_t mac[6];      /* next hop, or the peer's MEP */
	bool ipv6;
	uint8_t peer[16];  /* IPv4: the first four bytes */
	uint16_t from, to; /* UDP ports */
	uint8_t dscp, ttl, level;
	uint16_t mep, ssid;
	uint32_t id;         /* of the test, in SLM; the first transaction id of LBM */
	bool ptp;            /* timestamps of STAMP and TWAMP; Y.1731's always are */
	uint32_t frame_size; /* bytes with FCS */
	uint32_t count;
	uint64_t interval_ns;
	uint32_t between; /* of LOSS: frames of the service from one message to the next, at least 1 */
	uint32_t skip;    /* number of a probe to leave out, so that its number is missing; 0: none */
};

enum {
	FG_OAM_PROBE_SENT = 1,
	FG_OAM_PROBE_ANSWERED = 2,
	FG_OAM_PROBE_REORDERED = 4, /* its reply came after the reply to a later probe */
};

/** One probe. Times in ns; the peer's are by its clock, since 1970. */
struct fg_oam_probe {
	uint64_t t1, t4;                 /* by the endpoint's clock */
	int64_t unix_t1, unix_t4;        /* by the common time */
	int64_t t2, t3;                  /* of the peer; 0: not told */
	uint32_t reflected;              /* the peer's number, or its count of frames */
	uint32_t returned, came;         /* of LOSS: frames that the peer sent, and that came before */
	uint16_t estimate, own_estimate; /* of the peer; ours in the probe */
	uint8_t ttl;                     /* of the request when it arrived there */
	uint8_t flags;                   /* FG_OAM_PROBE_* */
};

/** Counts of a session; the ones with a text count replies that break the standard. */
#define FG_OAM_COUNTERS(X)                                                                                   \
	X(sent, NULL)                                                                                        \
	X(received, NULL)                                                                                    \
	X(duplicates, NULL)                                                                                  \
	X(unknown, "replies to no probe that was sent")                                                      \
	X(echo, "fields of the probe are not returned as they were sent")                                    \
	X(size, "the size of the reply differs from the probe's size")                                       \
	X(zero, "octets that must be zero are not")                                                          \
	X(order, "by the reflector's times the probe was there for less than 0, or longer than it was away") \
	X(estimate, "the error estimate has a multiplier of zero")                                           \
	X(tlv, "a TLV is not returned, or not with the flags it should have")                                \
	X(short_reply, "the reply is too short")

#define FG_OAM_COUNTER_FIELD(name, text) uint64_t name;
struct fg_oam_counters {
	FG_OAM_COUNTERS(FG_OAM_COUNTER_FIELD)
};

/**
 * Counter @p i of struct fg_oam_counters, all of them uint64_t in this order.
 * @param text  what is wrong with the peer; NULL: nothing is
 * @return      its name, NULL behind the last
 */
const char *fg_oam_counter_name(unsigned i, const char **text);

struct fg_oam_sender;

/** @return 0, -EINVAL, -ENOMEM */
int fg_oam_sender_create(const struct fg_oam_sender_config *config, struct fg_oam_sender **out,
			 struct fg_error *err);
void fg_oam_sender_free(struct fg_oam_sender *sender);
struct fg_endpoint *fg_oam_sender_endpoint(struct fg_oam_sender *sender);
/** Before the trial: when the first probe leaves, by the endpoint's clock. */
void fg_oam_sender_schedule(struct fg_oam_sender *sender, uint64_t start_ns);
/** As fg_oam_reflector_set_clock(). */
void fg_oam_sender_set_clock(struct fg_oam_sender *sender, int64_t unix_ahead_ns, uint16_t estimate);
/** The records, config.count of them. Only while no trial runs. */
const struct fg_oam_probe *fg_oam_sender_probes(const struct fg_oam_sender *sender);
void fg_oam_sender_read(const struct fg_oam_sender *sender, struct fg_oam_counters *out);

struct fg_oam_station;

/** A reflector behind a port. @return 0, -EINVAL, -ENOMEM */
int fg_oam_station_create(const struct fg_oam_reflector_config *config, struct fg_oam_station **out,
			  struct fg_error *err);
void fg_oam_station_free(struct fg_oam_station *station);
struct fg_endpoint *fg_oam_station_endpoint(struct fg_oam_station *station);
struct fg_oam_reflector *fg_oam_station_reflector(struct fg_oam_station *station);

__END_DECLS
