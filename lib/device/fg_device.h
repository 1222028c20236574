/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_firewall.h"
#include "fg_nat.h"
#include "fg_path.h"
#include "fg_profile.h"
#include "fg_wire.h"

__BEGIN_DECLS

/*
 * The virtual wire: two ports inside the process, joined by a model of a cable and of a device with exactly
 * known properties. The ports behave as a NIC with launch-time scheduling and hardware timestamps. Their
 * time, in picoseconds, comes from the task that polls the ports (`now` of fg_port). The engine sees two
 * ordinary ports.
 *
 * A timestamp belongs to the first bit of the frame after the start delimiter, as in IEEE 1588. Both ports
 * must be polled by one lcore.
 */

/** How the device treats frames that enter on one side. */
struct fg_device_direction {
	double capacity_fps; /* frames forwarded per second; 0: as many as the line carries */
	double capacity_bps; /* bits of frames, FCS included, forwarded per second; 0: as the line */
	uint64_t buffer;     /* frames (or bytes) that can wait, in addition to the one in service */
	bool buffer_octets;
	bool cut_through; /* forwarding starts after the Ethernet header, not after the last bit */
	/* from then (RFC 1242: last bit in, when storing) to first bit out, without queues */
	double latency_ns;
	double latency_ns_per_octet;    /* and for each byte of the frame */
	struct fg_impair_config impair; /* losses before the device, other impairments behind it */
	/*
	 * after an overload (frames lost because the buffer was full) every second frame is lost for this
	 * time; 0: immediate recovery
	 */
	double recovery_ns;
};

/** Addresses of the device on one side. With an address it routes; without any on both sides it bridges. */
struct fg_device_interface {
	bool has_ipv4;
	bool has_ipv6;
	uint8_t ipv4[4];
	uint8_t ipv6[16];
};

struct fg_device_config {
	double rate_bps;         /* of both lines */
	uint64_t seed;           /* of all random draws */
	bool reflect;            /* sends forwarded frames back to their sender (fg_net_reflect) */
	uint32_t max_frame;      /* bytes with FCS of the largest frame that it may have to copy; 0: 1518 */
	uint32_t forwards_up_to; /* bytes with FCS: longer frames are lost; 0: no limit */
	struct fg_device_direction direction[2]; /* [i]: of frames entering on the side of port i */
	struct fg_device_interface interface[2];
	struct fg_device_table table;       /* of a bridge: not with addresses, and not if it reflects */
	struct fg_firewall_config firewall; /* not if it reflects */
	struct fg_nat_config nat;           /* of a router with IPv4 on both sides */
};

/** The device's own counts: the truth that a test result is compared with. */
struct fg_device_counters {
	uint64_t received; /* frames that entered, those to the device itself included */
	uint64_t forwarded;
	uint64_t buffer_full; /* lost: no room to wait */
	uint64_t recovering;  /* lost while recovering from an overload */
	uint64_t outage;      /* lost in an outage */
	uint64_t policed;     /* lost: red by the bandwidth profile of the service */
	uint64_t bad_fcs, undersized,
		oversized;   /* lost: wrong check sequence, less than 64 bytes, too long */
	uint64_t unroutable; /* not for the router, TTL expired, or next hop unknown; or not reflectable */
	uint64_t filtered;   /* not forwarded: the table has the destination on the ingress side */
	uint64_t flooded;    /* forwarded, destination not in the table */
	uint64_t unlearned;  /* the source is not in the table and was not learned */
	uint64_t answered;   /* ARP, ND, echo and SNMP to the router */
	FG_PATH_COUNTERS(FG_PATH_COUNTER_FIELD) /* by impairments; reordered: among frames that came out */
};

