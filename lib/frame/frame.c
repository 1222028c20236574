/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The builder. Pushing a layer lays down its presets; setting a field overwrites them and marks the field as the
 * user's; finishing joins the headers, writes the payload, and lets every layer compute what is left, from the
 * inside out, so that an outer checksum covers what the inner layers filled in.
 *
 * The signature's place is filled with a signature of zeros: any other sums to the same, so the checksums that
 * are right for the template are right for every frame made from it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_frame.h"
#include "fg_net.h"
#include "fg_int128.h"
#include "fg_signature.h"
#include "frame_priv.h"

enum { MAX_LAYERS = 16 };

struct fg_frame {
	unsigned layers, changes;
	struct fg_layer layer[MAX_LAYERS];
	struct fg_change change[FG_MAX_VARIES];
};

struct fg_frame *
fg_frame_create(void)
{
	return calloc(1, sizeof(struct fg_frame));
}

void
fg_frame_free(struct fg_frame *frame)
{
	free(frame);
}

int
fg_frame_push(struct fg_frame *frame, const char *name, struct fg_error *err)
{
	const struct fg_protocol *protocol = fg_protocol_find(name);
	struct fg_layer *layer;

	if (protocol == NULL)
		return fg_error_set(err, ENOENT, name, "there is no protocol of that name");
	if (frame->layers == MAX_LAYERS)
		return fg_error_set(err, E2BIG, name, "a stack has at most %d layers", MAX_LAYERS);
	layer = &frame->layer[frame->layers++];
	*layer = (struct fg_layer){.protocol = protocol};
	if (frame->layers > 1) {
		layer->outer = layer - 1;
		frame->layer[frame->layers - 2].inner = protocol;
	}
	for (const struct fg_field *f = protocol->fields; f->name != NULL; f++)
		if (f->width <= 64)
			fg_field_write(layer->preset, f->bit, f->width, f->preset);
	return 0;
}

/* the last layer, in which fields are set */
static struct fg_layer *
last_layer(struct fg_frame *frame, const char *field, struct fg_error *err)
{
	if (frame->layers > 0)
		return &frame->layer[frame->layers - 1];
	fg_error_set(err, ENOENT, field, "no layer to set it in: push one first");
	return NULL;
}

static const struct fg_field *
find_field(const struct fg_layer *layer, const char *name, struct fg_error *err)
{
	int i = fg_field_find(layer->protocol, name);

	if (i >= 0)
		return &layer->protocol->fields[i];
	fg_error_set(err, ENOENT, name, "%s has no field of that name", layer->protocol->name);
	return NULL;
}

/* from now on the field is the user's: nothing is computed for it */
static void
mark_written(struct fg_layer *layer, const struct fg_field *field)
{
	layer->written |= 1ULL << (field - layer->protocol->fields);
}

int
fg_frame_set(struct fg_frame *frame, const char *name, uint64_t value, struct fg_error *err)
{
	struct fg_layer *layer = last_layer(frame, name, err);
	const struct fg_field *field = layer == NULL ? NULL : find_field(layer, name, err);

	if (field == NULL)
		return -ENOENT;
	if (field->width > 64 || (field->width < 64 && value >> field->width != 0))
		return fg_error_set(err, ERANGE, name, "%llu does not fit %u bits", (unsigned long long)value,
				    field->width);
	fg_field_write(layer->preset, field->bit, field->width, value);
	mark_written(layer, field);
	return 0;
}

int
fg_frame_set_bytes(struct fg_frame *frame, const char *name, const uint8_t *bytes, size_t length,
		   struct fg_error *err)
{
	struct fg_layer *layer = last_layer(frame, name, err);
	const struct fg_field *field = layer == NULL ? NULL : find_field(layer, name, err);

	if (field == NULL)
		return -ENOENT;
	if (length * 8 != field->width || field->bit % 8 != 0)
		return fg_error_set(err, ERANGE, name, "%zu octets for a field of %u bits", length,
				    field->width);
	memcpy(layer->preset + field->bit / 8, bytes, length);
	mark_written(layer, field);
	return 0;
}

