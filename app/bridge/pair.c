/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads: bridge_pair_run() in the main thread reads the local socket and publishes; libnats calls the
 * on_... functions in threads of its own, which only use what `lock` guards, and wake the main thread.
 *
 * Nothing is kept for later but by bounds: what the local side does not read, and what libnats holds while
 * there is no server. The bus loses messages by its rules, and a caller that needs an answer sends its
 * request again.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nats/nats.h>

#include "envelope.h"
#include "log_in.h"
#include "pair.h"

enum { MAX_PATTERNS = 1024, READ_BYTES = 256 * 1024 };
static const size_t max_line = 32 * 1024 * 1024, max_unread = 64 * 1024 * 1024;
static const char hidden[] = "_NATS.";

struct buffer {
	char *data;
	size_t size, room;
};

struct bridge_pair {
	natsConnection *nats;
	int fd, wake;                                  /* main thread */
	struct buffer in;                              /* main thread */
	size_t searched;                               /* main thread: bytes of it without a newline */
	natsSubscription *subscriptions[MAX_PATTERNS]; /* main thread */
	char *patterns[MAX_PATTERNS];
	int n;
	pthread_mutex_t lock;
	struct buffer out; /* lock: to the local side */
	bool closed;       /* lock: NATS has given up */
	uint64_t dropped;  /* lock */
};

