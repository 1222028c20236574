/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel:IF,offload: AF_PACKET by a socket of our own, since DPDK's driver cannot say with a frame that it is
 * to be cut into TCP segments (PACKET_VNET_HDR). The interface, or the kernel before it, cuts; what it put
 * together when it received comes in one piece, too. A frame of 64 KiB then costs the way through the kernel
 * once and not 45 times, which is what bounds TCP over a kernel interface.
 *
 * Frames go by the queue discipline of the interface, which alone can cut for a card that cannot. One system
 * call sends or fetches a burst; both copy, so no frame is kept. A frame is received into a large buffer; a
 * small frame is then copied into a small one, since there are few large ones.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "kernel_priv.h"

enum {
	BURST = 32,
	LARGE = 255,                              /* buffers: a burst, and what the receiver holds */
	ROOM = UINT16_MAX - RTE_PKTMBUF_HEADROOM, /* of a large buffer, as much as an mbuf can have */
	SMALL_ROOM = 2048,
	TCP_CHECKSUM = 16,       /* in its header */
	SOCKET_BUFFER = 4 << 20, /* bytes each way; the kernel doubles the number */
};

/* what a message has in addition to the frame: how to cut it, or of what it was made */
struct side {
	struct virtio_net_hdr head;
	struct iovec part[2];
	union {
		struct cmsghdr align;
		char octets[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
};

struct fg_packet {
	int fd;
	struct rte_mempool *small, *large;
	struct rte_mbuf *empty[BURST]; /* large ones, to receive into */
	struct mmsghdr in[BURST], out[BURST];
	struct side in_side[BURST], out_side[BURST];
	/* writer: the rx lcore */
	uint64_t received, no_mbuf, cut_off;
	/* writer: the tx lcore */
	uint64_t sent, unsendable;
};

static inline struct fg_packet *
packet_of(struct fg_port *port)
{
	return ((struct fg_kernel *)port)->packet;
}

/* each is read by control */
static inline void
add_to(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static void
describe_segments(const struct rte_mbuf *m, struct virtio_net_hdr *head)
{
	*head = (struct virtio_net_hdr){0};
	if ((m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) == 0)
		return;
	*head = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = m->ol_flags & RTE_MBUF_F_TX_IPV6 ? VIRTIO_NET_HDR_GSO_TCPV6
							     : VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = (uint16_t)(m->l2_len + m->l3_len + m->l4_len),
		.gso_size = m->tso_segsz,
		.csum_start = (uint16_t)(m->l2_len + m->l3_len),
		.csum_offset = TCP_CHECKSUM,
	};
}

/* the kernel may take the same frame later: it has no room, or the interface is down */
static bool
is_temporary(int error)
{
	return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR || error == ENETDOWN;
}

/* @return frames taken; one that the kernel will never take, since it is longer than the MTU, is dropped */
static uint16_t
send_some(struct fg_packet *p, struct rte_mbuf **frames, uint16_t n)
{
	int sent;

	for (unsigned i = 0; i < n; i++) {
		describe_segments(frames[i], &p->out_side[i].head);
		p->out_side[i].part[1] =
			(struct iovec){rte_pktmbuf_mtod(frames[i], void *), frames[i]->data_len};
	}
	sent = sendmmsg(p->fd, p->out, n, MSG_DONTWAIT);
	if (sent == 0 || (sent < 0 && is_temporary(errno)))
		return 0;
	if (sent < 0) {
		rte_pktmbuf_free(frames[0]);
		add_to(&p->unsendable, 1);
		return 1;
	}
	rte_pktmbuf_free_bulk(frames, (unsigned)sent);
	add_to(&p->sent, (uint64_t)sent);
	return (uint16_t)sent;
}

static uint16_t
packet_send(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	uint16_t sent = 0, some, taken;

	do {
		some = RTE_MIN(n - sent, BURST);
		taken = send_some(packet_of(port), frames + sent, some);
		sent += taken;
	} while (taken > 0 && sent < n);
	return sent;
}

/* the kernel takes the tag out of the frame, and delivers it apart */
static void
put_tag_back(const struct msghdr *message, struct rte_mbuf *m)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(message);
	struct tpacket_auxdata aux;
	uint16_t tag[2];
	uint8_t *frame;

