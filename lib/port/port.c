/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening a port by name: which bus, driver and arguments stand behind each kind of name, and what to tell a
 * person whose device does not open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>
#include <rte_ether.h>

#include "fg_unique_name.h"
#include "port_priv.h"

#define USUAL_MAX_FRAME 1518

static int
start_device(const struct fg_port_config *config, const char *bus, const char *device, const char *args,
	     struct fg_port **out, struct fg_error *err)
{
	struct fg_ethdev_config wanted = {
		.port = config,
		.bus = bus,
		.device = device,
		.args = args,
		.max_frame = config->max_frame != 0 ? config->max_frame : USUAL_MAX_FRAME,
		.sockets = strncmp(device, "net_af_xdp", strlen("net_af_xdp")) == 0 ? AF_XDP : 0,
	};
	struct fg_ethdev *dev = calloc(1, sizeof(*dev));
	int ret;

	if (dev == NULL)
		return fg_error_set(err, ENOMEM, "device", "no memory for the port");
	ret = fg_ethdev_start(dev, &wanted, err);
	if (ret != 0) {
		free(dev);
		return ret;
	}
	*out = &dev->port;
	return 0;
}

/* DPDK's driver goes on behind a record that libpcap cannot read, and takes what is in it for others */
static int
check_capture(const char *path, struct fg_error *err)
{
	char problem[PCAP_ERRBUF_SIZE] = "it is no regular file";
	struct stat status;
	/* a pipe may have no writer */
	const bool other = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
	pcap_t *in = other ? NULL : pcap_open_offline(path, problem);
	struct pcap_pkthdr *header;
	unsigned long long number = 0;
	const u_char *data;
	int ret = 0;

	if (in == NULL)
		return fg_error_set(err, EINVAL, "device", "%s is no capture: %s", path, problem);
	while ((ret = pcap_next_ex(in, &header, &data)) == 1) {
		number++;
		if (header->caplen < RTE_ETHER_HDR_LEN || header->caplen > UINT16_MAX)
			break;
	}
	if (ret == 1)
		ret = fg_error_set(err, EINVAL, "device", "frame %llu of %s has %u bytes; expected %d to %d",
				   number, path, header->caplen, RTE_ETHER_HDR_LEN, UINT16_MAX);
	else if (ret == PCAP_ERROR)
		ret = fg_error_set(err, EINVAL, "device", "%s cannot be read behind frame %llu: %s", path,
				   number, pcap_geterr(in));
	else
		ret = 0; /* the end */
	pcap_close(in);
	return ret;
}

/* libpcap would wait for the other end of a pipe; and what is read is read twice */
static int
check_pipe(const char *path, struct fg_error *err)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISFIFO(status.st_mode))
		return fg_error_set(err, EINVAL, "device", "%s is a pipe; expected a file", path);
	return 0;
}

static int
open_pcap(const struct fg_port_config *config, const struct fg_port_name *name, struct fg_port **out,
	  struct fg_error *err)
{
	char device[FG_PORT_DEVICE_NAME], args[1100];
	bool in = *name->text != '\0', written = *name->second != '\0';
	int ret;

	if (in && access(name->text, R_OK) != 0)
		return fg_error_set(err, errno, "device", "%s cannot be read: %s", name->text,
				    strerror(errno));
	ret = in ? check_pipe(name->text, err) : 0;
	if (ret == 0 && written)
		ret = check_pipe(name->second, err);
	if (ret == 0 && in)
		ret = check_capture(name->text, err);
	if (ret != 0)
		return ret;
	fg_unique_name(device, sizeof(device), "net_pcap");
	snprintf(args, sizeof(args), "%s%s%s%s%s", in ? "rx_pcap=" : "", name->text, in && written ? "," : "",
		 written ? "tx_pcap=" : "", name->second);
	ret = start_device(config, "vdev", device, args, out, err);
	if (ret != 0)
		return ret;
	(*out)->caps.finite = in;
	(*out)->caps.runts = written;
	snprintf((*out)->caps.mode, sizeof((*out)->caps.mode), "capture file%s", in && written ? "s" : "");
	return 0;
}

/* Never the interface that the host needs, nor one that another process takes frames from */
static int
examine_interface(const char *name, struct fg_error *err)
{
	int netlink = fg_netlink_open(), ret = 0;
	struct fg_link link;

	if (fg_netlink_has_default_route(name))
		ret = fg_error_set(
			err, EPERM, "device",
			"%s carries this host's default route; a test there would cut the host off", name);
	else if (netlink >= 0 && fg_netlink_link(netlink, name, 0, &link) == 0)
		ret = fg_xdp_refuse_foreign(name, &link, err);
	if (netlink >= 0)
		close(netlink);
	return ret;
}

