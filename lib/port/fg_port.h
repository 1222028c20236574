/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

__BEGIN_DECLS

struct rte_mbuf;
struct rte_mempool;

/** What the driver reports that it can do. Asked at open, never assumed; zero means "no" or "not known". */
struct fg_port_caps {
	char driver[32];        /* "net_ixgbe", "net_memif", "wire" */
	char mode[96];          /* how it was opened, for the report: "AF_XDP (zero copy)", "memif client" */
	uint64_t line_rate_bps; /* 0: the link has none (memif, null) */
	bool made_up_rate;      /* no frame takes time on the line at that rate: veth, tun */
	uint32_t line_overhead; /* bytes of preamble and gap; 0: the 20 of the standard */
	/* ticks per second of a clock of the port's own (lib/device); 0: it has none */
	uint64_t clock_hz;
	uint32_t max_frame; /* bytes with FCS */
	/*
	 * bytes of a frame that it cuts into TCP segments if asked to (RTE_MBUF_F_TX_TCP_SEG); then it also
	 * hands over segments put together (RTE_MBUF_F_RX_LRO), and says which checksums are known to be
	 * right. 0: it does neither. It keeps no frame that it has taken.
	 */
	uint32_t max_tcp_send;
	int numa_node; /* -1: none */
	uint8_t mac[6];
	bool launch_time;        /* departs at the time in the mbuf's tx timestamp field */
	bool rx_timestamp;       /* stamps every frame it receives, in the mbuf's rx timestamp field: ticks of
				   * the task's clock */
	bool offers_launch_time; /* the driver could; lib/port does not use it, so launch_time is false */
	bool offers_rx_timestamp; /* the driver could; rx_timestamp: it was asked to */
	bool timesync;            /* IEEE 1588: stamps single event frames */
	bool queue_rate_limit;    /* per tx queue, in Mb/s */
	bool physical;            /* may reach a network: a plan needs isolated_network for it */
	bool exact_counters; /* the card counts each frame in registers, and its driver is known to read them
			      * all: what they say can be held against what we handed over and fetched */
	bool finite;         /* receives a file: not to be read before a listener exists */
	bool partial_checksums; /* hands over frames whose checksum was left to a card (fg_net.h) */
	bool runts;             /* sends frames of less than 64 bytes, and does not fill them up ... */
	uint64_t runt_flag;     /* ... if this is set in the mbuf's ol_flags; 0: always */
	uint64_t bad_fcs_flag;  /* sends a frame with a wrong FCS if this is set there; 0: it cannot */
	uint64_t test_flag;     /* of a port that pauses: is to be set there of the frames of streams */
	uint16_t rx_ring;       /* descriptors */
	uint16_t tx_ring;
};

/**
 * Frames since the port was opened, by what became of them. Read by the control thread only, and compared
 * only while the port is quiet: some drivers count frames that still wait in a ring, others do not.
 */
struct fg_port_counters {
	uint64_t rx_frames;    /* handed to us */
	uint64_t tx_frames;    /* taken from us */
	uint64_t rx_missed;    /* arrived, but found no descriptor or was lost in the kernel: tester drops */
	uint64_t rx_no_mbuf;   /* arrived, but no buffer was free: tester drops */
	uint64_t rx_errors;    /* bad FCS, length */
	uint64_t tx_errors;    /* taken from us, but dropped on the way out: tester drops too */
	uint64_t link_changes; /* that a periodic look could see */
	uint64_t link_faults;  /* as the card counts them, however short; 0 where it counts none */
	bool removed;          /* the device is no longer there; the counts are those from before */
	bool intercepted;      /* an XDP program of another process may take what arrives, uncounted */
	uint64_t intercepts;   /* periodic looks that found one, or the port's own gone */
	uint64_t rx_unstamped; /* handed to us by a port that stamps, without a stamp that could be */
	/* the first two by our own count, before and after the device was asked for its counters */
	uint64_t rx_ours[2], tx_ours[2];
	/* what the MAC received but for pause frames, whatever became of it; 0: it does not tell */
	uint64_t rx_total;
	/* of ports that tell: how often they were told to pause, and how long frames waited for that */
	uint64_t rx_pause, paused_ps;
};

