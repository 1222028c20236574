/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages between memif peers. The server sends a hello, the client the interface it asks for, its
 * memory and the rings in it, one message after the other; the server acknowledges each. Either may
 * send a reason and go.
 *
 * A server does not announce how many rings it sends on, and one with more rings than it was offered may send
 * where nothing receives. So a client offers as many as possible, and tries again with fewer if the server
 * rejects one.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memif_guard.h"
#include "memif_priv.h"

enum { ANSWER_MS = 1000, RETRY_MS = 50 };

int
memif_wait(const struct memif *m, int fd, int milliseconds)
{
	struct pollfd fds[] = {{.fd = m->quit, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	int n = poll(fds, 2, milliseconds);

	return fds[0].revents != 0 ? -ECANCELED : n > 0;
}

static int
say(int fd, const struct memif_message *message, int descriptor)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)message, sizeof(*message)};
	struct msghdr out = {.msg_iov = &part, .msg_iovlen = 1};

	if (descriptor >= 0) {
		out.msg_control = &control;
		out.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
	}
	return sendmsg(fd, &out, MSG_NOSIGNAL) == sizeof(*message) ? 0 : -EPIPE;
}

static int
say_type(int fd, enum memif_type type)
{
	return say(fd, &(struct memif_message){.type = type}, -1);
}

static void
memif_refuse(int fd, const char *reason)
{
	struct memif_message message = {.type = MEMIF_DISCONNECT};

	snprintf(message.disconnect.reason, sizeof(message.disconnect.reason), "%s", reason);
	say(fd, &message, -1);
}

