/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "frame_priv.h"

/** A stack being built, shared by the two halves of the builder. */
struct fg_frame {
	unsigned layers, changes;
	struct fg_layer layer[MAX_LAYERS];
	struct fg_change change[FG_MAX_VARIES];
	uint8_t *payload; /* repeated; NULL: bytes counting up */
	size_t payload_octets;
	bool is_unsigned;
};
