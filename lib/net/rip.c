/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The routing update of RFC 2544, 11.3 and C.2.6.2: a RIP response (RFC 1058) about networks that carry no
 * test frames. Two metrics in turn keep a router's table changing.
 */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

enum {
	RIP_PORT = 520,
	RESPONSE = 2,
	VERSION = 1,
	FAMILY_IP = 2,
	METRIC_A = 7,
	METRIC_B = 8,
	NETWORKS = 6,
	FIRST_NETWORK = 58, /* x.58.0 to x.63.0: neither a port's network nor a random one */
};

struct rip_header {
	uint8_t command, version;
	uint16_t zero;
} __attribute__((packed));

struct rip_entry {
	uint16_t family, zero;
	uint8_t network[4], zeros[8];
	uint32_t metric;
} __attribute__((packed));

size_t
fg_net_rip_update(const struct fg_host *host, bool second, uint8_t *out)
{
	static const uint8_t everyone[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct rip_header *header = (struct rip_header *)(out + NET_UDP_CONTENT);
	struct rip_entry *entry = (struct rip_entry *)(header + 1);
	uint8_t side = host->ipv4[0] == 198 && host->ipv4[1] == 19 ? 19 : 18;

	*header = (struct rip_header){.command = RESPONSE, .version = VERSION};
	for (uint8_t i = 0; i < NETWORKS; i++)
		entry[i] = (struct rip_entry){
			.family = htons(FAMILY_IP),
			.network = {198, side, (uint8_t)(FIRST_NETWORK + i), 0},
			.metric = htonl(second ? METRIC_B : METRIC_A),
		};
	return net_udp(host,
		       &(struct net_udp){everyone, everyone, RIP_PORT, RIP_PORT,
					 sizeof(*header) + NETWORKS * sizeof(*entry)},
		       out);
}
