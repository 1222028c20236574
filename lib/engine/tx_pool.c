/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of the streams. What does not differ between the frames of a stream is written into its buffers once, so
 * streams of a port with the same payload share theirs. A pool is kept for the next trials: making one is slow.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "tx_priv.h"

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

struct fg_template *
tx_template_copy(const struct fg_template *frame, struct fg_error *err)
{
	size_t size = sizeof(*frame) + frame->length;
	struct fg_template *copy = malloc(size);

	if (copy == NULL)
		fg_error_set(err, ENOMEM, "stream.frame", "no memory");
	else
		memcpy(copy, frame, size);
	return copy;
}

static int
pool_make(struct fg_engine *e, unsigned port, struct fg_error *err)
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
					      e->config.port[port].port->caps.numa_node);
	if (grown->pool == NULL)
		return fg_error_set(err, ENOMEM, "host.memory",
				    "no room for %u buffers of %u octets: give the tester more memory",
				    e->config.buffers, e->config.max_frame);
	e->pools++;
	return 0;
}

/* buffers for a stream's frames: those of another stream if they will do */
int
tx_pool_take(struct fg_engine *e, struct trial *t, unsigned port, const struct fg_template *frame,
	     struct rte_mempool **out, struct fg_error *err)
{
	struct stream_pool *p;
	unsigned i;
	int rc;

	for (i = 0; i < t->pools; i++)
		if (e->pool[i].port == port && holds(&e->pool[i], frame))
			break;
	if (i == e->pools && (rc = pool_make(e, port, err)) != 0)
		return rc;
	p = &e->pool[i];
	p->port = port;
	if (!holds(p, frame)) {
		free(p->content);
		p->content = tx_template_copy(frame, err);
		if (p->content == NULL)
			return -ENOMEM;
		rte_mempool_obj_iter(p->pool, write_content, p->content);
	}
	t->pools = RTE_MAX(t->pools, i + 1);
	*out = p->pool;
	return 0;
}

void
tx_pools_free(struct fg_engine *e)
{
	for (unsigned i = 0; i < e->pools; i++) {
		free(e->pool[i].content);
		rte_mempool_free(e->pool[i].pool);
	}
	free(e->pool);
}
