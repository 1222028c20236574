/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive path as the lcore runs it: a port that hands out the frames of the input, the rx task, its
 * ring, the responder, and a port that takes the answers. The first byte of a frame says whether it bears a
 * signature and which stream's, the next two its length. What must hold: every frame is counted once, and
 * every buffer comes back. And of plain counts, a receiver that measures in batches, as of many streams, has
 * measured the same in the end as one that does not.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_ring.h>

#include "fg_host.h"
#include "fg_signature.h"
#include "neighbour_priv.h"
#include "rx_batch.h"

enum { HEAD = 3, STREAMS = 4, FIRST_ID = 7, LONGEST = 2048, RING = 8 };
enum { TAG = 0x81000007 /* in VLAN 7, when the input is of odd length */ };

static const uint8_t *input;
static size_t input_left;
static uint64_t handed_out;
static struct rte_mempool *pool;
static int time_offset; /* of the arrival, in a buffer */

static void
check(bool condition)
{
	if (!condition)
		abort();
}

static uint16_t
take(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	rte_pktmbuf_free_bulk(frames, n);
	return n;
}

static struct rte_mbuf *
next_frame(uint64_t now)
{
	size_t length = (size_t)(input[1] << 8 | input[2]);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *data;

	check(m != NULL);
	length = RTE_MIN(length, (size_t)LONGEST);
	length = RTE_MIN(length, input_left - HEAD);
	data = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)length);
	memcpy(data, input + HEAD, length);
	if (input[0] < 2 * STREAMS && length >= FG_SIGNATURE_SIZE)
		fg_signature_write(data + length, FIRST_ID + input[0], input[HEAD], now);
	/* many have the same delay, some one below 0 */
	*RTE_MBUF_DYNFIELD(m, time_offset, uint64_t *) = now + (input[1] >= 128 ? input[2] - 64U : 100);
	input += HEAD + length;
	input_left -= HEAD + length;
	return m;
}

static uint16_t
give(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	uint16_t i = 0;

	while (i < n && input_left >= HEAD)
		frames[i++] = next_frame(now);
	handed_out += i;
	return i;
}

static const struct fg_clock wire_time = {.hz = 1000000000, .ns_per_tick_q64 = UINT64_MAX};
static struct fg_port port = {.tx = take, .rx = give};
static struct rx_stream streams[STREAMS];
static struct rx_extended extended; /* of the last stream */
static struct rx_rejected rejected[STREAMS];
static struct fg_template *frame; /* that all streams send */
static struct tx_stream sent = {.frames = &frame, .templates = 1};
static struct rx_tap nobody; /* looks */
static rx_poller receive;
static struct rx_task rx = {
	.port = &port,
	.clock = &wire_time,
	.streams = streams,
	.first_id = FIRST_ID,
	.ids = STREAMS,
	.rejected = rejected,
	.standing = &nobody,
};
static const struct rx_task elsewhere; /* of another port */
enum { AT_ONCE, BATCHED };
static struct rx_stream plain_streams[2][STREAMS];
static struct rx_task plain[2];
static struct rx_batch batches[STREAMS];
static struct rx batched = {.streams = STREAMS,
			    .tasks = 1,
			    .stream = plain_streams[BATCHED],
			    .task = &plain[BATCHED],
			    .batches = batches};
static int64_t tags[2][STREAMS][2];
static struct responder responder = {
	.port = &port,
	.clock = &wire_time,
	.host = {.mac = {2, 0, 0, 0, 0, 1},
		 .has_ipv4 = true,
		 .has_ipv6 = true,
		 .ipv4 = {198, 18, 1, 2},
		 .ipv6 = {0x20, 0x01, 0, 2, [15] = 2}},
	.gateway4 = {198, 18, 1, 1},
	.gateway6 = {0x20, 0x01, 0, 2, [15] = 1},
	.has_gateway4 = true,
	.has_gateway6 = true,
};

static void
plain_init(unsigned which)
{
	struct rx_task *t = &plain[which];

	*t = rx;
	t->streams = plain_streams[which];
	t->batches = which == BATCHED ? batches : NULL;
	t->measures.sequence = fg_sequence_size(64);
	t->measures.each = t->measures.sequence + fg_histogram_size(1, 1000000);
	t->measures.first = aligned_alloc(RTE_CACHE_LINE_SIZE, STREAMS * t->measures.each);
	t->task.poll = rx_choose(true, false, false, which == BATCHED);
	check(t->measures.first != NULL);
}

