/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XDP programs found on an interface. One that a killed tester left behind does no harm and is used again,
 * which saves everybody an `ip link set IF xdp off`. It must not be mistaken for one at work, whichever
 * program it serves: the AF_XDP driver takes away what it finds when it fails. So the program must have the
 * name libxdp gives its own, and nobody may hold the socket it feeds, which is found out by asking for the
 * place of that socket. Any other program may take what arrives before a socket of ours sees it, without a
 * count: next to it a port is not opened, and a trial proves nothing.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_xdp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../port_priv.h"

#define LIBXDP_NAME "xsk_def_prog"
#define CHUNK       4096
#define SLOTS       64

/* The kernel takes a killed process's sockets apart in its own time, a few tenths of a second at the
 * worst. */
#define LOOKS      20
#define BETWEEN_US 50000
#define RELEASE_NS 500000000u
#define PAUSE_NS   20000000

/* When a socket of AF_XDP was closed last: the kernel takes back what it held some milliseconds later */
static uint64_t last_release_ns;

void
fg_xdp_released(void)
{
	last_release_ns = fg_eal_now_ns(CLOCK_MONOTONIC);
}

bool
fg_xdp_is_settling(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	if (last_release_ns == 0 || fg_eal_now_ns(CLOCK_MONOTONIC) - last_release_ns >= RELEASE_NS)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* @param name  takes BPF_OBJ_NAME_LEN bytes. @return 0, or -EPERM: it needs CAP_SYS_ADMIN; -errno */
static int
ask_name(uint32_t program, char *name)
{
	struct bpf_prog_info info = {0};
	union bpf_attr query = {.prog_id = program};
	int fd = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &query, sizeof(query));
	int ret;

	if (fd < 0)
		return -errno;
	memset(&query, 0, sizeof(query));
	query.info.bpf_fd = (uint32_t)fd;
	query.info.info_len = sizeof(info);
	query.info.info = (uintptr_t)&info;
	ret = (int)syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &query, sizeof(query)) == 0 ? 0 : -errno;
	close(fd);
	memcpy(name, info.name, BPF_OBJ_NAME_LEN);
	return ret;
}

/* @return whether a socket of ours can have queue 0 of the interface; it is given back at once */
static bool
is_queue_free(int index)
{
	struct sockaddr_xdp address = {
		.sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY, .sxdp_ifindex = (uint32_t)index};
	void *area = mmap(NULL, SLOTS * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct xdp_umem_reg memory = {.addr = (uintptr_t)area, .len = SLOTS * CHUNK, .chunk_size = CHUNK};
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0), slots = SLOTS;
	bool is_free = area != MAP_FAILED && fd >= 0 &&
		       setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory)) == 0 &&
		       setsockopt(fd, SOL_XDP, XDP_UMEM_FILL_RING, &slots, sizeof(slots)) == 0 &&
		       setsockopt(fd, SOL_XDP, XDP_UMEM_COMPLETION_RING, &slots, sizeof(slots)) == 0 &&
		       setsockopt(fd, SOL_XDP, XDP_RX_RING, &slots, sizeof(slots)) == 0 &&
		       bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

	if (fd >= 0)
		close(fd);
	fg_xdp_released();
	if (area != MAP_FAILED)
		munmap(area, SLOTS * CHUNK);
	return is_free;
}

/* @return 0: no program could be at work; -EBUSY, with its name; -EPERM: it cannot be found out */
static int
find_user(const struct fg_link *link, unsigned looks, char *name)
{
	int ret = link->xdp_program != 0 ? ask_name(link->xdp_program, name) : -ENOENT;

	if (ret != 0)
		return ret == -ENOENT ? 0 /* it has gone meanwhile */ : -EPERM;
	for (unsigned i = 0; strcmp(name, LIBXDP_NAME) == 0 && i < looks; i++) {
		if (i > 0)
			usleep(BETWEEN_US);
		if (is_queue_free(link->index))
			return 0;
	}
	return -EBUSY;
}

int
fg_xdp_at_work(const struct fg_link *link)
{
	char name[BPF_OBJ_NAME_LEN];

	return find_user(link, 2, name); /* another tester may be looking, too */
}

int
fg_xdp_refuse_foreign(const char *interface, const struct fg_link *link, struct fg_error *err)
{
	char name[BPF_OBJ_NAME_LEN];
	int ret = find_user(link, LOOKS, name);

	if (ret == 0)
		return 0;
	if (ret == -EPERM)
		return fg_error_set(
			err, EBUSY, "device",
			"an XDP program is attached to %s, and whether it takes frames cannot be seen without CAP_SYS_ADMIN; if no other program uses it: ip link set %s xdp off",
			interface, interface);
	if (strcmp(name, LIBXDP_NAME) != 0)
		return fg_error_set(
			err, EBUSY, "device",
			"the XDP program \"%.15s\" is attached to %s and may take frames; to remove it: ip link set %s xdp off",
			name, interface, interface);
	return fg_error_set(err, EBUSY, "device",
			    "another program takes frames from %s by XDP; end it, or: ip link set %s xdp off",
			    interface, interface);
}