/** The bandwidth profile of a service in one direction. */
struct fg_device_profile {
	struct fg_class class_;        /* the frames of the service */
	struct fg_colouring colouring; /* frames of the service that come in yellow */
	struct fg_meter_config meter;
	struct fg_marking marking; /* marking of green and yellow frames at the egress */
	/*
	 * 0: red frames are lost; else longest wait of a frame for tokens, from one bucket of CBS + EBS
	 * filled at CIR + EIR
	 */
	double shaping_ns;
};

/** Counts of a profile's decisions. */
struct fg_device_profile_counters {
	uint64_t green, yellow, red; /* of a shaper: passed, always 0, lost */
	uint64_t shaped;             /* passed after a wait */
};

struct fg_port;
struct fg_device;

/**
 * Most frames of @p frame_size that can be between the two ports at one time; they need one buffer each.
 * @return frames, or 0 when the device could hold more than a tester has memory for (2^20)
 */
uint32_t fg_device_in_flight(const struct fg_device_config *config, unsigned frame_size);

/**
 * Make the wire, its device and its two ports.
 * @param in_flight  frames on the way; further ones count as rx_missed
 * @return 0, -EINVAL (an invalid rate), -ENOMEM
 */
int fg_device_create(const struct fg_device_config *config, uint32_t in_flight, struct fg_device **out,
		     struct fg_error *err);

/**
 * Change the device between the same two ports, whose counters go on. The device is idle, without profiles,
 * as just created. Only while nobody polls the ports.
 * @param config     the whole configuration, as for fg_device_create(); pointers to the ports stay valid
 * @param in_flight  the same
 * @return 0; or as fg_device_create(): then only another change or free is allowed
 */
int fg_device_change(struct fg_device *wire, const struct fg_device_config *config, uint32_t in_flight,
		     struct fg_error *err);

/** Free wire and ports and every frame still on the way. */
void fg_device_free(struct fg_device *wire);

/** Port @p side, 0 or 1. Owned by the wire; fg_port_close() on it does nothing. */
struct fg_port *fg_device_port(struct fg_device *wire, unsigned side);

/**
 * Forget all frames on the way and waiting: a trial finds an idle device.
 * @param trial  number of the trial. Each number has its own random draws, which the seed determines, so a
 *               repeated trial is a new sample
 */
void fg_device_reset(struct fg_device *wire, uint64_t trial);

/**
 * The device loses every frame that is complete from @p from_ns to before @p to_ns, in the engine's time; the
 * next fg_device_reset() forgets it. Only while nobody polls the ports.
 */
void fg_device_outage(struct fg_device *wire, uint64_t from_ns, uint64_t to_ns);

/**
 * Give the device bandwidth profiles for frames that enter on @p side, in place of its old ones. Frames
 * belong to the first profile that matches; other frames pass. Only while nobody polls the ports, and before
 * the first frame if it marks frames.
 * @return 0, -ERANGE, -ENOMEM
 */
int fg_device_set_profiles(struct fg_device *wire, unsigned side, const struct fg_device_profile *list,
			   unsigned n, struct fg_error *err);

/** The decisions of profile @p i of @p side since the last reset. Only while nobody polls the ports. */
void fg_device_read_profile_counters(const struct fg_device *wire, unsigned side, unsigned i,
				     struct fg_device_profile_counters *out);

/** The counts of the firewall since the last reset; 0 without a firewall. Only while nobody polls. */
void fg_device_read_firewall(const struct fg_device *wire, struct fg_firewall_counters *out);

/** The counts of the NAT since the last reset; 0 without a NAT. */
void fg_device_read_nat(const struct fg_device *wire, struct fg_nat_counters *out);

/**
 * Clear all sessions of the NAT, from @p now_ns on, by the clock of the trial. Only while nobody polls.
 * @return how long it takes, ns; 0 without a NAT
 */
uint64_t fg_device_clear_nat(struct fg_device *wire, uint64_t now_ns);

/** The device's own counts of frames that entered on @p side. Only while nobody polls the ports. */
void fg_device_read_counters(const struct fg_device *wire, unsigned side, struct fg_device_counters *out);

__END_DECLS