struct fg_port;
struct fg_port_about;
struct fg_port_stamps;

/** Most queues of a port, each way. */
enum { FG_MAX_QUEUES = 16 };

/** Functions of a kind of port in addition to sending and receiving. Control thread only. */
struct fg_port_ops {
	void (*counters)(struct fg_port *port, struct fg_port_counters *out);
	bool (*link_up)(struct fg_port *port);
	void (*close)(struct fg_port *port);
	int (*about)(struct fg_port *port, struct fg_port_about *out); /* fg_port_about.h; NULL: nothing */
	int (*set_link)(struct fg_port *port, bool up);                /* 0 or -errno; NULL: it cannot */
	/*
	 * of ports that pause: the frames taken from us that have not begun to leave, the next one first;
	 * NULL: no more. NULL: a port that does not tell
	 */
	const struct rte_mbuf *(*waiting)(struct fg_port *port, unsigned i);
};

/**
 * The clock of a port that stamps IEEE 1588 event frames, and the last stamps it took. Each call is a few
 * accesses to the card's registers, a microsecond and more. All return 0 or -errno.
 */
struct fg_port_timesync {
	int (*enable)(struct fg_port *port);
	int (*disable)(struct fg_port *port);
	int (*now)(struct fg_port *port, uint64_t *ns);  /* its time, in its own epoch */
	int (*sent)(struct fg_port *port, uint64_t *ns); /* of the frame sent last; -EINVAL: not yet known */
	int (*arrived)(struct fg_port *port, uint16_t index, uint64_t *ns); /* @p index: as the mbuf has it */
};

/**
 * An open port. The two burst functions are the hot path and are called directly; they belong to the lcore
 * that runs the port's tx respectively rx task, and never block. @p now is the task's clock (fg_engine.h).
 */
struct fg_port {
	/**
	 * Hand over up to @p n frames. The first @return of them become the port's, the rest stay ours and
	 * may be offered again. A frame that can never be sent, as it is too long for the MTU, becomes the
	 * port's, and counts in tx_errors.
	 */
	uint16_t (*tx)(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now);
	/** Fetch up to @p n frames that have arrived by @p now. They belong to the caller. */
	uint16_t (*rx)(struct fg_port *port, struct rte_mbuf **frames, uint16_t n, uint64_t now);
	/** When the next frame arrives; only for ports on a clock of their own (lib/device), else NULL. */
	uint64_t (*next_arrival)(struct fg_port *port);
	const struct fg_port_ops *ops;
	const struct fg_port_timesync *timesync; /* NULL: it has no such clock */
	struct fg_port_stamps *stamps; /* its rx timestamps are from a card's clock; NULL: they are not */
	struct fg_port_caps caps;
	unsigned queues;        /* each way; 0 is 1 */
	struct fg_port **lanes; /* of the queues behind the first one; see fg_port_lane() */
	/* of ports that pause: called when a frame of a stream leaves at @p time, ticks; NULL: by nobody */
	void (*left)(void *arg, const struct rte_mbuf *m, uint64_t time);
	void *left_arg;
	char name[32];   /* the plan's */
	char device[96]; /* as the user wrote it */
};

/** Room for a PCI address with its domain. */
enum { FG_PORT_PCI_ADDRESS = 32 };

/**
 * The address, with its domain, of a PCI device that DPDK may take, for fg_host_config.pci.
 * @param out  of FG_PORT_PCI_ADDRESS
 * @return 0; -EINVAL no PCI address, -ENODEV, -EPERM, -EBUSY and what mends it
 */
int fg_port_pci_address(const char *device, char *out, struct fg_error *err);

struct fg_port_config {
	const char *name;   /* in the plan and the report */
	const char *device; /* see fg_port_open() */
	uint16_t rx_ring;   /* 0: the driver's preference */
	uint16_t tx_ring;
	uint32_t max_frame; /* bytes with FCS that must pass; 0: 1518. A kernel interface has its MTU. */
	unsigned queues;    /* to receive from and to send to; 0: one of each */
	uint32_t keep; /* frames received here that the user may keep for a while, besides a few thousand */
	/* frames are to have the card's own receive stamps; -ENOTSUP if the driver offers none */
	bool stamps;
};

