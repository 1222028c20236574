/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libc's calls that this library answers in the program's place: those on descriptors of VFIO
 * (<linux/vfio.h>, type 1). The device's descriptor is a sparse file in memory with region i at i << 40, so
 * that reads of its configuration space need no help. All else goes to the kernel as it came.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"

#define DESCRIPTORS 4096
#define FIRST_GROUP 80
#define REGION(i)   ((uint64_t)(i) << 40)
#define BAR4        0x4000u

enum kind { NONE, CONTAINER, GROUP, DEVICE };

static struct {
	uint8_t kind, card;
} descriptors[DESCRIPTORS];
static bool in_container[NIC_CARDS];
static pid_t owner;
static int lock;

void
host_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
}

void
host_unlock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static int
in_memory(const char *name, enum kind kind, unsigned card)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd >= DESCRIPTORS) {
		host_kernel(SYS_close, fd, 0, 0, 0, 0, 0);
		errno = EMFILE;
		return -1;
	}
	if (fd >= 0) {
		descriptors[fd].kind = (uint8_t)kind;
		descriptors[fd].card = (uint8_t)card;
	}
	return fd;
}

static int
open_device(struct nic_card *card)
{
	int fd = in_memory("nic82599-device", DEVICE, card->index);
	uint8_t config[256];

	host_config_space(card, config);
	if (fd < 0 || ftruncate(fd, (off_t)REGION(8)) != 0 ||
	    pwrite(fd, config, sizeof(config), (off_t)REGION(VFIO_PCI_CONFIG_REGION_INDEX)) !=
		    (ssize_t)sizeof(config))
		return -1;
	return fd;
}

/* /dev/vfio/vfio is the container, /dev/vfio/N a group. @return -2: the path is another */
static int
open_vfio(const char *path)
{
	unsigned group;

	if (owner == 0 || path == NULL || strncmp(path, "/dev/vfio/", 10) != 0)
		return -2;
	if (strcmp(path + 10, "vfio") == 0)
		return in_memory("nic82599-container", CONTAINER, 0);
	group = (unsigned)atoi(path + 10) - FIRST_GROUP;
	if (group >= nic_options.cards || nic_cards[group].removed) {
		errno = ENOENT;
		return -1;
	}
	return in_memory("nic82599-group", GROUP, group);
}

int
host_open(const char *path, int flags, mode_t mode)
{
	char room[512];
	int fd = open_vfio(path);

	return fd != -2
		       ? fd
		       : (int)host_kernel(SYS_openat, AT_FDCWD, (long)host_redirect(path, room, sizeof(room)),
					  flags, (long)mode, 0, 0);
}

int
close(int fd)
{
	if (fd >= 0 && fd < DESCRIPTORS)
		descriptors[fd].kind = NONE;
	return (int)host_kernel(SYS_close, fd, 0, 0, 0, 0, 0);
}

static void *
map(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	void *at;

	if (fd < 0 || fd >= DESCRIPTORS || descriptors[fd].kind != DEVICE || offset != 0)
		return (void *)host_kernel(SYS_mmap, (long)address, (long)length, protection, flags, fd,
					   offset);
	at = (void *)host_kernel(SYS_mmap, (long)address, (long)length, PROT_NONE, flags, fd, offset);
	if (at != MAP_FAILED)
		host_map_bar(&nic_cards[descriptors[fd].card], at);
	return at;
}

void *
mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	return map(address, length, protection, flags, fd, offset);
}

void *
mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset)
{
	return map(address, length, protection, flags, fd, offset);
}

static int
map_dma(const struct vfio_iommu_type1_dma_map *request)
{
	bool done;

	host_lock();
	done = host_dma_map(request->vaddr, request->iova, request->size);
	host_unlock();
	errno = ENOSPC;
	return done ? 0 : -1;
}

static int
container_ioctl(unsigned long request, void *argument)
{
	const struct vfio_iommu_type1_dma_unmap *unmap = argument;

	switch (request) {
	case VFIO_GET_API_VERSION:
		return VFIO_API_VERSION;
	case VFIO_CHECK_EXTENSION:
		return (uintptr_t)argument == VFIO_TYPE1_IOMMU || (uintptr_t)argument == VFIO_TYPE1v2_IOMMU;
	case VFIO_SET_IOMMU:
		return 0;
	case VFIO_IOMMU_MAP_DMA:
		return map_dma(argument);
	case VFIO_IOMMU_UNMAP_DMA:
		host_lock();
		host_dma_unmap(unmap->iova, unmap->size);
		host_unlock();
		return 0;
	default:
		errno = ENOTTY;
		return -1;
	}
}

