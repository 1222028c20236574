/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What EAL's interrupt thread unmaps takes long here, so that whatever else touches the same device meanwhile
 * does so every time and not once in a hundred. The program's own munmap() and close() stand in front of the
 * C library's; they keep count of what is given back twice.
 */
#ifndef SLOW_TEARDOWN_H
#define SLOW_TEARDOWN_H

#include <atomic>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RING_BYTES = 1 << 20, SLOW_US = 20000 };

inline std::atomic<void *> unmapping{nullptr}; /* the rings that are being unmapped */
inline std::atomic<int> unmapped_twice{0}, closed_twice{0};

inline bool
InInterruptThread()
{
	char name[32] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	return strstr(name, "intr") != nullptr;
}

extern "C" int
munmap(void *address, size_t length)
{
	int ret;

	if (length < RING_BYTES)
		return (int)syscall(SYS_munmap, address, length);
	unmapped_twice += unmapping.exchange(address) == address;
	if (InInterruptThread())
		usleep(SLOW_US);
	ret = (int)syscall(SYS_munmap, address, length);
	unmapping = nullptr;
	return ret;
}

extern "C" int
close(int fd)
{
	int ret = (int)syscall(SYS_close, fd);

	closed_twice += ret != 0 && errno == EBADF;
	return ret;
}

#endif