void
bridge_note(const char *format, ...)
{
	char text[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	fprintf(stderr, "framegauge-bridge: %s\n", text);
}

/* Messages that cannot be passed on are counted; the 1st, 2nd, 4th ... is logged. */
static void
drop(struct bridge_pair *pair, const char *what, const char *subject, size_t size)
{
	pair->dropped++;
	if ((pair->dropped & (pair->dropped - 1)) == 0)
		bridge_note("message %llu that is dropped: %s (%.*s)", (unsigned long long)pair->dropped,
			    what, (int)size, subject);
}

static bool
append(struct buffer *b, const char *data, size_t size)
{
	if (size == 0)
		return true; /* of a message without a body */
	if (b->size + size > b->room) {
		const size_t room = (b->size + size) * 2;
		char *bigger = realloc(b->data, room);

		if (bigger == NULL)
			return false;
		b->data = bigger;
		b->room = room;
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
	return true;
}

static void
forget(struct buffer *b, size_t size)
{
	memmove(b->data, b->data + size, b->size - size);
	b->size -= size;
}

static void
wake_up(struct bridge_pair *pair)
{
	const uint64_t one = 1;

	if (write(pair->wake, &one, sizeof(one)) < 0)
		return; /* it is awake */
}

/* Queue a message for the local side: the whole of it, or nothing. Call it with the lock. */
static void
tell_local(struct bridge_pair *pair, const char *subject, const char *reply, const char *body, size_t size)
{
	char head[2 * BRIDGE_MAX_SUBJECT + 64];
	const size_t before = pair->out.size;
	int n = snprintf(head, sizeof(head), "{\"subject\":\"%s\"", subject);

	if (reply != NULL)
		n += snprintf(head + n, sizeof(head) - (size_t)n, ",\"reply\":\"%s%s\"", hidden, reply);
	if (size > 0)
		n += snprintf(head + n, sizeof(head) - (size_t)n, ",\"body\":");
	if (before + size > max_unread) {
		drop(pair, "the local side does not read", subject, strlen(subject));
	} else if (!append(&pair->out, head, (size_t)n) || !append(&pair->out, body, size) ||
		   !append(&pair->out, "}\n", 2)) {
		pair->out.size = before;
		drop(pair, "no memory", subject, strlen(subject));
	}
}

static void
on_message(natsConnection *nats, natsSubscription *subscription, natsMsg *message, void *closure)
{
	struct bridge_pair *pair = closure;
	const char *subject = natsMsg_GetSubject(message), *reply = natsMsg_GetReply(message);
	const char *body = natsMsg_GetData(message);
	const size_t size = (size_t)natsMsg_GetDataLength(message);

	pthread_mutex_lock(&pair->lock);
	if (natsMsg_IsNoResponders(message)) {
		/* no responder: the requester notices by its time-out */
	} else if (!bridge_is_subject(subject, strlen(subject), false) ||
		   (reply != NULL && !bridge_is_subject(reply, strlen(reply), false)) ||
		   (size > 0 && !bridge_is_json(body, size))) {
		drop(pair, "its body is not JSON on one line, or its subject not one of ours", subject,
		     strlen(subject));
	} else {
		tell_local(pair, subject, reply, body, size);
	}
	pthread_mutex_unlock(&pair->lock);
	natsMsg_Destroy(message);
	wake_up(pair);
}

static void
on_disconnected(natsConnection *nats, void *closure)
{
	const char *why = NULL;

	natsConnection_GetLastError(nats, &why);
	bridge_note("the connection to the NATS server is lost%s%s", why != NULL && *why != 0 ? ": " : "",
		    why != NULL ? why : "");
}

static void
note_connected(natsConnection *nats)
{
	char url[256] = "";

	natsConnection_GetConnectedUrl(nats, url, sizeof(url));
	bridge_note("connected to %s", url);
}

static void
on_reconnected(natsConnection *nats, void *closure)
{
	note_connected(nats);
}

static void
on_closed(natsConnection *nats, void *closure)
{
	struct bridge_pair *pair = closure;

	pthread_mutex_lock(&pair->lock);
	pair->closed = true;
	pthread_mutex_unlock(&pair->lock);
	wake_up(pair);
}

static void
on_error(natsConnection *nats, natsSubscription *subscription, natsStatus status, void *closure)
{
	const char *why = NULL;

	natsConnection_GetLastError(nats, &why);
	bridge_note("%s%s%s", natsStatus_GetText(status), why != NULL && *why != 0 ? ": " : "",
		    why != NULL ? why : "");
}

static natsStatus
set_handlers(natsOptions *options, struct bridge_pair *pair)
{
	natsStatus s = natsOptions_SetDisconnectedCB(options, on_disconnected, pair);

	s = s == NATS_OK ? natsOptions_SetReconnectedCB(options, on_reconnected, pair) : s;
	s = s == NATS_OK ? natsOptions_SetClosedCB(options, on_closed, pair) : s;
	return s == NATS_OK ? natsOptions_SetErrorHandler(options, on_error, pair) : s;
}

struct bridge_pair *
bridge_pair_open(const struct bridge_servers *servers, char *why, unsigned long size)
{
	struct bridge_pair *pair = calloc(1, sizeof(*pair));
	natsOptions *options = NULL;
	natsStatus s = NATS_NO_MEMORY;

	if (pair != NULL) {
		pthread_mutex_init(&pair->lock, NULL);
		pair->fd = -1;
		pair->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		s = natsOptions_Create(&options);
		s = s == NATS_OK ? set_handlers(options, pair) : s;
		s = s == NATS_OK ? bridge_log_in(&pair->nats, options, servers) : s;
		natsOptions_Destroy(options);
	}
	if (s == NATS_OK) {
		note_connected(pair->nats);
		return pair;
	}
	snprintf(why, size, "no connection to %s%s: %s%s%s", servers->urls[0], servers->n > 1 ? ", ..." : "",
		 natsStatus_GetText(s), nats_GetLastError(NULL) != NULL ? ", " : "",
		 nats_GetLastError(NULL) != NULL ? nats_GetLastError(NULL) : "");
	bridge_pair_close(pair);
	return NULL;
}

/* The local side wants a pattern: subscribe to it once. */
static void
subscribe(struct bridge_pair *pair, const struct bridge_text *want)
{
	char *pattern = strndup(want->at, want->size);
	natsStatus s = NATS_NO_MEMORY;

	for (int i = 0; pattern != NULL && i < pair->n; i++)
		if (strcmp(pair->patterns[i], pattern) == 0) {
			free(pattern);
			return;
		}
	if (pattern != NULL && pair->n < MAX_PATTERNS)
		s = natsConnection_Subscribe(&pair->subscriptions[pair->n], pair->nats, pattern, on_message,
					     pair);
	if (s == NATS_OK) {
		pair->patterns[pair->n++] = pattern;
		return;
	}
	bridge_note("cannot subscribe to %s: %s", pattern != NULL ? pattern : "?", natsStatus_GetText(s));
	free(pattern);
}

static natsStatus
publish(struct bridge_pair *pair, const char *subject, const char *reply, const char *body, size_t size)
{
	return *reply != 0 ? natsConnection_PublishRequest(pair->nats, subject, reply, body, (int)size)
			   : natsConnection_Publish(pair->nats, subject, body, (int)size);
}

/* Report to a sender that the server rejects its message, so that it does not wait. */
static void
refuse_size(struct bridge_pair *pair, const char *subject, const char *reply, size_t size)
{
	char body[256];
	const int n = snprintf(
		body, sizeof(body),
		"{\"refused\":\"a message has %zu bytes, more than max_payload of the NATS server, %lld\",\"status\":4}",
		size, (long long)natsConnection_GetMaxPayload(pair->nats));

	if (*reply == 0) {
		publish(pair, subject, "", body, (size_t)n);
		return;
	}
	pthread_mutex_lock(&pair->lock);
	tell_local(pair, reply, NULL, body, (size_t)n);
	pthread_mutex_unlock(&pair->lock);
	wake_up(pair);
}

static void
pass_on(struct bridge_pair *pair, const struct bridge_envelope *e)
{
	const size_t skip =
		e->subject.size > sizeof(hidden) - 1 && memcmp(e->subject.at, hidden, sizeof(hidden) - 1) == 0
			? sizeof(hidden) - 1
			: 0;
	char subject[BRIDGE_MAX_SUBJECT + 1], reply[BRIDGE_MAX_SUBJECT + 1];
	natsStatus s;

	snprintf(subject, sizeof(subject), "%.*s", (int)(e->subject.size - skip), e->subject.at + skip);
	snprintf(reply, sizeof(reply), "%.*s", (int)e->reply.size, e->reply.at != NULL ? e->reply.at : "");
	s = publish(pair, subject, reply, e->body.at, e->body.size);
	if (s == NATS_MAX_PAYLOAD)
		refuse_size(pair, subject, reply, e->body.size);
	if (s != NATS_OK) {
		pthread_mutex_lock(&pair->lock);
		drop(pair, natsStatus_GetText(s), subject, strlen(subject));
		pthread_mutex_unlock(&pair->lock);
	}
}

static void
take_line(struct bridge_pair *pair, const char *line, size_t size)
{
	struct bridge_envelope e;

	if (bridge_envelope_read(line, size, &e) != 0) {
		pthread_mutex_lock(&pair->lock);
		drop(pair, "the local side sent what is no message", line, size < 60 ? size : 60);
		pthread_mutex_unlock(&pair->lock);
	} else if (e.want.at != NULL) {
		subscribe(pair, &e.want);
	} else {
		pass_on(pair, &e);
	}
}

static char *
find_newline(struct bridge_pair *pair)
{
	return memchr(pair->in.data + pair->searched, '\n', pair->in.size - pair->searched);
}

/* @return whether the local side is still there */
static bool
read_local(struct bridge_pair *pair)
{
	static char piece[READ_BYTES];
	const ssize_t n = recv(pair->fd, piece, sizeof(piece), MSG_DONTWAIT);
	size_t first = 0;
	char *newline;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0 || pair->in.size + (size_t)n > max_line || !append(&pair->in, piece, (size_t)n))
		return false;
	for (newline = find_newline(pair); newline != NULL; newline = find_newline(pair)) {
		const size_t end = (size_t)(newline - pair->in.data);

		take_line(pair, pair->in.data + first, end - first);
		pair->searched = first = end + 1;
	}
	forget(&pair->in, first);
	pair->searched = pair->in.size;
	return true;
}

static bool
write_local(struct bridge_pair *pair)
{
	ssize_t n;

	pthread_mutex_lock(&pair->lock);
	n = pair->out.size > 0 ? send(pair->fd, pair->out.data, pair->out.size, MSG_DONTWAIT | MSG_NOSIGNAL)
			       : 0;
	if (n > 0)
		forget(&pair->out, (size_t)n);
	pthread_mutex_unlock(&pair->lock);
	return n >= 0 || errno == EAGAIN || errno == EINTR;
}

/* What we want of the local side: everything of the fleet, and answers to messages from NATS. */
static bool
greet(struct bridge_pair *pair)
{
	static const char wants[] = "{\"want\":\"fg.v1.>\"}\n{\"want\":\"_NATS.>\"}\n";

	return append(&pair->out, wants, sizeof(wants) - 1);
}

static bool
has_unread(struct bridge_pair *pair, bool *closed)
{
	bool unread;

	pthread_mutex_lock(&pair->lock);
	unread = pair->out.size > 0;
	*closed = pair->closed;
	pthread_mutex_unlock(&pair->lock);
	return unread;
}

void
bridge_pair_run(struct bridge_pair *pair, int fd, char *why, unsigned long size)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = pair->wake, .events = POLLIN}};
	const char *reason = NULL;
	bool closed = false;
	uint64_t woken;

	pair->fd = fd;
	for (bool goes_on = greet(pair); goes_on && !closed;) {
		fds[0].events = (short)(POLLIN | (has_unread(pair, &closed) ? POLLOUT : 0));
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents != 0 && read(pair->wake, &woken, sizeof(woken)) < 0 && errno != EAGAIN)
			break;
		goes_on = (fds[0].revents & ~POLLOUT) == 0 || read_local(pair);
		goes_on = goes_on && write_local(pair);
	}
	if (closed)
		natsConnection_GetLastError(pair->nats, &reason);
	snprintf(why, size, "%s%s", closed ? "the NATS server ended the connection: " : "",
		 reason != NULL ? reason : "");
	close(fd);
}

void
bridge_pair_close(struct bridge_pair *pair)
{
	if (pair == NULL)
		return;
	natsConnection_Close(pair->nats);
	for (int i = 0; i < pair->n; i++) {
		natsSubscription_Destroy(pair->subscriptions[i]);
		free(pair->patterns[i]);
	}
	natsConnection_Destroy(pair->nats);
	nats_CloseAndWait(0); /* no thread of libnats uses the pair any more */
	close(pair->wake);
	pthread_mutex_destroy(&pair->lock);
	free(pair->in.data);
	free(pair->out.data);
	free(pair);
}
