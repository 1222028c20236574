/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libc's calls that take a path, and syscall(), answered in the program's place: a path of the system may
 * lead into the made-up tree. All else goes to the kernel as it came.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"

/* The kernel itself: syscall() of libc is one of the calls that are answered here */
long
host_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

#define OPEN(name)                                                                 \
	int name(const char *path, int flags, ...)                                 \
	{                                                                          \
		va_list list;                                                      \
		mode_t mode;                                                       \
		va_start(list, flags);                                             \
		mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(list, mode_t) : 0; \
		va_end(list);                                                      \
		return host_open(path, flags, mode);                               \
	}
OPEN(open)
OPEN(open64)

/* What they are called where _FORTIFY_SOURCE is on and no file can be created */
#define OPEN_CHECKED(name)                        \
	int name(const char *path, int flags);    \
	int name(const char *path, int flags)     \
	{                                         \
		return host_open(path, flags, 0); \
	}
OPEN_CHECKED(__open_2)
OPEN_CHECKED(__open64_2)

/* The next definition of a function is libc's own */
#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))

typedef FILE *(*open_file)(const char *, const char *);
typedef DIR *(*open_folder)(const char *);
typedef char *(*resolve)(const char *, char *);
typedef int (*list_folder)(const char *, void *, void *, void *);

FILE *
fopen(const char *path, const char *mode)
{
	char room[512];

	return NEXT(open_file, "fopen")(host_redirect(path, room, sizeof(room)), mode);
}

FILE *
fopen64(const char *path, const char *mode)
{
	char room[512];

	return NEXT(open_file, "fopen64")(host_redirect(path, room, sizeof(room)), mode);
}

DIR *
opendir(const char *path)
{
	char room[512];

	return NEXT(open_folder, "opendir")(host_redirect(path, room, sizeof(room)));
}

char *
realpath(const char *path, char *out)
{
	char room[512];

	return NEXT(resolve, "realpath")(host_redirect(path, room, sizeof(room)), out);
}

#define STAT(name, type, flags)                                                                             \
	int name(const char *path, struct type *out)                                                        \
	{                                                                                                   \
		char room[512];                                                                             \
		return (int)host_kernel(SYS_newfstatat, AT_FDCWD,                                           \
					(long)host_redirect(path, room, sizeof(room)), (long)out, flags, 0, \
					0);                                                                 \
	}
STAT(stat, stat, 0)
STAT(stat64, stat64, 0)
STAT(lstat, stat, AT_SYMLINK_NOFOLLOW)
STAT(lstat64, stat64, AT_SYMLINK_NOFOLLOW)

#define SCANDIR(name, entry)                                                                          \
	int name(const char *path, struct entry ***out, int (*select)(const struct entry *),          \
		 int (*compare)(const struct entry **, const struct entry **))                        \
	{                                                                                             \
		char room[512];                                                                       \
		return NEXT(list_folder, #name)(host_redirect(path, room, sizeof(room)), out, select, \
						compare);                                             \
	}
SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)

/* libuv asks for statx() this way */
long
syscall(long number, ...)
{
	char room[512];
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_statx)
		a[1] = (long)host_redirect((const char *)a[1], room, sizeof(room));
	return host_kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int
access(const char *path, int mode)
{
	char room[512];

	return (int)host_kernel(SYS_faccessat, AT_FDCWD, (long)host_redirect(path, room, sizeof(room)), mode,
				0, 0, 0);
}

ssize_t
readlink(const char *path, char *out, size_t size)
{
	char room[512];

	return host_kernel(SYS_readlinkat, AT_FDCWD, (long)host_redirect(path, room, sizeof(room)), (long)out,
			   (long)size, 0, 0);
}
