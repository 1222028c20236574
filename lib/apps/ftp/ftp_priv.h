/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FTP (RFC 959, 2428), client and server. A session is a control connection, on which commands and replies
 * are lines of text, and for each file a data connection, which one side opens and the other one waits for. A
 * file ends with its data connection, and a reply says whether it is whole. Each file here calls those above
 * it in this list and no others:
 *
 *   text.c    lines, replies, and addresses in them
 *   data.c    sessions, and how their data connections come to be
 *   client.c, server.c
 *   ftp.c     the kind: what happens to connections, given to the side's functions
 *
 * What a control connection has sent and the peer has not acknowledged is kept, to be sent again; the bytes
 * of a file follow from their position, as everywhere. All of it belongs to the lcore that polls the worker.
 */
#pragma once

#include "../app_priv.h"
#include "fg_pool.h"

enum {
	FTP_LINE = 512,      /* bytes of the longest line, its end left out, and a NUL */
	FTP_OUT = 2048,      /* bytes that wait for their acknowledgement on a control connection */
	FTP_SAYS = 384,      /* bytes of the longest line of ours */
	FTP_SESSIONS = 60000 /* at a time: each may wait on a port of its own */
};

/** What a connection is. */
enum ftp_role {
	FTP_NEW,     /* nothing yet: the handshake is not over */
	FTP_CONTROL, /* of a session */
	FTP_DATA,
	FTP_LEFT, /* a data connection whose part is over; it may linger, but does not matter any more */
};

/** FTP's own of a connection. */
struct ftp_conn {
	struct client_stream client; /* first */
	uint32_t rest;               /* of data: the byte of the file that it begins with */
	uint16_t session;            /* 0: none */
	uint8_t role;                /* enum ftp_role */
};

static_assert(sizeof(struct ftp_conn) <= FG_STREAM_AREA, "the area of a stream");

/** What a client waits for. */
enum ftp_step {
	FTP_GREETING,
	FTP_USER,
	FTP_PASS,
	FTP_TYPE,
	FTP_ADDRESS, /* the reply to PASV and its like */
	FTP_OPENING, /* the data connection, which it has opened */
	FTP_REST,    /* the reply to REST */
	FTP_BEGIN,   /* the first reply to RETR or STOR */
	FTP_END,     /* the last one, and the end of the data connection */
	FTP_IDLE,    /* nothing, until the stop */
	FTP_QUIT,
	FTP_OVER, /* nothing any more */
};

/** What a server is asked for. */
enum ftp_transfer { FTP_NONE, FTP_RETR, FTP_STOR };

struct ftp_session {
	uint32_t next_wanted; /* of those whose data connection is to be opened; first, as a pool wants it */
	bool wanted;
	struct fg_stream *control, *data; /* NULL: it is not there */
	uint16_t port;                    /* of ours that the data connection is waited for at; 0: none */
	uint16_t target;                  /* port of the peer's that it is opened to; 0: none */
	bool data_open;                   /* its handshake is over */
	bool data_ended;                  /* the sender has closed it: all has come */
	uint64_t data_octets;             /* that came or were acknowledged, of this file */
	uint64_t progress_at;             /* when something last happened, ns */
	uint32_t rest;                    /* the byte that the file is resumed at: RFC 3659, 5 */

	/* of a client */
	uint8_t step; /* enum ftp_step */
	uint64_t since;
	uint32_t files;   /* begun */
	uint32_t whole;   /* bytes of the file, when all has come */
	bool replied;     /* the last reply of the file is here */
	bool failed;      /* what is wrong with the file has been counted */
	bool truncated;   /* by the stop: it is neither whole nor wrong */
	uint16_t several; /* code of the reply of several lines that is being read; 0: none */

	/* of a server */
	uint8_t transfer; /* enum ftp_transfer */
	bool begun, sized;
	uint64_t size; /* of the file, if `sized` */

	bool overlong, flooded;
	uint16_t length;
	char line[FTP_LINE];
	char out[FTP_OUT]; /* a ring, by position in the stream */
};

struct ftp {
	struct application app; /* first */
	struct fg_pool sessions;
	uint32_t *waits_at; /* by port: the session whose data connection is waited for there; 0: none */
	uint32_t next_port;
	uint32_t first_wanted, last_wanted;
	char *user, *password, *path; /* client */
	uint64_t replies[FG_L4_FTP_CODES];
	char reply[128];
};

/** tally.own: bytes of files, what was wrong with replies, files and connections. */
enum ftp_sum {
	FTP_OCTETS,
	FTP_4XX,
	FTP_5XX,
	FTP_OTHER,     /* a reply that does not belong there */
	FTP_MALFORMED, /* a line without a code, or without the address that it should have */
	FTP_OVERLONG,
	FTP_FOREIGN, /* the address of a third host */
	FTP_NO_DATA, /* the data connection never came */
	FTP_LENGTH,
	FTP_CUT,    /* a connection ended in the middle */
	FTP_SILENT, /* no reply, or no more data, in time */
	FTP_STRAY,  /* a data connection that nobody waits for */
};

static inline struct ftp *
ftp_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return (struct ftp *)application_of(w, s);
}

static inline struct ftp_conn *
ftp_conn_of(const struct fg_stream *s)
{
	return (struct ftp_conn *)client_of(s);
}

static inline struct ftp_session *
ftp_session_at(const struct ftp *f, uint32_t number)
{
	return (struct ftp_session *)(f->sessions.at + (size_t)number * f->sessions.size);
}