	if (c == NULL || c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
		return;
	memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	if ((aux.tp_status & TP_STATUS_VLAN_VALID) == 0)
		return;
	tag[0] = htons(aux.tp_status & TP_STATUS_VLAN_TPID_VALID ? aux.tp_vlan_tpid : ETH_P_8021Q);
	tag[1] = htons(aux.tp_vlan_tci);
	frame = (uint8_t *)rte_pktmbuf_prepend(m, sizeof(tag));
	if (frame == NULL)
		return; /* there is always headroom */
	memmove(frame, frame + sizeof(tag), 2 * RTE_ETHER_ADDR_LEN);
	memcpy(frame + 2 * RTE_ETHER_ADDR_LEN, tag, sizeof(tag));
}

/* @return the frame of message @p i in a buffer of its own, NULL: no frame, or it did not fit */
static struct rte_mbuf *
take_message(struct fg_packet *p, unsigned i)
{
	const struct msghdr *message = &p->in[i].msg_hdr;
	const struct virtio_net_hdr *head = &p->in_side[i].head;
	uint32_t length = p->in[i].msg_len - (uint32_t)sizeof(*head);
	struct rte_mbuf *m = p->empty[i];

	if (p->in[i].msg_len < sizeof(*head) + RTE_ETHER_HDR_LEN || message->msg_flags & MSG_TRUNC) {
		add_to(&p->cut_off, 1);
		return NULL;
	}
	if (length <= SMALL_ROOM) {
		m = rte_pktmbuf_alloc(p->small);
		if (m == NULL) {
			add_to(&p->no_mbuf, 1);
			return NULL;
		}
		memcpy(rte_pktmbuf_mtod(m, void *), p->in_side[i].part[1].iov_base, length);
	} else {
		p->empty[i] = NULL;
	}
	m->data_len = (uint16_t)length;
	m->pkt_len = length;
	m->ol_flags = head->flags & (VIRTIO_NET_HDR_F_NEEDS_CSUM | VIRTIO_NET_HDR_F_DATA_VALID)
			      ? RTE_MBUF_F_RX_L4_CKSUM_GOOD
			      : 0;
	if (head->gso_type != VIRTIO_NET_HDR_GSO_NONE) {
		m->ol_flags |= RTE_MBUF_F_RX_LRO;
		m->tso_segsz = head->gso_size;
	}
	put_tag_back(message, m);
	return m;
}

/* @return how many of the first @p n messages have a large buffer */
static unsigned
prepare(struct fg_packet *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (p->empty[i] == NULL) {
			p->empty[i] = rte_pktmbuf_alloc(p->large);
			if (p->empty[i] == NULL)
				return i;
			p->in_side[i].part[1].iov_base = rte_pktmbuf_mtod(p->empty[i], void *);
		}
		p->in[i].msg_hdr.msg_controllen = sizeof(p->in_side[i].control);
	}
	return n;
}

static uint16_t
packet_receive(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now)
{
	struct fg_packet *p = packet_of(port);
	unsigned ready = prepare(p, RTE_MIN(n, BURST));
	int got = ready == 0 ? 0 : recvmmsg(p->fd, p->in, ready, MSG_DONTWAIT, NULL);
	uint16_t taken = 0;

	for (int i = 0; i < got; i++) {
		frames[taken] = take_message(p, (unsigned)i);
		taken += frames[taken] != NULL;
	}
	add_to(&p->received, taken);
	return taken;
}

static void
link_messages(struct fg_packet *p)
{
	for (unsigned i = 0; i < BURST; i++) {
		struct side *in = &p->in_side[i], *out = &p->out_side[i];

		in->part[0] = (struct iovec){&in->head, sizeof(in->head)};
		in->part[1].iov_len = ROOM;
		out->part[0] = (struct iovec){&out->head, sizeof(out->head)};
		p->in[i].msg_hdr =
			(struct msghdr){.msg_iov = in->part, .msg_iovlen = 2, .msg_control = &in->control};
		p->out[i].msg_hdr = (struct msghdr){.msg_iov = out->part, .msg_iovlen = 2};
	}
}

static bool
set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

/* promiscuous until the socket is closed, however that comes about */
static int
open_socket(const struct fg_link *link)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = link->index};
	struct packet_mreq all = {.mr_ifindex = link->index, .mr_type = PACKET_MR_PROMISC};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -errno;
	set(fd, SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BUFFER);
	set(fd, SOL_SOCKET, SO_SNDBUFFORCE, SOCKET_BUFFER);
	if (set(fd, SOL_PACKET, PACKET_VNET_HDR, 1) && set(fd, SOL_PACKET, PACKET_AUXDATA, 1) &&
	    set(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) &&
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) == 0)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static void
describe_port(struct fg_kernel *kernel)
{
	struct fg_port *port = &kernel->dev.port;
	struct ifreq request = {0};

	*port = (struct fg_port){
		.tx = packet_send,
		.rx = packet_receive,
		.queues = 1,
		.caps = {.driver = "af_packet", .max_tcp_send = ROOM},
	};
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", kernel->interface);
	if (ioctl(kernel->packet->fd, SIOCGIFHWADDR, &request) == 0)
		memcpy(port->caps.mac, request.ifr_hwaddr.sa_data, sizeof(port->caps.mac));
}