static void
drop(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

/* the first descriptor of a message; a peer may send more, for which there is no use */
static void
take_first(struct cmsghdr *c, int *descriptor)
{
	const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < n; i++) {
		int one;

		memcpy(&one, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
		if (*descriptor < 0)
			*descriptor = one;
		else
			close(one);
	}
}

/* @p descriptor: received with it, -1 without one; the caller's. @return 0; -EPIPE: the peer has gone;
 * -EPROTO */
static int
hear_now(int fd, struct memif_message *message, int *descriptor)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = {message, sizeof(*message)};
	struct msghdr in = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t length = recvmsg(fd, &in, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	*descriptor = -1;
	for (struct cmsghdr *c = length < 0 ? NULL : CMSG_FIRSTHDR(&in); c != NULL; c = CMSG_NXTHDR(&in, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			take_first(c, descriptor);
	if (length == sizeof(*message))
		return 0;
	drop(descriptor);
	return length > 0 ? -EPROTO : -EPIPE;
}

/* @return 0; -ETIMEDOUT, -EPIPE, -EPROTO, or -ECONNREFUSED when the peer sent its reason for going */
static int
hear(struct memif *m, int fd, struct memif_message *message, int *descriptor)
{
	int ret = memif_wait(m, fd, ANSWER_MS);

	if (ret > 0)
		ret = hear_now(fd, message, descriptor);
	else if (ret == 0)
		ret = -ETIMEDOUT;
	if (ret == 0 && message->type == MEMIF_DISCONNECT) {
		snprintf(m->reason, sizeof(m->reason), "%.95s", message->disconnect.reason);
		drop(descriptor);
		ret = -ECONNREFUSED;
	}
	return ret;
}

/* a message that has no use for a descriptor */
static int
hear_alone(struct memif *m, int fd, struct memif_message *message)
{
	int unexpected = -1, ret = hear(m, fd, message, &unexpected);

	drop(&unexpected);
	return ret;
}

/* send a message, and wait for the answer of that type */
static int
ask(struct memif *m, int fd, struct memif_message *message, int descriptor, enum memif_type answer)
{
	int ret = say(fd, message, descriptor);

	if (ret == 0)
		ret = hear_alone(m, fd, message);
	return ret == 0 && message->type != answer ? -EPROTO : ret;
}

static size_t
ring_size(unsigned slots)
{
	return sizeof(struct memif_ring) + slots * sizeof(struct memif_slot);
}

/* @param peer  the socket to the peer that may make the memory shorter; -1: no peer can
 * @return 0, -ENOSPC: it cannot be guarded, -errno */
static int
map(struct memif_link *link, unsigned region, int peer)
{
	void *at = mmap(NULL, link->region[region].size, PROT_READ | PROT_WRITE, MAP_SHARED,
			link->region[region].fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	link->region[region].at = at;
	if (peer >= 0)
		link->region[region].guard = memif_guard_begin(at, link->region[region].size, peer);
	return peer >= 0 && link->region[region].guard < 0 ? -ENOSPC : 0;
}

/* ring @p i of the client's memory, in which all rings come first and then all buffers */
static void
make_ring(struct memif_link *link, struct memif_end *end, unsigned i, bool c2s)
{
	const unsigned rings = link->rx_rings + link->tx_rings, slots = 1 << MEMIF_LOG2_SLOTS;
	uint64_t buffers = rings * ring_size(slots) + (uint64_t)i * slots * MEMIF_BUFFER;

	end->ring = (struct memif_ring *)(link->region[0].at + i * ring_size(slots));
	end->slots = slots;
	end->c2s = c2s;
	end->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	end->ring->cookie = MEMIF_COOKIE;
	end->ring->flags = c2s ? 0 : MEMIF_POLLED;
	for (unsigned k = 0; k < slots; k++)
		end->ring->slot[k] = (struct memif_slot){
			.length = MEMIF_BUFFER,
			.offset = (uint32_t)(buffers + k * MEMIF_BUFFER),
		};
}

static int
make_memory(struct memif_link *link)
{
	const unsigned rings = link->rx_rings + link->tx_rings, slots = 1 << MEMIF_LOG2_SLOTS;
	int fd = memfd_create("framegauge-memif", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int ret;

	if (fd < 0)
		return -errno;
	link->regions = 1;
	link->region[0].fd = fd;
	link->region[0].size = rings * (ring_size(slots) + (uint64_t)slots * MEMIF_BUFFER);
	/* peers reject memory that another process could shrink */
	if (ftruncate(fd, (off_t)link->region[0].size) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
		return -errno;
	ret = map(link, 0, -1);
	for (unsigned i = 0; ret == 0 && i < rings; i++)
		make_ring(link, i < link->tx_rings ? &link->tx[i] : &link->rx[i - link->tx_rings], i,
			  i < link->tx_rings);
	return ret;
}

/* @return 0, or -ECONNREFUSED with the first ring that the server rejects left in @p i */
static int
offer_rings(struct memif *m, int fd, const struct memif_link *link, unsigned *i)
{
	for (*i = 0; *i < link->tx_rings + link->rx_rings; ++*i) {
		bool c2s = *i < link->tx_rings;
		const struct memif_end *end = c2s ? &link->tx[*i] : &link->rx[*i - link->tx_rings];
		struct memif_message message = {.type = MEMIF_ADD_RING};
		int ret;

		message.ring.c2s = c2s;
		message.ring.index = (uint16_t)(c2s ? *i : *i - link->tx_rings);
		message.ring.offset = (uint32_t)((uint8_t *)end->ring - link->region[0].at);
		message.ring.log2_slots = MEMIF_LOG2_SLOTS;
		ret = ask(m, fd, &message, end->wake, MEMIF_ACK);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
too_few_queues(struct memif *m)
{
	snprintf(m->reason, sizeof(m->reason), "it has fewer than %u queues each way", m->first.port.queues);
	return -EPROTO;
}

static int
introduce(struct memif *m, int fd, struct memif_link *link)
{
	const unsigned queues = m->first.port.queues;
	struct memif_message message;
	int ret = hear_alone(m, fd, &message);

	if (ret != 0)
		return ret;
	if (message.type != MEMIF_HELLO || message.hello.min_version > MEMIF_VERSION ||
	    message.hello.max_version < MEMIF_VERSION || message.hello.max_log2_slots < MEMIF_LOG2_SLOTS) {
		snprintf(m->reason, sizeof(m->reason),
			 "it speaks another version of memif, or has small rings");
		return -EPROTO;
	}
	if (RTE_MIN(message.hello.max_s2c_ring, message.hello.max_c2s_ring) + 1u < queues)
		return too_few_queues(m);
	link->tx_rings = queues;
	link->rx_rings = RTE_MIN(m->offer, message.hello.max_s2c_ring + 1u);
	message = (struct memif_message){.type = MEMIF_INIT};
	message.init.version = MEMIF_VERSION;
	message.init.id = m->id;
	snprintf(message.init.name, sizeof(message.init.name), "framegauge");
	return ask(m, fd, &message, -1, MEMIF_ACK);
}

int
memif_greet_server(struct memif *m, int fd, struct memif_link *link)
{
	const unsigned queues = m->first.port.queues;
	struct memif_message message = {.type = MEMIF_ADD_REGION};
	unsigned ring = 0;
	int ret = introduce(m, fd, link);

	if (ret == 0)
		ret = make_memory(link);
	message.region.size = link->region[0].size;
	if (ret == 0)
		ret = ask(m, fd, &message, link->region[0].fd, MEMIF_ACK);
	if (ret != 0)
		return ret;
	ret = offer_rings(m, fd, link, &ring);
	if (ret == -ECONNREFUSED && ring >= 2 * queues) {
		m->offer = ring - queues;
		return -EAGAIN;
	}
	if (ret == -ECONNREFUSED)
		return too_few_queues(m);
	message = (struct memif_message){.type = MEMIF_CONNECT};
	snprintf((char *)message.octets, 32, "%s", m->name);
	if (ret == 0)
		ret = ask(m, fd, &message, -1, MEMIF_CONNECTED);
	for (unsigned i = 0; ret == 0 && i < link->rx_rings; i++)
		memif_offer_slots(&link->rx[i]);
	return ret;
}

static const char *
take_region(struct memif_link *link, const struct memif_message *message, int *descriptor, int peer)
{
	unsigned i = link->regions;
	const char *problem;
	int ret;

	if (*descriptor < 0 || message->region.index != i || i == MEMIF_MAX_REGIONS)
		return "Invalid region index";
	problem = memif_region_problem(*descriptor, message->region.size);
	if (problem != NULL)
		return problem;
	link->region[i].fd = *descriptor;
	link->region[i].size = message->region.size;
	link->regions++;
	*descriptor = -1;
	ret = map(link, i, peer);
	return ret == 0 ? NULL : ret == -ENOSPC ? "Too many regions" : "Region cannot be mapped";
}

static const char *
take_ring(const struct memif *m, struct memif_link *link, const struct memif_message *message,
	  int *descriptor)
{
	bool c2s = (message->ring.c2s & 1) != 0;
	unsigned *count = c2s ? &link->rx_rings : &link->tx_rings, region = message->ring.region;
	struct memif_end *end = c2s ? &link->rx[*count] : &link->tx[*count];

	if (message->ring.index != *count || *count == (c2s ? FG_MAX_QUEUES : m->first.port.queues))
		return "Invalid ring index";
	if (message->ring.log2_slots > MEMIF_MAX_LOG2_SLOTS || region >= link->regions ||
	    message->ring.offset % 64 != 0 ||
	    message->ring.offset + ring_size(1U << message->ring.log2_slots) > link->region[region].size)
		return "Invalid ring";
	*end = (struct memif_end){
		.ring = (struct memif_ring *)(link->region[region].at + message->ring.offset),
		.slots = (uint16_t)(1U << message->ring.log2_slots),
		.c2s = c2s,
		.wake = *descriptor,
	};
	*descriptor = -1;
	++*count;
	return end->ring->cookie == MEMIF_COOKIE ? NULL : "Invalid ring";
}

static const char *
take_connect(const struct memif *m, const struct memif_link *link)
{
	if (link->tx_rings < m->first.port.queues || link->rx_rings < m->first.port.queues)
		return "Fewer rings than this interface has queues";
	for (unsigned i = 0; i < link->rx_rings; i++)
		link->rx[i].ring->flags = MEMIF_POLLED;
	return NULL;
}

static const char *
take_init(const struct memif *m, const struct memif_message *message)
{
	if (message->init.version != MEMIF_VERSION || message->init.mode != 0)
		return "Only Ethernet mode of version 2.0 is supported";
	return message->init.id == m->id ? NULL : "ID not found";
}

/* messages come in their order: INIT first, CONNECT last */
int
memif_greet_client(struct memif *m, int fd, struct memif_link *link)
{
	struct memif_message message = {.type = MEMIF_HELLO};
	const char *wrong = NULL;
	int ret;

	snprintf(message.hello.name, sizeof(message.hello.name), "framegauge");
	message.hello.min_version = message.hello.max_version = MEMIF_VERSION;
	message.hello.max_region = MEMIF_MAX_REGIONS - 1;
	message.hello.max_s2c_ring = (uint16_t)(m->first.port.queues - 1);
	message.hello.max_c2s_ring = FG_MAX_QUEUES - 1;
	message.hello.max_log2_slots = MEMIF_MAX_LOG2_SLOTS;
	ret = say(fd, &message, -1);
	for (bool known = false; ret == 0;) {
		int descriptor = -1;

		ret = hear(m, fd, &message, &descriptor);
		if (ret != 0)
			break;
		if (message.type == MEMIF_INIT && !known)
			known = (wrong = take_init(m, &message)) == NULL;
		else if (message.type == MEMIF_ADD_REGION && known)
			wrong = take_region(link, &message, &descriptor, fd);
		else if (message.type == MEMIF_ADD_RING && known)
			wrong = take_ring(m, link, &message, &descriptor);
		else if (message.type == MEMIF_CONNECT && known)
			wrong = take_connect(m, link);
		else
			wrong = "Unexpected message";
		drop(&descriptor);
		if (wrong != NULL)
			break;
		if (message.type == MEMIF_CONNECT)
			return say_type(fd, MEMIF_CONNECTED);
		ret = say_type(fd, MEMIF_ACK);
	}
	if (wrong != NULL)
		memif_refuse(fd, wrong);
	return wrong != NULL ? -EPROTO : ret;
}

/* @return whether the peer goes on */
static bool
goes_on(int fd)
{
	struct memif_message message;
	int descriptor, ret = hear_now(fd, &message, &descriptor);

	drop(&descriptor);
	return ret == 0 && message.type != MEMIF_DISCONNECT;
}

void
memif_stay(struct memif *m, int fd, int listener)
{
	for (;;) {
		struct pollfd fds[] = {{m->quit, POLLIN, 0}, {fd, POLLIN, 0}, {listener, POLLIN, 0}};

		(void)poll(fds, 3, -1);
		if (fds[0].revents != 0 || (fds[1].revents != 0 && !goes_on(fd)))
			return;
		if (fds[2].revents != 0) {
			int another = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

			if (another >= 0) {
				memif_refuse(another, "Already connected");
				close(another);
			} else { /* such as no descriptor left: the connection waits on */
				(void)memif_wait(m, fd, RETRY_MS);
			}
		}
	}
}
