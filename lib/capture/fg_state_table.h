/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_task.h"

__BEGIN_DECLS

/*
 * The state table of a Responder (RFC 9693, 4.4): with which four tuple each frame of the first stream of a
 * trial arrived. A stateful gateway has translated it, so it is known by its number alone, and may be
 * answered only as it arrived. UDP over IPv4.
 */
struct fg_state_table;

/** A connection, as the Responder sees it. Numbers, not network byte order. */
struct fg_state_entry {
	uint32_t source, destination;
	uint16_t source_port, destination_port;
	bool known; /* its frame has arrived */
};

/**
 * @param connections  frames of the stream, from number 0 on; later ones are not looked at
 * @return 0, -EINVAL (none), -ENOMEM
 */
int fg_state_table_create(uint32_t connections, struct fg_state_table **out, struct fg_error *err);
void fg_state_table_free(struct fg_state_table *table);

/** For the port that receives; written by its first receiving lcore. */
struct fg_tap *fg_state_table_tap(struct fg_state_table *table);

/** After the trial: the entry of each number. */
const struct fg_state_entry *fg_state_table_entries(const struct fg_state_table *table);

__END_DECLS
