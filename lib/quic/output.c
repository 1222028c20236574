/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What leaves. Of the connections that may have something to send (ready.c) each writes what it may, at most
 * the send quantum of its pacing, straight into the rooms of the burst.
 */
#include <string.h>

#include "quic_priv.h"

enum { LONGEST_PART = 65535 };

/* @param ecn  as libngtcp2 wants it */
static void
leave(struct fg_l4 *w, struct quic *q, struct fg_flow flow, size_t length, uint32_t ecn)
{
	uint8_t marks = q->carrier->config.ecn ? (uint8_t)ecn : NGTCP2_ECN_NOT_ECT;

	if (q->moves.outside != 0)
		flow.local_port = q->moves.outside;
	fg_datagram_send_ecn(w, &flow, (uint32_t)length, marks);
	ecn_left(q, marks);
	q->carrier->tally.datagrams_out++;
}

/* the part of the stream that is to leave next. @return whether there is one, perhaps of no bytes */
static bool
next_part(struct fg_l4 *w, struct quic *q, ngtcp2_vec *part, bool *fin)
{
	struct fg_stream *s = &q->stream;
	uint64_t length;
	uint32_t together = 0;

	if ((q->phase != OPEN && !q->is_early) || q->over || q->id < 0 || q->fin_sent)
		return false;
	while (q->sent == s->written && !s->ended && ops_above(q)->refill != NULL &&
	       ops_above(q)->refill(w, s))
		;
	length = s->written - q->sent;
	if (length > 0)
		part->base = (uint8_t *)(uintptr_t)ops_above(q)->place(
			w, s, q->sent, length < LONGEST_PART ? (uint32_t)length : LONGEST_PART, &together);
	part->len = together;
	*fin = s->ended && q->sent + together == s->written;
	return together > 0 || *fin || !q->announced;
}

/* @return bytes of a datagram, 0: nothing may be sent now; an error of libngtcp2 */
static ngtcp2_ssize
write_one(struct fg_l4 *w, struct quic *q, uint8_t *to, ngtcp2_path *path, ngtcp2_pkt_info *info)
{
	ngtcp2_conn *conn = conn_call(w, q);
	size_t room = q->carrier->config.max_datagram;
	ngtcp2_ssize n, taken = -1;
	ngtcp2_vec part;
	bool fin;

	if (streams_of(q) != NULL)
		return streams_write(w, q, to, path, info);
	if (next_part(w, q, &part, &fin)) {
		n = ngtcp2_conn_writev_stream(conn, path, info, to, room, &taken,
					      fin ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0, q->id, &part,
					      part.len > 0, w->now);
		if (taken >= 0) {
			q->announced = true;
			q->sent += (uint64_t)taken;
			zero_rtt_sent(q, (uint64_t)taken);
			q->fin_sent = fin && (size_t)taken == part.len;
			conn_check_finished(w, q);
		}
		if (n != NGTCP2_ERR_STREAM_DATA_BLOCKED && n != NGTCP2_ERR_STREAM_SHUT_WR)
			return n;
	}
	return ngtcp2_conn_writev_stream(conn, path, info, to, room, NULL, 0, -1, NULL, 0, w->now);
}

/*
 * send CONNECTION_CLOSE, and repeat it for a peer that still sends: for the 1st, 2nd, 4th, 8th datagram of
 * its
 */
static bool
repeat(struct fg_l4 *w, struct quic *q)
{
	uint8_t *to = fg_datagram_room(w, q->flow.ipv6);

	if (to == NULL)
		return false;
	memcpy(to, q->last_words, q->last_words_length);
	leave(w, q, q->flow, q->last_words_length, NGTCP2_ECN_NOT_ECT);
	return true;
}

/*
 * A client that closes because of the server's part of the handshake still owes its own part. Until
 * that has left, libngtcp2 closes with a Handshake packet alone, where the code of the application has no
 * place (RFC 9000, 10.2.3): the peer would not learn why.
 */
