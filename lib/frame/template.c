/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The builder's second half: finishing joins the headers, writes the payload, and lets every layer compute
 * what is left, from the inside out, so that an outer checksum covers what the inner layers filled in.
 *
 * The signature's place is filled with a signature of zeros: any other sums to the same, so the checksums
 * that are right for the template are right for every frame made from it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_net.h"
#include "fg_signature.h"
#include "fg_vary.h"
#include "frame_priv.h"
#include "stack_priv.h"

/* remove absent optional fields from a header; returns its bytes without options */
static size_t
lay_fields(struct fg_layer *layer, uint8_t *out)
{
	const struct fg_protocol *p = layer->protocol;
	size_t fixed = fg_protocol_fixed(p, layer->nominal, sizeof(layer->nominal));

	layer->header = out;
	memcpy(out, layer->nominal, p->size);
	for (const struct fg_field *f = p->fields; f->name != NULL; f++) {
		int bit = fg_field_bit(p, f, layer->nominal);

		if (bit < 0 || f->width == 0)
			continue;
		for (unsigned i = 0; i < f->width; i++)
			fg_field_write(out, (unsigned)bit + i, 1,
				       fg_field_read(layer->nominal, f->bit + i, 1));
	}
	memcpy(out + fixed, layer->nominal + p->size, layer->rest);
	return fixed + layer->rest;
}

/* up to a whole number of the units that the length field counts */
static size_t
padding(const struct fg_protocol *p, size_t size)
{
	if (p->length_field == NULL)
		return 0;
	if (size < p->length_base)
		return p->length_base - size;
	return (p->length_unit - (size - p->length_base) % p->length_unit) % p->length_unit;
}

static void
lay_padding(struct fg_layer *layer)
{
	const struct fg_protocol *p = layer->protocol;
	size_t more = padding(p, layer->size);

	if (p->pad != NULL)
		p->pad(layer->header + layer->size, more);
	else
		memset(layer->header + layer->size, 0, more);
	layer->size = (uint16_t)(layer->size + more);
	if (p->length_field != NULL)
		fg_field_fill(layer, p->length_field, (layer->size - p->length_base) / p->length_unit);
	if (p->count_field != NULL)
		fg_field_fill(layer, p->count_field, layer->options);
}

static void
lay_next(const struct fg_layer *layer)
{
	const struct fg_protocol *p = layer->protocol;
	uint64_t number;

	if (p->next_field != NULL && layer->inner != NULL &&
	    fg_protocol_number(layer->inner->protocol, p->space, &number))
		fg_field_fill(layer, p->next_field, number);
}

/* headers one after the other, each with the number of the next; returns their bytes */
static size_t
lay_headers(struct fg_frame *frame, uint8_t *out)
{
	uint8_t *at = out;

	for (unsigned i = 0; i < frame->layers;) {
		struct fg_layer *layer = &frame->layer[i++];

		layer->size = (uint16_t)lay_fields(layer, at);
		for (unsigned end = i + layer->options; i < end; i++) {
			struct fg_layer *option = &frame->layer[i];

			option->size = (uint16_t)lay_fields(option, at + layer->size);
			lay_padding(option);
			layer->size = (uint16_t)(layer->size + option->size);
		}
		lay_padding(layer);
		lay_next(layer);
		at += layer->size;
	}
	return (size_t)(at - out);
}

/* bytes before the innermost IP header; 0: no IP header */
static uint16_t
network_of(const struct fg_frame *frame, const struct fg_template *t)
{
	for (unsigned i = frame->layers; i-- > 0;)
		if (frame->layer[i].protocol->network != 0)
			return (uint16_t)(frame->layer[i].header - t->bytes);
	return 0;
}

/* the user's bytes, or incrementing ones, then the place of the signature */
static void
lay_payload(const struct fg_frame *frame, struct fg_template *t)
{
	for (size_t i = 0; i < (size_t)t->length - t->header; i++)
		t->bytes[t->header + i] =
			frame->payload == NULL ? (uint8_t)i : frame->payload[i % frame->payload_octets];
	if (t->signature != 0)
		fg_signature_write(t->bytes + t->length, 0, 0, 0);
}

/*
 * make the field wrong: plus one or, at its maximum, minus one, since all ones and zero are the same checksum
 */
static void
spoil(const struct fg_layer *layer)
{
	for (unsigned i = 0; layer->protocol->fields[i].name != NULL; i++) {
		const struct fg_field *f = &layer->protocol->fields[i];
		int bit = fg_field_bit(layer->protocol, f, layer->header);
		uint64_t value;

		if ((layer->bad >> i & 1) == 0 || bit < 0)
			continue;
		value = fg_field_read(layer->header, (unsigned)bit, f->width);
		fg_field_write(layer->header, (unsigned)bit, f->width,
			       value == UINT64_MAX >> (64 - f->width) ? value - 1 : value + 1);
	}
}

