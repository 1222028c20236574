/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crowd of clients on Linux's own TCP: many connections open at a time, each with requests and responses of
 * which every byte is checked, closed when all of them are open and done.
 *
 *   crowd ADDRESS PORT CONNECTIONS EXCHANGES REQUEST RESPONSE
 *
 * Prints the outcome as JSON. All connect as fast as the listener takes them, half a thousand at a
 * time; nobody closes before the last one has its answers, so that all are open together. What both sides
 * send follows from the position in the stream, as lib/apps/payload.c has it; the table is made here again,
 * for a check that is not its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD = 65521, LONGEST = 65536, CLIENT = 11, SERVER = 7919, AT_A_TIME = 500, EVENTS = 256 };
enum { PATIENCE = 110 /* seconds */ };

struct one {
	int fd;
	bool open, done;
	unsigned sent;     /* requests */
	uint64_t received; /* bytes */
};

static uint8_t table[PERIOD + LONGEST];
static unsigned connections, exchanges, request, response;
static unsigned opening, opened, answered, most, closed, failed, wrong;
static struct sockaddr_storage to;
static socklen_t to_length;

static void
make_table(void)
{
	uint32_t x = 2463534242;

	for (unsigned i = 0; i < PERIOD + LONGEST; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		table[i] = i < PERIOD ? (uint8_t)(x >> 24) : table[i - PERIOD];
	}
}

static const uint8_t *
octets(unsigned stream, uint64_t offset)
{
	return table + (stream + offset) % PERIOD;
}

static void
fail(struct one *c, const char *what)
{
	if (failed++ < 5)
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
	opening -= !c->open;
	answered += !c->done;
	c->open = c->done = true;
	close(c->fd);
	c->fd = -1;
}

static void
begin(struct one *c, int epoll)
{
	struct epoll_event e = {.events = EPOLLOUT, .data.ptr = c};

	opening++;
	c->fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (c->fd < 0 || (connect(c->fd, (struct sockaddr *)&to, to_length) != 0 && errno != EINPROGRESS) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e) != 0)
		fail(c, "connect");
}

static void
ask(struct one *c)
{
	ssize_t n = send(c->fd, octets(CLIENT, (uint64_t)c->sent * request), request, MSG_NOSIGNAL);

	c->sent++;
	if (n != (ssize_t)request)
		fail(c, "send");
}

static void
connected(struct one *c, int epoll)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
	int error = 0;
	socklen_t length = sizeof(error);

	getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &length);
	if (error != 0) {
		errno = error;
		fail(c, "connect");
		return;
	}
	c->open = true;
	opening--;
	opened++;
	most = opened - closed > most ? opened - closed : most;
	epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &e);
	ask(c);
}

/* all of this connection is here: it waits for the others */
static void
take(struct one *c, const uint8_t *data, size_t length)
{
	wrong += memcmp(data, octets(SERVER, c->received), length) != 0;
	c->received += length;
	if (c->received == (uint64_t)exchanges * response) {
		c->done = true;
		answered++;
	} else if (c->received >= (uint64_t)c->sent * response) {
		ask(c);
	}
}

static void
readable(struct one *c)
{
	static uint8_t data[LONGEST];
	ssize_t n = recv(c->fd, data, sizeof(data), 0);

	if (n > 0 && !c->done) {
		take(c, data, (size_t)n);
	} else if (n == 0 && c->done) { /* the server's FIN, after ours */
		close(c->fd);
		c->fd = -1;
		closed++;
	} else if (n >= 0 || errno != EAGAIN) {
		errno = n >= 0 ? EPROTO : errno;
		fail(c, "receive");
	}
}

static bool
address(const char *text, const char *port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&to;

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		to.ss_family = AF_INET;
		v4->sin_port = htons((uint16_t)atoi(port));
		to_length = sizeof(*v4);
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		to.ss_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)atoi(port));
		to_length = sizeof(*v6);
	}
	return to_length > 0;
}

static void
run(struct one *all, int epoll, time_t until)
{
	struct epoll_event event[EVENTS];
	unsigned begun = 0;
	bool leaving = false;

	while (closed + failed < connections && time(NULL) < until) {
		while (begun < connections && opening < AT_A_TIME)
			begin(&all[begun++], epoll);
		for (int i = 0, n = epoll_wait(epoll, event, EVENTS, 100); i < n; i++) {
			struct one *c = event[i].data.ptr;

			if (c->fd < 0)
				continue;
			if (!c->open)
				connected(c, epoll);
			else
				readable(c);
		}
		if (!leaving && answered == connections) {
			leaving = true;
			for (unsigned i = 0; i < connections; i++)
				if (all[i].fd >= 0)
					shutdown(all[i].fd, SHUT_WR);
		}
	}
}

int
main(int argc, char **argv)
{
	struct one *all;

	if (argc != 7 || !address(argv[1], argv[2])) {
		fprintf(stderr, "usage: crowd ADDRESS PORT CONNECTIONS EXCHANGES REQUEST RESPONSE\n");
		return 2;
	}
	connections = (unsigned)atoi(argv[3]);
	exchanges = (unsigned)atoi(argv[4]);
	request = (unsigned)atoi(argv[5]);
	response = (unsigned)atoi(argv[6]);
	all = calloc(connections, sizeof(*all));
	if (all == NULL || request > LONGEST || response > LONGEST)
		return 2;
	make_table();
	run(all, epoll_create1(0), time(NULL) + PATIENCE);
	printf("{\"opened\": %u, \"most\": %u, \"closed\": %u, \"failed\": %u, \"wrong\": %u}\n", opened,
	       most, closed, failed, wrong);
	free(all);
	return 0;
}
