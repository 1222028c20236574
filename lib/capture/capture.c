/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lcore's side of a capture is the tap: filter, copy, done. What is kept in case a trigger fires is
 * copied as well, and held back; when it fires, nothing has to be moved. The other side is a thread that
 * waits a moment whenever it has caught up. An error of the file is kept and can be asked for; what could not
 * be written is then counted as dropped, like what found no room.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pcap/pcap.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include "fg_filter.h"
#include "trigger_priv.h"
#include "writer_priv.h"

static const uint64_t DEFAULT_BUFFER = 64 << 20, ENDLESS = UINT64_MAX;
static const uint64_t ROOM_FOR_ANY = 64 << 10; /* several of the largest frames */
static const long REST_NS = 500000;

struct fg_capture {
	struct fg_tap tap; /* first: the tap is the capture */
	struct fg_capture_config config;
	struct bpf_program filter; /* without instructions: none */
	struct records records;
	/* writer: the lcore that runs the tap */
	struct trigger trigger;
	_Atomic uint64_t seen, filtered, dropped, triggers;
	uint64_t kept;
	uint64_t left; /* frames that are still kept before the trigger is waited for again */
	/* for the next frame that is kept: 0, or 1 more than the frames that are missing before it */
	uint64_t note;
	/* writer: the thread */
	_Alignas(64) struct writer writer;
	_Atomic uint64_t written, unwritten, octets;
	_Atomic int failure;
	_Atomic unsigned flushes; /* done, of those asked for */
	/* writer: control */
	_Atomic bool ending;
	_Atomic unsigned flushes_asked;
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
is_wanted(const struct fg_capture *c, const struct rte_mbuf *m)
{
	return (c->config.frames == 0 || c->kept < c->config.frames) &&
	       (c->filter.bf_insns == NULL ||
		fg_filter_passes(&c->filter, rte_pktmbuf_mtod(m, const uint8_t *), m->pkt_len, m->data_len));
}

static struct record *
room_for(struct fg_capture *c, uint32_t kept)
{
	struct record *record;

	while ((record = records_reserve(&c->records, kept)) == NULL && c->config.patient)
		rte_pause();
	return record;
}

static struct record *
write_frame(struct fg_capture *c, const struct rte_mbuf *m, uint64_t arrival_ns)
{
	const uint32_t octets = m->data_len, slice = c->config.slice;
	struct record *record = room_for(c, slice > 0 && slice < octets ? slice : octets);

	if (record == NULL) {
		count(&c->dropped, 1);
		return NULL;
	}
	record->time_ns = arrival_ns;
	record->length = m->pkt_len;
	record->note = 0;
	memcpy(record->octets, rte_pktmbuf_mtod(m, const uint8_t *), record->kept);
	return record;
}

static void
keep(struct fg_capture *c, struct record *record)
{
	record->note = c->note;
	c->note = 0;
	records_commit(&c->records);
	c->kept++;
	if (c->left != ENDLESS)
		c->left--;
}

/* @return number of frames first counted as unwanted that are now kept */
static uint64_t
fire(struct fg_capture *c, uint64_t missing)
{
	uint64_t held;

	while (c->config.frames > 0 && c->kept + c->records.held > c->config.frames)
		records_forget(&c->records);
	held = c->records.held;
	records_publish(&c->records);
	c->kept += held;
	c->note = 1 + missing;
	c->left = c->config.after > 0 ? c->config.after : ENDLESS;
	count(&c->triggers, 1);
	return held;
}

static bool
has_fired(struct fg_capture *c, const struct rte_mbuf *m, uint64_t *missing)
{
	return c->left != ENDLESS && trigger_fires(&c->trigger, &c->tap, m, missing);
}

/* of those before the trigger the last ones stay */
static void
hold(struct fg_capture *c)
{
	records_hold(&c->records);
	while (c->records.held > c->config.before || records_held_octets(&c->records) > c->records.size / 2)
		records_forget(&c->records);
}

/* @return whether the frame is unwanted, or held back */
static bool
look_at(struct fg_capture *c, const struct rte_mbuf *m, uint64_t arrival_ns)
{
	struct record *record;

	if (!is_wanted(c, m) || (c->left == 0 && c->config.before == 0))
		return true;
	record = write_frame(c, m, arrival_ns);
	if (record == NULL)
		return false;
	if (c->left > 0) {
		keep(c, record);
		return false;
	}
	hold(c);
	return true;
}

static void
see(struct fg_tap *tap, struct rte_mbuf *const *frames, const uint64_t *arrival_ns, unsigned n)
{
	struct fg_capture *c = (struct fg_capture *)tap;
	uint64_t filtered = 0, missing;

	for (unsigned i = 0; i < n; i++) {
		if (has_fired(c, frames[i], &missing))
			filtered -= fire(c, missing);
		filtered += look_at(c, frames[i], arrival_ns[i]);
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

/* the records present now; later ones in the next turn */
static void
write_all(struct fg_capture *c)
{
	const uint64_t end = records_end(&c->records);
	const struct record *record;

	while ((record = records_peek(&c->records)) != NULL) {
		write_down(c, record);
		records_release(&c->records, record);
		if (records_begin(&c->records) >= end)
			return;
	}
}

static void *
run(void *arg)
{
	struct fg_capture *c = arg;

	for (;;) {
		/* read before looking: what was kept before the end is written */
		bool ending = atomic_load_explicit(&c->ending, memory_order_acquire);
		unsigned asked = atomic_load_explicit(&c->flushes_asked, memory_order_acquire);
		int rc;

		write_all(c);
		if (ending)
			return NULL;
		if (asked != c->flushes) {
			rc = writer_flush(&c->writer);
			if (rc != 0)
				atomic_store_explicit(&c->failure, rc, memory_order_relaxed);
			atomic_store_explicit(&c->flushes, asked, memory_order_release);
		}
		nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
	}
}

/* on the processors of the caller, not on an lcore's; the process's signals are for its other threads */
static int
start_thread(struct fg_capture *c, struct fg_error *err)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&c->thread, NULL, run, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	c->runs = rc == 0;
	return rc == 0 ? 0 : fg_error_set(err, rc, "capture", "no thread to write it: %s", strerror(rc));
}

/* a lcore that waits for room must find it some time, whatever is held back */
static uint64_t
buffer_of(const struct fg_capture_config *config)
{
	uint64_t octets = config->buffer > 0 ? config->buffer : DEFAULT_BUFFER;

	return config->patient || config->before > 0 ? RTE_MAX(octets, ROOM_FOR_ANY) : octets;
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
		rc = trigger_init(&c->trigger, config, err);
	if (rc == 0)
		rc = records_init(&c->records, buffer_of(config), err);
	c->left = trigger_exists(&c->trigger) ? 0 : ENDLESS;
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
	uint64_t missed = __atomic_load_n(&c->tap.missed, __ATOMIC_RELAXED);

	/* the sum last: what is counted meanwhile is missing in it, not in its parts */
	out->octets = atomic_load_explicit(&c->octets, memory_order_acquire);
	out->written = atomic_load_explicit(&c->written, memory_order_acquire);
	out->dropped = missed + atomic_load_explicit(&c->dropped, memory_order_acquire) +
		       atomic_load_explicit(&c->unwritten, memory_order_acquire);
	out->triggers = atomic_load_explicit(&c->triggers, memory_order_acquire);
	out->filtered = atomic_load_explicit(&c->filtered, memory_order_acquire);
	out->seen = missed + atomic_load_explicit(&c->seen, memory_order_acquire);
}

int
fg_capture_flush(struct fg_capture *c, struct fg_error *err)
{
	unsigned asked = atomic_load_explicit(&c->flushes_asked, memory_order_relaxed) + 1;
	int rc;

	atomic_store_explicit(&c->flushes_asked, asked, memory_order_release);
	while (atomic_load_explicit(&c->flushes, memory_order_acquire) != asked)
		nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
	rc = atomic_load_explicit(&c->failure, memory_order_relaxed);
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
	trigger_free(&c->trigger);
	free(c);
}
