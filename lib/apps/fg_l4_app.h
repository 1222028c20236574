/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_l4.h"
#include "fg_quic.h"
#include "fg_secure.h"

__BEGIN_DECLS

/*
 * Applications: what the endpoints do. Each has two sides, a client that opens connections (or sends
 * datagrams) and a server that answers; both must be told the same sizes. What is sent is the same in every
 * process that knows this library, and all that is received is compared with it.
 *
 * All clients start at the start of the schedule and end at its stop: what is open then is closed in the
 * ordinary way. Figures are of the time from start + omit to stop.
 *
 * Kinds, each in a file or folder of its own:
 *   TCP_STREAM    client to server, as much as goes
 *   TCP_MAERTS    server to client
 *   TCP_SENDFILE  as TCP_STREAM, but what is sent are the bytes of a file, over and over
 *   TCP_RR        request and response, one outstanding, on connections that last
 *   TCP_CRR       connect, one request and response, close by the server; again
 *   TCP_CC        connect, close by the client; again
 *   HTTP          GET or POST; the server answers a path that ends in a number with that many bytes
 *   HTTP2         the same by HTTP/2, several requests at a time on a connection
 *   HTTP3         the same by HTTP/3, over QUIC alone
 *   FTP           files over data connections of their own: RETR, or STOR where there is a request body
 *   PAGE          pages by HTTP/1.1, on several connections each; its server is HTTP's. HTTP2 and HTTP3
 *                 load pages, too: see fg_l4_page.h
 *   IPERF         iperf3, both roles: TCP and UDP; see fg_l4_iperf.h
 *   UDP_STREAM, UDP_RR
 *   PING          echo requests of ICMP and ICMPv6, and their replies
 *   DNS           queries and their answers over UDP; its server takes TCP, too. See fg_l4_dns.h
 *   DNS_TCP       the same over TCP, or TLS, several queries at a time on a connection
 */

struct fg_l4_dns;
struct fg_l4_page;

/** The side that opens the data connections of FTP, and the commands (RFC 959; extended: RFC 2428). */
enum fg_l4_ftp_mode {
	FG_L4_FTP_EXTENDED_PASSIVE, /* EPSV: the client */
	FG_L4_FTP_PASSIVE,          /* PASV: the client, over IPv4 */
	FG_L4_FTP_EXTENDED_ACTIVE,  /* EPRT: the server */
	FG_L4_FTP_ACTIVE,           /* PORT: the server, over IPv4 */
};

enum { FG_L4_FTP_CODES = 600 /* reply codes are less */ };

enum { FG_L4_STATUSES = 16 /* of HTTP, that can be good */ };
enum { FG_L4_DATAGRAM_MIN = 16 /* bytes of payload of UDP_STREAM: stream, number, time */ };

/** Frames of HTTP/2 that a client may send over and over. */
enum fg_l4_flood {
	FG_L4_FLOOD_NONE,
	FG_L4_FLOOD_RST, /* RST_STREAM, each behind a request */
	FG_L4_FLOOD_PING,
	FG_L4_FLOOD_SETTINGS,
	FG_L4_FLOOD_EMPTY, /* DATA without a byte, of a request whose body is under way */
};

/** Windows of HTTP/2 and HTTP/3. */
enum fg_l4_window { FG_L4_WINDOW_CONNECTION, FG_L4_WINDOW_STREAM, FG_L4_WINDOWS };

struct fg_l4_app {
	const char *kind; /* its name: fg_l4_kind_name() */
	bool server;
	bool ipv6;
	uint8_t local[16]; /* our first address; IPv4: the first four bytes */
	uint32_t locals;   /* and how many from there on */
	uint16_t port;     /* the server's */
	struct fg_l4_tcp tcp;
	/* what its streams go through, one of them; NULL: plain TCP. Needed until fg_l4_create() returns */
	const struct fg_secure_config *tls;
	const struct fg_quic_config *quic;

