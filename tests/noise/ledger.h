/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device of the campaign counts, by the stream numbers in the signatures (every trial has
 * its own); and the page through which the campaign gives it orders: outages and links that are down. Written
 * as a table when it ends.
 */
#ifndef NOISE_LEDGER_H
#define NOISE_LEDGER_H

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model.h"

enum { NOISE_SIGNATURE = 18, NOISE_STREAMS = 1 << 16 };

/* moments of CLOCK_MONOTONIC, ns; the campaign writes, the device reads */
struct noise_orders {
	_Atomic uint64_t outage_from, outage_until;
	_Atomic uint64_t link_from, link_until;
};

struct noise_stream {
	uint64_t first_ns, last_ns, fate[NOISE_FATES];
	uint64_t overflow; /* frames for which the tester had no room */
	uint64_t gap_ns;   /* longest time the device did not look */
};

struct noise_ledger {
	struct noise_orders *orders;
	struct noise_stream *stream;
	uint16_t order[NOISE_STREAMS], seen;
};

static inline void
noise_ledger_open(struct noise_ledger *l, const char *orders)
{
	static struct noise_orders none;
	int fd = orders != NULL ? open(orders, O_RDWR) : -1;

	l->stream = calloc(NOISE_STREAMS, sizeof(*l->stream));
	l->orders = &none;
	if (fd >= 0)
		l->orders = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (l->stream == NULL || l->orders == MAP_FAILED)
		abort();
	if (fd >= 0)
		close(fd);
}

/*
 * the line of a frame's stream; NULL: it is no test frame. @param end  behind the last byte before the
 * FCS
 */
static inline struct noise_stream *
noise_stream_of(struct noise_ledger *l, const uint8_t *frame, const uint8_t *end, uint64_t now)
{
	const uint8_t *s = end - NOISE_SIGNATURE;
	struct noise_stream *line;
	uint16_t id;

	if (end - frame < 60 || s[0] != 'F' || s[1] != 'g')
		return NULL;
	id = (uint16_t)(s[2] << 8 | s[3]);
	line = &l->stream[id];
	if (line->first_ns == 0) {
		line->first_ns = now;
		l->order[l->seen++] = id;
	}
	line->last_ns = now;
	return line;
}

/*
 * An order that begins at 0 begins when it is first seen, and until then its end is how long it lasts: who
 * gives an order may be held up between a look at the clock and the write.
 */
static inline bool
noise_within(_Atomic uint64_t *from, _Atomic uint64_t *until, uint64_t now)
{
	uint64_t unseen = 0, end = atomic_load(until);

	if (end != 0 && atomic_compare_exchange_strong(from, &unseen, now))
		atomic_store(until, now + end);
	return now >= atomic_load(from) && now < atomic_load(until);
}

static inline void
noise_ledger_write(const struct noise_ledger *l, const char *path)
{
	FILE *f = path != NULL ? fopen(path, "w") : NULL;

	if (f == NULL)
		return;
	fprintf(f, "stream first_ns last_ns passed policed full sick outage overflow gap_ns\n");
	for (unsigned i = 0; i < l->seen; i++) {
		const struct noise_stream *s = &l->stream[l->order[i]];

		fprintf(f, "%u %lu %lu", l->order[i], s->first_ns, s->last_ns);
		for (unsigned k = 0; k < NOISE_FATES; k++)
			fprintf(f, " %lu", s->fate[k]);
		fprintf(f, " %lu %lu\n", s->overflow, s->gap_ns);
	}
	fclose(f);
}

#endif
