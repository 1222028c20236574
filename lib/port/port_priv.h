/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of lib/port share: device names and the ports that drivers fill in. The thread that opens
 * and closes ports writes all of it, but for what a driver's own bursts keep for themselves.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "fg_eal.h"
#include "fg_port.h"

struct rte_mempool;

#define FG_PORT_INTERFACE_NAME 16 /* the kernel's, with its end */
#define FG_PORT_DEVICE_NAME    64 /* as much as DPDK keeps of a device's name */

enum fg_port_kind { FG_PORT_WIRE, FG_PORT_KERNEL, FG_PORT_MEMIF, FG_PORT_PCAP, FG_PORT_VDEV, FG_PORT_PCI };
enum fg_kernel_mode { FG_KERNEL_BEST, FG_KERNEL_AF_XDP, FG_KERNEL_AF_PACKET, FG_KERNEL_OFFLOAD };

/* A device's name, taken apart */
struct fg_port_name {
	enum fg_port_kind kind;
	char text[512];   /* interface, socket, file read, PCI address with domain, or driver and arguments */
	char second[512]; /* pcap: the file written */
	bool server;      /* memif */
	uint32_t id;      /* memif */
	enum fg_kernel_mode mode; /* kernel */
};

int fg_port_name_parse(const char *device, struct fg_port_name *out, struct fg_error *err);
bool fg_port_name_physical(const struct fg_port_name *name);

/* Frames of a queue by our own count; no lcore writes to a cache line that another needs for each burst */
struct fg_ethdev_traffic {
	char before[64];
	uint64_t received;  /* writer: the rx lcore */
	uint64_t unstamped; /* of those, frames whose stamps could not be used; the same writer */
	char between[64];
	uint64_t sent; /* writer: the tx lcore */
	char behind[64];
};

/* ethdev.c: a queue behind the first one, of both ways */
struct fg_ethdev_lane {
	struct fg_port port; /* first, as below */
	uint16_t id, queue;
	struct fg_ethdev_traffic traffic;
};

/* counters.c: extended statistics of drivers that are made use of */
enum {
	FG_ETHDEV_RX_TOTAL,
	FG_ETHDEV_RX_XON,
	FG_ETHDEV_RX_XOFF,
	FG_ETHDEV_LOCAL_FAULTS,
	FG_ETHDEV_REMOTE_FAULTS,
	FG_ETHDEV_EXTENDED
};

struct fg_socket_set {
	int domain; /* AF_PACKET, AF_XDP */
	int *fd;
	unsigned count;
};

/* ethdev.c: a DPDK device, and the first of its queues */
struct fg_ethdev {
	struct fg_port port; /* first: the burst functions get from one to the other by a cast */
	uint16_t id;
	char bus[8];
	char device[FG_PORT_DEVICE_NAME];
	struct rte_mempool *frames;   /* what rx fills */
	struct fg_socket_set sockets; /* of the kernel, that the driver opened and hides */
	struct fg_port **lanes;       /* of the port */
	unsigned most_queues;         /* that the driver has */
	bool has_no_stamps;           /* of its own: the driver offers none */
	bool probed;
	bool started;
	bool promiscuous;   /* was switched on by us */
	bool link_was_seen; /* up, at least once: coming up first is no change */
	bool link_was_up;   /* at the last look */
	uint64_t link_changes;
	uint64_t link_events;      /* that the driver told of; EAL's interrupt thread writes it */
	uint64_t link_events_seen; /* at the last look */
	uint64_t extended_id[FG_ETHDEV_EXTENDED]; /* of the extended statistics that the driver has ... */
	unsigned extended_kind[FG_ETHDEV_EXTENDED], extended; /* ... which they are, and how many */
	struct fg_port_counters base; /* the driver's counters when the port was opened */
	struct fg_port_counters last; /* and at the last look */
	struct fg_ethdev_traffic traffic;
};

struct fg_ethdev_config {
	const struct fg_port_config *port;
	const char *bus;    /* "vdev", "pci" */
	const char *device; /* the name the bus knows it by */
	const char *args;   /* the driver's */
	uint32_t max_frame; /* with FCS */
	uint32_t room;      /* bytes for a frame in a receive buffer; 0: from max_frame */
	bool one_piece;     /* the driver needs all receive buffers in one piece of memory */
	int sockets;        /* of the kernel, that the driver opens: AF_PACKET, AF_XDP; 0: none */
};

extern const struct fg_port_timesync fg_ethdev_timesync; /* timesync.c */
/* timesync.c: have the driver stamp what it receives by its own clock, and follow that. @return 0 or
 * -errno */
int fg_ethdev_stamps_start(struct fg_ethdev *dev);

/* Probe, configure and start; on failure nothing is left behind. */
int fg_ethdev_start(struct fg_ethdev *dev, const struct fg_ethdev_config *config, struct fg_error *err);
void fg_ethdev_stop(struct fg_ethdev *dev);
void fg_ethdev_close(struct fg_port *port);
int fg_ethdev_about(struct fg_port *port, struct fg_port_about *out); /* about.c */

