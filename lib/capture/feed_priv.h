/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <pcap/pcap.h>

#include "fg_replay.h"
#include "records_priv.h"

/*
 * The frames of a capture, one after the other and from the beginning again, ready to be sent. Out of memory,
 * where the file fits, else out of a ring that a thread keeps full.
 */
struct feed {
	const struct fg_replay_config *config;
	struct fg_replay_facts facts;
	_Atomic uint64_t oversize, truncated; /* writer: the thread that reads the file */
	/* memory */
	uint8_t *octets; /* records, one behind the other; NULL: a thread reads */
	uint64_t size, at;
	uint64_t period_ns, base_ns; /* of a loop; of those behind us. Records of the ring have it in */
	/* ring */
	struct records records;
	pthread_t thread;
	bool runs;
	_Atomic bool ending, ended; /* control: stop reading; thread: there is no more */
	char failure[128];          /* written by the thread before `ended` */
	uint64_t loop;              /* of those in memory; writer: the lcore */
};

int feed_open(struct feed *feed, const struct fg_replay_config *config, struct fg_error *err);
void feed_close(struct feed *feed);

/** From the beginning. Not while a trial runs. */
int feed_rewind(struct feed *feed, struct fg_error *err);

/**
 * The next frame; its time since the start of the first loop is the record's plus base_ns.
 * @param done  set at the end of all frames
 * @return NULL: no frame now
 */
const struct record *feed_peek(struct feed *feed, bool *done);
void feed_release(struct feed *feed, const struct record *record);
