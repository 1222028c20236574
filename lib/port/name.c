/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device names. Users name a port the way they think of it (a kernel interface, a socket, a slot on the PCI
 * bus) and never type a driver's argument list. This file only reads names: it opens nothing and needs no
 * DPDK, so a plan can be checked on any machine.
 */
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "port_priv.h"

#define FORMS                                                                                \
	"expected wireN, kernel:INTERFACE, memif:SOCKET[,server][,id=N], pcap:FILE[,FILE], " \
	"vdev:DRIVER[,...] or a "                                                            \
	"PCI address such as 0000:03:00.0"

/* Drivers that only move frames inside this process or to another program beside it */
static const char *const local_drivers[] = {"net_null", "eth_null", "net_ring", "eth_ring", "net_memif"};

static int
copy(char *out, size_t size, const char *text, size_t length)
{
	if (length == 0 || length >= size)
		return -EINVAL;
	memcpy(out, text, length);
	out[length] = '\0';
	return 0;
}

/* Characters with a meaning in a DPDK argument list, and invisible ones */
static bool
is_plain_path(const char *path)
{
	for (const char *c = path; *c != '\0'; c++)
		if (!isgraph((unsigned char)*c) || strchr(",[]()\"'", *c) != NULL)
			return false;
	return true;
}

static int
parse_kernel(const char *text, struct fg_port_name *out, struct fg_error *err)
{
	const char *comma = strchrnul(text, ',');
	const char *mode = *comma == ',' ? comma + 1 : "";

	if (copy(out->text, IFNAMSIZ, text, (size_t)(comma - text)) != 0 ||
	    strpbrk(out->text, "/: \t") != NULL || strcmp(out->text, ".") == 0 ||
	    strcmp(out->text, "..") == 0)
		return fg_error_set(
			err, EINVAL, "device",
			"\"kernel:%.40s\" names no interface; expected kernel:INTERFACE with 1 to %d characters, as `ip link` shows it",
			text, IFNAMSIZ - 1);
	if (*comma == '\0')
		out->mode = FG_KERNEL_BEST;
	else if (strcmp(mode, "af_xdp") == 0)
		out->mode = FG_KERNEL_AF_XDP;
	else if (strcmp(mode, "af_packet") == 0)
		out->mode = FG_KERNEL_AF_PACKET;
	else if (strcmp(mode, "offload") == 0)
		out->mode = FG_KERNEL_OFFLOAD;
	else
		return fg_error_set(
			err, EINVAL, "device",
			"\"%.40s\" after kernel:%s is no way to open it; expected af_xdp, af_packet, offload or nothing",
			mode, out->text);
	return 0;
}

static bool
parse_memif_option(const char *key, size_t length, struct fg_port_name *out)
{
	if (length == strlen("server") && strncmp(key, "server", length) == 0) {
		out->server = true;
		return true;
	}
	if (length < 4 || length > 12 || strncmp(key, "id=", 3) != 0 ||
	    strspn(key + 3, "0123456789") != length - 3)
		return false;
	out->id = (uint32_t)strtoul(key + 3, NULL, 10);
	return true;
}

static int
parse_memif(const char *text, struct fg_port_name *out, struct fg_error *err)
{
	const char *comma = strchrnul(text, ',');
	const size_t longest = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;

	for (const char *key = comma, *end; *key == ','; key = end) {
		end = strchrnul(++key, ',');
		if (!parse_memif_option(key, (size_t)(end - key), out))
			return fg_error_set(
				err, EINVAL, "device",
				"\"%.40s\" after the memif socket; expected \"server\", \"id=N\" or nothing",
				key);
	}
	if (copy(out->text, longest + 1, text, (size_t)(comma - text)) != 0 || !is_plain_path(out->text))
		return fg_error_set(
			err, EINVAL, "device",
			"\"memif:%.60s\" names no socket; expected a path of 1 to %zu characters without blanks, quotes and brackets",
			text, longest);
	return 0;
}

