/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veth EAST WEST: the device between two interfaces of the kernel. When a frame arrived says the kernel,
 * which stamps it as it comes in (SO_TIMESTAMPNS); so it does not matter when this process is given a
 * processor, but for the delay, whose excess the ledger has.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include "device.h"

enum { BURST = 64, BUFFER = 64 << 20 };

static int64_t since_boot; /* what CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, ns */

static int
open_side(const char *name)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0), one = 1, size = BUFFER;
	struct sockaddr_ll address = {.sll_family = AF_PACKET,
				      .sll_protocol = htons(ETH_P_ALL),
				      .sll_ifindex = (int)if_nametoindex(name)};

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) != 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) != 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		perror(name);
		exit(1);
	}
	return fd;
}

static uint64_t
stamp_of(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	struct timespec t;

	if (c == NULL || c->cmsg_type != SCM_TIMESTAMPNS)
		return noise_now();
	memcpy(&t, CMSG_DATA(c), sizeof(t));
	return (uint64_t)((int64_t)t.tv_sec * 1000000000 + t.tv_nsec - since_boot);
}

static void
receive(struct noise_device *d, int side, int fd)
{
	static uint8_t frame[BURST][2048];
	static char control[BURST][128];
	struct iovec part[BURST];
	struct mmsghdr m[BURST];
	int n;

	for (int i = 0; i < BURST; i++) {
		part[i] = (struct iovec){frame[i], sizeof(frame[i])};
		m[i].msg_hdr = (struct msghdr){.msg_iov = &part[i],
					       .msg_iovlen = 1,
					       .msg_control = control[i],
					       .msg_controllen = sizeof(control[i])};
	}
	n = recvmmsg(fd, m, BURST, MSG_DONTWAIT, NULL);
	for (int i = 0; i < n; i++)
		noise_device_take(d, side, frame[i], m[i].msg_len, stamp_of(&m[i].msg_hdr), 0);
}

static void
forward(struct noise_device *d, int side, int fd)
{
	struct noise_slot *s;

	while ((s = noise_device_next(d, side, noise_now())) != NULL)
		if (send(fd, s->frame, s->length, 0) < 0 && s->stream != NULL)
			s->stream->overflow++;
}

/* what found no room in our socket is nobody's figure */
static void
tell_drops(int fd)
{
	struct tpacket_stats stats = {0};
	socklen_t size = sizeof(stats);

	getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size);
	if (stats.tp_drops > 0)
		printf("disturbed: %u frames were dropped before they were seen\n", stats.tp_drops);
}

int
main(int argc, char **argv)
{
	static struct noise_device device;
	struct timespec wall;
	struct pollfd fd[NOISE_SIDES];

	if (argc != 1 + NOISE_SIDES)
		return 2;
	clock_gettime(CLOCK_REALTIME, &wall);
	since_boot = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec - (int64_t)noise_now();
	noise_device_open(&device);
	for (int i = 0; i < NOISE_SIDES; i++)
		fd[i] = (struct pollfd){.fd = open_side(argv[1 + i]), .events = POLLIN};
	puts("ready");
	fflush(stdout);
	while (!noise_ends) {
		uint64_t rest = noise_device_rest(&device, noise_now(), 50000000);

		if (rest > 20000)
			ppoll(fd, NOISE_SIDES, &(struct timespec){.tv_nsec = (long)rest}, NULL);
		for (int i = 0; i < NOISE_SIDES; i++) {
			receive(&device, i, fd[i].fd);
			forward(&device, i, fd[1 - i].fd);
		}
	}
	for (int i = 0; i < NOISE_SIDES; i++)
		tell_drops(fd[i].fd);
	noise_device_close(&device);
	return 0;
}
