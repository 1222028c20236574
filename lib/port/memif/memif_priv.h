/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Memif, version 2.0, as libmemif, VPP and DPDK speak it: a Unix socket on which client and server agree on
 * the rings, and rings in memory that the client shares. Laid out here; channel.c speaks on the socket,
 * ring.c moves frames, memif.c is the port. Everything the peer writes may be wrong, and is checked
 * where it is read.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <rte_common.h>

#include "../port_priv.h"

#define MEMIF_VERSION 0x0200
#define MEMIF_COOKIE  0x3e31f20

enum {
	MEMIF_MAX_REGIONS = 256, /* a client without copies has one for each piece of its memory */
	MEMIF_LOG2_SLOTS =
		12, /* of our rings: 4 ms at a million frames per second, for a core may be held up */
	MEMIF_MAX_LOG2_SLOTS = 14,
	MEMIF_BUFFER = 2048,
	MEMIF_NEXT = 1,   /* slot: the frame goes on in the next one */
	MEMIF_POLLED = 1, /* ring: the receiver looks by itself and need not be woken */
};

enum memif_type {
	MEMIF_ACK = 1,
	MEMIF_HELLO,
	MEMIF_INIT,
	MEMIF_ADD_REGION,
	MEMIF_ADD_RING,
	MEMIF_CONNECT,
	MEMIF_CONNECTED,
	MEMIF_DISCONNECT,
};

struct memif_message {
	uint16_t type;
	union {
		struct __attribute__((packed)) {
			char name[32];
			uint16_t min_version, max_version, max_region, max_s2c_ring, max_c2s_ring;
			uint8_t max_log2_slots;
		} hello;
		struct __attribute__((packed)) {
			uint16_t version;
			uint32_t id;
			uint8_t mode; /* 0: Ethernet */
			char secret[24], name[32];
		} init;
		struct __attribute__((packed)) {
			uint16_t index;
			uint64_t size;
		} region;
		struct __attribute__((packed)) {
			uint16_t c2s, index, region;
			uint32_t offset;
			uint8_t log2_slots;
			uint16_t private_size;
		} ring;
		struct __attribute__((packed)) {
			uint32_t code;
			char reason[96];
		} disconnect;
		uint8_t octets[126];
	};
} __attribute__((packed));

struct memif_slot {
	uint16_t flags, region;
	uint32_t length, offset, metadata;
};

/* client to server (c2s) the sender moves head and the receiver tail; server to client the other way round */
struct memif_ring {
	uint32_t cookie;
	uint16_t flags;
	_Atomic uint16_t head;
	_Alignas(64) _Atomic uint16_t tail;
	_Alignas(64) struct memif_slot slot[];
};

/* An end of a ring */
struct memif_end {
	struct memif_ring *ring;
	uint16_t slots;
	uint16_t next; /* to be read or written; the lcore's */
	bool c2s;
	int wake; /* eventfd of the receiver, -1: none */
};

/* The agreement of two peers. Made by the port's thread, and not changed while lcores can see it. */
struct memif_link {
	struct {
		uint8_t *at;
		uint64_t size;
		int fd, guard;
	} region[MEMIF_MAX_REGIONS];
	unsigned regions;
	struct memif_end rx[FG_MAX_QUEUES], tx[FG_MAX_QUEUES];
	unsigned rx_rings, tx_rings;
};

/* One direction of a lane. Writer: its lcore */
struct memif_way {
	_Alignas(64) atomic_bool inside; /* a burst runs: the link must stay */
	uint64_t frames, errors;
};

struct memif_lane {
	struct fg_port port; /* first: the burst functions get from one to the other by a cast */
	struct memif *memif;
	unsigned index;
	struct memif_way rx, tx;
};

struct memif {
	struct memif_lane first; /* first: as above */
	struct memif_lane *more; /* the other lanes */
	struct fg_port **lanes;  /* of the port */
	char path[108];
	char name[32]; /* of the port, as peers show it */
	uint32_t id;
	bool server;
	struct rte_mempool *pool;
	pthread_t thread;
	bool running;                      /* the thread */
	int quit;                          /* eventfd: the thread is to end */
	int listener;                      /* a server's socket, -1: none */
	bool bound;                        /* to the path */
	_Atomic(struct memif_link *) link; /* NULL: no link; writer: the thread */
	atomic_ulong changes;              /* of the link, but for its first coming; writer: the thread */
	unsigned offer;                    /* rings from the server that a client asks for; the thread's */
	char reason[128];                  /* why there is no link; the thread's until it has ended */
};

/* link.c; the thread's */
/* @return a link without regions and rings, or NULL without memory */
struct memif_link *memif_link_create(void);
void memif_link_free(struct memif_link *link);
/* @return what is wrong with memory that a peer shares, in a few words; NULL: nothing */
const char *memif_region_problem(int fd, uint64_t size);

/* channel.c; the thread's. They wait for the peer, and for m->quit. */
/* @return 1 when @p fd can be read, 0 after so long, -ECANCELED when the port is to be closed */
int memif_wait(const struct memif *m, int fd, int milliseconds);
/* Agree with the peer at the other end of the socket @p fd. @return 0, or -errno with m->reason */
int memif_greet_client(struct memif *m, int fd, struct memif_link *link);
int memif_greet_server(struct memif *m, int fd, struct memif_link *link);
/* @return when the peer has gone or the port is to be closed */
void memif_stay(struct memif *m, int fd, int listener);

/* ring.c; an lcore's */
uint16_t memif_send(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now);
uint16_t memif_receive(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now);
/* Have the server write: the slots of a ring that a client receives from are free. */
void memif_offer_slots(struct memif_end *end);
