/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiling field programs: the position of the changing bytes, and the effect of a change on each checksum.
 *
 * A checksum is a sum modulo 65535 of words, counted from the start of its range. The upper byte of a word
 * counts 256-fold. An outer checksum also covers an inner checksum, which changes by the same amount in the
 * other direction. So checksums are computed from the inside out, and each sums the changing bytes in its
 * range, the addresses of its pseudo-header, and all inner checksums.
 */
#include <errno.h>
#include <stddef.h>

#include "fg_int128.h"
#include "fg_signature.h"
#include "frame_priv.h"

enum { MODULUS = 0xffff };
enum { ROUTING_DECIDES = 2, DECIDING = 2 }; /* type and segments left, of a routing header */

/* the range of a computed checksum; offsets in the frame */
struct cover {
	const struct fg_layer *layer;
	size_t begin, end, at; /* at: of the checksum itself */
	struct {
		size_t begin, end;
	} pseudo[2];    /* addresses; only the destination's if it is not behind the source's */
	size_t decides; /* offset of the bytes that select the destination; 0: none */
};

struct compiler {
	const struct fg_layer *layers;
	unsigned n;
	struct fg_template *t;
	struct cover cover[FG_MAX_CHECKSUMS]; /* the innermost first */
	struct fg_error *err;
};

/* @p bytes bytes as a number */
static uint64_t
vary_load(const uint8_t *at, unsigned octets)
{
	return fg_field_read(at, 0, 8 * octets);
}

static size_t
align(size_t octets)
{
	const size_t unit = _Alignof(struct fg_vary);

	return (octets + unit - 1) / unit * unit;
}

/* padding up to the alignment of a struct */
static size_t
programs_at(size_t length)
{
	const size_t before = offsetof(struct fg_template, bytes);

	return align(before + length) - before;
}

size_t
fg_vary_memory(const struct fg_change *changes, unsigned count, size_t length)
{
	size_t octets = programs_at(length) - length + count * sizeof(struct fg_vary);

	for (unsigned i = 0; i < count; i++)
		if (changes[i].config.list != NULL)
			octets += changes[i].config.count * sizeof(uint64_t);
	return octets;
}

static void
cover_addresses(const struct compiler *c, struct cover *cover)
{
	const struct fg_layer *network = fg_layer_pseudo(cover->layer);
	const struct fg_protocol *p = network == NULL ? NULL : network->protocol;
	size_t header = network == NULL ? 0 : (size_t)(network->header - c->t->bytes);
	size_t octets = p != NULL && p->network == 4 ? 4 : 16, destination;
	const struct fg_layer *routing = fg_layer_routing(cover->layer);

	if (p == NULL)
		return;
	cover->pseudo[0].begin = header + p->fields[fg_field_find(p, "source")].bit / 8;
	cover->pseudo[0].end = cover->pseudo[0].begin + octets;
	destination = (size_t)(fg_layer_destination(cover->layer) - c->t->bytes);
	if (destination == cover->pseudo[0].end) {
		cover->pseudo[0].end += octets;
	} else {
		cover->pseudo[1].begin = destination;
		cover->pseudo[1].end = destination + octets;
	}
	if (routing != NULL)
		cover->decides = (size_t)(routing->header - c->t->bytes) + ROUTING_DECIDES;
}

/* the checksums that are computed; one that the user has set is wrong on purpose or "none" and stays */
static int
find_covers(struct compiler *c)
{
	for (unsigned i = c->n; i-- > 0;) {
		const struct fg_layer *layer = &c->layers[i];
		const struct fg_protocol *p = layer->protocol;
		struct cover *cover = &c->cover[c->t->checksums];
		size_t begin = (size_t)(layer->header - c->t->bytes);
		int field = fg_field_find(p, "checksum"), bit;

		if (p->checksum_scope == FG_CHECKSUM_NONE || layer->written >> field & 1)
			continue;
		bit = fg_field_bit(p, &p->fields[field], layer->header);
		if (bit < 0 || (p->checksum_scope == FG_CHECKSUM_PAYLOAD && fg_layer_network(layer) == NULL))
			continue;
		if (c->t->checksums == FG_MAX_CHECKSUMS)
			return fg_error_set(c->err, E2BIG, p->name, "more than %d checksums",
					    FG_MAX_CHECKSUMS);
		*cover = (struct cover){
			.layer = layer,
			.begin = begin,
			.end = p->checksum_scope == FG_CHECKSUM_HEADER ? begin + layer->size : c->t->length,
			.at = begin + (unsigned)bit / 8,
		};
		cover_addresses(c, cover);
		c->t->checksum[c->t->checksums++] = (struct fg_vary_checksum){
			.offset = (uint16_t)cover->at,
			.never_zero = p->checksum_never_zero,
		};
	}
	return 0;
}

