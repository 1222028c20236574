/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidth profiles of the reference device, for one direction: frames are classified as at a provider's
 * edge, and each service has its own meter. The device polices: red frames are lost. Or, like a wrongly
 * configured device, it shapes: frames wait for tokens. Frames leave in the order of their arrival, so a
 * waiting frame delays frames of other services behind it.
 */
#include <errno.h>
#include <stdlib.h>

#include "device_priv.h"

struct profile {
	struct fg_device_profile config;
	struct fg_meter meter;
	uint64_t queue;    /* longest wait, ps */
	uint64_t released; /* when the frame before left the shaper */
	struct fg_device_profile_counters counters;
};

struct profiles {
	unsigned n;
	enum fg_mark_kind mark; /* of the frame that passed last */
	int value;              /* its code point; below 0: it stays as it is */
	struct profile list[];
};

/* a shaper has one bucket, which holds both and fills at the sum of both rates */
static struct fg_meter_config
one_bucket(const struct fg_meter_config *c)
{
	return (struct fg_meter_config){
		.kind = FG_METER_MEF,
		.cir_bps = c->cir_bps + c->eir_bps,
		.cbs = c->cbs + c->ebs,
	};
}

static int
profile_init(struct profile *p, const struct fg_device_profile *config, struct fg_error *err)
{
	struct fg_meter_config shaper = one_bucket(&config->meter);

	if (!(config->shaping_ns >= 0 && config->shaping_ns <= 1e12))
		return fg_error_set(err, ERANGE, "reference_device.profiles", "no frame can wait %g ns",
				    config->shaping_ns);
	if (config->shaping_ns > 0 && shaper.cir_bps == 0)
		return fg_error_set(err, ERANGE, "reference_device.profiles",
				    "nothing leaves a shaper of rate 0");
	p->config = *config;
	p->queue = wire_ps(config->shaping_ns);
	return fg_meter_init(&p->meter, p->queue > 0 ? &shaper : &config->meter, err);
}

int
wire_profiles_create(const struct fg_device_profile *config, unsigned n, struct profiles **out,
		     struct fg_error *err)
{
	struct profiles *profiles = calloc(1, sizeof(*profiles) + n * sizeof(profiles->list[0]));

	if (profiles == NULL)
		return fg_error_set(err, ENOMEM, "reference_device.profiles", "no memory");
	for (profiles->n = 0; profiles->n < n; profiles->n++) {
		int rc = profile_init(&profiles->list[profiles->n], &config[profiles->n], err);

		if (rc != 0) {
			free(profiles);
			return rc;
		}
	}
	*out = profiles;
	return 0;
}

void
wire_profiles_reset(struct profiles *profiles)
{
	for (unsigned i = 0; profiles != NULL && i < profiles->n; i++) {
		fg_meter_reset(&profiles->list[i].meter);
		profiles->list[i].released = 0;
		profiles->list[i].counters = (struct fg_device_profile_counters){0};
	}
}

void
wire_profiles_counters(const struct profiles *profiles, unsigned i, struct fg_device_profile_counters *out)
{
	*out = profiles != NULL && i < profiles->n ? profiles->list[i].counters
						   : (struct fg_device_profile_counters){0};
}

/* a frame waits for tokens up to a limit. @return when it leaves; UINT64_MAX: it is lost */
static uint64_t
shape(struct profile *p, uint64_t now, uint32_t octets)
{
	uint64_t from = now > p->released ? now : p->released;
	uint64_t at = fg_meter_when(&p->meter, from, octets);

	if (at == UINT64_MAX || at - now > p->queue) {
		p->counters.red++;
		return UINT64_MAX;
	}
	fg_meter_colour(&p->meter, at, octets, FG_GREEN);
	p->counters.green++;
	p->counters.shaped += at > now;
	p->released = at;
	return at;
}

static uint64_t
police(struct profile *p, uint64_t now, uint32_t octets, enum fg_colour comes, int *code_point)
{
	switch (fg_meter_colour(&p->meter, now, octets, comes)) {
	case FG_GREEN:
		p->counters.green++;
		*code_point = p->config.marking.green;
		return now;
	case FG_YELLOW:
		p->counters.yellow++;
		*code_point = p->config.marking.yellow;
		return now;
	default:
		p->counters.red++;
		return UINT64_MAX;
	}
}

uint64_t
wire_profiles_pass(struct profiles *profiles, const uint8_t *frame, uint32_t frame_size, uint64_t now)
{
	struct fg_class_fields fields = fg_class_read(frame, frame_size - FG_ETHER_FCS);

	profiles->mark = FG_MARK_NONE;
	for (unsigned i = 0; i < profiles->n; i++) {
		struct profile *p = &profiles->list[i];

		if (!fg_class_matches(&p->config.class_, &fields))
			continue;
		if (p->queue > 0)
			return shape(p, now, frame_size);
		profiles->mark = p->config.marking.kind;
		return police(p, now, frame_size, fg_class_colour(&p->config.colouring, &fields),
			      &profiles->value);
	}
	return now;
}

bool
wire_profiles_marks(const struct fg_device_profile *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i].marking.kind != FG_MARK_NONE)
			return true;
	return false;
}

bool
wire_profiles_mark(const struct profiles *profiles, enum fg_mark_kind *kind, unsigned *value)
{
	*kind = profiles->mark;
	*value = (unsigned)profiles->value;
	return profiles->mark != FG_MARK_NONE && profiles->value >= 0;
}
