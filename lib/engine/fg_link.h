/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * Frames of the protocols of a link, such as LLDP and LACP: a few per second, whose state machines live on
 * the control thread. A port that is open for them hands those that it receives to control, and sends what
 * control gives it, during the test: in every trial, and between trials where time passes then (on the
 * virtual wire it does not).
 *
 * All functions belong to the control thread.
 */

enum {
	FG_LINK_TYPES = 4,       /* EtherTypes that a port may be open for */
	FG_LINK_OCTETS = 1514,   /* of a frame, without FCS */
	FG_LINK_MIN_OCTETS = 60, /* shorter ones are filled up */
};

struct fg_engine;

/**
 * Open a port for frames of @p n EtherTypes, or close it (0). Waiting frames of both directions are dropped.
 * A trial that is prepared must have ended before.
 * @return 0, -EBUSY a trial is running, -EINVAL too many, -ENOMEM
 */
int fg_engine_link_open(struct fg_engine *engine, unsigned port, const uint16_t *type, unsigned n,
			struct fg_error *err);
/**
 * Send a frame soon.
 * @return 0, -ENETDOWN the port is not open, -EMSGSIZE not a frame, -ENOBUFS too many wait
 */
int fg_engine_link_send(struct fg_engine *engine, unsigned port, const uint8_t *frame, size_t length);
/** The next frame that was received. @return its bytes, without FCS; 0: no frame */
size_t fg_engine_link_receive(struct fg_engine *engine, unsigned port, uint8_t frame[FG_LINK_OCTETS]);
/** Do frames wait to be sent? */
bool fg_engine_link_waits(const struct fg_engine *engine, unsigned port);

__END_DECLS
