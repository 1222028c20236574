/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame_priv.h"

static const struct fg_value_name operations[] = {{"request", 1}, {"reply", 2}, {NULL, 0}};

static const struct fg_field fields[] = {
	{"hardware", 0, 16, 1, "hardware type; 1: Ethernet"},
	{"protocol", 16, 16, 0x800, "protocol type; IPv4", FG_KIND_HEX},
	{"hardware_length", 32, 8, 6, "bytes of a hardware address"},
	{"protocol_length", 40, 8, 4, "bytes of a protocol address"},
	{"operation", 48, 16, 1, "request or reply", .names = operations},
	{"sender_mac", 64, 48, 0, "MAC of the sender", FG_KIND_MAC},
	{"sender_ip", 112, 32, 0, "address of the sender", FG_KIND_IPV4},
	{"target_mac", 144, 48, 0, "MAC of the target", FG_KIND_MAC},
	{"target_ip", 192, 32, 0, "address of the target", FG_KIND_IPV4},
	{NULL},
};

static const struct fg_protocol arp = {
	.name = "arp",
	.title = "ARP for IPv4 over Ethernet (RFC 826)",
	.size = 28,
	.fields = fields,
	.places = FG_PLACES({"ethertype", 0x806}),
};

FG_PROTOCOLS(arp, &arp);
