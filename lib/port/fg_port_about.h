/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * Facts about a port, for the user before a test and for the report: the link, the optical module, what the
 * driver can do. The control thread's; it takes up to a second, because the module is read over a slow bus.
 */

struct fg_port;

/** A pluggable module by SFF-8472; texts are without the blanks at their ends. */
struct fg_port_module {
	char type[8];   /* "SFP" */
	char media[24]; /* "10GBASE-SR", "passive copper"; "" where the module tells nothing that is known */
	char vendor[17], part[17], serial[17];
	bool has_temperature, has_power;
	double temperature_c;
	double tx_power_mw, rx_power_mw;
};

struct fg_port_about {
	uint32_t speed_mbps; /* 0: the link is down, or has no speed */
	bool link_up, full_duplex;
	bool has_module;
	struct fg_port_module module;
	char rx_path[32], tx_path[32]; /* as the driver calls them, "Vector SSE"; "": it does not tell */
	/* of the driver */
	bool rss;           /* spreads frames over queues by addresses and ports */
	bool flow_to_queue; /* takes a flow rule that sends one UDP flow to a queue */
	bool rx_ip_checksum, rx_udp_checksum, tx_ip_checksum, tx_udp_checksum;
	unsigned max_queues; /* each way */
};

/** @return 0, -ENOTSUP for a port that is no device of a driver's, -EIO if the driver does not answer */
int fg_port_about(struct fg_port *port, struct fg_port_about *out);

/** The driver of an interface of the kernel. */
struct fg_interface_about {
	char driver[32]; /* "": the kernel does not know */
	bool xdp_known;  /* the kernel reported the following (since Linux 6.3) */
	bool xdp_native, xdp_zero_copy;
};

/** Of the network namespace that the process is in. @return 0, -ENODEV */
int fg_interface_about(const char *name, struct fg_interface_about *out);

/** What a test changes of an interface of the kernel, and what outlives a tester that is killed. */
struct fg_interface_state {
	int index;
	bool up, promiscuous, xdp; /* as `ip link` shows them: IFF_UP, IFF_PROMISC, a program is attached */
};

/** Of the network namespace that the process is in. @return 0, -ENODEV, -errno */
int fg_interface_state(const char *name, struct fg_interface_state *out);

enum fg_interface_part { FG_INTERFACE_UP, FG_INTERFACE_PROMISCUOUS, FG_INTERFACE_XDP };

/**
 * Set a part of the state. XDP can only be taken away, and only a program that a tester left behind.
 * @return 0, -ENODEV, -EPERM, -EBUSY a program is at work, -errno
 */
int fg_interface_set(const char *name, enum fg_interface_part part, bool on);

enum {
	FG_SFF8472_ID = 96,          /* that many bytes at 0xA0, from 0 on */
	FG_SFF8472_MONITOR_AT = 84,  /* at 0xA2: calibration of the temperature ... */
	FG_SFF8472_MONITOR_SIZE = 22 /* ... to received power */
};

/**
 * Read a module's description and measurements.
 * @param id       FG_SFF8472_ID bytes
 * @param monitor  FG_SFF8472_MONITOR_SIZE bytes; NULL: it has none
 * @return 0, -EINVAL for a module of another kind
 */
int fg_sff8472_read(const uint8_t *id, const uint8_t *monitor, struct fg_port_module *out);

__END_DECLS