/* the weight of a number that ends at @p end, by its last byte's place in the words from @p begin on */
static uint32_t
place_factor(size_t begin, size_t end)
{
	return (end - begin) % 2 == 0 ? 1 : 256;
}

static bool
within(size_t begin, size_t end, size_t first, size_t last)
{
	return first >= begin && last <= end;
}

static bool
overlap(size_t begin, size_t end, size_t first, size_t last)
{
	return first < end && last > begin;
}

/* the weight of bytes in a sum over a range of the frame */
static void
add_range(size_t begin, size_t end, size_t first, size_t last, uint32_t *factor, bool *in_part)
{
	if (within(begin, end, first, last))
		*factor += place_factor(begin, last);
	else
		*in_part |= overlap(begin, end, first, last);
}

static int
find_factors(const struct compiler *c, struct fg_vary *v, const char *name)
{
	size_t first = v->offset, last = first + v->octets;

	for (unsigned j = 0; j < c->t->checksums; j++) {
		const struct cover *cover = &c->cover[j];
		uint32_t factor = 0;
		bool in_part = false;

		if (cover->decides != 0 && overlap(cover->decides, cover->decides + DECIDING, first, last))
			return fg_error_set(c->err, EINVAL, name,
					    "selects what the checksum of %s covers: it cannot vary",
					    cover->layer->protocol->name);
		if (overlap(cover->at, cover->at + 2, first, last))
			return fg_error_set(c->err, EINVAL, name,
					    "the checksum of %s is computed: it cannot vary",
					    cover->layer->protocol->name);
		add_range(cover->begin, cover->end, first, last, &factor, &in_part);
		for (unsigned m = 0; m < 2; m++)
			add_range(cover->pseudo[m].begin, cover->pseudo[m].end, first, last, &factor,
				  &in_part);
		if (in_part)
			return fg_error_set(c->err, EINVAL, name,
					    "lies only in part under the checksum of %s",
					    cover->layer->protocol->name);
		for (unsigned m = 0; m < j; m++)
			if (within(cover->begin, cover->end, c->cover[m].at, c->cover[m].at + 2))
				factor += (MODULUS - v->factor[m]) *
					  place_factor(cover->begin, c->cover[m].at + 2) % MODULUS;
		v->factor[j] = (uint16_t)(factor % MODULUS);
	}
	return 0;
}

/* the position of a change */
static int
locate(const struct compiler *c, const struct fg_change *change, struct fg_vary *v, const char *name)
{
	size_t header = change->layer == NULL ? 0 : (size_t)(change->layer->header - c->t->bytes);
	unsigned first = change->offset, last = first + change->octets;

	v->mask = change->mask;
	if (change->field != NULL) {
		const struct fg_field *f = change->field;
		int bit = fg_field_bit(change->layer->protocol, f, change->layer->header);
		unsigned width = f->width < 64 ? f->width : 64;
		unsigned end = (unsigned)bit + f->width - (change->config.high ? 64 : 0);

		first = (end - width) / 8;
		last = (end + 7) / 8;
		v->shift = (uint8_t)(last * 8 - end);
		v->mask = UINT64_MAX >> (64 - width) << v->shift;
	}
	if (header + last + c->t->signature > c->t->length)
		return fg_error_set(c->err, ERANGE, name, "byte %zu is not before the %s", header + last - 1,
				    c->t->signature != 0 ? "signature" : "FCS");
	v->offset = (uint16_t)(header + first);
	v->octets = (uint8_t)(last - first);
	return 0;
}