int
fg_frame_vary(struct fg_frame *frame, const char *name, const struct fg_vary_config *c, struct fg_error *err)
{
	struct fg_layer *layer = last_layer(frame, name, err);
	const struct fg_field *field = layer == NULL ? NULL : find_field(layer, name, err);
	fg_u128 last;

	if (field == NULL)
		return -ENOENT;
	if (frame->changes == FG_MAX_VARIES)
		return fg_error_set(err, E2BIG, name, "at most %d fields of a frame can change",
				    FG_MAX_VARIES);
	last = c->first + (fg_u128)c->step * (c->count - 1);
	if (c->count == 0 || c->every == 0 || (field->width < 64 ? last >> field->width : last >> 64) != 0)
		return fg_error_set(
			err, ERANGE, name,
			"%llu values from %llu in steps of %llu, every %llu frames, do not fit %u bits",
			(unsigned long long)c->count, (unsigned long long)c->first,
			(unsigned long long)c->step, (unsigned long long)c->every, field->width);
	frame->change[frame->changes++] = (struct fg_change){field, frame->layers - 1, *c};
	return 0;
}

/* headers one after the other, each told what follows it; returns the octets they take */
static size_t
lay_headers(struct fg_frame *frame, uint8_t *out)
{
	uint8_t *at = out;

	for (unsigned i = 0; i < frame->layers; i++) {
		struct fg_layer *layer = &frame->layer[i];
		const struct fg_protocol *p = layer->protocol;

		memcpy(at, layer->preset, p->size);
		layer->header = at;
		at += p->size;
		if (p->next_field == NULL || layer->inner == NULL)
			continue;
		for (const struct fg_next *next = p->next; next->protocol != NULL; next++)
			if (strcmp(next->protocol, layer->inner->name) == 0)
				fg_field_fill(layer, layer->header, p->next_field, next->value);
	}
	return (size_t)(at - out);
}

static size_t
header_octets(const struct fg_frame *frame)
{
	size_t octets = 0;

	for (unsigned i = 0; i < frame->layers; i++)
		octets += frame->layer[i].protocol->size;
	return octets;
}

/* octets counting up, then the place of the signature */
static void
lay_payload(struct fg_template *t)
{
	for (unsigned i = t->header; i < t->length; i++)
		t->bytes[i] = (uint8_t)(i - t->header);
	fg_signature_write(t->bytes + t->length, 0, 0, 0);
}

static void
finish_layers(struct fg_frame *frame, struct fg_template *t)
{
	for (unsigned i = frame->layers; i-- > 0;) {
		const struct fg_layer *layer = &frame->layer[i];

		if (layer->protocol->finish != NULL)
			layer->protocol->finish(layer, layer->header,
						(size_t)(t->bytes + t->length - layer->header));
	}
}

static int
compile_changes(const struct fg_frame *frame, struct fg_template *t, struct fg_error *err)
{
	int rc = 0;

	for (t->varies = 0; t->varies < frame->changes && rc == 0; t->varies++)
		rc = fg_vary_compile(frame->layer, frame->layers, &frame->change[t->varies], t->bytes,
				     &t->vary[t->varies], err);
	return rc;
}

int
fg_frame_finish(struct fg_frame *frame, unsigned frame_size, struct fg_template **out, struct fg_error *err)
{
	size_t least = header_octets(frame) + FG_SIGNATURE_SIZE + FG_ETHER_FCS;
	struct fg_template *t;
	int rc;

	if (frame_size > FG_FRAME_MAX || frame_size < least)
		return fg_error_set(
			err, EMSGSIZE, "frame_size",
			"%u octets: this stack needs %zu to %d (headers %zu, signature %d, FCS %d)",
			frame_size, least, FG_FRAME_MAX, header_octets(frame), FG_SIGNATURE_SIZE,
			FG_ETHER_FCS);
	/* cleared to the last byte, for templates are compared */
	t = calloc(1, sizeof(*t) + frame_size - FG_ETHER_FCS);
	if (t == NULL)
		return fg_error_set(err, ENOMEM, "frame", "no memory");
	t->frame_size = (uint16_t)frame_size;
	t->length = (uint16_t)(frame_size - FG_ETHER_FCS);
	t->header = (uint16_t)lay_headers(frame, t->bytes);
	lay_payload(t);
	finish_layers(frame, t);
	rc = compile_changes(frame, t, err);
	if (rc != 0) {
		fg_template_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

void
fg_template_free(struct fg_template *t)
{
	free(t);
}
