/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A port's frames to its neighbours during the test: of the responder, in every trial and between trials, and
 * of the talker, in a trial that configures it. Both live on the lcore that sends on the port's first queue,
 * which alone writes them once they run. What the receivers of the port find for the responder comes over a
 * ring.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "fg_lcore.h"
#include "fg_net.h"
#include "fg_port.h"
#include "fg_trial.h"

struct hosts;
struct link;
struct speaker;

/** Keeps up with the neighbours of one port. Lives on the tx lcore, since it sends. */
struct responder {
	struct fg_task task;
	struct fg_port *port;
	struct rte_mempool *pool;
	struct rte_ring *from_rx;
	const struct fg_clock *clock;
	struct fg_host host;
	uint32_t tag; /* 0: none */
	uint8_t gateway4[4], gateway6[16];
	bool has_gateway4, has_gateway6;
	struct hosts *hosts; /* emulated ones; NULL: none. Writer: control, while the lcores rest */
	struct link *link;   /* protocols of the link; the same */
	/* NULL: no group messages; else their owner, which gets received ones, too. Writer: the tx lcore */
	struct speaker *speaker;
	uint64_t announce_at; /* ticks; UINT64_MAX: done. Written by control before the job starts */
	/* writer: the tx lcore; control reads the MAC after seeing the flag */
	uint8_t mac4[6], mac6[6];
	_Atomic bool known4, known6;
	uint32_t asked; /* request of the last management query; 0: none yet. Writer: the tx lcore */
	_Atomic uint64_t replies; /* to them, verified; writer: the tx lcore */
};

/** Sends frames other than test frames to the device, during a trial. Written by the tx lcore only. */
struct talker {
	struct fg_task task;
	struct responder *responder; /* of the same port and lcore: has its addresses and sends */
	struct fg_snmp_query query;
	uint64_t next_query, query_every, next_update, update_every, until; /* ticks */
	uint64_t queries, updates;                                          /* sent */
};

/** A frame came to a speaker's port; it may be a query. */
void speaker_read(struct speaker *speaker, const uint8_t *frame, size_t length, uint64_t now);

uint64_t responder_poll(struct fg_task *task, uint64_t now);
/** A buffer and where its frame begins; NULL: no buffer is free. */
uint8_t *responder_buffer(struct responder *r, struct rte_mbuf **m);
/** Make its frame, which has @p length bytes, ready to be sent, with @p tags, the outermost first. */
void responder_dress(struct rte_mbuf *m, size_t length, const uint32_t *tag, unsigned tags);
/** Is there room for an answer in place, which may be longer than its question by an option? */
bool responder_may_answer(const struct rte_mbuf *m);
/** Send it with our tag, if we have one, or with others. */
void responder_send(struct responder *r, struct rte_mbuf *m, size_t length, uint64_t now);
void responder_send_tagged(struct responder *r, struct rte_mbuf *m, size_t length, const uint32_t *tag,
			   unsigned tags, uint64_t now);
/** The talker of a port in a trial of that timeline. @return NULL without memory */
struct talker *talker_create(const struct fg_talk *talk, struct responder *responder,
			     const struct fg_job *timeline);