/* Some virtual devices sit on a kernel interface, which their arguments name by one key or another */
static int
examine_arguments(const char *arguments, struct fg_error *err)
{
	char value[FG_PORT_INTERFACE_NAME];
	int ret = 0;

	for (const char *equals = strchr(arguments, '='); ret == 0 && equals != NULL;
	     equals = strchr(equals + 1, '=')) {
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(equals + 1, ","), equals + 1);
		ret = examine_interface(value, err);
	}
	return ret;
}

static int
open_vdev(const struct fg_port_config *config, const struct fg_port_name *name, struct fg_port **out,
	  struct fg_error *err)
{
	char device[FG_PORT_DEVICE_NAME];
	size_t length = strcspn(name->text, ",");
	const char *args = name->text[length] == ',' ? name->text + length + 1 : "";
	int ret = examine_arguments(args, err);

	if (ret != 0)
		return ret;
	snprintf(device, sizeof(device), "%.*s", (int)length, name->text);
	ret = start_device(config, "vdev", device, args, out, err);
	if (ret == 0)
		snprintf((*out)->caps.mode, sizeof((*out)->caps.mode), "DPDK virtual device");
	return ret;
}

static int
open_pci(const struct fg_port_config *config, const struct fg_port_name *name, struct fg_port **out,
	 struct fg_error *err)
{
	int ret = fg_pci_check(name->text, err);

	if (ret == 0)
		ret = start_device(config, "pci", name->text, "", out, err);
	if (ret == 0)
		snprintf((*out)->caps.mode, sizeof((*out)->caps.mode), "PCI %.16s", name->text);
	return ret;
}

static int
open_by_kind(const struct fg_port_config *config, const struct fg_port_name *name, struct fg_port **out,
	     struct fg_error *err)
{
	switch (name->kind) {
	case FG_PORT_KERNEL:
		return fg_kernel_open(config, name, out, err);
	case FG_PORT_MEMIF:
		return fg_memif_open(config, name, out, err);
	case FG_PORT_PCAP:
		return open_pcap(config, name, out, err);
	case FG_PORT_PCI:
		return open_pci(config, name, out, err);
	case FG_PORT_VDEV:
		return open_vdev(config, name, out, err);
	case FG_PORT_WIRE:
		break;
	}
	return fg_error_set(err, EINVAL, "device",
			    "%s is an end of the virtual wire, not a device of this machine", name->text);
}

/* a driver reports how many it has; but some devices have only one of what is used here */
static int
check_wishes(const struct fg_port_config *config, const struct fg_port_name *name, struct fg_error *err)
{
	bool single = name->kind == FG_PORT_KERNEL || name->kind == FG_PORT_PCAP;

	if (config->queues > FG_MAX_QUEUES)
		return fg_error_set(err, ERANGE, "queues", "%u queues: at most %d", config->queues,
				    FG_MAX_QUEUES);
	if (config->queues > 1 && single)
		return fg_error_set(err, ERANGE, "queues", "%u queues: %s has 1", config->queues,
				    config->device);
	if (config->stamps && single)
		return fg_error_set(err, ENOTSUP, "rx_stamps", "%s offers no receive stamps", config->device);
	return 0;
}

/* the key of the plan that an error is about */
static const char *
key_of(const struct fg_error *err)
{
	return strcmp(err->where, "queues") == 0      ? "queues"
	       : strcmp(err->where, "rx_stamps") == 0 ? "rx_stamps"
						      : "device";
}

int
fg_port_open(const struct fg_port_config *config, struct fg_port **out, struct fg_error *err)
{
	struct fg_port_name name;
	struct fg_port *port;
	int ret = fg_port_name_parse(config->device, &name, err);

	if (ret == 0 && name.kind != FG_PORT_WIRE && !fg_eal_is_running())
		ret = fg_error_set(err, EINVAL, "device", "DPDK is not running: fg_host_start() comes first");
	if (ret == 0)
		ret = check_wishes(config, &name, err);
	if (ret == 0)
		ret = open_by_kind(config, &name, &port, err);
	if (ret != 0) {
		if (err != NULL)
			snprintf(err->where, sizeof(err->where), "ports.%s.%s", config->name, key_of(err));
		return ret;
	}
	port->caps.physical = fg_port_name_physical(&name);
	port->ops->link_up(port); /* if it is up already, the line rate is known */
	snprintf(port->name, sizeof(port->name), "%s", config->name);
	snprintf(port->device, sizeof(port->device), "%s", config->device);
	for (unsigned i = 1; i < port->queues; i++) {
		port->lanes[i - 1]->caps = port->caps;
		memcpy(port->lanes[i - 1]->name, port->name, sizeof(port->name));
		memcpy(port->lanes[i - 1]->device, port->device, sizeof(port->device));
	}
	*out = port;
	return 0;
}

struct fg_port *
fg_port_lane(struct fg_port *port, unsigned queue)
{
	return queue == 0 ? port : port->lanes[queue - 1];
}

void
fg_port_close(struct fg_port *port)
{
	if (port != NULL)
		port->ops->close(port);
}