	/* of the client only */
	uint8_t remote[16]; /* the server's first address */
	uint32_t remotes;
	uint16_t port_first, port_last; /* to connect from */
	uint64_t first_flow;            /* where in the turn through ports and addresses: fg_l4_next_flow() */
	uint8_t next_hop[6];
	uint32_t connections; /* at a time; of UDP: streams */
	/* the ramp: connections at the start, and how many more may be open each second; 0: all at once */
	uint32_t connections_start;
	double connections_per_s;
	uint32_t cycles; /* connections of each client in turn; 0: until the stop */
	/*
	 * Open loop: this number of connections is opened each second, at times that do not depend on how it
	 * goes, and what is measured of them counts from those times. 0: the next one is opened when one has
	 * ended.
	 */
	double opens_per_s;
	/*
	 * The rate grows from 0 to that at a steady pace for so long; and connections that are idle at the
	 * stop close one after the other for so long (the phases of RFC 9411, 4.3.4). 0: at once
	 */
	uint64_t ramp_up_ns, ramp_down_ns;
	uint32_t requests; /* RR, HTTP, FTP, DNS_TCP: on a connection; 0: until the stop */
	bool hold;         /* it is not closed then, but at the stop */
	bool half_close;   /* TCP_RR, TCP_CRR, HTTP: a FIN goes with the last request */
	/* RR, HTTP: pause between a response and the next request, drawn evenly between the two; 0: none */
	uint64_t think_ns, think_ns_max;
	const char *path; /* HTTP, FTP; must live until fg_l4_create() returns */
	const char *host; /* and the server's name */
	bool any_body;    /* HTTP, FTP: neither bytes nor length are compared */
	/* FTP: the user; live as long as the path. How data connections are opened: enum fg_l4_ftp_mode */
	const char *user, *password;
	uint8_t ftp_mode;
	uint32_t ftp_rest; /* the byte that each file is resumed at; `request`, `response` are what follows */
	bool head;         /* HTTP: HEAD, not GET */
	/*
	 * HTTP: value of Range behind "bytes=", at most 40 bytes; NULL: none. `response` is then the length
	 * of the part, and this where it begins
	 */
	const char *range;
	uint32_t range_first;
	/* HTTP, HTTP2, HTTP3: what is good; 0: no more; without any 200, of a range 206 */
	uint16_t statuses[FG_L4_STATUSES];
	/* HTTP2, HTTP3: requests at a time on a connection; 0: 32. Of a server of HTTP2 at least 256 */
	uint32_t streams;
	uint32_t window; /* HTTP2: bytes that a peer may send unasked; 0: 2^31 - 1 */
	/* HTTP2, HTTP3 (RST alone): what each connection sends in addition to requests; frames a second */
	uint8_t flood;
	double flood_per_s;
	/*
	 * A connection, request or close without an answer, and a stream of payload, are given up when
	 * nothing has moved on their stream for so long; 0: never. Not of FTP, DNS_TCP and IPERF
	 */
	uint64_t patience_ns;
	uint64_t octets;               /* of each stream, then close; 0: until the stop */
	const struct fg_l4_page *page; /* PAGE, HTTP2, HTTP3: what is loaded; NULL: none is */

	/* of both */
	const char *file;            /* SENDFILE; NULL, server: compare with nothing */
	uint32_t message;            /* of streams: bytes of each write; 0: all at once */
	uint32_t request, response;  /* bytes; HTTP: of the bodies, no request body is a GET; PING: request */
	uint32_t datagram;           /* bytes of payload of UDP_STREAM */
	double datagrams_per_s;      /* of all streams together; 0: as fast as the port takes them */
	uint64_t timeout_ns;         /* UDP_RR, PING, DNS, DNS_TCP, FTP: an unanswered request is given up */
	double requests_per_s;       /* of the same, of all together; 0: each follows an answer */
	const struct fg_l4_dns *dns; /* DNS, DNS_TCP; needed until fg_l4_create() returns */
};

/** A distribution of times, ns. All 0 without a sample. */
struct fg_l4_times {
	uint64_t count, min, max, p50, p90, p99, p999;
	double mean;
};

/** Results of an application's TLS. Texts live as long as the worker. */
struct fg_l4_tls_result {
	bool used;
	struct fg_secure_tally tally;
	struct fg_l4_times handshake; /* ClientHello to the peer's Finished */
	struct fg_tls_agreed agreed;
	uint64_t carried_out, carried_in; /* bytes of the TCP streams */
	uint32_t sessions;                /* that a client may still resume */
	const char *reason;               /* why the last handshake that failed did */
	const char *key_log;
	uint64_t key_log_lost;
};

/** Results of its QUIC. */
struct fg_l4_quic_result {
	bool used;
	struct fg_quic_tally tally;
	struct fg_l4_times handshake; /* first Initial to the peer's Finished */
	struct fg_l4_times gap;       /* a client takes another port to the first datagram there */
	struct fg_tls_agreed agreed;
	uint64_t memory;      /* most bytes that libngtcp2 had at a time */
	uint32_t sessions;    /* that a client may still resume */
	const char *reason;   /* why the last connection that ended with an error did */
	const char *versions; /* that the last Version Negotiation to a client named; "": none came */
	const char *key_log;
	uint64_t key_log_lost;
};

/** What a page waits for, each moment one of these: the first that is true. */
enum fg_l4_page_part {
	FG_L4_PAGE_TRANSFER, /* some of a response has come, and not all */
	FG_L4_PAGE_WAITING,  /* a request has no byte of a response yet */
	FG_L4_PAGE_SETUP,    /* an object may be asked for, and there is no connection for it */
	FG_L4_PAGE_THINK,    /* the pause before an object */
	FG_L4_PAGE_PARTS
};

/** Results of pages. */
struct fg_l4_page_result {
	bool used;
	uint64_t loaded, failed;          /* in all; those that the stop cuts off are neither */
	struct fg_l4_times time;          /* first SYN or Initial to the last byte of the last object */
	uint64_t spent[FG_L4_PAGE_PARTS]; /* ns of all of `time` */
};

