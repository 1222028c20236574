/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file is read through first: then its length is known, and that it is complete. Where it fits
 * the memory it stays there for the lcore to walk through; else a thread reads it again while it is sent.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_common.h>

#include "feed_priv.h"
#include "reader_priv.h"

static const uint64_t DEFAULT_MEMORY = 256 << 20, RING = 64 << 20, CHUNK = 1 << 20;
static const long REST_NS = 200000;

static uint64_t
size_of(uint32_t kept)
{
	return (sizeof(struct record) + kept + 7) & ~7ULL;
}

static void
fill(struct record *record, const struct reader *r, uint64_t base_ns)
{
	record->time_ns = base_ns + r->time_ns;
	record->length = record->kept = r->length;
	memcpy(record->octets, r->frame, r->length);
}

/* room for one more record at the end of the memory; NULL: it is full */
static struct record *
grow(struct feed *f, uint64_t *room, uint32_t kept, struct fg_error *err)
{
	if (f->size + size_of(kept) > *room) {
		uint8_t *octets = realloc(f->octets, *room * 2 + CHUNK);

		if (octets == NULL) {
			fg_error_set(err, ENOMEM, f->config->path, "no memory for its frames");
			return NULL;
		}
		f->octets = octets;
		*room = *room * 2 + CHUNK;
	}
	f->size += size_of(kept);
	return (struct record *)(f->octets + f->size - size_of(kept));
}

static void
stop_keeping(struct feed *f)
{
	free(f->octets);
	f->octets = NULL;
	f->facts.streams = true;
}

/* read all of it; what is read stays in memory unless that becomes too much */
static int
read_through(struct feed *f, struct reader *r, struct fg_error *err)
{
	const uint64_t limit = f->config->memory > 0 ? f->config->memory : DEFAULT_MEMORY;
	uint64_t room = 0;
	int rc;

	while ((rc = reader_next(r, err)) == 1) {
		f->facts.frames++;
		f->facts.last_octets = RTE_MAX(r->length + FG_ETHER_FCS, (uint32_t)FG_ETHER_MIN);
		f->facts.octets += f->facts.last_octets;
		if (!f->facts.streams && f->size + size_of(r->length) > limit)
			stop_keeping(f);
		if (!f->facts.streams) {
			struct record *record = grow(f, &room, r->length, err);

			if (record == NULL)
				return -ENOMEM;
			fill(record, r, 0);
		}
	}
	f->facts.duration_ns = r->time_ns;
	f->facts.times_back = r->times_back;
	f->facts.times_anew = r->times_anew;
	f->facts.gap_max_ns = r->gap_max_ns;
	f->facts.gap_frame = r->gap_frame;
	f->facts.oversize = r->oversize;
	f->facts.truncated = r->truncated;
	f->facts.rewritten = r->found;
	f->facts.too_short = r->too_short;
	f->facts.wrong_length = r->wrong_length;
	f->facts.fcs_removed = r->fcs_removed;
	atomic_store_explicit(&f->oversize, r->oversize, memory_order_relaxed);
	atomic_store_explicit(&f->truncated, r->truncated, memory_order_relaxed);
	return rc;
}

static int
refuse_empty(const struct reader *r, struct fg_error *err)
{
	const struct {
		uint64_t frames;
		const char *why;
	} kinds[] = {
		{r->oversize, "too large"},
		{r->too_short, "shorter than 14 bytes"},
		{r->wrong_length, "with more bytes in the file than they had"},
	};
	char text[200] = "";

	for (unsigned i = 0, at = 0; i < RTE_DIM(kinds); i++)
		if (kinds[i].frames > 0)
			at += (unsigned)snprintf(text + at, sizeof(text) - at, "%s%llu %s",
						 at > 0 ? ", " : " that could be sent: ",
						 (unsigned long long)kinds[i].frames, kinds[i].why);
	return fg_error_set(err, EINVAL, r->config->path, "no frame in it%s", text);
}