/* link.c: the link as the driver answers, for control alone to ask. start and stop: listen to what it tells
 * unasked, from before the device starts until it is about to stop. */
void fg_ethdev_link_start(struct fg_ethdev *dev);
void fg_ethdev_link_stop(struct fg_ethdev *dev);
bool fg_ethdev_link_up(struct fg_port *port);
int fg_ethdev_set_link(struct fg_port *port, bool up);

/* counters.c: the device's since it was opened, and ours */
void fg_ethdev_counters_start(struct fg_ethdev *dev);
void fg_ethdev_counters(struct fg_port *port, struct fg_port_counters *out);

/*
 * pool.c: buffers for frames of up to @p room bytes, for these queues and @p keep more. Where no card
 * reads them by their bus address they may cross page borders: on ordinary memory (4 KiB pages) each would
 * otherwise take a page of its own, and the AF_XDP driver needs them one right behind the other.
 */
struct rte_mempool *fg_port_pool_create(unsigned queues, uint32_t keep, uint32_t room, int node,
					bool by_bus_address);
/* buffers for a borrower that gives them back soon */
struct rte_mempool *fg_port_pool_create_few(unsigned count, uint32_t room);

/* memif.c */
int fg_memif_open(const struct fg_port_config *config, const struct fg_port_name *name, struct fg_port **out,
		  struct fg_error *err);

/* kernel.c */
int fg_kernel_open(const struct fg_port_config *config, const struct fg_port_name *name, struct fg_port **out,
		   struct fg_error *err);

/* driver_socket.c: the kernel sockets that a driver opened and hides */
/* The process's of one kind. @param without  sockets that are left out, NULL: none
 * @return false: they could not be listed, and the set is empty */
bool fg_socket_list(int domain, const struct fg_socket_set *without, struct fg_socket_set *out);
uint64_t fg_socket_xdp_drops(int fd);        /* since the socket was opened */
uint64_t fg_socket_new_packet_drops(int fd); /* since they were asked for last */
bool fg_socket_is_zero_copy(int fd);
/* Close the AF_XDP sockets that the driver left open, and forget all of the set */
void fg_socket_release(struct fg_socket_set *sockets);

/* pci.c: @return 0 when DPDK may take the device, -ENODEV, -EPERM, -EBUSY */
int fg_pci_check(const char *address, struct fg_error *err);
/* @return whether the device answers at its place on the bus, as far as can be seen */
bool fg_pci_is_there(const char *address);

/* netlink.c: what the kernel knows of an interface in the network namespace the socket was opened in */
struct fg_link {
	int index;
	unsigned flags; /* IFF_UP ... */
	bool ethernet;
	uint32_t mtu;
	int master; /* index of the bridge or bond it belongs to, 0: none */
	int lower;  /* index of the interface it sits on, as a VLAN does, 0: none */
	uint32_t carrier_changes;
	uint32_t xdp_program; /* id, 0: none attached */
	bool xdp_native;      /* runs in the driver, not on socket buffers */
	uint64_t rx_packets, rx_dropped, rx_missed, rx_errors;
	uint64_t tx_packets, tx_dropped, tx_errors;
};

int fg_netlink_open(void);
/* Ask by name, or by index when @p name is NULL. @return 0, -ENODEV, -errno */
int fg_netlink_link(int fd, const char *name, int index, struct fg_link *out);
/* Set IFF_UP or IFF_PROMISC, as `ip link set` does. @return 0, -EPERM, -errno */
int fg_netlink_set_flag(int fd, int index, unsigned flag, bool on);
/* Take its XDP program away. @return 0, -EPERM, -errno */
int fg_netlink_detach_xdp(int fd, int index, bool is_native);
/* xdp.c: is an XDP program attached that takes what arrives? @return 0: no; -EBUSY: it may be in use; -EPERM:
 * that cannot be found out without CAP_SYS_ADMIN */
int fg_xdp_at_work(const struct fg_link *link);
/* The same as an error; waits up to a second for the sockets of a killed process. @return 0, -EBUSY */
int fg_xdp_refuse_foreign(const char *interface, const struct fg_link *link, struct fg_error *err);
/* A socket of AF_XDP was closed; until the kernel has taken it apart, another one finds the queue busy */
void fg_xdp_released(void);
/* Whether that may be so now; then it waits a moment, after which to try again */
bool fg_xdp_is_settling(void);
/* Receive queues a frame may arrive on; an interface that knows none has one */
unsigned fg_link_queues(int fd, const char *name);
/* Bits per second; 0: the driver does not know */
uint64_t fg_link_rate(int fd, const char *name);
/* Whether no line has the rate that it tells. A VLAN or macvlan tells the rate of the interface below it */
bool fg_link_makes_up_rate(int fd, const char *name);
/* @return whether a default route of the main tables goes over the interface, as part of another or itself */
bool fg_netlink_has_default_route(const char *name);
