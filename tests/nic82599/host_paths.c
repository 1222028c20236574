/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree that stands for /sys/bus/pci, /sys/module/vfio*, /sys/kernel/iommu_groups and /dev/vfio, in a
 * folder of its own. The machine's real cards are not in it, so a program on the model can
 * neither see nor touch them.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

#define GROUP 80 /* of card 0 */

static char tree[96];

static const struct {
	const char *real, *ours;
} places[] = {
	{"/sys/bus/pci", "pci"},
	{"/sys/module/vfio", "module/vfio"},
	{"/sys/kernel/iommu_groups", "groups"},
	{"/dev/vfio", "vfio"},
};

const char *
host_redirect(const char *path, char *room, size_t size)
{
	if (tree[0] == '\0' || path == NULL)
		return path;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t length = strlen(places[i].real);

		if (strncmp(path, places[i].real, length) != 0)
			continue;
		snprintf(room, size, "%s/%s%s", tree, places[i].ours, path + length);
		return room;
	}
	return path;
}

static void
folder(const char *name)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	mkdir(path, 0755);
}

static void
file(const char *name, const void *bytes, size_t length)
{
	char path[320];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	f = fopen(path, "w");
	if (f == NULL)
		return;
	fwrite(bytes, 1, length, f);
	fclose(f);
}

static void
device_file(const struct nic_card *card, const char *name, const char *value)
{
	char path[192];

	snprintf(path, sizeof(path), "pci/devices/%s/%s", card->address, name);
	file(path, value, strlen(value));
}

static void
link_to(const struct nic_card *card, const char *name, const char *target)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/pci/devices/%s/%s", tree, card->address, name);
	if (symlink(target, path) != 0)
		perror(path);
}

/* PCI configuration: the identity, two memory BARs, and power, MSI, MSI-X and PCIe capabilities in a list */
void
host_config_space(const struct nic_card *card, uint8_t c[256])
{
	uint32_t bar0 = 0xf0000000u + card->index * 0x100000, bar4 = bar0 + 0x80000;

	memset(c, 0, 256);
	c[0x00] = 0x86, c[0x01] = 0x80, c[0x02] = 0xfb, c[0x03] = 0x10;
	c[0x06] = 0x10; /* a list of capabilities */
	c[0x08] = 1;
	c[0x0b] = 2; /* network controller */
	memcpy(c + 0x10, &bar0, 4);
	memcpy(c + 0x20, &bar4, 4);
	c[0x2c] = 0x86, c[0x2d] = 0x80, c[0x2e] = 0x03;
	c[0x34] = 0x40;
	c[0x40] = 0x01, c[0x41] = 0x50;
	c[0x50] = 0x05, c[0x51] = 0x70;
	c[0x70] = 0x11, c[0x71] = 0xa0, c[0x72] = NIC_VECTORS - 1;
	c[0x74] = 4, c[0x78] = 4, c[0x79] = 0x20; /* table and pending bits in BAR 4 */
	c[0xa0] = 0x10, c[0xa2] = 2;
	c[0xb2] = 0x82; /* link status: eight lanes of 5 GT/s */
}

static void
make_device(const struct nic_card *card)
{
	char path[128], resource[512] = "", group[96];
	unsigned long long base = 0xf0000000ull + card->index * 0x100000ull;
	uint8_t config[256];
	int used = 0;

	snprintf(path, sizeof(path), "pci/devices/%s", card->address);
	folder(path);
	for (int bar = 0; bar < 7; bar++) {
		unsigned long long first = bar == 0 ? base : bar == 4 ? base + 0x80000 : 0;
		unsigned long long last = bar == 0 ? base + NIC_BAR0 - 1 : bar == 4 ? base + 0x83fff : 0;

		used += snprintf(resource + used, sizeof(resource) - (size_t)used,
				 "0x%016llx 0x%016llx 0x%016llx\n", first, last,
				 first != 0 ? 0x40200ull : 0ull);
	}
	device_file(card, "resource", resource);
	device_file(card, "vendor", "0x8086\n");
	device_file(card, "device", "0x10fb\n");
	device_file(card, "subsystem_vendor", "0x8086\n");
	device_file(card, "subsystem_device", "0x0003\n");
	device_file(card, "class", "0x020000\n");
	device_file(card, "sriov_numvfs", "0\n");
	device_file(card, "numa_node", "0\n");
	device_file(card, "current_link_speed", "5.0 GT/s PCIe\n");
	device_file(card, "current_link_width", "8\n");
	device_file(card, "max_link_speed", "5.0 GT/s PCIe\n");
	device_file(card, "max_link_width", "8\n");
	host_config_space(card, config);
	snprintf(path, sizeof(path), "pci/devices/%s/config", card->address);
	file(path, config, sizeof(config));
	link_to(card, "driver", "../../drivers/vfio-pci");
	snprintf(group, sizeof(group), "groups/%u", GROUP + card->index);
	folder(group);
	snprintf(group, sizeof(group), "../../../groups/%u", GROUP + card->index);
	link_to(card, "iommu_group", group);
	snprintf(path, sizeof(path), "vfio/%u", GROUP + card->index);
	file(path, "", 0);
}

bool
host_make_tree(void)
{
	/* not by the process id: one that crashed has left its tree, and its id comes again. The test removes
	 * the runtime folder, whatever became of the program. */
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	snprintf(tree, sizeof(tree), "%s/nic82599-XXXXXX", runtime == NULL ? "/tmp" : runtime);
	if (mkdtemp(tree) == NULL || chmod(tree, 0755) != 0) {
		perror(tree);
		tree[0] = '\0';
		return false;
	}
	folder("pci");
	folder("pci/devices");
	folder("pci/drivers");
	folder("pci/drivers/vfio-pci");
	folder("module");
	folder("module/vfio");
	folder("module/vfio_pci");
	folder("groups");
	folder("vfio");
	file("vfio/vfio", "", 0);
	for (unsigned i = 0; i < nic_options.cards; i++)
		make_device(&nic_cards[i]);
	return true;
}

static void
remove_below(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char below[512];

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (unlink(below) != 0)
			remove_below(below);
	}
	if (dir != NULL)
		closedir(dir);
	rmdir(path);
}

void
host_remove_device(const struct nic_card *card, bool held)
{
	char path[192], config[256];

	memset(config, 0xff, sizeof(config));
	snprintf(path, sizeof(path), "pci/devices/%s/config", card->address);
	file(path, config, sizeof(config));
	snprintf(path, sizeof(path), "%s/pci/devices/%s", tree, card->address);
	if (!held)
		remove_below(path);
}

void
host_remove_tree(void)
{
	if (tree[0] != '\0')
		remove_below(tree);
	tree[0] = '\0';
}
