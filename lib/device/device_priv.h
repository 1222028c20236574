/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The wire. ports.c has the two ports and hands each frame through one direction: device.c decides when
 * it leaves the device, profile.c (bandwidth profiles), fdb.c (a bridge's addresses) and router.c whether
 * and where to, path.c impairs it on its way to the other port. Everything here is written by the lcore that
 * polls both ports, and by the control thread only while nobody polls.
 */

#include "fg_class.h"
#include "fg_device.h"
#include "fg_int128.h"
#include "fg_meter.h"
#include "fg_net.h"
#include "wire.h"

/** Values that depend on the frame size. */
struct passage {
	fg_u128 line_time;    /* frame, preamble and gap */
	fg_u128 service_time; /* between two frames forwarded */
	fg_u128 store_time;   /* from first bit in until the frame is eligible */
	fg_u128 transit;      /* from eligible and served to first bit out */
	uint32_t frame_size;  /* 0: of none */
};

enum { PASSAGES_LOG2 = 4, WIRE_MAX_IN_FLIGHT = 1 << 20 };

/** One direction through the device. */
struct direction {
	const struct fg_device_direction *config;
	fg_u128 octet_time; /* on the line */

	struct passage is;                        /* of the present frame; updated when the size changes */
	struct passage known[1 << PASSAGES_LOG2]; /* of frames before it, by their size */

	struct profiles *profiles; /* NULL: none */
	fg_u128 line_free;         /* earliest first bit of the next frame on the ingress line */
	fg_u128 server_free;
	fg_u128 out_free; /* earliest first bit of the next frame on the outgoing line */
	struct waiting waiting;
	struct fg_path path;
	uint64_t outage_from, outage_to;
	uint64_t recovery;  /* ps */
	uint64_t last_full; /* when a frame last found the buffer full; 0: never */
	bool skipped;       /* while recovering: the frame before this one was lost */
	struct fg_device_counters counters;
};

struct side {
	struct fg_port port; /* must be first: a port is cast to its side */
	struct fg_device *wire;
	struct side *other;
	struct direction direction; /* direction of the frames this port sends */
	struct side *sink;          /* egress of these frames: the other side, or this one if the device
				     * reflects */
	struct arrivals arrivals;   /* frames on the way to this port */
	struct fg_delay_line line;  /* in place of `arrivals` if the wire is impaired */
	fg_u128 in_free;            /* impaired: earliest first bit of the next frame on the line to this
				     * port */
	struct fg_host router;      /* the device's interface on this side */
	uint8_t neighbour[6];       /* the neighbour there: the source of the last frame */
	struct fg_port_counters counters;
};

struct fg_device {
	struct fg_device_config config;
	struct side side[2];
	bool inspects;             /* the frames: it routes, answers, reflects, or learns */
	struct fdb *table;         /* NULL: it does not learn */
	struct firewall *firewall; /* NULL: no firewall */
	struct nat *nat;           /* the same */
	bool impaired;
	bool marks;                 /* a profile marks: the pool has copies for all frames */
	struct rte_mempool *copies; /* for duplicated, corrupted or marked frames; NULL: no such frames */
	struct wire_marks mbuf;     /* its fields and flags */
	uint32_t longest;           /* that the device forwards */
};

int wire_device_init(struct direction *direction, const struct fg_device_config *config, unsigned side,
		     struct fg_error *err);
void wire_device_reset(struct direction *direction, uint64_t seed);
void wire_device_free(struct direction *direction);
void wire_device_size(struct direction *direction, uint32_t frame_size);

/** The first bit of a frame leaves the port no earlier than @p launch. @return when it does */
static inline fg_u128
wire_line_send(struct direction *d, uint64_t launch)
{
	fg_u128 start = FROM_WHOLE(launch);

	if (start < d->line_free)
		start = d->line_free;
	d->line_free = start + d->is.line_time;
	return start;
}

/**
 * A frame enters the device.
 * @param frame  its bytes: direction->is.frame_size with the FCS
 * @return when its first bit leaves the device, UINT64_MAX when it is lost
 */
uint64_t wire_device_pass(struct direction *direction, const uint8_t *frame, fg_u128 first_bit);

/* path.c */
extern const struct fg_path_frames wire_path_frames; /* their context is a side */
int wire_path_init(struct fg_device *wire, uint32_t in_flight, struct fg_error *err);
void wire_path_free(struct fg_device *wire);
/** Forget the frames on the way to @p side. */
void wire_path_clear(struct side *side);
/** Make a pool of copies for this share of the frames on the way. */
int wire_path_copies(struct fg_device *wire, double share, uint32_t in_flight, struct fg_error *err);
/** Another frame with the same bytes. @return NULL: no buffer */
struct rte_mbuf *wire_path_copy(struct side *side, const struct rte_mbuf *m);
/** @return the frame as the device's profile marks it: @p m, or a copy in its place */
struct rte_mbuf *wire_path_mark(struct side *side, struct rte_mbuf *m);
/**
 * A frame has left the device at @p out and goes on its impaired way.
 * @return false: there was no room for it, the caller keeps it
 */
bool wire_path_send(struct side *side, struct rte_mbuf *m, uint64_t out);
/** Send a router's reply to @p side, without impairment. @return as above */
bool wire_path_answer(struct side *side, struct rte_mbuf *m, uint64_t time);
uint16_t wire_path_rx(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now);
uint64_t wire_path_next_arrival(struct fg_port *port);

/**
 * Pass a frame that is about to leave the device through the firewall.
 * @param at  in: departure without the firewall; out: with it
 * @return the frame or its replacement; NULL: lost, and freed
 */
struct rte_mbuf *wire_guard(struct side *side, struct rte_mbuf *m, uint64_t *at);

/**
 * Translate a received frame.
 * @param at  in: reception; out: end of the translation
 * @return the frame, or a translated copy in its place; NULL: lost, and freed
 */
struct rte_mbuf *wire_translate(struct side *side, struct rte_mbuf *m, uint64_t *at);

int wire_profiles_create(const struct fg_device_profile *config, unsigned n, struct profiles **out,
			 struct fg_error *err);
void wire_profiles_reset(struct profiles *profiles);
void wire_profiles_counters(const struct profiles *profiles, unsigned i,
			    struct fg_device_profile_counters *out);

/** The profile of a frame's service decides. @return when the frame may go on, UINT64_MAX when it is lost */
uint64_t wire_profiles_pass(struct profiles *profiles, const uint8_t *frame, uint32_t frame_size,
			    uint64_t now);

bool wire_profiles_marks(const struct fg_device_profile *config, unsigned n);
/** Does the frame that passed last leave with a changed code point? */
bool wire_profiles_mark(const struct profiles *profiles, enum fg_mark_kind *kind, unsigned *value);

enum wire_route { WIRE_FORWARD, WIRE_ANSWER, WIRE_DROP };

/**
 * Route a frame from @p side. The frame may be rewritten; the length of a reply goes to @p length.
 * @param room  writable bytes; no reply with less than FG_ANSWER_ROOM
 */
enum wire_route wire_route(struct side *side, uint8_t *frame, size_t *length, size_t room);