/* "IN", "IN,OUT" or ",OUT" */
static int
parse_pcap(const char *text, struct fg_port_name *out, struct fg_error *err)
{
	const char *comma = strchrnul(text, ',');
	const char *second = *comma == ',' ? comma + 1 : "";

	if (comma != text && copy(out->text, sizeof(out->text), text, (size_t)(comma - text)) != 0)
		goto bad;
	if (*comma == ',' && copy(out->second, sizeof(out->second), second, strlen(second)) != 0)
		goto bad;
	if ((*out->text != '\0' || *out->second != '\0') && is_plain_path(out->text) &&
	    is_plain_path(out->second))
		return 0;
bad:
	return fg_error_set(
		err, EINVAL, "device",
		"\"pcap:%.60s\" names no file; expected pcap:IN (its frames arrive), pcap:IN,OUT (and what is sent goes to OUT) or pcap:,OUT",
		text);
}

static int
parse_vdev(const char *text, struct fg_port_name *out, struct fg_error *err)
{
	size_t name = strcspn(text, ",");

	if (name == 0 || name >= FG_PORT_DEVICE_NAME || !isalpha((unsigned char)*text) ||
	    copy(out->text, sizeof(out->text), text, strlen(text)) != 0)
		return fg_error_set(
			err, EINVAL, "device",
			"\"vdev:%.60s\" names no driver; expected what DPDK's --vdev takes, such as vdev:net_null0",
			text);
	return 0;
}

/* [domain:]bus:device.function, written out in full as DPDK and the kernel name it */
static bool
parse_pci(const char *text, struct fg_port_name *out)
{
	unsigned domain = 0, bus, device, function;
	int end = -1;

	if (strspn(text, "0123456789abcdefABCDEF:.") != strlen(text))
		return false;
	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &end) != 4 ||
	    text[end] != '\0') {
		domain = 0;
		end = -1;
		if (sscanf(text, "%2x:%2x.%1x%n", &bus, &device, &function, &end) != 3 || text[end] != '\0')
			return false;
	}
	if (device > 0x1f || function > 7)
		return false;
	snprintf(out->text, sizeof(out->text), "%04x:%02x:%02x.%x", domain, bus, device, function);
	return true;
}

static bool
parse_wire(const char *text)
{
	return strncmp(text, "wire", 4) == 0 && text[4] != '\0' &&
	       strspn(text + 4, "0123456789") == strlen(text + 4);
}

int
fg_port_name_parse(const char *device, struct fg_port_name *out, struct fg_error *err)
{
	static const struct {
		const char *prefix;
		enum fg_port_kind kind;
		int (*parse)(const char *text, struct fg_port_name *out, struct fg_error *err);
	} forms[] = {
		{"kernel:", FG_PORT_KERNEL, parse_kernel},
		{"memif:", FG_PORT_MEMIF, parse_memif},
		{"pcap:", FG_PORT_PCAP, parse_pcap},
		{"vdev:", FG_PORT_VDEV, parse_vdev},
	};

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t length = strlen(forms[i].prefix);

		if (strncmp(device, forms[i].prefix, length) != 0)
			continue;
		out->kind = forms[i].kind;
		return forms[i].parse(device + length, out, err);
	}
	if (parse_wire(device)) {
		out->kind = FG_PORT_WIRE;
		return copy(out->text, sizeof(out->text), device, strlen(device)) == 0
			       ? 0
			       : fg_error_set(err, EINVAL, "device", "\"%.40s...\" is too long for a device",
					      device);
	}
	if (parse_pci(device, out)) {
		out->kind = FG_PORT_PCI;
		return 0;
	}
	return fg_error_set(err, EINVAL, "device", "\"%.60s\" is not a device; " FORMS, device);
}

bool
fg_port_name_physical(const struct fg_port_name *name)
{
	switch (name->kind) {
	case FG_PORT_KERNEL:
	case FG_PORT_PCI:
		return true;
	case FG_PORT_WIRE:
	case FG_PORT_MEMIF:
	case FG_PORT_PCAP:
		return false;
	case FG_PORT_VDEV:
		break;
	}
	/* the pcap driver opens files or, given iface=, kernel interfaces */
	if (strncmp(name->text, "net_pcap", 8) == 0)
		return strstr(name->text, "iface=") != NULL;
	for (size_t i = 0; i < sizeof(local_drivers) / sizeof(local_drivers[0]); i++)
		if (strncmp(name->text, local_drivers[i], strlen(local_drivers[i])) == 0)
			return false;
	return true;
}

int
fg_port_check_name(const char *device, bool *physical, struct fg_error *err)
{
	struct fg_port_name name;
	int ret = fg_port_name_parse(device, &name, err);

	if (ret == 0 && physical != NULL)
		*physical = fg_port_name_physical(&name);
	return ret;
}
