/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of DNS that a peer made up. What must hold: no access out of bounds; an answer fits into its
 * room, is well formed, and is the same when it is made again.
 */
#include <stdlib.h>
#include <string.h>

#include "dns_message_priv.h"

enum { ROOM = 1472, MOST = 65535 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t answer[ROOM], again[ROOM];
	struct fg_l4_dns zone = {
		.udp_size = 1232, .answers = 3, .ttl = 300, .text = 300, .nxdomain_ppm = 10000};
	struct dns_query query;
	uint32_t bytes, room;
	int rcode;

	if (size > MOST)
		return 0;
	if (size >= DNS_HEADER)
		dns_is_well_formed(data, (uint32_t)size);
	rcode = dns_read_query(data, (uint32_t)size, &query);
	if (rcode == DNS_DROP)
		return 0;
	room = dns_datagram_room(&zone, &query, ROOM);
	bytes = dns_answer(&zone, &query, rcode, answer, room);
	if (bytes > room || !dns_is_well_formed(answer, bytes))
		abort();
	if (dns_answer(&zone, &query, rcode, again, room) != bytes || memcmp(answer, again, bytes) != 0)
		abort();
	return 0;
}
