/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory refused on purpose, for the campaign of faults (faults.py): preloaded, it lets the n-th allocation
 * that the program asks for fail. The allocations of its libraries are left alone, and so is what DPDK's
 * drivers do by themselves; LuaJIT takes its memory by mmap() and is left out, too. What is asked for in a
 * tail call of a function that Lua called counts as the program's.
 *
 *   FG_REFUSE=N       the N-th allocation fails, once; 0: none
 *   FG_REFUSE_LOG=F   at the end, F holds a line for each there was: where in the program it was asked for
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

enum { CALLERS = 1 << 16 };

static uintptr_t first, last;                  /* the program's own code */
static uintptr_t interpreter, interpreter_end; /* LuaJIT's: a function that ends with the call of an
						* allocation returns there */
static unsigned long victim;
static atomic_ulong asked;
static unsigned long callers[CALLERS];

static void
find_code(const struct dl_phdr_info *object, uintptr_t *begin, uintptr_t *end)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
			*begin = object->dlpi_addr + part->p_vaddr;
			*end = *begin + part->p_memsz;
		}
	}
}

static int
find_callers(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (first == 0) /* the program comes first */
		find_code(object, &first, &last);
	else if (strstr(object->dlpi_name, "libluajit") != NULL)
		find_code(object, &interpreter, &interpreter_end);
	return 0;
}

static void __attribute__((constructor)) begin(void)
{
	const char *n = getenv("FG_REFUSE");

	victim = n != NULL ? strtoul(n, NULL, 10) : 0;
	dl_iterate_phdr(find_callers, NULL);
}

static void __attribute__((destructor)) end(void)
{
	const char *path = getenv("FG_REFUSE_LOG");
	FILE *out = path != NULL ? fopen(path, "w") : NULL;

	if (out == NULL)
		return;
	for (unsigned long n = 0; n < atomic_load(&asked) && n < CALLERS; n++)
		fprintf(out, "%lx\n", callers[n]);
	fclose(out);
}

static bool
is_program(const void *caller)
{
	return (uintptr_t)caller >= first && (uintptr_t)caller < last;
}

static bool
is_interpreter(const void *caller)
{
	return (uintptr_t)caller >= interpreter && (uintptr_t)caller < interpreter_end;
}

static bool
is_refused(const void *caller)
{
	unsigned long n;

	if (!is_program(caller) && !is_interpreter(caller))
		return false;
	n = atomic_fetch_add(&asked, 1);
	if (n < CALLERS)
		callers[n] = (uintptr_t)caller - first;
	if (n + 1 != victim)
		return false;
	errno = ENOMEM;
	return true;
}

#define REFUSED    is_refused(__builtin_return_address(0))
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *
malloc(size_t size)
{
	return REFUSED ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return REFUSED ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
	return REFUSED ? NULL : __libc_realloc(old, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return REFUSED ? NULL : __libc_memalign(alignment, size);
}

char *
strdup(const char *text)
{
	char *copy = REFUSED ? NULL : __libc_malloc(strlen(text) + 1);

	return copy != NULL ? strcpy(copy, text) : NULL;
}

int
asprintf(char **out, const char *format, ...)
{
	va_list list;
	int n = -1;

	*out = NULL;
	if (REFUSED)
		return -1;
	va_start(list, format);
	n = vasprintf(out, format, list);
	va_end(list);
	return n;
}

void *
mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset)
{
	/* LuaJIT's own is not the program's */
	bool refused = is_program(__builtin_return_address(0)) && REFUSED;

	return refused ? MAP_FAILED : NEXT(mmap)(where, size, protection, flags, fd, offset);
}

FILE *
fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
	return REFUSED ? NULL : NEXT(fopencookie)(cookie, mode, functions);
}

struct rte_mempool *
rte_pktmbuf_pool_create(const char *name, unsigned n, unsigned cache, uint16_t private_size, uint16_t room,
			int socket)
{
	rte_errno = ENOMEM;
	return REFUSED ? NULL : NEXT(rte_pktmbuf_pool_create)(name, n, cache, private_size, room, socket);
}

struct rte_mempool *
rte_mempool_create_empty(const char *name, unsigned n, unsigned size, unsigned cache, unsigned private_size,
			 int socket, unsigned flags)
{
	rte_errno = ENOMEM;
	return REFUSED ? NULL
		       : NEXT(rte_mempool_create_empty)(name, n, size, cache, private_size, socket, flags);
}

struct rte_ring *
rte_ring_create(const char *name, unsigned count, int socket, unsigned flags)
{
	rte_errno = ENOMEM;
	return REFUSED ? NULL : NEXT(rte_ring_create)(name, count, socket, flags);
}
