/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The builder's first half: pushing a layer writes its presets; setting a field overwrites a preset and marks
 * the field as the user's. The second half, in template.c, makes the template.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_frame.h"
#include "fg_int128.h"
#include "frame_priv.h"
#include "stack_priv.h"

struct fg_frame *
fg_frame_create(void)
{
	return calloc(1, sizeof(struct fg_frame));
}

void
fg_frame_free(struct fg_frame *frame)
{
	for (unsigned i = 0; frame != NULL && i < frame->changes; i++)
		free((void *)(uintptr_t)frame->change[i].config.list);
	if (frame != NULL)
		free(frame->payload);
	free(frame);
}

int
fg_frame_set_payload(struct fg_frame *frame, const uint8_t *octets, size_t count, struct fg_error *err)
{
	uint8_t *copy;

	if (count == 0)
		return fg_error_set(err, EINVAL, "payload", "no bytes");
	copy = malloc(count);
	if (copy == NULL)
		return fg_error_set(err, ENOMEM, "payload", "no memory");
	free(frame->payload);
	frame->payload = memcpy(copy, octets, count);
	frame->payload_octets = count;
	return 0;
}

void
fg_frame_leave_unsigned(struct fg_frame *frame)
{
	frame->is_unsigned = true;
}

/* the last layer that is not an option: the next layer's outer layer */
static struct fg_layer *
last_header(struct fg_frame *frame)
{
	for (unsigned i = frame->layers; i-- > 0;)
		if (!frame->layer[i].protocol->option)
			return &frame->layer[i];
	return NULL;
}

static int
check_option(const struct fg_protocol *option, const struct fg_layer *owner, struct fg_error *err)
{
	uint64_t number;

	if (owner != NULL && owner->protocol->option_space != NULL &&
	    fg_protocol_number(option, owner->protocol->option_space, &number))
		return 0;
	return fg_error_set(err, EINVAL, option->name, "%s has no options of this kind",
			    owner == NULL ? "nothing" : owner->protocol->name);
}