static int
group_ioctl(unsigned card, unsigned long request, void *argument)
{
	struct vfio_group_status *status = argument;

	switch (request) {
	case VFIO_GROUP_GET_STATUS:
		status->flags =
			VFIO_GROUP_FLAGS_VIABLE | (in_container[card] ? VFIO_GROUP_FLAGS_CONTAINER_SET : 0);
		return 0;
	case VFIO_GROUP_SET_CONTAINER:
		in_container[card] = true;
		return 0;
	case VFIO_GROUP_UNSET_CONTAINER:
		in_container[card] = false;
		return 0;
	case VFIO_GROUP_GET_DEVICE_FD:
		return open_device(&nic_cards[card]);
	default:
		errno = ENOTTY;
		return -1;
	}
}

static int
describe_region(struct vfio_region_info *region)
{
	region->argsz = sizeof(*region);
	region->cap_offset = 0;
	region->offset = REGION(region->index);
	region->flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	switch (region->index) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		region->size = NIC_BAR0;
		region->flags |= VFIO_REGION_INFO_FLAG_MMAP;
		return 0;
	case VFIO_PCI_BAR4_REGION_INDEX:
		region->size = BAR4;
		return 0;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		region->size = 256;
		return 0;
	default:
		region->size = 0;
		region->flags = 0;
		return 0;
	}
}

static int
set_interrupts(struct nic_card *card, const struct vfio_irq_set *set)
{
	int fd;

	host_lock();
	for (uint32_t i = 0; i < set->count; i++) {
		if (set->flags & VFIO_IRQ_SET_DATA_EVENTFD) {
			memcpy(&fd, set->data + i * sizeof(fd), sizeof(fd));
			host_set_interrupt(card, set->start + i, fd);
		} else if (set->flags & VFIO_IRQ_SET_ACTION_TRIGGER)
			host_interrupt(card, set->start + i);
	}
	for (unsigned v = 0; set->count == 0 && v < NIC_VECTORS; v++)
		host_set_interrupt(card, v, -1);
	host_unlock();
	return 0;
}

static int
device_ioctl(struct nic_card *card, unsigned long request, void *argument)
{
	struct vfio_device_info *info = argument;
	struct vfio_irq_info *irq = argument;

	switch (request) {
	case VFIO_DEVICE_GET_INFO:
		info->flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
		info->num_regions = VFIO_PCI_NUM_REGIONS;
		info->num_irqs = VFIO_PCI_NUM_IRQS;
		return 0;
	case VFIO_DEVICE_GET_REGION_INFO:
		return describe_region(argument);
	case VFIO_DEVICE_GET_IRQ_INFO:
		irq->flags = VFIO_IRQ_INFO_EVENTFD | (irq->index > 0 ? VFIO_IRQ_INFO_NORESIZE : 0);
		irq->count = irq->index == VFIO_PCI_MSIX_IRQ_INDEX ? NIC_VECTORS : 1;
		return 0;
	case VFIO_DEVICE_SET_IRQS:
		return ((struct vfio_irq_set *)argument)->index <= VFIO_PCI_MSIX_IRQ_INDEX
			       ? set_interrupts(card, argument)
			       : 0;
	case VFIO_DEVICE_RESET:
		host_lock();
		nic_reset(card);
		host_unlock();
		return 0;
	default:
		errno = ENOTTY;
		return -1;
	}
}

int
ioctl(int fd, unsigned long request, ...)
{
	enum kind kind = fd >= 0 && fd < DESCRIPTORS ? (enum kind)descriptors[fd].kind : NONE;
	void *argument;
	va_list list;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	switch (kind) {
	case CONTAINER:
		return container_ioctl(request, argument);
	case GROUP:
		return group_ioctl(descriptors[fd].card, request, argument);
	case DEVICE:
		return device_ioctl(&nic_cards[descriptors[fd].card], request, argument);
	default:
		return (int)host_kernel(SYS_ioctl, fd, (long)request, (long)argument, 0, 0, 0);
	}
}

/* Programs that this one starts run without the model: the tree and the cards are one process's */
__attribute__((constructor)) static void
begin(void)
{
	if (!host_read_options())
		return;
	unsetenv("LD_PRELOAD");
	for (unsigned i = 0; i < nic_options.cards; i++) {
		struct nic_card *card = &nic_cards[i];

		card->buffer = malloc(NIC_BUFFER + 2 * NIC_FRAME);
		if (card->buffer == NULL)
			abort();
		card->peer = (int)(nic_options.crossed ? i ^ 1 : i);
		if (card->peer >= (int)nic_options.cards)
			card->peer = -1;
		nic_init(card, i);
	}
	if (!host_make_tree())
		exit(2);
	owner = getpid();
	host_catch_faults();
	host_start_events();
}

__attribute__((destructor)) static void
end(void)
{
	if (owner == 0 || getpid() != owner)
		return;
	host_stop_events();
	host_remove_tree();
}
