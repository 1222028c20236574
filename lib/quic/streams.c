/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several streams on a connection (struct fg_quic_streams): what leaves of them, as many as go into a packet,
 * and what their application calls.
 */
#include "quic_priv.h"

enum { PARTS = 16 };

/*
 * What is to leave next. The window of the connection is not a stream's window, and opens without a call of
 * ours. @return parts; *id < 0: there is nothing, or the window keeps it back
 */
static unsigned
next_parts(struct fg_l4 *w, struct quic *q, int64_t *id, bool *fin, struct iovec *part)
{
	bool open = ngtcp2_conn_get_max_data_left(q->conn) > 0, limited;
	unsigned parts =
		open || q->phase == OPEN ? streams_of(q)->next(w, &q->stream, id, fin, part, PARTS) : 0;

	limited = !open && *id >= 0;
	if (limited != q->limited && !q->over) {
		q->limited = limited;
		streams_of(q)->limited(w, &q->stream, limited);
	}
	if (open)
		return parts;
	*id = -1;
	return 0;
}

/*
 * Of the stream whose turn it is; *id < 0: of none. @return bytes of the datagram; NGTCP2_ERR_WRITE_MORE: it
 * is not full yet; another error of libngtcp2
 */
static ngtcp2_ssize
write_part(struct fg_l4 *w, struct quic *q, uint8_t *to, ngtcp2_path *path, ngtcp2_pkt_info *info,
	   int64_t *id)
{
	uint32_t flags = NGTCP2_WRITE_STREAM_FLAG_NONE;
	struct iovec part[PARTS];
	ngtcp2_vec given[PARTS];
	ngtcp2_ssize n, taken = -1;
	uint64_t left = zero_rtt_room(q);
	unsigned parts = 0;
	bool fin = false;

	*id = -1;
	if (left > 0 && !q->over)
		parts = next_parts(w, q, id, &fin, part);
	for (unsigned i = 0; i < parts; i++) {
		given[i] = (ngtcp2_vec){part[i].iov_base, part[i].iov_len < left ? part[i].iov_len : left};
		fin = fin && given[i].len == part[i].iov_len;
		left -= given[i].len;
	}
	if (*id >= 0)
		flags = NGTCP2_WRITE_STREAM_FLAG_MORE | (fin ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0);
	n = ngtcp2_conn_writev_stream(conn_call(w, q), path, info, to, q->carrier->config.max_datagram,
				      &taken, flags, *id, given, parts, w->now);
	if (taken >= 0)
		zero_rtt_sent(q, (uint64_t)taken);
	if (taken >= 0)
		streams_of(q)->sent(w, &q->stream, *id, (uint64_t)taken);
	return n;
}

ngtcp2_ssize
streams_write(struct fg_l4 *w, struct quic *q, uint8_t *to, ngtcp2_path *path, ngtcp2_pkt_info *info)
{
	ngtcp2_ssize n;
	int64_t id;

	for (;;) {
		n = write_part(w, q, to, path, info, &id);
		if (n == NGTCP2_ERR_STREAM_DATA_BLOCKED)
			streams_of(q)->blocked(w, &q->stream, id, false);
		else if (n == NGTCP2_ERR_STREAM_SHUT_WR || n == NGTCP2_ERR_STREAM_NOT_FOUND)
			streams_of(q)->blocked(w, &q->stream, id, true);
		else if (n != NGTCP2_ERR_WRITE_MORE)
			break;
	}
	if (n >= 0 && streams_of(q)->left != NULL)
		streams_of(q)->left(w, &q->stream);
	return n;
}

void
streams_renew(struct quic *q, int64_t id)
{
	if (ngtcp2_conn_is_local_stream(q->conn, id))
		return;
	if (ngtcp2_is_bidi_stream(id))
		ngtcp2_conn_extend_max_streams_bidi(q->conn, 1);
	else
		ngtcp2_conn_extend_max_streams_uni(q->conn, 1);
}

bool
fg_quic_open(struct fg_l4 *w, struct fg_stream *s, bool both_ways, int64_t *id)
{
	ngtcp2_conn *conn = quic_of(s)->conn;

	return (both_ways ? ngtcp2_conn_open_bidi_stream(conn, id, NULL)
			  : ngtcp2_conn_open_uni_stream(conn, id, NULL)) == 0;
}

void
fg_quic_take(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t octets)
{
	ngtcp2_conn_extend_max_stream_offset(quic_of(s)->conn, id, octets);
	ngtcp2_conn_extend_max_offset(quic_of(s)->conn, octets);
}

void
fg_quic_stop(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t code)
{
	stop_reading(quic_of(s)->conn, id, code);
	ready_put(quic_of(s));
}

void
fg_quic_reset(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t code)
{
	stop_writing(quic_of(s)->conn, id, code);
	ready_put(quic_of(s));
}

void
fg_quic_fail(struct fg_l4 *w, struct fg_stream *s, uint64_t code, const char *reason)
{
	conn_fail(w, quic_of(s), code, reason);
}