int
fg_frame_push(struct fg_frame *frame, const char *name, struct fg_error *err)
{
	const struct fg_protocol *protocol = fg_protocol_find(name);
	struct fg_layer *outer = last_header(frame), *layer;

	if (protocol == NULL)
		return fg_error_set(err, ENOENT, name, "there is no protocol of that name");
	if (frame->layers == MAX_LAYERS)
		return fg_error_set(err, E2BIG, name, "a stack has at most %d layers", MAX_LAYERS);
	if (protocol->option && check_option(protocol, outer, err) != 0)
		return -EINVAL;
	layer = &frame->layer[frame->layers++];
	*layer = (struct fg_layer){.protocol = protocol, .outer = outer};
	if (outer != NULL && protocol->option)
		outer->options++;
	else if (outer != NULL)
		outer->inner = layer;
	for (const struct fg_field *f = protocol->fields; f->name != NULL; f++)
		if (f->width <= 64)
			fg_field_write(layer->nominal, f->bit, f->width, f->preset);
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

static uint64_t
bit_of(const struct fg_layer *layer, const struct fg_field *field)
{
	return 1ULL << (field - layer->protocol->fields);
}

/* an optional field sets its flag, unless the user has set the flag */
static void
make_there(struct fg_layer *layer, const struct fg_field *field)
{
	const struct fg_field *flag;
	uint64_t value;

	if (field->when == NULL)
		return;
	flag = &layer->protocol->fields[fg_field_find(layer->protocol, field->when)];
	value = fg_field_read(layer->nominal, flag->bit, flag->width);
	if ((layer->written & bit_of(layer, flag)) == 0 || (value & field->when_mask) == 0)
		fg_field_write(layer->nominal, flag->bit, flag->width, value | field->when_set);
}

/* the field is the user's from now on, and is not computed */
static void
mark_written(struct fg_layer *layer, const struct fg_field *field)
{
	make_there(layer, field);
	layer->written |= bit_of(layer, field);
	layer->bad &= ~bit_of(layer, field);
}

int
fg_frame_set(struct fg_frame *frame, const char *name, uint64_t value, struct fg_error *err)
{
	struct fg_layer *layer = last_layer(frame, name, err);
	const struct fg_field *field = layer == NULL ? NULL : find_field(layer, name, err);

	if (field == NULL)
		return -ENOENT;
	if (field->width == 0 || field->width > 64 || (field->width < 64 && value >> field->width != 0))
		return fg_error_set(err, ERANGE, name, "%llu does not fit %u bits", (unsigned long long)value,
				    field->width);
	fg_field_write(layer->nominal, field->bit, field->width, value);
	mark_written(layer, field);
	return 0;
}

int
fg_frame_set_bytes(struct fg_frame *frame, const char *name, const uint8_t *bytes, size_t length,
		   struct fg_error *err)
{
	struct fg_layer *layer = last_layer(frame, name, err);
	const struct fg_field *field = layer == NULL ? NULL : find_field(layer, name, err);
	size_t at;

	if (field == NULL)
		return -ENOENT;
	at = field->bit / 8;
	if (field->width == 0 && length > MAX_HEADER - at)
		return fg_error_set(err, ERANGE, name, "%zu bytes: at most %zu", length, MAX_HEADER - at);
	if ((field->width != 0 && length * 8 != field->width) || field->bit % 8 != 0)
		return fg_error_set(err, ERANGE, name, "%zu bytes for a field of %u bits", length,
				    field->width);
	memcpy(layer->nominal + at, bytes, length);
	if (field->width == 0)
		layer->rest = (uint16_t)length;
	mark_written(layer, field);
	return 0;
}

int
fg_frame_set_bad(struct fg_frame *frame, const char *name, struct fg_error *err)
{
	struct fg_layer *layer = last_layer(frame, name, err);
	const struct fg_field *field = layer == NULL ? NULL : find_field(layer, name, err);

	if (field == NULL)
		return -ENOENT;
	if (!field->computed)
		return fg_error_set(err, EINVAL, name, "is not computed, so it cannot be made wrong");
	make_there(layer, field);
	layer->written &= ~bit_of(layer, field);
	layer->bad |= bit_of(layer, field);
	return 0;
}

/* both the first and the last value fit the field */
static bool
range_fits(const struct fg_vary_config *c, unsigned width)
{
	const fg_u128 end = (fg_u128)1 << width;
	bool down = c->step >> 63 != 0;
	fg_u128 way = (fg_u128)(down ? -c->step : c->step) * (c->count - 1);

	return c->first < end && (down ? way <= c->first : way < end - c->first);
}

static int
check_values(const struct fg_vary_config *c, const char *name, unsigned width, struct fg_error *err)
{
	if (c->count == 0 || c->every == 0 || (c->every > 1 && c->hold > 1))
		return fg_error_set(err, ERANGE, name, "no values, or no frames that have them");
	if (c->list != NULL && c->count > FG_MAX_LIST)
		return fg_error_set(err, E2BIG, name, "a list has at most %d values", FG_MAX_LIST);
	for (uint64_t i = 0; c->list != NULL && i < c->count; i++)
		if (width < 64 && c->list[i] >> width != 0)
			return fg_error_set(err, ERANGE, name, "%llu does not fit %u bits",
					    (unsigned long long)c->list[i], width);
	if (c->list == NULL && !range_fits(c, width))
		return fg_error_set(err, ERANGE, name,
				    "%llu values from %llu in steps of %lld do not fit %u bits",
				    (unsigned long long)c->count, (unsigned long long)c->first,
				    (long long)c->step, width);
	return 0;
}

static int
add_change(struct fg_frame *frame, const char *name, const struct fg_change *change, struct fg_error *err)
{
	size_t size = change->config.count * sizeof(uint64_t);
	uint64_t *list = NULL;

	if (frame->changes == FG_MAX_VARIES)
		return fg_error_set(err, E2BIG, name, "at most %d fields of a frame can change",
				    FG_MAX_VARIES);
	if (change->config.list != NULL) {
		list = malloc(size);
		if (list == NULL)
			return fg_error_set(err, ENOMEM, name, "no memory");
		memcpy(list, change->config.list, size);
	}
	frame->change[frame->changes] = *change;
	frame->change[frame->changes++].config.list = list;
	return 0;
}

int
fg_frame_vary(struct fg_frame *frame, const char *name, const struct fg_vary_config *c, struct fg_error *err)
{
	struct fg_layer *layer = last_layer(frame, name, err);
	const struct fg_field *field = layer == NULL ? NULL : find_field(layer, name, err);
	struct fg_change change = {.layer = layer, .field = field, .config = *c};
	int rc;

	if (field == NULL)
		return -ENOENT;
	if (field->width == 0 || (c->high && field->width != 128))
		return fg_error_set(err, EINVAL, name, "cannot change like this");
	rc = check_values(c, name, field->width < 64 ? field->width : 64, err);
	if (rc == 0)
		rc = add_change(frame, name, &change, err);
	if (rc == 0 && field->computed)
		mark_written(layer, field);
	else if (rc == 0)
		make_there(layer, field);
	return rc;
}

int
fg_frame_vary_octets(struct fg_frame *frame, uint16_t offset, uint8_t octets, uint64_t mask,
		     const struct fg_vary_config *c, struct fg_error *err)
{
	struct fg_layer *layer = frame->layers == 0 ? NULL : &frame->layer[frame->layers - 1];
	struct fg_change change = {
		.layer = layer, .offset = offset, .octets = octets, .mask = mask, .config = *c};
	int rc;

	if (octets == 0 || octets > 8 || (octets < 8 && mask >> 8 * octets != 0) || mask == 0)
		return fg_error_set(err, ERANGE, "octets", "%u bytes with the mask %#llx", octets,
				    (unsigned long long)mask);
	rc = check_values(c, "octets", octets * 8u, err);
	return rc != 0 ? rc : add_change(frame, "octets", &change, err);
}
