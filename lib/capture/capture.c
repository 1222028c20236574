/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lcore's side of a capture is the tap: filter, copy, done. The other side is a thread that waits a moment
 * whenever it has caught up. An error of the file is kept for whoever asks; what could not be written is then
 * counted as dropped, like what found no room.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pcap/pcap.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include "fg_filter.h"
#include "writer_priv.h"

static const uint64_t DEFAULT_BUFFER = 64 << 20;
static const long REST_NS = 500000;

struct fg_capture {
	struct fg_tap tap; /* first: the tap is the capture */
	struct fg_capture_config config;
	struct bpf_program filter, trigger; /* without instructions: none */
	struct records records;
	/* writer: the lcore that runs the tap */
	_Atomic uint64_t seen, filtered, dropped;
	uint64_t kept;
	bool triggered;
	/* writer: the thread */
	_Alignas(64) struct writer writer;
	_Atomic uint64_t written, unwritten, octets;
	_Atomic int failure;
	/* writer: control */
	_Atomic bool ending;
	pthread_t thread;
	bool runs;
};

/* one writer: no need for more than a store */
static inline void
count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_release);
}

static bool
matches(const struct bpf_program *program, const struct rte_mbuf *m)
{
	return program->bf_insns == NULL || bpf_filter(program->bf_insns, rte_pktmbuf_mtod(m, const u_char *),
						       m->pkt_len, m->data_len) != 0;
}

static bool
is_wanted(struct fg_capture *c, const struct rte_mbuf *m)
{
	if (c->config.frames > 0 && c->kept >= c->config.frames)
		return false;
	if (!c->triggered && !matches(&c->trigger, m))
		return false;
	c->triggered = true;
	return matches(&c->filter, m);
}

static struct record *
room_for(struct fg_capture *c, uint32_t kept)
{
	struct record *record;

	while ((record = records_reserve(&c->records, kept)) == NULL && c->config.patient)
		rte_pause();
	return record;
}

static void
keep(struct fg_capture *c, const struct rte_mbuf *m, uint64_t arrival_ns)
{
	const uint32_t octets = m->data_len, slice = c->config.slice;
	struct record *record = room_for(c, slice > 0 && slice < octets ? slice : octets);

	if (record == NULL) {
		count(&c->dropped, 1);
		return;
	}
	record->time_ns = arrival_ns;
	record->length = m->pkt_len;
	memcpy(record->octets, rte_pktmbuf_mtod(m, const uint8_t *), record->kept);
	records_commit(&c->records);
	c->kept++;
}

static void
see(struct fg_tap *tap, struct rte_mbuf *const *frames, const uint64_t *arrival_ns, unsigned n)
{
	struct fg_capture *c = (struct fg_capture *)tap;
	uint64_t filtered = 0;

	for (unsigned i = 0; i < n; i++) {
		if (is_wanted(c, frames[i]))
			keep(c, frames[i], arrival_ns[i]);
		else
			filtered++;
	}
	count(&c->filtered, filtered);
	count(&c->seen, n);
}

static void
write_down(struct fg_capture *c, const struct record *record)
{
	int rc = atomic_load_explicit(&c->failure, memory_order_relaxed);

	if (rc == 0)
		rc = writer_put(&c->writer, record);
	if (rc == 0) {
		count(&c->octets, record->kept);
		count(&c->written, 1);
	} else {
		atomic_store_explicit(&c->failure, rc, memory_order_relaxed);
		count(&c->unwritten, 1);
	}
}

static void *
run(void *arg)
{
	struct fg_capture *c = arg;

	for (;;) {
		/* read before looking: what was kept before the end is written */
		bool ending = atomic_load_explicit(&c->ending, memory_order_acquire);
		const struct record *record;

		while ((record = records_peek(&c->records)) != NULL) {
			write_down(c, record);
			records_release(&c->records, record);
		}
		if (ending)
			return NULL;
		nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
	}
}

/* on the processors of the caller, not on that of an lcore */
static int
start_thread(struct fg_capture *c, struct fg_error *err)
{
	int rc = pthread_create(&c->thread, NULL, run, c);

	c->runs = rc == 0;
	return rc == 0 ? 0 : fg_error_set(err, rc, "capture", "no thread to write it: %s", strerror(rc));
}

int
fg_capture_open(const struct fg_capture_config *config, struct fg_capture **out, struct fg_error *err)
{
	struct fg_capture *c = aligned_alloc(64, (sizeof(*c) + 63) & ~63UL);
	int rc;

	if (c == NULL)
		return fg_error_set(err, ENOMEM, "capture", "no memory");
	memset(c, 0, sizeof(*c));
	c->tap.see = see;
	c->config = *config;
	rc = fg_filter_compile(config->filter, "filter", &c->filter, err);
	if (rc == 0)
		rc = fg_filter_compile(config->trigger, "trigger", &c->trigger, err);
	if (rc == 0)
		rc = records_init(&c->records, config->buffer > 0 ? config->buffer : DEFAULT_BUFFER, err);
	if (rc == 0)
		rc = writer_open(&c->writer, &c->config, err);
	if (rc == 0)
		rc = start_thread(c, err);
	if (rc != 0) {
		fg_capture_close(c);
		return rc;
	}
	*out = c;
	return 0;
}

struct fg_tap *
fg_capture_tap(struct fg_capture *c)
{
	return &c->tap;
}

void
fg_capture_get_counts(const struct fg_capture *c, struct fg_capture_counts *out)
{
	/* the sum last: what is counted meanwhile is missing in it, not in its parts */
	out->octets = atomic_load_explicit(&c->octets, memory_order_acquire);
	out->written = atomic_load_explicit(&c->written, memory_order_acquire);
	out->dropped = atomic_load_explicit(&c->dropped, memory_order_acquire) +
		       atomic_load_explicit(&c->unwritten, memory_order_acquire);
	out->filtered = atomic_load_explicit(&c->filtered, memory_order_acquire);
	out->seen = atomic_load_explicit(&c->seen, memory_order_acquire);
}

static bool
is_behind(const struct fg_capture *c)
{
	struct fg_capture_counts n;

	fg_capture_get_counts(c, &n);
	return n.written + n.dropped + n.filtered < n.seen;
}

int
fg_capture_flush(struct fg_capture *c, struct fg_error *err)
{
	int rc;

	while (is_behind(c))
		nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
	rc = atomic_load_explicit(&c->failure, memory_order_relaxed);
	if (rc == 0)
		rc = writer_flush(&c->writer);
	return rc == 0 ? 0 : fg_error_set(err, -rc, c->config.path, "cannot be written: %s", strerror(-rc));
}

void
fg_capture_close(struct fg_capture *c)
{
	if (c == NULL)
		return;
	if (c->runs) {
		atomic_store_explicit(&c->ending, true, memory_order_release);
		pthread_join(c->thread, NULL);
	}
	writer_close(&c->writer);
	records_free(&c->records);
	if (c->filter.bf_insns != NULL)
		pcap_freecode(&c->filter);
	if (c->trigger.bf_insns != NULL)
		pcap_freecode(&c->trigger);
	free(c);
}
