/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of the streams. What does not differ between the frames of a stream is written into its buffers once, so
 * streams of a lane with the same payload share theirs. Frames of several sizes, and those of lanes with very many
 * payloads, share buffers that hold nothing and are written whole. A pool is kept for the next trials: making one is
 * slow.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "tx_priv.h"

enum { POOLS_OF_A_LANE = 8 };

/* a buffer that will carry the stream's frame: what does not differ from frame to frame is written once */
static void
write_content(struct rte_mempool *pool, void *template_, void *object, unsigned index)
{
	const struct fg_template *frame = template_;
	struct rte_mbuf *m = object;

	memcpy((uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM, frame->bytes, frame->length);
}

/* do the buffers hold what does not differ between the frames of this stream? */
static bool
holds(const struct stream_pool *p, const struct fg_template *frame)
{
	return p->content != NULL && p->content->length == frame->length &&
	       p->content->header == frame->header &&
	       memcmp(p->content->bytes + frame->header, frame->bytes + frame->header,
		      frame->length - frame->header) == 0;
}

static int
pool_make(struct fg_engine *e, unsigned lane, struct fg_error *err)
{
	static unsigned made; /* names must differ, also from those of an engine before */
	struct stream_pool *grown = realloc(e->pool, (e->pools + 1) * sizeof(*grown));
	char name[RTE_MEMPOOL_NAMESIZE];

	if (grown == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory");
	e->pool = grown;
	grown += e->pools;
	*grown = (struct stream_pool){0};
	snprintf(name, sizeof(name), "fg_stream_%u", made++);
	grown->pool = rte_pktmbuf_pool_create(name, e->config.buffers, 256, 0,
					      (uint16_t)(e->config.max_frame + RTE_PKTMBUF_HEADROOM),
					      e->lane[lane].port->caps.numa_node);
	if (grown->pool == NULL)
		return fg_error_set(err, ENOMEM, "host.memory",
				    "no room for %u buffers of %u octets: give the tester more memory",
				    e->config.buffers, e->config.max_frame);
	e->pools++;
	return 0;
}

/* which of the trial's pools will do for a frame; NULL: for any that is written whole. @return t->pools: none */
static unsigned
find_pool(const struct fg_engine *e, const struct trial *t, unsigned lane, const struct fg_template *frame)
{
	unsigned i;

	for (i = 0; i < t->pools; i++)
		if (e->pool[i].lane == lane &&
		    (frame == NULL ? e->pool[i].content == NULL : holds(&e->pool[i], frame)))
			break;
	return i;
}

static bool
has_many(const struct fg_engine *e, const struct trial *t, unsigned lane)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->pools; i++)
		n += e->pool[i].lane == lane;
	return n >= POOLS_OF_A_LANE;
}

static int
set_content(struct stream_pool *p, const struct fg_template *frame, struct fg_error *err)
{
	size_t size;

	if (frame != NULL && holds(p, frame))
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
	rte_mempool_obj_iter(p->pool, write_content, p->content);
	return 0;
}

int
tx_pool_take(struct fg_engine *e, struct trial *t, unsigned lane, struct tx_stream *tx, struct fg_error *err)
{
	/* what is made wrong may not stay in a buffer */
	const struct fg_template *frame = tx->sizes == NULL && tx->faults == NULL ? tx->frame : NULL;
	unsigned i = find_pool(e, t, lane, frame);
	int rc;

	if (frame != NULL && i == t->pools && has_many(e, t, lane)) {
		frame = NULL;
		i = find_pool(e, t, lane, frame);
	}
	if (i == e->pools && (rc = pool_make(e, lane, err)) != 0)
		return rc;
	e->pool[i].lane = lane;
	rc = set_content(&e->pool[i], frame, err);
	t->pools = RTE_MAX(t->pools, i + 1);
	tx->pool = e->pool[i].pool;
	tx->whole = frame == NULL;
	return rc;
}

void
tx_pools_free(struct fg_engine *e)
{
	for (unsigned i = 0; i < e->pools; i++) {
		free(e->pool[i].content);
		fg_port_pool_free(e->pool[i].pool);
	}
	free(e->pool);
}
