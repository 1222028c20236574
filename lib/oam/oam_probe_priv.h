/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The template of a session's probes (probe.c), which its sender copies and fills. It has no state. */
#include "fg_oam_endpoint.h"
#include "oam_priv.h"

/**
 * Write it into zeroed bytes.
 * @return bytes with FCS that the frame needs at least, if it is to be shorter or too long; 0: it is made
 */
size_t oam_make_probe(const struct fg_oam_sender_config *config, uint8_t *frame, struct oam_message *place);
