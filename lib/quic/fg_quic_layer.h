/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <sys/uio.h>

#include "fg_quic.h"
#include "fg_stream.h"

__BEGIN_DECLS

/* How lib/apps puts applications on QUIC, and what it reads of it. */

/**
 * Let an application of a worker, which is the last one of w->app, stand on QUIC: the layer's own application
 * becomes the last one, so there must be room for it. Its ops must have place(), or streams.
 */
int fg_quic_add(struct fg_l4 *w, struct fg_app *app, const struct fg_quic_config *config,
		struct fg_error *err);
/** Free all that was added to a worker. */
void fg_quic_free(struct fg_l4 *w);

/*
 * An application with several streams on a connection, by their numbers (RFC 9000, 2.1). Its struct
 * fg_stream is the connection: fg_stream_close() ends that in peace, fg_stream_ready() says that streams
 * have something to send, and of its ops neither receive(), eof(), acked(), fill() nor place() is called,
 * but what is here.
 */
struct fg_quic_streams {
	uint64_t in_peace; /* the application's code for no error */
	/**
	 * What is to leave next, of one stream; it lies there until it was acknowledged. @return parts, at
	 * most @p room; *id < 0: there is nothing
	 */
	unsigned (*next)(struct fg_l4 *w, struct fg_stream *s, int64_t *id, bool *fin, struct iovec *part,
			 unsigned room);
	/** This many of the bytes were taken, perhaps 0 of 0. */
	void (*sent)(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t octets);
	/** The datagram with them is whole: unlike in sent(), streams may be reset. NULL: of no interest */
	void (*left)(struct fg_l4 *w, struct fg_stream *s);
	/** None were: the peer's window is closed; @p over: the peer does not take any more at all. */
	void (*blocked)(struct fg_l4 *w, struct fg_stream *s, int64_t id, bool over);
	/** The window is open again. */
	void (*unblocked)(struct fg_l4 *w, struct fg_stream *s, int64_t id);
	/** The window of the connection begins or ceases to block data. */
	void (*limited)(struct fg_l4 *w, struct fg_stream *s, bool closed);
	/** The handshake is over, and what left before it was refused: no stream is any more. Begin again. */
	void (*refused)(struct fg_l4 *w, struct fg_stream *s);
	/** The peer lets us open more streams. */
	void (*more)(struct fg_l4 *w, struct fg_stream *s);
	/** Bytes in order, perhaps none. They count against the peer's window until fg_quic_take(). */
	void (*received)(struct fg_l4 *w, struct fg_stream *s, int64_t id, const uint8_t *data, size_t length,
			 bool fin);
	void (*acked)(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t octets);
	/** The peer sends no more of it. */
	void (*reset)(struct fg_l4 *w, struct fg_stream *s, int64_t id);
	/** It is over in both directions; @p code: of a peer that ended it before its time, else in_peace. */
	void (*over)(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t code);
};

/* What such an application calls. */

/** @return false: the peer allows no further one now */
bool fg_quic_open(struct fg_l4 *w, struct fg_stream *s, bool both_ways, int64_t *id);
/** Bytes of a stream were used; the peer may send as many more. */
void fg_quic_take(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t octets);
/** Ask the peer to stop the stream (STOP_SENDING); stop our side (RESET_STREAM). */
void fg_quic_stop(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t code);
void fg_quic_reset(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t code);
/** The connection ends with an error of the application's. */
void fg_quic_fail(struct fg_l4 *w, struct fg_stream *s, uint64_t code, const char *reason);

/** What there is to know of an application's QUIC. Texts live as long as the worker. */
struct fg_quic_read {
	const struct fg_quic_tally *tally;
	const struct fg_histogram *handshakes; /* first Initial to the peer's Finished, ns */
	const struct fg_histogram *gaps;       /* a client takes another port to the first datagram there */
	const struct fg_tls_agreed *agreed;
	const char *reason;   /* why the last connection that ended with an error did; "": none did */
	const char *versions; /* that the last Version Negotiation to a client named; "": none came */
	const char *key_log;
	uint64_t key_log_lost;
	uint64_t memory;   /* most bytes that libngtcp2 had at a time, of all connections */
	uint32_t sessions; /* that a client may still resume */
};
/** @return false: the application does not stand on QUIC */
bool fg_quic_read(const struct fg_l4 *w, const struct fg_app *app, struct fg_quic_read *out);
/** Log (qlog) of a connection, from 0; *lost: records without room there. @return NULL: it has no log */
const char *fg_quic_qlog(const struct fg_l4 *w, const struct fg_app *app, uint32_t i, uint64_t *lost);

__END_DECLS