static void
end_handshake(struct fg_l4 *w, struct quic *q, uint8_t *to)
{
	ngtcp2_path_storage path;
	ngtcp2_pkt_info info;
	ngtcp2_ssize n;

	if (q->carrier->config.tls.server || q->why.type != NGTCP2_CCERR_TYPE_APPLICATION ||
	    q->losses.last_packet > 0 || !ngtcp2_conn_get_handshake_completed(q->conn))
		return;
	ngtcp2_path_storage_zero(&path);
	n = ngtcp2_conn_write_pkt(conn_call(w, q), &path.path, &info, to, q->carrier->config.max_datagram,
				  w->now);
	if (n <= 0)
		return;
	leave(w, q, flow_of(q, &path.path), (size_t)n, info.ecn);
}

static bool
close_now(struct fg_l4 *w, struct quic *q)
{
	uint64_t until = w->now + 3 * ngtcp2_conn_get_pto(q->conn);
	uint8_t *to = fg_datagram_room(w, q->flow.ipv6);
	ngtcp2_path_storage path;
	ngtcp2_pkt_info info;
	ngtcp2_ssize n;

	if (to == NULL)
		return false;
	end_handshake(w, q, to);
	if (fg_datagram_room(w, q->flow.ipv6) == NULL)
		return false;
	ngtcp2_path_storage_zero(&path);
	n = ngtcp2_conn_write_connection_close(conn_call(w, q), &path.path, &info, q->last_words,
					       sizeof(q->last_words), &q->why, w->now);
	if (n <= 0) { /* there are no keys yet, or no room for a whole Initial */
		conn_free(w, q);
		return true;
	}
	q->flow = flow_of(q, &path.path);
	q->last_words_length = (uint8_t)n;
	conn_close(q, until);
	return repeat(w, q);
}

/* libngtcp2 refuses, and is asked again, until the peer has acknowledged something with the keys of now */
static void
renew_keys(struct fg_l4 *w, struct quic *q)
{
	uint64_t every = q->carrier->config.key_update_every;

	if (every > 0 && q->phase == OPEN && q->losses.last_packet - q->keys_from >= every)
		ngtcp2_conn_initiate_key_update(conn_call(w, q), w->now);
}

/* @return false: there is more, but no room or no turn */
static bool
write_some(struct fg_l4 *w, struct quic *q)
{
	size_t quantum = ngtcp2_conn_get_send_quantum(q->conn), sum = 0;
	ngtcp2_path_storage path;
	ngtcp2_pkt_info info;
	ngtcp2_ssize n = 0;
	uint8_t *to;

	if (!zero_rtt_begin(w, q))
		return true;
	if (!q->carrier->config.tls.server && (q->phase == OPEN || q->is_early) && q->id < 0 && !q->over &&
	    streams_of(q) == NULL && ngtcp2_conn_open_bidi_stream(q->conn, &q->id, NULL) != 0)
		q->id = -1; /* the peer does not permit it yet */
	renew_keys(w, q);
	move(w, q);
	ngtcp2_path_storage_zero(&path);
	while ((to = fg_datagram_room(w, q->flow.ipv6)) != NULL && sum < quantum &&
	       (n = write_one(w, q, to, &path.path, &info)) > 0) {
		leave(w, q, flow_of(q, &path.path), (size_t)n, info.ecn);
		sum += (size_t)n;
	}
	if (n < 0) {
		conn_leave(w, q, (int)n);
		return true;
	}
	/* until a round trip was measured, a pace would follow initial_rtt, and hold up the handshake */
	if (q->phase == OPEN)
		ngtcp2_conn_update_pkt_tx_time(q->conn, w->now);
	conn_schedule(w, q);
	return to != NULL && sum < quantum;
}

/* @return false: there is more, but no room or no turn */
static bool
serve(struct fg_l4 *w, struct quic *q)
{
	switch (q->phase) {
	case SHAKING:
	case OPEN:
		return write_some(w, q);
	case LEAVING:
		return close_now(w, q);
	default:
		return repeat(w, q);
	}
}

bool
output_all(struct fg_l4 *w, struct carrier *c)
{
	while (c->ready_first != 0 && fg_l4_room(w) != NULL) {
		uint32_t i = c->ready_first;
		struct quic *q = quic_at(c, i);

		c->ready_first = q->ready_next;
		q->ready = false;
		if (q->phase == NOBODY)
			fg_pool_give(&c->pool, &i);
		else if (!serve(w, q) && q->phase != NOBODY)
			ready_put(q);
	}
	return c->ready_first != 0;
}