struct fg_l4_result {
	struct fg_l4_tally measured; /* from start + omit to stop */
	struct fg_l4_tally total;    /* until the result is read */
	uint64_t measured_ns;
	/*
	 * since the start: of the receiver of a stream, its first and last payload in order; of its sender,
	 * its first byte sent and its last one acknowledged
	 */
	uint64_t first_ns, last_ns;
	uint32_t concurrent_max;        /* connections open at one time */
	uint32_t open;                  /* now, those in TIME_WAIT and given up excepted */
	uint64_t outstanding;           /* after fg_l4_finish(): answers that are awaited, not yet given up */
	uint64_t at_least;              /* times of transaction that are no less: no answer came */
	struct fg_l4_times setup;       /* SYN to established, client */
	struct fg_l4_times transaction; /* request sent to response whole; CRR, CC: SYN sent to closed */
	/* client, of the first response of each connection: SYN to its first and its last byte (RFC 9411) */
	struct fg_l4_times first_octet, last_octet;
	struct fg_l4_times rtt;               /* of segments that were sent once, one of each window */
	uint64_t lost, duplicates, reordered; /* UDP_STREAM, server, all streams: by number */
	double jitter_ns;                     /* RFC 3550, mean of the streams */
	/*
	 * HTTP2, HTTP3, by enum fg_l4_window: for how long a peer's window kept data back, of all connections
	 * and of all streams
	 */
	uint64_t flow_blocked_ns[FG_L4_WINDOWS];
	/*
	 * HTTP2: for how long data of a stream had arrived, with all of the stream before it, and waited for
	 * bytes of other streams (head-of-line blocking), of all streams
	 */
	uint64_t hol_ns;
	uint64_t flooded;                  /* frames sent for fg_l4_app.flood */
	uint64_t off_schedule, lag_max_ns; /* datagrams sent at times of their own, as of fg_pace.h */
	/*
	 * FTP, client: replies by code that were not what was waited for, FG_L4_FTP_CODES of them, and the
	 * last of these; NULL of other kinds. Live as long as the worker
	 */
	const uint64_t *replies;
	const char *reply;
	struct fg_l4_tls_result tls;
	struct fg_l4_quic_result quic;
	struct fg_l4_page_result page;
};

/** Sums over one interval of the series. */
struct fg_l4_interval {
	uint64_t octets_in, octets_out, transactions, established, retransmitted;
	uint64_t datagrams_in, datagrams_out;
	uint64_t line_octets; /* received by the worker: frames with FCS */
	uint32_t open;        /* connections at its end */
	/* and of those the first ones, up to FG_L4_SAMPLED: how many, and the mean of each at its end */
	uint32_t sampled;
	uint32_t cwnd, window, flight; /* bytes; the window is the peer's */
	uint32_t rtt_us;               /* smoothed (RFC 6298) */
};

/** Name of kind @p i; NULL: there are no more. */
const char *fg_l4_kind_name(unsigned i);
/** What kind @p kind counts as tally.own[@p i]; NULL: nothing. */
const char *fg_l4_own_name(const char *kind, unsigned i);

/**
 * Make a worker with its applications.
 * @return 0, -EINVAL with what is wrong, -ENOMEM
 */
int fg_l4_create(const struct fg_l4_config *config, unsigned apps, const struct fg_l4_app *app,
		 struct fg_l4 **out, struct fg_error *err);
void fg_l4_free(struct fg_l4 *l4);

/** Bytes of a request and of the response to it, heads and bodies, of a client of kind HTTP or HTTP2. */
void fg_l4_http_octets(const struct fg_l4_app *app, uint32_t *request, uint32_t *response);

/** The worker, as the engine runs it. Its lifetime is the worker's. */
struct fg_endpoint *fg_l4_endpoint(struct fg_l4 *l4);

/**
 * When the clients start and stop, in the engine's time. Once for each worker, before it is polled.
 * @param omit_ns      of the time after the start that no figure is of
 * @param interval_ns  of the series; 0: no series
 * @return 0, -EINVAL, -ENOMEM
 */
int fg_l4_schedule(struct fg_l4 *l4, uint64_t start_ns, uint64_t stop_ns, uint64_t omit_ns,
		   uint64_t interval_ns, struct fg_error *err);

/**
 * Where in the turn through ports and addresses the next connection of application @p app begins. A peer
 * still knows the ports before, so the application of a later worker is to go on there.
 */
uint64_t fg_l4_next_flow(const struct fg_l4 *l4, unsigned app);

/**
 * The trial ended at @p now, by the clock of fg_l4_schedule(): what is still without an answer is counted,
 * and how long windows that are still closed have kept data back. Once, before the results are read, while
 * no lcore polls the worker.
 */
void fg_l4_finish(struct fg_l4 *l4, uint64_t now);

/** Results of application @p app. */
void fg_l4_read(const struct fg_l4 *l4, unsigned app, struct fg_l4_result *out);

/** The series of application @p app. @return how many intervals there are, at most @p max are written */
unsigned fg_l4_series(const struct fg_l4 *l4, unsigned app, struct fg_l4_interval *out, unsigned max);

/**
 * Log (qlog) of connection @p i of an application over QUIC, from 0; *lost: records for which there was no
 * room. It lives as long as the worker. @return NULL: it has no log
 */
const char *fg_l4_qlog(const struct fg_l4 *l4, unsigned app, uint32_t i, uint64_t *lost);

__END_DECLS
