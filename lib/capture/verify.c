/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two rings of digests, of what was sent and of what arrived, and a thread that walks along both. As long as
 * all arrives in order, one comparison per frame is all there is to do. Otherwise the frame is sought among
 * those sent around the place, nearest first; a table excludes most digests that were never sent there. A
 * frame arrives after it was sent, and the thread reads in the other order: what it does not find was not
 * sent.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_jhash.h>
#include <rte_mbuf.h>

#include "digests_priv.h"
#include "fg_net.h"
#include "fg_verify.h"

enum { SENT = 1 << 20, RECEIVED = 1 << 16, BEHIND = 1 << 16, BUCKETS = 1 << 22 };
static const long REST_NS = 200000;
static const uint64_t IS_TALK = 1; /* in a digest of what arrived; the other digests have 0 there */

struct fg_verify {
	struct fg_tap tap; /* first: the tap is the verification */
	struct fg_verify_config config;
	struct digests sent, received;
	/* writer: the thread */
	uint64_t next;     /* the frame sent behind the last that arrived in order */
	uint64_t oldest;   /* of those sent that is still known */
	uint64_t listed;   /* those sent before are in `present`, from `oldest` on */
	uint8_t *arrived;  /* by place in the ring of what was sent */
	uint32_t *present; /* how many digests there are that begin so */
	_Atomic uint64_t same, reordered, duplicates, foreign, talk;
	/* writer: control */
	_Atomic bool ending;
	pthread_t thread;
	bool runs;
};

static uint64_t
digest(const uint8_t *frame, size_t length)
{
	uint8_t padded[FG_ETHER_MIN - FG_ETHER_FCS];
	uint32_t high = 0, low = 0;

	if (length < sizeof(padded)) {
		memcpy(padded, frame, length);
		memset(padded + length, 0, sizeof(padded) - length);
		frame = padded;
		length = sizeof(padded);
	}
	rte_jhash_2hashes(frame, (uint32_t)length, &high, &low);
	return ((uint64_t)high << 32 | low) & ~IS_TALK;
}

static bool
is_talk(const uint8_t *frame, size_t length)
{
	switch (fg_net_kind(frame, length)) {
	case FG_NET_KIND_ARP:
	case FG_NET_KIND_ND:
	case FG_NET_KIND_MEMBERSHIP:
	case FG_NET_KIND_LLDP:
	case FG_NET_KIND_STP:
	case FG_NET_KIND_LACP:
	case FG_NET_KIND_PAUSE:
		return true;
	default:
		return false;
	}
}

static void
verify_see(struct fg_tap *tap, struct rte_mbuf *const *frames, const uint64_t *arrival_ns, unsigned n)
{
	struct fg_verify *v = (struct fg_verify *)tap;

	for (unsigned i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(frames[i], const uint8_t *);
		size_t length = frames[i]->data_len;

		digests_put(&v->received, digest(frame, length) | (is_talk(frame, length) ? IS_TALK : 0),
			    v->config.patient);
	}
}

void
fg_verify_note_sent(struct fg_verify *v, const uint8_t *frame, size_t length)
{
	digests_put(&v->sent, digest(frame, length), v->config.patient);
}