static void
finish_layers(struct fg_frame *frame, struct fg_template *t)
{
	for (unsigned i = frame->layers; i-- > 0;) {
		const struct fg_layer *layer = &frame->layer[i];
		size_t length = (size_t)(t->bytes + t->length - layer->header);

		if (layer->protocol->finish != NULL)
			layer->protocol->finish(layer, layer->header, length);
		if (layer->protocol->checksum_scope != FG_CHECKSUM_NONE)
			fg_layer_checksum(layer, layer->header, length);
		spoil(layer);
	}
}

/* a length field that cannot say how long its header is */
static int
check_lengths(const struct fg_frame *frame, struct fg_error *err)
{
	for (const struct fg_layer *layer = frame->layer; layer < frame->layer + frame->layers; layer++) {
		const struct fg_protocol *p = layer->protocol;
		size_t most;

		if (p->length_field == NULL)
			continue;
		most = (1ULL << p->fields[fg_field_find(p, p->length_field)].width) - 1;
		most = most * p->length_unit + p->length_base;
		if (layer->size > most)
			return fg_error_set(err, EMSGSIZE, p->name, "a header of %u bytes: at most %zu",
					    layer->size, most);
	}
	return 0;
}

/* whole words leave bytes over in the frame; the user may want this */
static int
check_units(const struct fg_frame *frame, const struct fg_template *t, struct fg_error *err)
{
	for (const struct fg_layer *layer = frame->layer; layer < frame->layer + frame->layers; layer++) {
		const struct fg_protocol *p = layer->protocol;
		size_t octets = (size_t)(t->bytes + t->length - layer->header);
		unsigned rest = p->unit == 0 ? 0 : (unsigned)(octets % p->unit);

		if (rest != 0 && !fg_field_is_written(layer, "length"))
			return fg_error_set(
				err, EMSGSIZE, "frame_size",
				"%u bytes leave %zu for %s, whose packets are a multiple of %u; expected %u or %u",
				t->frame_size, octets, p->name, p->unit, t->frame_size - rest,
				t->frame_size + p->unit - rest);
	}
	return 0;
}

static size_t
header_octets(struct fg_frame *frame)
{
	/* as on transmission, but to a scratch buffer */
	static _Thread_local uint8_t scratch[MAX_LAYERS * (MAX_HEADER + 32)];

	return lay_headers(frame, scratch);
}

int
fg_frame_finish(struct fg_frame *frame, unsigned frame_size, struct fg_template **out, struct fg_error *err)
{
	unsigned signature = frame->is_unsigned ? 0 : FG_SIGNATURE_SIZE;
	size_t headers = header_octets(frame), least = headers + signature + FG_ETHER_FCS;
	struct fg_template *t;
	size_t memory;
	int rc = check_lengths(frame, err);

	if (rc != 0)
		return rc;
	if (frame_size > FG_FRAME_MAX || frame_size < least)
		return fg_error_set(
			err, EMSGSIZE, "frame_size",
			"%u bytes: this stack needs %zu to %d (headers %zu, signature %u, FCS %d)",
			frame_size, least, FG_FRAME_MAX, headers, signature, FG_ETHER_FCS);
	/* cleared to the last byte, for templates are compared */
	memory = sizeof(*t) + frame_size - FG_ETHER_FCS +
		 fg_vary_memory(frame->change, frame->changes, frame_size - FG_ETHER_FCS);
	t = calloc(1, memory);
	if (t == NULL)
		return fg_error_set(err, ENOMEM, "frame", "no memory");
	t->memory = (uint32_t)memory;
	t->signature = (uint8_t)signature;
	t->frame_size = (uint16_t)frame_size;
	t->length = (uint16_t)(frame_size - FG_ETHER_FCS);
	t->header = (uint16_t)lay_headers(frame, t->bytes);
	t->network = network_of(frame, t);
	lay_payload(frame, t);
	finish_layers(frame, t);
	fg_seal_compile(frame->layer, frame->layers, t);
	rc = check_units(frame, t, err);
	if (rc == 0)
		rc = fg_vary_compile(frame->layer, frame->layers, frame->change, frame->changes, t, err);
	if (rc != 0) {
		fg_template_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

void
fg_template_make(const struct fg_template *t, uint16_t stream, uint64_t number, uint64_t time_ns,
		 uint8_t *out)
{
	memcpy(out, t->bytes, t->length);
	fg_vary_burst(t, number & ~FG_SIGNATURE_COPY, &out, 1);
	if (t->signature != 0)
		fg_signature_write(out + t->length, stream, number, time_ns);
	if (t->seal.packet != 0)
		fg_template_seal(t, out);
}

struct fg_template *
fg_template_copy(const struct fg_template *t)
{
	struct fg_template *copy = malloc(t->memory);

	return copy == NULL ? NULL : memcpy(copy, t, t->memory);
}

void
fg_template_free(struct fg_template *t)
{
	free(t);
}
