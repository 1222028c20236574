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

#include "port_priv.h"

#define LIBXDP_NAME "xsk_def_prog"
#define CHUNK       4096
#define SLOTS       64

/* The kernel takes a killed process's sockets apart in its own time, a few tenths of a second at the
 * worst. */
#define LOOKS      20
#define BETWEEN_US 50000

static bool
is_of_libxdp(uint32_t program)
{
	struct bpf_prog_info info = {0};
	union bpf_attr query = {.prog_id = program};
	int fd = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &query, sizeof(query));
	int ret;

	if (fd < 0)
		return false;
	memset(&query, 0, sizeof(query));
	query.info.bpf_fd = (uint32_t)fd;
	query.info.info_len = sizeof(info);
	query.info.info = (uintptr_t)&info;
	ret = (int)syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &query, sizeof(query));
	close(fd);
	return ret == 0 && strcmp(info.name, LIBXDP_NAME) == 0;
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
	if (area != MAP_FAILED)
		munmap(area, SLOTS * CHUNK);
	return is_free;
}

static bool
is_left_over(const struct fg_link *link, unsigned looks)
{
	if (!is_of_libxdp(link->xdp_program))
		return false;
	for (unsigned i = 0; i < looks; i++) {
		if (i > 0)
			usleep(BETWEEN_US);
		if (is_queue_free(link->index))
			return true;
	}
	return false;
}

bool
fg_xdp_is_foreign(const struct fg_link *link)
{
	return link->xdp_program != 0 && !is_left_over(link, 2); /* another tester may be looking, too */
}

int
fg_xdp_refuse_foreign(const char *interface, const struct fg_link *link, struct fg_error *err)
{
	if (link->xdp_program == 0 || is_left_over(link, LOOKS))
		return 0;
	return fg_error_set(err, EBUSY, "device",
			    "another program takes frames from %s by XDP; end it, or: ip link set %s xdp off",
			    interface, interface);
}