int
fg_packet_start(struct fg_kernel *kernel, const struct fg_port_config *config, struct fg_error *err)
{
	struct fg_packet *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return fg_error_set(err, ENOMEM, "device", "no memory for the port");
	p->fd = open_socket(&kernel->base);
	if (p->fd < 0) {
		int ret = fg_error_set(err, -p->fd, "device", "no socket with offloads on %s: %s",
				       kernel->interface, strerror(-p->fd));
		free(p);
		return ret;
	}
	link_messages(p);
	p->small = fg_port_pool_create(1, config->keep, SMALL_ROOM, SOCKET_ID_ANY, false);
	p->large = fg_port_pool_create_few(LARGE, ROOM);
	if (p->small == NULL || p->large == NULL) {
		fg_packet_stop(p);
		return fg_error_set(err, ENOMEM, "host.memory", "no room for the buffers of %s",
				    kernel->interface);
	}
	kernel->packet = p;
	describe_port(kernel);
	return 0;
}

void
fg_packet_stop(struct fg_packet *p)
{
	if (p == NULL)
		return;
	for (unsigned i = 0; i < BURST; i++)
		rte_pktmbuf_free(p->empty[i]);
	fg_port_pool_free(p->small); /* another port may have sent them on */
	fg_port_pool_free(p->large);
	fg_port_pools_sweep();
	close(p->fd);
	free(p);
}

int
fg_packet_socket(const struct fg_packet *p)
{
	return p->fd;
}

void
fg_packet_counters(const struct fg_packet *p, struct fg_port_counters *out)
{
	*out = (struct fg_port_counters){
		.rx_frames = __atomic_load_n(&p->received, __ATOMIC_RELAXED),
		.tx_frames = __atomic_load_n(&p->sent, __ATOMIC_RELAXED),
		.rx_no_mbuf = __atomic_load_n(&p->no_mbuf, __ATOMIC_RELAXED),
		.rx_missed = __atomic_load_n(&p->cut_off, __ATOMIC_RELAXED),
		.tx_errors = __atomic_load_n(&p->unsendable, __ATOMIC_RELAXED),
	};
	out->rx_ours[0] = out->rx_ours[1] = out->rx_frames;
	out->tx_ours[0] = out->tx_ours[1] = out->tx_frames;
}
