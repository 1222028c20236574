/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cycles of frame sizes. Here a list becomes tables; which list a genome, a mix or a range means is for the
 * plan to say (framegauge.traffic.sizes).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_sizes.h"

static struct fg_sizes *
allocate(uint32_t length, uint32_t kinds, struct fg_error *err)
{
	size_t tables = length * (sizeof(uint32_t) + sizeof(uint16_t)) + kinds * sizeof(uint16_t);
	struct fg_sizes *s = calloc(1, sizeof(*s) + tables);

	if (s == NULL) {
		fg_error_set(err, ENOMEM, "stream.size", "no memory for a cycle of %u frames", length);
		return NULL;
	}
	s->length = length;
	s->kinds = kinds;
	s->before = (uint32_t *)(s + 1);
	s->kind = (uint16_t *)(s->before + length);
	s->size = s->kind + length;
	return s;
}

static int
check_list(const uint16_t *list, unsigned n, struct fg_error *err)
{
	if (n == 0 || n > FG_SIZES_MAX)
		return fg_error_set(err, ERANGE, "stream.size", "a cycle of %u frames: has 1 to %d", n,
				    FG_SIZES_MAX);
	for (unsigned i = 0; i < n; i++)
		if (list[i] == 0)
			return fg_error_set(err, ERANGE, "stream.size", "frame %u has no bytes", i);
	return 0;
}

int
fg_sizes_create(const uint16_t *list, unsigned n, struct fg_sizes **out, struct fg_error *err)
{
	int rc = check_list(list, n, err);
	uint16_t *number; /* of a size's kind, counted from 1 */
	struct fg_sizes *s;
	unsigned kinds = 0;

	if (rc != 0)
		return rc;
	number = calloc(UINT16_MAX + 1, sizeof(*number));
	if (number == NULL)
		return fg_error_set(err, ENOMEM, "stream.size", "no memory");
	for (unsigned i = 0; i < n; i++)
		if (number[list[i]] == 0)
			number[list[i]] = (uint16_t)++kinds;
	s = allocate(n, kinds, err);
	for (unsigned i = 0; i < n && s != NULL; i++) {
		s->before[i] = (uint32_t)s->octets;
		s->octets += list[i];
		s->kind[i] = number[list[i]] - 1;
		s->size[s->kind[i]] = list[i];
	}
	free(number);
	if (s == NULL)
		return -ENOMEM;
	*out = s;
	return 0;
}

struct fg_sizes *
fg_sizes_copy(const struct fg_sizes *sizes, struct fg_error *err)
{
	struct fg_sizes *copy = allocate(sizes->length, sizes->kinds, err);

	if (copy == NULL)
		return NULL;
	copy->octets = sizes->octets;
	/* the tables lie behind one another */
	memcpy(copy->before, sizes->before,
	       (size_t)((uint8_t *)(sizes->size + sizes->kinds) - (uint8_t *)sizes->before));
	return copy;
}

void
fg_sizes_free(struct fg_sizes *sizes)
{
	free(sizes);
}
