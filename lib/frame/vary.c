/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiling field programs. A field lies in some octets of some layer; which checksums cover it follows from the
 * scopes in the protocols' tables: the layer's own, those of the layers around it that cover what they enclose, and,
 * for addresses, that of the layer inside with its pseudo-header.
 */
#include <errno.h>
#include <string.h>

#include "fg_vary.h"
#include "frame_priv.h"

static void
add_checksum(const struct fg_layer *layer, const uint8_t *frame, struct fg_vary *out)
{
	int i = fg_field_find(layer->protocol, "checksum");
	int bit = fg_field_bit(layer->protocol, &layer->protocol->fields[i], layer->header);

	/* set by the user, it is wrong on purpose or says "none": left alone */
	if (layer->written >> i & 1 || bit < 0)
		return;
	out->never_zero[out->checksums] = layer->protocol->checksum_never_zero;
	out->checksum[out->checksums++] = (uint16_t)(layer->header - frame + bit / 8);
}

static bool
is_address(const struct fg_field *field)
{
	return strcmp(field->name, "source") == 0 || strcmp(field->name, "destination") == 0;
}

static int
find_checksums(const struct fg_layer *layers, unsigned n, const struct fg_change *change,
	       const uint8_t *frame, struct fg_vary *out)
{
	for (const struct fg_layer *layer = layers; layer < layers + n; layer++) {
		enum fg_checksum_scope scope = layer->protocol->checksum_scope;
		bool covers = scope >= FG_CHECKSUM_ENCLOSED && layer <= change->layer;

		if (scope == FG_CHECKSUM_PAYLOAD && layer > change->layer && is_address(change->field))
			covers = fg_layer_network(layer) == change->layer;

		if (!covers && !(scope == FG_CHECKSUM_HEADER && layer == change->layer))
			continue;
		if (out->checksums == FG_MAX_CHECKSUMS)
			return -E2BIG;
		add_checksum(layer, frame, out);
	}
	return 0;
}

static int
compile(const struct fg_layer *layers, unsigned n, const struct fg_change *change, const uint8_t *frame,
	struct fg_vary *out, struct fg_error *err)
{
	const struct fg_vary_config *c = &change->config;
	const struct fg_layer *layer = change->layer;
	int bit = fg_field_bit(layer->protocol, change->field, layer->header);
	unsigned end = (unsigned)bit + change->field->width - (c->high ? 64 : 0); /* bits, in the header */
	unsigned width = change->field->width < 64 ? change->field->width : 64;
	unsigned first = (end - width) / 8, last = (end + 7) / 8; /* octets */

	*out = (struct fg_vary){
		.first = c->first,
		.step = c->step,
		.count = c->count,
		.every = c->every,
		.seed = c->seed,
		.random = c->random,
		.offset = (uint16_t)(layer->header - frame + first),
		.octets = (uint8_t)(last - first),
		.shift = (uint8_t)(last * 8 - end),
	};
	out->mask = (width == 64 ? UINT64_MAX : (1ULL << width) - 1) << out->shift;
	if (find_checksums(layers, n, change, frame, out) != 0)
		return fg_error_set(err, E2BIG, change->field->name, "more than %d checksums cover it",
				    FG_MAX_CHECKSUMS);
	if (out->octets == 8 && (out->offset & 1) != 0 && out->checksums > 0)
		return fg_error_set(err, ERANGE, change->field->name,
				    "eight octets at an odd place cannot change");
	return 0;
}

int
fg_vary_compile(const struct fg_layer *layers, unsigned n, const struct fg_change *changes, unsigned count,
		struct fg_template *t, struct fg_error *err)
{
	int rc = 0;

	for (t->varies = 0; t->varies < count && rc == 0; t->varies++)
		rc = compile(layers, n, &changes[t->varies], t->bytes, &t->vary[t->varies], err);
	return rc;
}
