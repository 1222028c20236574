/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <arpa/inet.h>
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fg_endpoint.h"
#include "fg_l4.h"
#include "fg_net.h"

__BEGIN_DECLS

/*
 * The interface for applications: streams and datagrams of a worker. Only lib/apps and tests need this
 * header; control uses fg_l4.h.
 *
 * A stream is known by positions of payload: `written` by the application, `acked` by the peer, `received` in
 * order from the peer. There is no buffer: fill() writes the payload whenever a segment leaves, also for a
 * retransmission, so it must be a function of the position. Received payload goes to receive() once.
 *
 * A stream is a TCP connection, and its members are the connection's, so the interface costs nothing. An
 * application may instead use a layer such as TLS (struct fg_layer). The layer then implements the functions
 * of this header, over streams of TCP, and calls the same struct fg_app_ops.
 *
 * Everything here belongs to the lcore that polls the worker. Times are nanoseconds of the engine's clock.
 */

/** Two ends and the next hop between them. */
struct fg_flow {
	uint8_t local[16], remote[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint16_t local_port, remote_port;
	uint8_t mac[6]; /* of the next hop, or of the sender on this link */
	bool ipv6;
};

enum { FG_STREAM_AREA = 18 };

/** A stream, as its application sees it. All but `area` and `opened_at` are read only. */
struct fg_stream {
	/**
	 * The application's state; zero when the stream is opened. Bytes 0 and 8 are aligned for 64-bit
	 * words.
	 */
	uint8_t area[FG_STREAM_AREA];
	uint8_t app;        /* index of the application */
	bool ended;         /* fg_stream_close() was called: nothing more is written */
	uint32_t opened_at; /* of a client, in units of 2^FG_STREAM_OPENED_SHIFT ns */
	uint64_t written;   /* bytes that the application has written */
	uint64_t
		/* bytes acknowledged by the peer; the end of the stream counts as one more byte */
		acked;
	uint64_t received; /* bytes received in order */
};

enum { FG_STREAM_OPENED_SHIFT = 10 };

struct fg_l4;
struct fg_app;
struct fg_quic_streams;

/**
 * Callbacks of an application on events of its streams. None of them opens a stream. An application with
 * datagrams only needs just poll() and datagram().
 */
struct fg_app_ops {
	/** The handshake is over. May be NULL. */
	void (*established)(struct fg_l4 *w, struct fg_stream *s);
	/**
	 * Payload from position @p offset. In order unless @p early. TCP keeps rejected early payload while
	 * there is room, counts it as received and hands it over again in order, perhaps cut differently.
	 * @return false: not usable now; payload in order is offered again
	 */
	bool (*receive)(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data,
			uint32_t length, bool early);
	/** `received` has moved. May be NULL. */
	void (*arrived)(struct fg_l4 *w, struct fg_stream *s);
	/** The client's stop time has come. May be NULL. */
	void (*stop)(struct fg_l4 *w, struct fg_stream *s);
	/** The peer has sent its FIN. */
	void (*eof)(struct fg_l4 *w, struct fg_stream *s);
	/** `acked` has moved. May be NULL. */
	void (*acked)(struct fg_l4 *w, struct fg_stream *s);
	/**
	 * All written bytes have left or wait: write more. @return whether there is more. May be NULL.
	 */
	bool (*refill)(struct fg_l4 *w, struct fg_stream *s);
	/** Write bytes of the stream from position @p offset, also for a retransmission. */
	void (*fill)(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length);
	/**
	 * Address of these bytes, valid as long as the application, at least one and at most @p length;
	 * *together: their number. Needed by a layer that sends without a copy; else NULL.
	 */
	const uint8_t *(*place)(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint32_t length,
				uint32_t *together);
	/**
	 * The stream is over, and must not be used afterwards. Called once, also when TIME_WAIT begins. May
	 * be NULL.
	 */
	void (*closed)(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end);
	/** The timer of fg_stream_timer() has expired. NULL: no timer is used. */
	void (*timer)(struct fg_l4 *w, struct fg_stream *s);
	/**
	 * Open streams and send datagrams that are due. @return time of the next poll. May be NULL.
	 */
	uint64_t (*poll)(struct fg_l4 *w, struct fg_app *app);
	/**
	 * A datagram for the application's addresses. An echo message's payload is the whole message, and its
	 * flow has no ports. @return whether it is the application's
	 */
	bool (*datagram)(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow,
			 const uint8_t *payload, uint32_t length);
	/**
	 * ICMP reports that a datagram did not reach its port or host. The flow is the datagram's; @p payload
	 * is the quoted part of it, which may be empty: of echo from the message's header on, of UDP behind
	 * its header. @return whether the datagram is the application's and in flight. NULL: ignored
	 */
	bool (*unreachable)(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow,
			    const uint8_t *payload, uint32_t length);
	/** Of an application that has several streams on a connection, of QUIC alone: fg_quic_layer.h. */
	const struct fg_quic_streams *streams;
	/** Whether to accept a connection to another port than the application's. NULL: reject all. */
	bool (*expects)(const struct fg_l4 *w, const struct fg_app *app, const struct fg_flow *flow);
	/** With a layer: the connection below is there, its own handshake is not over. May be NULL. */
	void (*connected)(struct fg_l4 *w, struct fg_stream *s);
	/**
	 * established() may be called before the layer's handshake is over; data written then may leave at
	 * once (early data). It sets no timer.
	 */
	bool early;
};

/**
 * A layer between an application and TCP: its functions have the names of those below. A layer has an
 * application of its own, whose streams are TCP connections and whose ops TCP calls; each of these streams
 * carries one of the application above.
 */
struct fg_layer {
	struct fg_stream *(*open)(struct fg_l4 *w, unsigned app, const struct fg_flow *flow);
	void (*write)(struct fg_l4 *w, struct fg_stream *s, uint64_t octets);
	void (*ready)(struct fg_l4 *w, struct fg_stream *s);
	void (*truncate)(struct fg_l4 *w, struct fg_stream *s);
	void (*close)(struct fg_l4 *w, struct fg_stream *s);
	void (*reset)(struct fg_l4 *w, struct fg_stream *s); /* fg_stream_abort() */
	void (*timer)(struct fg_l4 *w, struct fg_stream *s, uint64_t ns);
	bool (*is_established)(const struct fg_l4 *w, const struct fg_stream *s);
	void (*each)(struct fg_l4 *w, unsigned app, void (*visit)(struct fg_l4 *w, struct fg_stream *s));
	uint32_t (*number)(const struct fg_l4 *w, const struct fg_stream *s);
};

/** An application as TCP and UDP see it; each application's own state begins with it. */
struct fg_app {
	const struct fg_app_ops *ops;
	const struct fg_layer *layer; /* the layer of its streams; NULL: plain TCP */
	struct fg_l4_tcp tcp;
	uint32_t control_buffer; /* in place of both buffers, for streams of fg_stream_control() */
	uint8_t index;
	uint8_t below;            /* with a layer: index of the layer's application */
	bool listens, udp, echo;  /* takes connections; datagrams; echo requests and replies */
	bool gathers;             /* what refill() writes goes on in a segment that is not full yet */
	bool resets_at_once;      /* its client closes when responses are complete: an RST waits for no ACK */
	uint8_t local[16];        /* the first of its addresses */
	uint32_t locals;          /* number of consecutive addresses */
	uint16_t port;            /* that it listens on */
	uint32_t open, open_max;  /* streams that are not over, TIME_WAIT excepted */
	struct fg_histogram *rtt; /* NULL: not recorded */
	struct fg_l4_tally tally;
};

/** Arrival time of payload beyond a gap, from the layer that kept it, while receive() is called for it. */
struct fg_held {
	/** When the byte at @p offset arrived, and when the gap was closed. @return false: no gap */
	bool (*waited)(const struct fg_held *held, uint32_t offset, uint64_t *from, uint64_t *to);
	const uint8_t *data; /* the payload */
};

/** The public part of a worker; TCP's private part follows (tcp_priv.h). */
struct fg_l4 {
	struct fg_endpoint endpoint; /* first: the worker is the endpoint */
	struct fg_l4_config config;
	uint64_t now;
	struct fg_burst *out; /* of the call that is running */
	struct fg_l4_counters counters;
	uint64_t start_at, stop_at, measure_from; /* of all clients; figures are of measure_from to stop_at */
	/* time of the next snapshot(), before other events of that time; written by lib/apps */
	uint64_t snapshot_at;
	void (*snapshot)(struct fg_l4 *w);
	uint64_t interval;
	uint32_t snapshots, snapshots_max;
	struct fg_app **app;
	unsigned apps;
	unsigned applications; /* the first ones; the rest are layers' */
	uint64_t layer_octets; /* memory that layers have taken */
	uint32_t layer_open;   /* connections of layers, in addition to TCP's; control reads it, too */
	struct fg_held *held;  /* NULL: the payload of receive() has just arrived */
	uint8_t ecn;           /* ECN bits of the datagram in datagram() (RFC 3168, 5) */
};

/** Make a worker without applications. @return 0 or -ENOMEM */
int fg_l4_worker_create(const struct fg_l4_config *config, struct fg_l4 **out, struct fg_error *err);
/** Free the worker, not its applications. NULL is legal. */
void fg_l4_worker_free(struct fg_l4 *w);

/* --- streams */

/** Open a stream of application @p app. @return NULL: the flow is taken, or there is no room */
struct fg_stream *fg_stream_open(struct fg_l4 *w, unsigned app, const struct fg_flow *flow);
/** Add @p bytes to send, which fill() will write. */
void fg_stream_write(struct fg_l4 *w, struct fg_stream *s, uint64_t octets);
/** Have refill() called without a write. */
void fg_stream_ready(struct fg_l4 *w, struct fg_stream *s);
/** Drop all bytes not sent yet. */
void fg_stream_truncate(struct fg_l4 *w, struct fg_stream *s);
/** All is written. A client's stream that waits for a response is aborted. */
void fg_stream_close(struct fg_l4 *w, struct fg_stream *s);
/** Reset it; closed() is called before this returns. */
void fg_stream_abort(struct fg_l4 *w, struct fg_stream *s);
/** Mark a control stream: without a layer its buffers are control_buffer from now on. */
void fg_stream_control(const struct fg_l4 *w, struct fg_stream *s);
/** Call timer() in @p ns; UINT64_MAX: not any more. */
void fg_stream_timer(struct fg_l4 *w, struct fg_stream *s, uint64_t ns);

const struct fg_flow *fg_stream_flow(const struct fg_stream *s);
/** Position behind the last byte that has left. */
uint64_t fg_stream_sent(const struct fg_stream *s);
/** Is the stream established and not over? */
bool fg_stream_is_established(const struct fg_l4 *w, const struct fg_stream *s);
/** Call @p visit for each stream of application @p app that is not over, TIME_WAIT excepted. */
void fg_stream_each(struct fg_l4 *w, unsigned app, void (*visit)(struct fg_l4 *w, struct fg_stream *s));
/**
 * The same for @p most places from @p from on, 0: the first; with a layer for all. @return where to go on; 0:
 * that was the last
 */
uint32_t fg_stream_some(struct fg_l4 *w, unsigned app, uint32_t from, uint32_t most,
			void (*visit)(struct fg_l4 *w, struct fg_stream *s));
/** Its number, from 1 to fg_l4_config.connections; and back, of a stream that is a TCP connection. */
uint32_t fg_stream_number(const struct fg_l4 *w, const struct fg_stream *s);
struct fg_stream *fg_stream_at(const struct fg_l4 *w, uint32_t number);
/** And the payload bytes of a full segment. */
uint32_t fg_stream_segment(const struct fg_stream *s);
/** Does any stream have data to send that had no room yet? */
bool fg_stream_any_waits(const struct fg_l4 *w);

/** Means over the first streams of an application, because a million streams would take too long. */
struct fg_stream_sample {
	uint32_t streams; /* with means */
	uint32_t cwnd, window, flight, rtt_us;
};
void fg_stream_sample(const struct fg_l4 *w, unsigned app, struct fg_stream_sample *out);

/* --- datagrams */

/** Room for one frame more; NULL: the burst is full. */
static inline uint8_t *
fg_l4_room(const struct fg_l4 *w)
{
	return w->out->frames < w->out->rooms ? w->out->room[w->out->frames] : NULL;
}

/** Where the payload of the next datagram goes; NULL: the burst is full. */
uint8_t *fg_datagram_room(const struct fg_l4 *w, bool ipv6);
/** Send it, with @p length bytes of payload in place. */
void fg_datagram_send(struct fg_l4 *w, const struct fg_flow *flow, uint32_t length);
/** The same with ECN bits of its IP header. */
void fg_datagram_send_ecn(struct fg_l4 *w, const struct fg_flow *flow, uint32_t length, uint8_t ecn);
/** Is this the UDP header of the payload in the room? Its checksum covers the payload. */
bool fg_datagram_has_header(const struct fg_l4 *w, const struct fg_flow *flow, uint32_t length,
			    const uint8_t *header);
/**
 * Send it as an echo request of ICMP or ICMPv6, or the reply to one: its header is as long as UDP's.
 * @param id  identifier (upper 16 bits) and sequence number (RFC 792; RFC 4443, 4)
 */
void fg_echo_send(struct fg_l4 *w, const struct fg_flow *flow, bool request, uint32_t id, uint32_t length);

/* --- small things */

static inline uint32_t
fg_u32_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t
fg_u32_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline void
fg_address_of_ipv4(const uint8_t ipv4[4], uint8_t out[16])
{
	memset(out, 0, 10);
	memset(out + 10, 0xff, 2);
	memcpy(out + 12, ipv4, 4);
}

/** Is the present time within the measured time? */
static inline bool
fg_l4_is_measured(const struct fg_l4 *w)
{
	return w->now >= w->measure_from && w->now < w->stop_at;
}

__END_DECLS
