/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of protocols, and fields of any width at any bit. */
#include <string.h>

#include "fg_net.h"
#include "frame_priv.h"

const struct fg_protocol *const fg_protocols[] = {
	&fg_protocol_ethernet, &fg_protocol_vlan,   &fg_protocol_qinq,       &fg_protocol_mpls,
	&fg_protocol_llc,      &fg_protocol_snap,   &fg_protocol_arp,        &fg_protocol_pause,
	&fg_protocol_ipv4,     &fg_protocol_ipv6,   &fg_protocol_hop_by_hop, &fg_protocol_destination_options,
	&fg_protocol_fragment, &fg_protocol_icmp,   &fg_protocol_icmpv6,     &fg_protocol_igmp,
	&fg_protocol_udp,      &fg_protocol_tcp,    &fg_protocol_sctp,       &fg_protocol_gre,
	&fg_protocol_vxlan,    &fg_protocol_geneve, &fg_protocol_gtpu,       NULL,
};

const struct fg_next fg_next_ethertype[] = {
	{"arp", FG_ETHER_ARP},
	{"ipv4", FG_ETHER_IPV4},
	{"ipv6", FG_ETHER_IPV6},
	{"vlan", FG_ETHER_VLAN},
	{"qinq", 0x88a8},
	{"mpls", 0x8847},
	{"pause", 0x8808},
	{"ethernet", 0x6558}, /* transparent Ethernet bridging, as GRE and GENEVE carry it */
	{NULL, 0},
};

const struct fg_next fg_next_ip[] = {
	{"hop_by_hop", 0},
	{"icmp", FG_IP_ICMP},
	{"igmp", 2},
	{"ipv4", 4},
	{"tcp", 6},
	{"udp", FG_IP_UDP},
	{"ipv6", 41},
	{"fragment", 44},
	{"gre", 47},
	{"icmpv6", FG_IP_ICMPV6},
	{"destination_options", 60},
	{"sctp", 132},
	{NULL, 0},
};

const struct fg_protocol *
fg_protocol_find(const char *name)
{
	for (unsigned i = 0; fg_protocols[i] != NULL; i++)
		if (strcmp(fg_protocols[i]->name, name) == 0)
			return fg_protocols[i];
	return NULL;
}

int
fg_field_find(const struct fg_protocol *protocol, const char *name)
{
	for (int i = 0; protocol->fields[i].name != NULL; i++)
		if (strcmp(protocol->fields[i].name, name) == 0)
			return i;
	return -1;
}

void
fg_field_write(uint8_t *header, unsigned bit, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++) {
		unsigned at = bit + width - 1 - i;
		uint8_t mask = (uint8_t)(0x80 >> (at % 8));

		if (value >> i & 1)
			header[at / 8] |= mask;
		else
			header[at / 8] &= (uint8_t)~mask;
	}
}

bool
fg_field_is_written(const struct fg_layer *layer, const char *name)
{
	return layer->written >> fg_field_find(layer->protocol, name) & 1;
}

void
fg_field_fill(const struct fg_layer *layer, uint8_t *header, const char *name, uint64_t value)
{
	const struct fg_field *field = &layer->protocol->fields[fg_field_find(layer->protocol, name)];

	if (!fg_field_is_written(layer, name))
		fg_field_write(header, field->bit, field->width, value);
}
