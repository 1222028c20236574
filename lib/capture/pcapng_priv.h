/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Files in pcapng (draft-ietf-opsawg-pcapng), read from front to back by one thread. */

enum { PCAPNG_MAGIC = 0x0a0d0d0a, PCAPNG_ETHERNET = 1 };

/** A frame as a file of either format has it. */
struct packet {
	uint64_t ns;           /* since 1970 */
	bool timed;            /* else the file has no time of it */
	uint32_t length, kept; /* bytes it had, and those that the file holds */
	uint32_t fcs;          /* of its length: bytes of the check sequence that the file says are there */
	uint16_t link;         /* LINKTYPE_ */
	const uint8_t *octets; /* until the next is read */
};

struct pcapng_interface {
	uint16_t link;
	uint8_t fcs;
	uint32_t snap;       /* most bytes of a frame; 0: all */
	uint64_t per_second; /* ticks of its times */
	int64_t offset;      /* seconds */
};

struct pcapng {
	FILE *file;
	bool swapped; /* the section has the other byte order */
	struct pcapng_interface *interface;
	uint32_t interfaces;
	uint8_t *block; /* body of the present one */
	uint32_t size, room;
	const char *problem; /* why the file cannot be read any further */
};

/** @param file  at its beginning; closed by pcapng_close() */
void pcapng_open(struct pcapng *p, FILE *file);
/** @return 1, 0: the end, or -1: broken, see `problem` */
int pcapng_next(struct pcapng *p, struct packet *out);
void pcapng_close(struct pcapng *p);
