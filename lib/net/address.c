/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_net.h"

int
fg_mac_parse(const char *text, uint8_t mac[6], struct fg_error *err)
{
	uint8_t octets[6];
	const char *p = text;

	/* sscanf() would let signs and blanks pass for digits */
	for (int i = 0; i < 6; i++, p += 3) {
		if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]) ||
		    p[2] != (i < 5 ? ':' : '\0'))
			return fg_error_set(err, EINVAL, "mac",
					    "\"%.40s\" is not a MAC address like 02:00:00:00:00:01", text);
		octets[i] = (uint8_t)strtoul(p, NULL, 16);
	}
	memcpy(mac, octets, 6);
	return 0;
}

int
fg_ipv4_parse(const char *text, uint8_t address[4], struct fg_error *err)
{
	if (inet_pton(AF_INET, text, address) != 1)
		return fg_error_set(err, EINVAL, "ipv4", "\"%.40s\" is not an IPv4 address like 198.18.1.2",
				    text);
	return 0;
}

int
fg_ipv6_parse(const char *text, uint8_t address[16], struct fg_error *err)
{
	if (inet_pton(AF_INET6, text, address) != 1)
		return fg_error_set(err, EINVAL, "ipv6", "\"%.60s\" is not an IPv6 address like 2001:2::1",
				    text);
	return 0;
}
