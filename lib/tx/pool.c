/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of the streams. What does not differ between the frames of a stream is written into its buffers
 * once, so streams of a queue with the same payload share theirs. If the frames are of a few sizes that is
 * the longest one's (tx_mix.h). Frames of many sizes, and frames of queues with very many payloads, share
 * buffers that hold nothing and are written whole. A pool is kept for the next trials: making one is slow.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fg_signature.h"
#include "fg_unique_name.h"
#include "tx.h"

enum { MAX_POOLS_OF_A_QUEUE = 8 };

/* a buffer that will carry the stream's frame: what does not differ from frame to frame is written once */
static void
write_content(struct rte_mempool *pool, void *template_, void *object, unsigned index)
{
	const struct fg_template *frame = template_;
	struct rte_mbuf *m = object;

	memcpy((uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM, frame->bytes, frame->length);
}

/* what does not differ between the frames of a stream */
struct content {
	const struct fg_template *frame;
	uint16_t length[TX_MIX_SIZES]; /* as in a pool */
};

/*
 * of frames of several sizes, the payload of the longest, if it begins with the payload of the others.
 * @return is it so?
 */
static bool
find_longest(const struct tx_stream *s, struct content *out)
{
	if (s->templates > TX_MIX_SIZES)
		return false;
	for (unsigned k = 0; k < s->templates; k++) {
		out->length[k] = s->frames[k]->length;
		if (s->frames[k]->length > out->frame->length)
			out->frame = s->frames[k];
	}
	for (unsigned k = 0; k < s->templates; k++) {
		const struct fg_template *frame = s->frames[k];

		if (frame->header != out->frame->header ||
		    memcmp(frame->bytes + frame->header, out->frame->bytes + frame->header,
			   frame->length - FG_SIGNATURE_SIZE - frame->header) != 0)
			return false;
	}
	return true;
}

/*
 * what may stay in the buffers of a stream; its frame is NULL if nothing may: what is made wrong, and what
 * has no signature, whose place may be anything's
 */
static struct content
content_of(const struct tx_stream *s)
{
	struct content c = {.frame = s->frame};

	if (s->inject != NULL || s->frame->signature == 0 || (s->sizes != NULL && !find_longest(s, &c)))
		return (struct content){0};
	return c;
}

/* do the buffers hold what does not differ between the frames of this stream? */
static bool
holds(const struct tx_pool *p, const struct content *c)
{
	const struct fg_template *frame = c->frame;

	return p->content != NULL && memcmp(p->length, c->length, sizeof(p->length)) == 0 &&
	       p->content->length == frame->length && p->content->header == frame->header &&
	       memcmp(p->content->bytes + frame->header, frame->bytes + frame->header,
		      frame->length - frame->header) == 0;
}

static int
pool_make(struct tx_pools *pools, int numa_node, struct fg_error *err)
{
	struct tx_pool *grown = realloc(pools->pool, (pools->n + 1) * sizeof(*grown));
	char name[RTE_MEMPOOL_NAMESIZE];

	if (grown == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory");
	pools->pool = grown;
	grown += pools->n;
	*grown = (struct tx_pool){0};
	fg_unique_name(name, sizeof(name), "fg_stream_");
	grown->pool = rte_pktmbuf_pool_create(name, pools->buffers, 256, 0,
					      (uint16_t)(pools->max_frame + RTE_PKTMBUF_HEADROOM), numa_node);
	if (grown->pool == NULL)
		return fg_error_set(err, ENOMEM, "host.memory",
				    "no room for %u buffers of %u bytes: give the tester more memory",
				    pools->buffers, pools->max_frame);
	pools->n++;
	return 0;
}

/*
 * which of the trial's pools will do for a frame; NULL: for any that is written whole.
 * @return tx->pools: none
 */
static unsigned
find_pool(const struct tx *tx, unsigned queue, const struct content *c)
{
	const struct tx_pool *pool = tx->env.pools->pool;
	unsigned i;

	for (i = 0; i < tx->pools; i++)
		if (pool[i].queue == queue &&
		    (c->frame == NULL ? pool[i].content == NULL : holds(&pool[i], c)))
			break;
	return i;
}

static bool
has_many(const struct tx *tx, unsigned queue)
{
	unsigned n = 0;

	for (unsigned i = 0; i < tx->pools; i++)
		n += tx->env.pools->pool[i].queue == queue;
	return n >= MAX_POOLS_OF_A_QUEUE;
}

static int
set_content(struct tx_pool *p, const struct content *c, struct fg_error *err)
{
	const struct fg_template *frame = c->frame;
	size_t size;

	if (frame != NULL && holds(p, c))
		return 0;
	free(p->content);
	p->content = NULL;
	if (frame == NULL)
		return 0;
	size = sizeof(*frame) + frame->length;
	p->content = malloc(size);
	if (p->content == NULL)
		return fg_error_set(err, ENOMEM, "stream.frame", "no memory");
	memcpy(p->content, frame, size);
	memcpy(p->length, c->length, sizeof(p->length));
	rte_mempool_obj_iter(p->pool, write_content, p->content);
	return 0;
}

/* the lengths of a mix in their order, for tx_mend() */
static void
sort_ends(struct tx_stream *s)
{
	for (unsigned k = 0; k < s->templates; k++) {
		unsigned i = k;

		for (; i > 0 && s->ends[i - 1] > s->frames[k]->length; i--)
			s->ends[i] = s->ends[i - 1];
		s->ends[i] = s->frames[k]->length;
	}
	s->ends[s->templates] = UINT16_MAX;
}

int
tx_pool_take(struct tx *tx, const struct fg_port *port, struct tx_stream *stream, struct fg_error *err)
{
	struct tx_pools *pools = tx->env.pools;
	struct content c = content_of(stream);
	unsigned i = find_pool(tx, stream->queue, &c);
	int rc;

	if (c.frame != NULL && i == tx->pools && has_many(tx, stream->queue)) {
		c.frame = NULL;
		i = find_pool(tx, stream->queue, &c);
	}
	if (i == pools->n && (rc = pool_make(pools, port->caps.numa_node, err)) != 0)
		return rc;
	pools->pool[i].queue = stream->queue;
	rc = set_content(&pools->pool[i], &c, err);
	tx->pools = RTE_MAX(tx->pools, i + 1);
	stream->pool = pools->pool[i].pool;
	stream->whole = c.frame == NULL;
	stream->mixed = c.frame != NULL && stream->sizes != NULL;
	if (stream->mixed)
		sort_ends(stream);
	return rc;
}

void
tx_pools_free(struct tx_pools *pools)
{
	for (unsigned i = 0; i < pools->n; i++) {
		free(pools->pool[i].content);
		fg_port_pool_free(pools->pool[i].pool);
	}
	free(pools->pool);
}
