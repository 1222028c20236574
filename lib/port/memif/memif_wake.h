/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A receiver that sleeps is woken through an eventfd that both peers have. To write to it may take for ever,
 * because a peer can fill it, and a peer may pass something else in its place: a full pipe, or a broken one.
 * So it is not written to: Linux's asynchronous I/O signals an eventfd, and nothing else, and never waits.
 */

/** Before the first memif_wake(). Any thread. @return 0, or -errno: this system has no asynchronous I/O */
int memif_wake_begin(void);
/**
 * Add 1 to an eventfd; a full one stays as it is. Any thread, without a wait.
 * @param descriptor  the eventfd; without effect on another descriptor
 * @param ready       an eventfd of this process alone, which has room
 */
void memif_wake(int descriptor, int ready);
