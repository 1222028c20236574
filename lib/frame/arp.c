/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP for IPv4 over Ethernet (RFC 826). */
#include "frame_priv.h"

static const struct fg_field fields[] = {
	{"hardware", 0, 16, 1, "hardware type; Ethernet"},
	{"protocol", 16, 16, 0x800, "protocol type; IPv4"},
	{"hardware_length", 32, 8, 6, "octets of a hardware address"},
	{"protocol_length", 40, 8, 4, "octets of a protocol address"},
	{"operation", 48, 16, 1, "1 request, 2 reply"},
	{"sender_mac", 64, 48, 0, "MAC of the sender"},
	{"sender_ip", 112, 32, 0, "address of the sender"},
	{"target_mac", 144, 48, 0, "MAC of the target"},
	{"target_ip", 192, 32, 0, "address of the target"},
	{NULL},
};

const struct fg_protocol fg_protocol_arp = {
	.name = "arp",
	.size = 28,
	.fields = fields,
};
