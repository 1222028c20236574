/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "fg_error.h"
#include "fg_task.h"

__BEGIN_DECLS

/*
 * Measures how evenly the tester sends. Frames carry their departure time, so a receiver can compute the
 * times between them from those that were intended, however the way there has squeezed or stretched them.
 * What is looked at is one stream, the only one whose frames arrive on a port.
 *
 * Unless the port departs frames by itself at a given time, the stamp is the time of the round in which a
 * frame was handed to the driver: frames of one round have no time between them here, though a line puts them
 * one behind the other.
 */
struct fg_departures;

/** The intended times between two departures. */
struct fg_departures_config {
	uint64_t burst;    /* frames of a burst; 0 or 1: none, all are between_ns apart */
	double within_ns;  /* between two frames of a burst */
	double between_ns; /* from the last frame of a burst to the first of the next one */
};

/**
 * Times between two departures, of frames that follow each other by their numbers; ns. All 0 when there were
 * none.
 */
struct fg_departures_result {
	uint64_t count;
	uint64_t min_ns, p50_ns, p99_ns, max_ns;
	double mean_ns;
	/* how far they were from what was intended, either way */
	uint64_t error_p50_ns, error_p99_ns, error_p999_ns, error_max_ns;
};

/** @return 0, -EINVAL (a time below 0), -ENOMEM */
int fg_departures_create(const struct fg_departures_config *config, struct fg_departures **out,
			 struct fg_error *err);
void fg_departures_free(struct fg_departures *departures);

/** For the port that receives. */
struct fg_tap *fg_departures_tap(struct fg_departures *departures);

/** After the trial. */
void fg_departures_read(const struct fg_departures *departures, struct fg_departures_result *out);

__END_DECLS
