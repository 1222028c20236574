/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

/*
 * An endpoint port puts an endpoint (fg_endpoint.h) behind a port for a trial: the endpoint gets the TCP and
 * UDP frames that the port receives, and the frames that it writes are sent. ARP, Neighbor Discovery and,
 * unless the endpoint takes it, echo stay with the engine's responder.
 *
 * The lcore that receives on the port must be the one that sends on it.
 */

struct fg_endpoint;
struct fg_port;
struct fg_sink;
struct fg_endpoint_port;
struct fg_task;
struct fg_clock;

struct fg_endpoint_port_config {
	struct fg_port *port;
	struct fg_endpoint *endpoint;
	uint32_t max_frame; /* bytes with FCS */
	uint16_t vlan;      /* 0: untagged */
	/* on the virtual wire, which accepts any number of frames: frames wait here at most for this time */
	double line_rate_bps; /* 0: the port itself reports when it is full */
};

/** What the endpoint port did, and the time it took. */
struct fg_endpoint_port_result {
	uint64_t tx_frames, rx_frames;
	uint64_t refused;           /* times the port did not take a frame; it was kept and sent later */
	uint64_t no_mbuf;           /* times there was no buffer for a frame */
	uint64_t polls, busy_polls; /* and those that had something to send or that followed a frame */
	uint64_t busy_ns; /* the time these took, the frames before them included; on the virtual wire 0 */
};

/** @return 0, -ENOMEM, -EINVAL */
int fg_endpoint_port_create(const struct fg_endpoint_port_config *config, struct fg_endpoint_port **out,
			    struct fg_error *err);

/**
 * Free the endpoint port and its buffers. No trial may be running with it, and no port may still hold a frame
 * of it: on the wire, after fg_device_reset(). NULL is legal.
 */
void fg_endpoint_port_free(struct fg_endpoint_port *port);

/**
 * Before the trial, when its start and its clock (fg_engine_clock()) are known. An endpoint counts time in
 * milliseconds, in ticks of its own and in turns of its timers' wheel. What of one has passed at the start
 * must not depend on earlier trials, or a repeated trial has another result. So on the wire each trial starts
 * at the same time by the endpoint's clock. On real ports it is the engine's, which never goes back, because
 * hosts that remember connections compare its stamps.
 * @return the start by the endpoint's clock, ns
 */
uint64_t fg_endpoint_port_align(struct fg_endpoint_port *port, uint64_t start_ns,
				const struct fg_clock *clock);

/** For fg_trial_config: the task, at the receiving lcore, and the sink, both of the same port. */
struct fg_task *fg_endpoint_port_task(struct fg_endpoint_port *port);
struct fg_sink *fg_endpoint_port_sink(struct fg_endpoint_port *port);

/** Only while no trial runs. */
void fg_endpoint_port_read(const struct fg_endpoint_port *port, struct fg_endpoint_port_result *out);

__END_DECLS
