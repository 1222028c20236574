/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* What is known of the NATS servers; from the command line. */
enum { BRIDGE_MAX_SERVERS = 16 };

struct bridge_servers {
	const char *urls[BRIDGE_MAX_SERVERS];
	int n;
	bool plain;                         /* no TLS */
	const char *ca, *certificate, *key; /* files of PEM; NULL: the system's, none, none */
	char host[256];                     /* the name that the certificate of the server must have */
	const char *nkey_file;              /* NULL: not by key */
	char nkey[64];                      /* the public key of it */
	const char *user;                   /* NULL: not by name */
	char secret[256];                   /* password of the user, or a token; "": none */
	const char *name;                   /* of the connection, for the server's list */
};

/*
 * One connection of the bus and one of NATS, each passing on what the other wants. Every pair has a process
 * of its own, so that none waits for another; the threads of libnats only append to a buffer.
 *
 * What the local side wants is subscribed. A request that comes from NATS has the subject for its answer
 * hidden behind "_NATS.", which the local side is told that we want; so answers to local requests stay local.
 */
struct bridge_pair;

/** Connect to NATS. @return NULL: not possible, and @p why says why not */
struct bridge_pair *bridge_pair_open(const struct bridge_servers *servers, char *why, unsigned long size);

/**
 * Pass on until one side ends. Closes @p fd.
 * @param why  of an end by NATS, else ""
 */
void bridge_pair_run(struct bridge_pair *pair, int fd, char *why, unsigned long size);

/** Close the connection to NATS. */
void bridge_pair_close(struct bridge_pair *pair);

/** Print a line for the operator. */
void bridge_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