int
feed_open(struct feed *f, const struct fg_replay_config *config, struct fg_error *err)
{
	struct reader *r = malloc(sizeof(*r));
	int rc;

	memset(f, 0, sizeof(*f));
	f->config = config;
	if (r == NULL)
		return fg_error_set(err, ENOMEM, config->path, "no memory");
	rc = reader_open(r, config, err);
	if (rc != 0) {
		free(r);
		return rc;
	}
	rc = read_through(f, r, err);
	if (rc == 0 && f->facts.frames == 0)
		rc = refuse_empty(r, err);
	f->period_ns = reader_period(r);
	reader_close(r);
	free(r);
	if (rc == 0 && f->facts.streams)
		rc = records_init(&f->records, RING, err);
	return rc;
}

/* wait for room; false: the reader has stopped */
static bool
hand_over(struct feed *f, const struct reader *r, uint64_t base_ns)
{
	struct record *record;

	while ((record = records_reserve(&f->records, r->length)) == NULL) {
		if (atomic_load_explicit(&f->ending, memory_order_acquire))
			return false;
		nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
	}
	fill(record, r, base_ns);
	records_commit(&f->records);
	return true;
}

static bool
is_last(const struct feed *f, uint64_t loop)
{
	return f->config->loops > 0 && loop + 1 >= f->config->loops;
}

/* @return 0, or why the reading failed */
static int
read_ahead(struct feed *f, struct reader *r, struct fg_error *err)
{
	uint64_t base_ns = 0;

	for (uint64_t loop = 0;; loop++) {
		int rc = reader_open(r, f->config, err);

		while (rc == 0 && (rc = reader_next(r, err)) == 1)
			rc = hand_over(f, r, base_ns) ? 0 : 1;
		atomic_store_explicit(&f->oversize, r->oversize, memory_order_relaxed);
		atomic_store_explicit(&f->truncated, r->truncated * (loop + 1), memory_order_relaxed);
		base_ns += reader_period(r);
		reader_close(r);
		if (rc != 0 || is_last(f, loop))
			return rc < 0 ? rc : 0;
	}
}

static void *
feed_run(void *arg)
{
	struct feed *f = arg;
	struct reader *r = malloc(sizeof(*r));
	struct fg_error err = {0};

	if (r == NULL)
		fg_error_set(&err, ENOMEM, f->config->path, "no memory");
	if (r == NULL || read_ahead(f, r, &err) != 0)
		memcpy(f->failure, err.message, sizeof(f->failure) - 1);
	free(r);
	atomic_store_explicit(&f->ended, true, memory_order_release);
	return NULL;
}

static void
stop_thread(struct feed *f)
{
	if (!f->runs)
		return;
	atomic_store_explicit(&f->ending, true, memory_order_release);
	pthread_join(f->thread, NULL);
	f->runs = false;
}

int
feed_rewind(struct feed *f, struct fg_error *err)
{
	int rc;

	f->at = f->base_ns = f->loop = 0;
	if (f->octets != NULL)
		return 0;
	stop_thread(f);
	records_free(&f->records);
	rc = records_init(&f->records, RING, err);
	if (rc != 0)
		return rc;
	f->ending = f->ended = false;
	f->failure[0] = '\0';
	rc = pthread_create(&f->thread, NULL, feed_run, f);
	f->runs = rc == 0;
	return rc == 0 ? 0 : fg_error_set(err, rc, f->config->path, "no thread to read it: %s", strerror(rc));
}

void
feed_close(struct feed *f)
{
	stop_thread(f);
	records_free(&f->records);
	free(f->octets);
	f->octets = NULL;
}

static const struct record *
peek_memory(struct feed *f, bool *done)
{
	if (f->at == f->size) {
		if (is_last(f, f->loop)) {
			*done = true;
			return NULL;
		}
		f->at = 0;
		f->base_ns += f->period_ns;
		f->loop++;
	}
	return (const struct record *)(f->octets + f->at);
}

const struct record *
feed_peek(struct feed *f, bool *done)
{
	const struct record *record;
	bool ended;

	if (f->octets != NULL)
		return peek_memory(f, done);
	/* read before looking: records before the end are there */
	ended = atomic_load_explicit(&f->ended, memory_order_acquire);
	record = records_peek(&f->records);
	*done = record == NULL && ended;
	return record;
}

void
feed_release(struct feed *f, const struct record *record)
{
	if (f->octets != NULL)
		f->at += size_of(record->kept);
	else
		records_release(&f->records, record);
}
