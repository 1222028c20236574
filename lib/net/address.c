/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "fg_net.h"

int
fg_mac_parse(const char *text, uint8_t mac[6], struct fg_error *err)
{
	unsigned o[6];
	int end = 0;

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &end) != 6 ||
	    text[end] != '\0' || end != 17)
		return fg_error_set(err, EINVAL, "mac",
				    "\"%.40s\" is not a MAC address like 02:00:00:00:00:01", text);
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)o[i];
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