/* no two programs change the same bits; programs on the same bytes are marked */
static int
check_neighbours(const struct compiler *c, struct fg_vary *programs, struct fg_vary *v, const char *name)
{
	for (struct fg_vary *other = programs; other < v; other++) {
		unsigned first = v->offset < other->offset ? v->offset : other->offset;
		unsigned end = v->offset + v->octets, other_end = other->offset + other->octets;
		unsigned last = end > other_end ? end : other_end;
		fg_u128 a, b;

		if (last - first >= (unsigned)v->octets + other->octets)
			continue;
		a = (fg_u128)v->mask << 8 * (last - end);
		b = (fg_u128)other->mask << 8 * (last - other_end);
		if ((a & b) != 0)
			return fg_error_set(c->err, EINVAL, name, "changes what another field does already");
		v->shared = other->shared = true;
	}
	return 0;
}

static void
set_values(const struct fg_vary_config *config, struct fg_vary *v)
{
	v->first = config->first;
	v->step = config->step;
	v->count = config->count;
	v->reciprocal = UINT64_MAX / config->count;
	v->seed = config->seed;
	v->random = config->random;
	v->sparse = config->every > 1;
	v->period = v->sparse ? config->every : config->hold > 1 ? config->hold : 1;
}

/* the sums without the changing bytes, from the template */
static void
find_bases(struct fg_template *t, const struct fg_vary *programs)
{
	for (unsigned j = 0; j < t->checksums; j++) {
		uint64_t sum = (uint16_t)~vary_load(t->bytes + t->checksum[j].offset, 2);

		for (unsigned i = 0; i < t->varies; i++)
			sum += (MODULUS - programs[i].kept % MODULUS) * programs[i].factor[j] % MODULUS;
		t->checksum[j].base = (uint32_t)(sum % MODULUS + MODULUS);
	}
}

/* lists of values follow the programs */
static size_t
copy_list(const struct fg_vary_config *config, struct fg_vary *v, uint8_t *at)
{
	size_t size = config->list == NULL ? 0 : config->count * sizeof(uint64_t);

	if (size == 0)
		return 0;
	v->list = (uint32_t)(at - (uint8_t *)v);
	memcpy(at, config->list, size);
	return size;
}

/* does the field only count, in up to 32 bits of its own, with at most two checksums of weight 1? */
static bool
is_plain(const struct fg_vary *v, unsigned checksums)
{
	for (unsigned j = 0; j < checksums; j++)
		if (j < 2 ? v->factor[j] > 256 : v->factor[j] > 0)
			return false;
	return !v->random && !v->shared && v->list == 0 && v->period == 1 && v->octets <= 4;
}

int
fg_vary_compile(const struct fg_layer *layers, unsigned n, const struct fg_change *changes, unsigned count,
		struct fg_template *t, struct fg_error *err)
{
	struct compiler c = {.layers = layers, .n = n, .t = t, .err = err};
	struct fg_vary *programs = (struct fg_vary *)(void *)(t->bytes + programs_at(t->length));
	uint8_t *lists = (uint8_t *)(programs + count);
	int rc = count == 0 ? 0 : find_covers(&c);

	t->programs = (uint32_t)programs_at(t->length);
	for (unsigned i = 0; i < count && rc == 0; i++) {
		struct fg_vary *v = &programs[i];
		const char *name = changes[i].field == NULL ? "octets" : changes[i].field->name;

		set_values(&changes[i].config, v);
		rc = locate(&c, &changes[i], v, name);
		if (rc == 0)
			rc = check_neighbours(&c, programs, v, name);
		if (rc == 0)
			rc = find_factors(&c, v, name);
		if (rc != 0)
			return rc;
		v->rest = vary_load(t->bytes + v->offset, v->octets) & ~v->mask;
		v->kept = vary_load(t->bytes + v->offset, v->octets) & v->mask;
		lists += copy_list(&changes[i].config, v, lists);
		if (v->offset + v->octets > t->header)
			t->header = (uint16_t)(v->offset + v->octets);
		t->varies++;
	}
	for (struct fg_vary *v = programs; v < programs + t->varies; v++)
		v->plain = is_plain(v, t->checksums);
	find_bases(t, programs);
	return rc;
}
