/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host of the cards: what lets an unmodified program find them, reach their registers and lend them
 * its memory. Loaded before the program (LD_PRELOAD), it answers a handful of libc's calls: paths below
 * /sys/bus/pci and /dev/vfio lead to a made-up tree, descriptors of VFIO are recognised in ioctl() and
 * mmap(). The page of BAR 0 allows no access; each one is a SIGSEGV whose handler takes the instruction
 * apart, asks the card, and goes on behind it. So reads have their side effects exactly once and in order.
 * Programs linked statically with DPDK work, too: nothing of DPDK itself is replaced.
 */
#ifndef NIC_HOST_H
#define NIC_HOST_H

#include <sys/types.h>

#include "nic.h"

void host_lock(void);
void host_unlock(void);

/* host_options.c: read NIC82599. @return false: the variable is not set, or wrong, which is printed */
bool host_read_options(void);

/* host_paths.c: the tree, and what a path of the system is in it */
bool host_make_tree(void);
void host_remove_tree(void);
/* It is gone: the kernel answers for it with ones, or, once its driver has let go, knows it no more */
void host_remove_device(const struct nic_card *card, bool held);
const char *host_redirect(const char *path, char *room, size_t size);
void host_config_space(const struct nic_card *card, uint8_t config[256]);

/*
 * host_calls.c: the kernel itself, whatever answers for libc; host_vfio.c: a file of VFIO, or what the
 * kernel opens
 */
long host_kernel(long number, long a, long b, long c, long d, long e, long f);
int host_open(const char *path, int flags, mode_t mode);

/* host_trap.c: BAR 0 of a card stands at this address from now on */
void host_map_bar(struct nic_card *card, uint8_t *at);
void host_catch_faults(void);
void host_release_faults(void);

/* host_memory.c */
bool host_dma_map(uint64_t address, uint64_t bus, uint64_t length);
void host_dma_unmap(uint64_t bus, uint64_t length);
void host_set_interrupt(struct nic_card *card, unsigned vector, int fd);
bool host_release_writes(double now_ns); /* @return whether some wait still */

/* host_events.c: the thread for what happens by itself, and the records of a run */
void host_start_events(void);
void host_stop_events(void);
void host_trace(const struct nic_card *card, bool write, uint32_t offset, uint32_t value);

#endif
