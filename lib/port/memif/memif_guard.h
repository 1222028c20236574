/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Memory that a peer shares can become shorter: a thread that touches what is no longer there gets
 * SIGBUS. Most peers seal their memory against that; those that lend pieces of their huge pages cannot. So
 * the signal is caught: zeros take the place of the memory, and the socket to the peer is shut down, which
 * ends the link.
 */
#include <stddef.h>
#include <stdint.h>

/**
 * From now on @p size bytes at @p at may vanish; then @p socket is shut down. Any thread.
 * @return a number for memif_guard_end(), or -1: there is no room, and the signal would end the program
 */
int memif_guard_begin(uint8_t *at, size_t size, int socket);
/** Before the memory is unmapped and the socket closed. @p guard  -1 is legal */
void memif_guard_end(int guard);
