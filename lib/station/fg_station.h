/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_STATION_H
#define FG_STATION_H

#include <stdint.h>

#include "fg_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A station puts an endpoint (fg_endpoint.h) behind a port for a trial: it gives it the TCP and UDP frames that the
 * port receives, and sends what it writes. ARP, Neighbor Discovery and echo stay with the engine's responder.
 *
 * The lcore that receives on the port must be the one that sends on it.
 */

struct fg_endpoint;
struct fg_port;
struct fg_sink;
struct fg_station;
struct fg_task;
struct fg_task_clock;

struct fg_station_config {
	struct fg_port *port;
	struct fg_endpoint *endpoint;
	uint32_t max_frame; /* octets with FCS */
	uint16_t vlan;      /* 0: untagged */
	/* on the virtual wire, which takes whatever it is given: frames wait here instead, for no more than this */
	double line_rate_bps; /* 0: the port says itself when it is full */
};

/** What the station did, and the time it took. */
struct fg_station_result {
	uint64_t tx_frames, rx_frames;
	uint64_t refused;           /* times the port did not take a frame; it was kept and sent later */
	uint64_t no_mbuf;           /* times there was no buffer for a frame */
	uint64_t polls, busy_polls; /* and those that had something to send or that followed a frame */
	uint64_t busy_ns; /* the time these took, the frames before them included; on the virtual wire 0 */
};

/** @return 0, -ENOMEM, -EINVAL */
int fg_station_create(const struct fg_station_config *config, struct fg_station **out, struct fg_error *err);

/**
 * Give back what it holds. No trial may be running with it, and no port may still hold a frame of it: on the wire,
 * after fg_wire_reset(). NULL is legal.
 */
void fg_station_free(struct fg_station *station);

/**
 * Before the trial, when its start and its clock (fg_engine_clock()) are known. An endpoint counts time in milliseconds and in ticks of its own; what part
 * of one has gone by at the start must not depend on what was done before, or a trial that is made again comes out
 * otherwise.
 * @return the start by the endpoint's clock, ns
 */
uint64_t fg_station_align(struct fg_station *station, uint64_t start_ns, const struct fg_task_clock *clock);

/** For fg_trial_config: the task, at the receiving lcore, and the sink, both of the station's port. */
struct fg_task *fg_station_task(struct fg_station *station);
struct fg_sink *fg_station_sink(struct fg_station *station);

/** Only while no trial runs. */
void fg_station_read(const struct fg_station *station, struct fg_station_result *out);

#ifdef __cplusplus
}
#endif
#endif
