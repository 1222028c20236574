/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file as payload. It is mapped, and a segment is filled from where it lies: to send an octet again is to look at
 * it again. Who receives it with the same file at hand compares.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app_priv.h"

int
file_map(struct application *a, struct fg_error *err)
{
	const char *path = a->config.file;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat status;
	void *memory;

	if (fd < 0 || fstat(fd, &status) != 0) {
		rc = fg_error_set(err, errno, "l4.file", "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(status.st_mode) || status.st_size == 0) {
		rc = fg_error_set(err, EINVAL, "l4.file", "%s is no file with octets in it", path);
	} else {
		memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
		if (memory == MAP_FAILED) {
			rc = fg_error_set(err, errno, "l4.file", "%s: %s", path, strerror(errno));
		} else {
			a->file = memory;
			a->file_octets = (size_t)status.st_size;
		}
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

void
file_unmap(struct application *a)
{
	if (a->file != NULL)
		munmap((void *)(uintptr_t)a->file, a->file_octets);
}

/* of @p length octets from @p offset on, as many as lie together */
static const uint8_t *
part(const struct application *a, uint64_t offset, uint32_t length, uint32_t *together)
{
	size_t at = offset % a->file_octets, rest = a->file_octets - at;

	*together = rest < length ? (uint32_t)rest : length;
	return a->file + at;
}

void
file_fill(const struct application *a, uint64_t offset, uint8_t *to, uint32_t length)
{
	for (uint32_t n = 0; length > 0; offset += n, to += n, length -= n) {
		const uint8_t *octets = part(a, offset, length, &n);

		memcpy(to, octets, n);
	}
}

uint32_t
file_wrong(const struct application *a, uint64_t offset, const uint8_t *data, uint32_t length)
{
	uint32_t wrong = 0;

	for (uint32_t n = 0; a->file != NULL && length > 0; offset += n, data += n, length -= n) {
		const uint8_t *expected = part(a, offset, length, &n);

		if (memcmp(data, expected, n) == 0)
			continue;
		for (uint32_t i = 0; i < n; i++)
			wrong += data[i] != expected[i];
	}
	return wrong;
}
