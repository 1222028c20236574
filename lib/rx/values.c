/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of a stream by the values that some bits of them have on arrival. A table of twice the room that was
 * asked for, with open addressing: the receiver adds to it, control reads it at any time. A place is in use
 * once its frames are not 0, which the receiver writes last when it takes it.
 */
#include <errno.h>
#include <stdlib.h>

#include "rx.h"

struct rx_values {
	struct fg_value_fields fields;
	uint64_t mask;         /* places, less 1 */
	uint64_t room;         /* for further values */
	struct fg_value other; /* frames with values that found none */
	struct fg_value place[];
};

struct rx_values *
rx_values_create(const struct fg_value_fields *fields, struct fg_error *err)
{
	size_t places = 2;
	struct rx_values *values;

	while (places < 2 * (size_t)fields->most)
		places *= 2;
	values = calloc(1, sizeof(*values) + places * sizeof(values->place[0]));
	if (values == NULL) {
		fg_error_set(err, ENOMEM, "stream.values", "no memory for %u values", fields->most);
		return NULL;
	}
	values->fields = *fields;
	values->mask = places - 1;
	values->room = fields->most;
	return values;
}

/* at most 32 bits; those behind the frame are 0 */
static uint64_t
bits_at(const uint8_t *data, unsigned octets, unsigned offset, unsigned bits)
{
	unsigned last = offset + bits - 1;
	uint64_t value = 0;

	for (unsigned i = offset / 8; i <= last / 8; i++)
		value = value << 8 | (i < octets ? data[i] : 0);
	return value >> (7 - last % 8) & ((1ULL << bits) - 1);
}

uint64_t
rx_values_of(const struct rx_values *values, const struct rte_mbuf *m)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	uint64_t key = 0;

	for (unsigned i = 0; i < values->fields.n; i++) {
		const struct fg_value_field *field = &values->fields.field[i];

		key = key << field->bits | bits_at(data, m->data_len, field->offset, field->bits);
	}
	return key;
}

static inline void
publish(uint64_t *to, uint64_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

static void
count(struct fg_value *place, uint32_t octets, int64_t delay, uint64_t arrival_ns)
{
	uint64_t ns = (uint64_t)RTE_MAX(delay, 0);

	publish(&place->octets, place->octets + octets + FG_ETHER_FCS);
	publish(&place->delay_sum_ns, place->delay_sum_ns + ns);
	publish(&place->delay_max_ns, RTE_MAX(place->delay_max_ns, ns));
	publish(&place->delay_min_ns, place->frames == 0 ? ns : RTE_MIN(place->delay_min_ns, ns));
	publish(&place->last_arrival_ns, arrival_ns);
	__atomic_store_n(&place->frames, place->frames + 1, __ATOMIC_RELEASE);
}

void
rx_values_count(struct rx_values *values, uint64_t key, uint32_t octets, int64_t delay, uint64_t arrival_ns)
{
	uint64_t at = key * 0x9e3779b97f4a7c15 >> 32 & values->mask;
	struct fg_value *place = &values->place[at];

	while (place->frames != 0 && place->value != key) {
		at = (at + 1) & values->mask;
		place = &values->place[at];
	}
	if (place->frames == 0 && values->room == 0)
		place = &values->other;
	else if (place->frames == 0)
		values->room--;
	if (place->frames == 0) {
		place->value = key;
		place->first_arrival_ns = arrival_ns;
	}
	count(place, octets, delay, arrival_ns);
}

static void
merge_value(struct fg_value *sum, const struct fg_value *one)
{
	if (sum->frames == 0) {
		*sum = *one;
		return;
	}
	sum->frames += one->frames;
	sum->octets += one->octets;
	sum->delay_sum_ns += one->delay_sum_ns;
	sum->delay_min_ns = RTE_MIN(sum->delay_min_ns, one->delay_min_ns);
	sum->delay_max_ns = RTE_MAX(sum->delay_max_ns, one->delay_max_ns);
	sum->first_arrival_ns = RTE_MIN(sum->first_arrival_ns, one->first_arrival_ns);
	sum->last_arrival_ns = RTE_MAX(sum->last_arrival_ns, one->last_arrival_ns);
}

/* into the one of the same value, if another queue has counted it, too */
static unsigned
add_value(struct fg_value *out, unsigned n, unsigned max, const struct fg_value *one, struct fg_value *other)
{
	struct fg_value *same = out;

	while (same < out + n && same->value != one->value)
		same++;
	if (same == out + n && n < max)
		out[n++] = (struct fg_value){0};
	merge_value(same == out + max ? other : same, one);
	return n;
}

/* frames is 0: nothing has come */
static struct fg_value
copy_of(const struct fg_value *place)
{
	struct fg_value copy = {.frames = __atomic_load_n(&place->frames, __ATOMIC_ACQUIRE)};

	if (copy.frames == 0)
		return copy;
	copy.value = place->value;
	copy.octets = __atomic_load_n(&place->octets, __ATOMIC_RELAXED);
	copy.delay_sum_ns = __atomic_load_n(&place->delay_sum_ns, __ATOMIC_RELAXED);
	copy.delay_min_ns = __atomic_load_n(&place->delay_min_ns, __ATOMIC_RELAXED);
	copy.delay_max_ns = __atomic_load_n(&place->delay_max_ns, __ATOMIC_RELAXED);
	copy.first_arrival_ns = place->first_arrival_ns;
	copy.last_arrival_ns = __atomic_load_n(&place->last_arrival_ns, __ATOMIC_RELAXED);
	return copy;
}

unsigned
rx_values(const struct rx_stream *parts, unsigned parts_n, struct fg_value *out, unsigned max,
	  struct fg_value *other)
{
	unsigned n = 0;

	*other = (struct fg_value){0};
	for (unsigned k = 0; k < parts_n; k++) {
		const struct rx_values *values = parts[k].extended == NULL ? NULL : parts[k].extended->values;
		struct fg_value one;

		for (uint64_t i = 0; values != NULL && i <= values->mask; i++) {
			one = copy_of(&values->place[i]);
			if (one.frames != 0)
				n = add_value(out, n, max, &one, other);
		}
		one = values == NULL ? (struct fg_value){0} : copy_of(&values->other);
		if (one.frames != 0)
			merge_value(other, &one);
	}
	return n;
}
