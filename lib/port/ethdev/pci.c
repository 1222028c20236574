/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a PCI device is ours to take. DPDK's drivers speak with the card itself, so one that the kernel
 * still runs must not be touched: some would take it over, and with it the host's own network. A device is
 * taken if it is bound to one of the drivers that hand devices to programs, or when it is of a make that
 * serves kernel and DPDK at once; and even then not if the host's default route goes through it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../port_priv.h"

#define DEVICES "/sys/bus/pci/devices/"

/* The first three hand the whole device over, the others share it with the kernel */
static const char *const drivers[] = {"vfio-pci", "igb_uio", "uio_pci_generic", "mlx4_core", "mlx5_core"};

static void
read_driver(const char *address, char *out, size_t size)
{
	char path[128], target[256];
	const char *slash;
	ssize_t length;

	snprintf(path, sizeof(path), DEVICES "%.16s/driver", address);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	slash = strrchr(target, '/');
	snprintf(out, size, "%.*s", (int)size - 1, slash != NULL ? slash + 1 : "");
}

/* The kernel interface in a folder of the device, net/IF; @return whether there is one */
static bool
read_interface(const char *folder, char *out, size_t size)
{
	DIR *net = opendir(folder);
	const struct dirent *entry;
	bool found = false;

	if (net == NULL)
		return false;
	while (!found && (entry = readdir(net)) != NULL)
		if (entry->d_name[0] != '.') {
			snprintf(out, size, "%.*s", (int)size - 1, entry->d_name);
			found = true;
		}
	closedir(net);
	return found;
}

/* Of the device itself, or of what it stands for (virtio): ADDRESS/net/IF or ADDRESS/virtioN/net/IF */
static void
find_interface(const char *address, char *out, size_t size)
{
	char path[512];
	const struct dirent *entry;
	DIR *device;

	out[0] = '\0';
	snprintf(path, sizeof(path), DEVICES "%.16s/net", address);
	if (read_interface(path, out, size))
		return;
	snprintf(path, sizeof(path), DEVICES "%.16s", address);
	device = opendir(path);
	while (device != NULL && (entry = readdir(device)) != NULL) {
		snprintf(path, sizeof(path), DEVICES "%.16s/%s/net", address, entry->d_name);
		if (entry->d_name[0] != '.' && read_interface(path, out, size))
			break;
	}
	if (device != NULL)
		closedir(device);
}

/* The kernel keeps the entry of a card that was pulled until its driver releases it: read the card, too */
bool
fg_pci_is_there(const char *address)
{
	char path[128];
	uint16_t vendor = 0;
	int fd;

	snprintf(path, sizeof(path), DEVICES "%.16s/config", address);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT;
	if (pread(fd, &vendor, sizeof(vendor), 0) != (ssize_t)sizeof(vendor))
		vendor = 0;
	close(fd);
	return vendor != UINT16_MAX; /* an absent device reads as ones */
}

int
fg_pci_check(const char *address, struct fg_error *err)
{
	char path[128], driver[64], interface[FG_PORT_INTERFACE_NAME];

	snprintf(path, sizeof(path), DEVICES "%.16s", address);
	if (access(path, F_OK) != 0)
		return fg_error_set(err, ENODEV, "device", "there is no PCI device %s; `lspci -D` lists them",
				    address);
	find_interface(address, interface, sizeof(interface));
	if (interface[0] != '\0' && fg_netlink_has_default_route(interface))
		return fg_error_set(
			err, EPERM, "device",
			"%s is %s, which carries this host's default route; a test there would cut the host off",
			address, interface);
	read_driver(address, driver, sizeof(driver));
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (strcmp(driver, drivers[i]) == 0)
			return 0;
	return fg_error_set(
		err, EBUSY, "device",
		"%s is not handed to DPDK (kernel driver: %s%s%s); do so: framegauge setup --bind %s, or name its interface as kernel:IF",
		address, driver[0] != '\0' ? driver : "none", interface[0] != '\0' ? ", interface " : "",
		interface, address);
}

int
fg_port_pci_address(const char *device, char *out, struct fg_error *err)
{
	struct fg_port_name name;
	int ret = fg_port_name_parse(device, &name, err);

	if (ret == 0 && name.kind != FG_PORT_PCI)
		ret = fg_error_set(err, EINVAL, "device", "\"%s\" is no PCI address", device);
	if (ret == 0)
		ret = fg_pci_check(name.text, err);
	if (ret == 0)
		snprintf(out, FG_PORT_PCI_ADDRESS, "%.*s", FG_PORT_PCI_ADDRESS - 1, name.text);
	return ret;
}