static void
plain_reset(unsigned which)
{
	struct rx_task *t = &plain[which];

	t->frames = t->unsolicited = t->misdirected = 0;
	for (unsigned i = 0; i < STREAMS; i++) {
		t->streams[i] = (struct rx_stream){
			.sequence = rx_measures_sequence(&t->measures, i),
			.latency = rx_measures_latency(&t->measures, i),
			.receiver = i == 0 ? &elsewhere : t,
			.sent = &sent,
			.length = frame->length,
			.next_tag = i == 1 ? 3 : UINT64_MAX,
			.tag_every = 2,
			.tags = 2,
			.tag = tags[which][i],
		};
		fg_sequence_init(t->streams[i].sequence, 64, 0, NULL);
		fg_histogram_init(t->streams[i].latency, 1, 1000000, NULL);
		if (which == BATCHED)
			rx_batch_init(&batched, i, 0);
	}
}

static void
check_alike(void)
{
	check(plain[AT_ONCE].frames == plain[BATCHED].frames);
	check(plain[AT_ONCE].misdirected == plain[BATCHED].misdirected);
	check(memcmp(plain[AT_ONCE].measures.first, plain[BATCHED].measures.first,
		     STREAMS * plain[BATCHED].measures.each) == 0);
	for (unsigned i = 0; i < STREAMS; i++) {
		const struct rx_stream *a = &plain_streams[AT_ONCE][i], *b = &plain_streams[BATCHED][i];

		check(a->octets == b->octets && a->tagged == b->tagged);
		check(a->first_arrival == b->first_arrival && a->last_arrival == b->last_arrival);
		check(a->longest_gap == b->longest_gap && a->gap_begin == b->gap_begin);
		check(memcmp(a->tag, b->tag, a->tagged * sizeof(a->tag[0])) == 0);
	}
}

static void
make_frame(void)
{
	struct fg_frame *f = fg_frame_create();

	check(f != NULL && fg_frame_push(f, "ethernet", NULL) == 0 && fg_frame_push(f, "ipv4", NULL) == 0 &&
	      fg_frame_push(f, "udp", NULL) == 0 && fg_frame_finish(f, 64, &frame, NULL) == 0);
	fg_frame_free(f);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct fg_host_config host = {.huge_pages = 1};
	struct fg_error err;

	check(fg_host_start(&host, &err) == 0);
	pool = rte_pktmbuf_pool_create("frames", 255, 0, 0, RTE_PKTMBUF_HEADROOM + LONGEST, SOCKET_ID_ANY);
	rx.to_responder = rte_ring_create("foreign", RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	check(pool != NULL && rx.to_responder != NULL);
	responder.pool = pool;
	responder.from_rx = rx.to_responder;
	make_frame();
	for (unsigned i = 0; i < STREAMS; i++) {
		streams[i].sent = &sent;
		streams[i].length = frame->length;
		streams[i].sequence = fg_sequence_create(64, 0, NULL);
		streams[i].latency = fg_histogram_create(2, 1000000, NULL);
		streams[i].receiver = i == 0 ? &elsewhere : &rx;
	}
	extended.variation = fg_variation_create(1, 1000000, 16, NULL);
	check(extended.variation != NULL);
	extended.max_delay = INT64_MAX; /* none comes too late */
	streams[STREAMS - 1].extended = &extended;
	receive = rx_choose(false, true, false, false);
	check(rte_mbuf_dyn_rx_timestamp_register(&rx.time_offset, &rx.time_flag) == 0);
	time_offset = rx.time_offset;
	plain_init(AT_ONCE);
	plain_init(BATCHED);
	return 0;
}

static void
receive_all(struct rx_task *t, rx_poller poll, const uint8_t *data, size_t size)
{
	input = data;
	input_left = size;
	handed_out = 0;
	for (uint64_t now = 1000; input_left >= HEAD; now += 1000) {
		poll(&t->task, now);
		responder_poll(&responder.task, now);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t recorded = 0, altered = 0;

	memset(rejected, 0, sizeof(rejected));
	rx.frames = rx.unsolicited = rx.misdirected = extended.expired = 0;
	responder.known4 = responder.known6 = false;
	responder.announce_at = 2000;
	responder.tag = size % 2 == 0 ? 0 : TAG;
	for (unsigned i = 0; i < STREAMS; i++) {
		fg_sequence_reset(streams[i].sequence, 0);
		fg_histogram_reset(streams[i].latency);
	}
	receive_all(&rx, receive, data, size);
	for (unsigned i = 0; i < STREAMS; i++)
		recorded += streams[i].latency->count;
	for (unsigned i = 0; i < STREAMS; i++)
		for (unsigned kind = 0; kind < FG_ALTERED_KINDS; kind++)
			altered += rejected[i].altered[kind];
	check(rx.frames + rx.unsolicited + rx.misdirected + extended.expired + altered == handed_out);
	check(recorded <= rx.frames);
	for (unsigned which = AT_ONCE; which <= BATCHED; which++) {
		plain_reset(which);
		receive_all(&plain[which], plain[which].task.poll, data, size);
	}
	rx_settle(&batched);
	check_alike();
	check(rte_mempool_in_use_count(pool) == 0);
	return 0;
}