/* one writer: no need for more than a store */
static void
verify_count(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static uint32_t *
bucket(struct fg_verify *v, uint64_t digest)
{
	return &v->present[digest >> 1 & (BUCKETS - 1)];
}

static void
list_until(struct fg_verify *v, uint64_t head)
{
	for (; v->listed < head; v->listed++)
		++*bucket(v, digests_at(&v->sent, v->listed));
}

static void
forget_until(struct fg_verify *v, uint64_t position)
{
	for (; v->oldest < position; v->oldest++) {
		if (v->oldest < v->listed)
			--*bucket(v, digests_at(&v->sent, v->oldest));
		v->arrived[v->oldest & (SENT - 1)] = 0;
	}
	if (v->listed < v->oldest)
		v->listed = v->oldest;
	digests_release(&v->sent, v->oldest);
}

static void
verify_take(struct fg_verify *v, uint64_t position)
{
	v->arrived[position & (SENT - 1)] = 1;
	verify_count(&v->same);
	if (position < v->next) {
		verify_count(&v->reordered);
		return;
	}
	v->next = position + 1;
	if (v->next - v->oldest > 2 * BEHIND)
		forget_until(v, v->next - BEHIND);
}

/* one that is ahead; neighbours say the same outside of the replay, so what they say passes nobody */
static void
take_ahead(struct fg_verify *v, uint64_t position, bool talk)
{
	if (!talk) {
		verify_take(v, position);
		return;
	}
	v->arrived[position & (SENT - 1)] = 1;
	verify_count(&v->same);
}

/* one that is behind, for the first time or once more */
static void
take_behind(struct fg_verify *v, uint64_t position, bool talk)
{
	if (!v->arrived[position & (SENT - 1)])
		verify_take(v, position);
	else
		verify_count(talk ? &v->talk : &v->duplicates);
}

/* @return false: no frame is like it */
static bool
find(struct fg_verify *v, uint64_t wanted, bool talk, uint64_t head)
{
	const uint64_t next = v->next;

	for (uint64_t d = 1; next + d < head || next >= v->oldest + d; d++) {
		if (next + d < head && digests_at(&v->sent, next + d) == wanted &&
		    !v->arrived[(next + d) & (SENT - 1)]) {
			take_ahead(v, next + d, talk);
			return true;
		}
		if (next >= v->oldest + d && digests_at(&v->sent, next - d) == wanted) {
			take_behind(v, next - d, talk);
			return true;
		}
	}
	return false;
}

static void
compare(struct fg_verify *v, uint64_t arrived)
{
	const uint64_t wanted = arrived & ~IS_TALK, head = digests_head(&v->sent);

	while (v->next < head && v->arrived[v->next & (SENT - 1)])
		v->next++;
	if (v->next < head && digests_at(&v->sent, v->next) == wanted) {
		verify_take(v, v->next);
		return;
	}
	list_until(v, head);
	if (*bucket(v, wanted) > 0 && find(v, wanted, arrived & IS_TALK, head))
		return;
	verify_count(arrived & IS_TALK ? &v->talk : &v->foreign);
}

/* frames are lost when this many were sent since and nothing came: room for more of them */
static void
give_up_some(struct fg_verify *v)
{
	const uint64_t head = digests_head(&v->sent);

	if (head - v->oldest < SENT / 4 * 3)
		return;
	if (v->next < head - SENT / 2)
		v->next = head - SENT / 2;
	forget_until(v, head - SENT / 2);
}

static void *
verify_run(void *arg)
{
	struct fg_verify *v = arg;
	uint64_t at = 0;

	for (;;) {
		/* read before looking: what arrived before the end is compared */
		bool ending = atomic_load_explicit(&v->ending, memory_order_acquire);
		uint64_t head = digests_head(&v->received);

		for (; at < head; digests_release(&v->received, ++at))
			compare(v, digests_at(&v->received, at));
		give_up_some(v);
		if (ending)
			return NULL;
		nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
	}
}

static int
digests_init(struct digests *d, uint64_t size)
{
	d->size = size;
	d->slot = calloc(size, sizeof(*d->slot));
	return d->slot == NULL ? -ENOMEM : 0;
}

int
fg_verify_create(const struct fg_verify_config *config, struct fg_verify **out, struct fg_error *err)
{
	struct fg_verify *v = aligned_alloc(64, (sizeof(*v) + 63) & ~63UL);

	if (v == NULL)
		return fg_error_set(err, ENOMEM, "verify", "no memory");
	memset(v, 0, sizeof(*v));
	v->tap.see = verify_see;
	v->config = *config;
	v->arrived = calloc(SENT, 1);
	v->present = calloc(BUCKETS, sizeof(*v->present));
	if (digests_init(&v->sent, SENT) != 0 || digests_init(&v->received, RECEIVED) != 0 ||
	    v->arrived == NULL || v->present == NULL) {
		fg_verify_free(v);
		return fg_error_set(err, ENOMEM, "verify", "no memory for digests");
	}
	*out = v;
	return 0;
}

static void
digests_reset(struct digests *d)
{
	d->head = d->tail = d->missed = 0;
	d->tail_seen = 0;
}

int
fg_verify_start(struct fg_verify *v, struct fg_error *err)
{
	int rc;

	fg_verify_finish(v);
	digests_reset(&v->sent);
	digests_reset(&v->received);
	v->next = v->oldest = v->listed = 0;
	memset(v->arrived, 0, SENT);
	memset(v->present, 0, BUCKETS * sizeof(*v->present));
	v->same = v->reordered = v->duplicates = v->foreign = v->talk = 0;
	v->ending = false;
	rc = pthread_create(&v->thread, NULL, verify_run, v);
	v->runs = rc == 0;
	return rc == 0 ? 0 : fg_error_set(err, rc, "verify", "no thread to compare: %s", strerror(rc));
}

struct fg_tap *
fg_verify_tap(struct fg_verify *v)
{
	return &v->tap;
}

void
fg_verify_finish(struct fg_verify *v)
{
	if (!v->runs)
		return;
	atomic_store_explicit(&v->ending, true, memory_order_release);
	pthread_join(v->thread, NULL);
	v->runs = false;
}

void
fg_verify_get_counts(const struct fg_verify *v, struct fg_verify_counts *out)
{
	out->sent = digests_head(&v->sent);
	out->same = atomic_load_explicit(&v->same, memory_order_relaxed);
	out->reordered = atomic_load_explicit(&v->reordered, memory_order_relaxed);
	out->duplicates = atomic_load_explicit(&v->duplicates, memory_order_relaxed);
	out->foreign = atomic_load_explicit(&v->foreign, memory_order_relaxed);
	out->talk = atomic_load_explicit(&v->talk, memory_order_relaxed);
	out->unchecked = atomic_load_explicit(&v->sent.missed, memory_order_relaxed) +
			 atomic_load_explicit(&v->received.missed, memory_order_relaxed);
}

void
fg_verify_free(struct fg_verify *v)
{
	if (v == NULL)
		return;
	fg_verify_finish(v);
	free(v->sent.slot);
	free(v->received.slot);
	free(v->arrived);
	free(v->present);
	free(v);
}