/** The session of a connection, NULL: it has none. */
static inline struct ftp_session *
ftp_session_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	uint32_t number = ftp_conn_of(s)->session;

	return number == 0 ? NULL : ftp_session_at(ftp_of(w, s), number);
}

/* text.c */
enum ftp_line { FTP_MORE, FTP_WHOLE, FTP_TOO_LONG };
/** One byte more; FTP_WHOLE: a line stands in @p p->line. A line that is too long is reported once. */
enum ftp_line ftp_line_take(struct ftp_session *p, uint8_t octet);
/** Send a line; its end is added. A peer that leaves too much unacknowledged is `flooded`. */
void ftp_say(struct fg_l4 *w, struct ftp_session *p, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void ftp_fill_control(const struct ftp_session *p, uint64_t offset, uint8_t *to, uint32_t length);
/**
 * A line of a reply has come: the only one, or one of several; the last begins with the code of the
 * first (RFC 959, 4.2). *code: of the reply; 0: it has none. @return whether the reply is whole
 */
bool ftp_reply_take(struct ftp_session *p, uint16_t *code);
/** Record what a line says, but for what does not show. */
void ftp_reply_keep(struct ftp *f, const char *line);
/** What is wrong with a reply that was not awaited. */
enum ftp_sum ftp_reply_kind(uint16_t code);
/** An address of IPv4 and a port in six numbers, wherever they begin. @return false: no address */
bool ftp_read_six(const char *text, uint8_t address[16], uint16_t *port);
/** The port in "(|||port|)"; 0: no port. */
uint16_t ftp_read_epsv(const char *text);
/** "|2|::1|port|", IPv4 as ::ffff:a.b.c.d. @return false: it is not that */
bool ftp_read_eprt(const char *text, uint8_t address[16], uint16_t *port);
/** Our address and port, also in six numbers. */
enum { FTP_ADDRESS_TEXT = 80 };
void ftp_write_eprt(const struct fg_flow *flow, uint16_t port, char out[FTP_ADDRESS_TEXT]);
void ftp_write_six(const struct fg_flow *flow, uint16_t port, char out[FTP_ADDRESS_TEXT]);
/** The number at the end of a path. @return false: no number, or it is 2^32 and more */
bool ftp_size_of(const char *path, uint64_t *size);

/* data.c */
int ftp_sessions_create(struct ftp *f, struct fg_error *err);
void ftp_sessions_free(struct ftp *f);
/** Begin a session on control connection @p s. @return NULL: there is no room */
struct ftp_session *ftp_session_begin(struct fg_l4 *w, struct fg_stream *s);
/** The control connection is gone. A data connection that is still there is reset. */
void ftp_session_end(struct fg_l4 *w, struct fg_stream *s);
/** Wait for a data connection at a port of ours. @return the port; 0: no port is free */
uint16_t ftp_data_listen(struct fg_l4 *w, struct ftp_session *p);
bool ftp_data_expects(const struct fg_l4 *w, const struct fg_app *app, const struct fg_flow *flow);
/**
 * One has come. @return its session, or NULL: nobody waits for it any more, as when QUIT was faster than the
 * end of its handshake; it is closed
 */
struct ftp_session *ftp_data_take(struct fg_l4 *w, struct fg_stream *s);
/** Open one to port @p p->target, in the next poll. */
void ftp_data_want(struct fg_l4 *w, struct ftp_session *p);
/** @return when to be called again */
uint64_t ftp_data_open(struct fg_l4 *w, struct ftp *f);
/**
 * Send a file. The connection is not closed before all has left, so that the stop can still cut it off:
 * refill() does it.
 */
void ftp_data_send(struct fg_l4 *w, struct ftp_session *p, uint64_t octets);
bool ftp_data_refill(struct fg_l4 *w, struct fg_stream *s);
/** Count what has come, or has been acknowledged, since the last time. */
void ftp_data_count(struct fg_l4 *w, struct ftp_session *p, bool sends);
/** Of a client: is more of the file to come, or of @p upload bytes to be acknowledged? */
bool ftp_data_goes_on(const struct ftp_session *p, uint64_t upload);
/** The part of a session's data connection is over, if there is one, or none is waited for any more. */
void ftp_data_leave(struct fg_l4 *w, struct ftp_session *p, bool abort);
static inline void
ftp_count(struct fg_l4 *w, const struct fg_stream *s, enum ftp_sum what)
{
	application_of(w, s)->base.tally.own[what]++;
}

/** What a side does. */
struct ftp_side {
	void (*begin)(struct fg_l4 *w, struct ftp_session *p);
	void (*line)(struct fg_l4 *w, struct ftp_session *p);
	void (*overlong)(struct fg_l4 *w, struct ftp_session *p);
	void (*eof)(struct fg_l4 *w, struct ftp_session *p);
	void (*timer)(struct fg_l4 *w, struct ftp_session *p);
	/*
	 * of the data connection: it is there; bytes move; the peer has sent all; it is over, by
	 * FIN of both sides or not, and no longer in @p p->data
	 */
	void (*opened)(struct fg_l4 *w, struct ftp_session *p);
	void (*moved)(struct fg_l4 *w, struct ftp_session *p);
	void (*ended)(struct fg_l4 *w, struct ftp_session *p);
	void (*over)(struct fg_l4 *w, struct ftp_session *p, bool in_order);
};

extern const struct ftp_side ftp_client_side, ftp_server_side;
/** The time of a client is over. */
void ftp_client_stop(struct fg_l4 *w, struct ftp_session *p);
