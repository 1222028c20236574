/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_error.h"

__BEGIN_DECLS

/** What a quantity measures, and the unit its value is kept in. */
enum fg_unit {
	FG_UNIT_NONE,  /* a bare number */
	FG_UNIT_FPS,   /* frames per second */
	FG_UNIT_BPS,   /* bits per second, at the layer beside it */
	FG_UNIT_RATIO, /* 1.0 = 100 %; from %, ppm */
	FG_UNIT_NS,    /* nanoseconds */
	FG_UNIT_BYTES,
	FG_UNIT_FRAMES,
};

/** A parsed quantity in its base unit. */
struct fg_quantity {
	double value;
	enum fg_unit unit;
	int layer; /* of FG_UNIT_BPS: 1 wire with preamble and gap, 2 frame with FCS, 3 IP; 0 not given */
};

/**
 * Read a quantity as people write it: "10Gbps", "5 Gbps L1", "900kfps", "40%", "100ppm", "64B", "1.5KiB",
 * "120us", "2 min", "512 frames", "7". Prefixes k M G T are powers of 1000, Ki Mi Gi of 1024 (bytes only).
 * Case matters as in SI, except that "K" is taken for "k".
 *
 * @param out  untouched on failure
 * @return 0, -EINVAL (not a quantity: the message has what was expected), -ERANGE (not finite)
 */
int fg_units_parse(const char *text, struct fg_quantity *out, struct fg_error *err);

__END_DECLS