/**
 * Whether a text is the name of a device, without touching any. @p physical (may be NULL) is set like the
 * capability.
 * @return 0 or -EINVAL
 */
int fg_port_check_name(const char *device, bool *physical, struct fg_error *err);

/**
 * Open a device by the name people use for it, with as many rx and tx queues as asked for, promiscuous,
 * started. The link may still be coming up: open all ports, then fg_port_wait_link() each. Frames are sent
 * from single-segment mbufs.
 *
 * Several queues are for PCI, memif and vdev devices. What arrives is spread over them by addresses and L4
 * ports (RSS) where the driver offers that, else as the driver has it: queue k of a memif is the peer's queue
 * k.
 *
 * kernel:IF[,af_xdp|,af_packet]  takes AF_XDP where it works, else AF_PACKET; caps.mode says which and why.
 *                                Never an interface the host's default route uses.
 * kernel:IF,offload              AF_PACKET; the interface cuts TCP payload into segments and puts segments
 *                                that arrive together
 * memif:SOCKET[,server][,id=N]   interface N (default 0) of the socket; joins as client without "server",
 *                                and joins again when the peer comes back. It receives from as many rings as
 *                                the peer has.
 * pcap:IN[,OUT], pcap:,OUT       frames of IN arrive once, in order; what is sent goes to OUT, or is dropped
 * vdev:DRIVER[,...]              what DPDK's --vdev takes
 * 03:00.0, 0000:03:00.0          must have been in fg_host_config.pci
 *
 * @return 0; -EINVAL for an invalid name, -ERANGE more queues than the device has, -ENODEV, -EPERM,
 * -EBUSY, -ENETDOWN with what was tried and what mends it
 */
int fg_port_open(const struct fg_port_config *config, struct fg_port **out, struct fg_error *err);

/**
 * Queue @p queue of a port, as a port of its own to send to and receive from, for lcores that share the
 * device; the first one is the port itself. Counters, link and closing are the port's.
 */
struct fg_port *fg_port_lane(struct fg_port *port, unsigned queue);

/**
 * Wait until the link is up; caps.line_rate_bps is known then. A memif server has one once its peer has come.
 * @return 0, or -ENETDOWN after @p milliseconds
 */
int fg_port_wait_link(struct fg_port *port, unsigned milliseconds, struct fg_error *err);

/**
 * Take the link down, so that the peer sees it go, or let it come up again. A kernel interface is set down
 * and up as by `ip link set`. A port that is closed with its link down cannot be opened again.
 * @return 0, or -errno: -ENOTSUP the driver cannot
 */
int fg_port_set_link(struct fg_port *port, bool up, struct fg_error *err);

/** Close any kind of port. No lcore may be polling it. */
void fg_port_close(struct fg_port *port);

/**
 * Free buffers that were sent from. Drivers hold on to the last of them until their port is closed, so the
 * pool may outlive this call, until then; it must not be used any more. NULL is legal. The control thread's.
 */
void fg_port_pool_free(struct rte_mempool *pool);

/**
 * Keep a pool of sent buffers until fg_port_pool_take() requests the same form: it takes milliseconds before
 * and after each trial to make and to clear some megabytes. The control thread's.
 */
void fg_port_pool_keep(struct rte_mempool *pool);

/**
 * A pool of buffers to send from: one that was kept, is of this form and has all its buffers back, or a new
 * one. Before a new one is made, others that have their buffers back are freed. The control thread's.
 * @param room  bytes of a buffer, with its headroom
 * @return      NULL: no memory
 */
struct rte_mempool *fg_port_pool_take(unsigned count, unsigned cache, uint16_t room, int node);

/** Free pools that wait, unless buffers of them are still out. The control thread's. */
void fg_port_pools_sweep(void);

__END_DECLS
