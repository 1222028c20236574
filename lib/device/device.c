/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference device, one direction of it: a line, a loss process, a buffer, a server and a delay.
 *
 * Frames of one direction stay in order, so nothing is simulated step by step: when a frame enters, the times
 * of the frames before it decide when, and whether, it leaves. The server takes one frame at a time and needs
 * the longest of 1/capacity (frames), size/capacity (bits) and the frame's time on the outgoing line. A frame
 * that finds the server busy waits if the buffer has room, and is lost otherwise. The delay comes after the
 * server and is a pipeline: it holds any number of frames and takes no room in the buffer. Where the delay is
 * shorter for a small frame than for the large frame before it, the small frame still waits for the outgoing
 * line.
 */
#include <errno.h>
#include <stdlib.h>

#include "device_priv.h"

enum {
	HEADER_OCTETS = FG_ETHER_HEADER,
	SLACK = 4096, /* frames: bursts on their way in and out */
};
static const uint64_t OVERLOAD_PAUSE_PS = 1000000000;

uint32_t
fg_device_in_flight(const struct fg_device_config *config, unsigned frame_size)
{
	double fps = (double)config->rate_bps / (8.0 * (frame_size + FG_ETHER_OVERHEAD)), frames = 0, ns;

	for (int i = 0; i < 2; i++) {
		const struct fg_device_direction *d = &config->direction[i];
		double waiting = d->buffer_octets ? (double)d->buffer / frame_size : (double)d->buffer;

		ns = d->latency_ns + d->latency_ns_per_octet * frame_size;
		frames += waiting + fps * 1e-9 * ns + fg_impair_kept(&d->impair, fps);
	}
	frames += config->nat.setup_queue + config->firewall.setup_queue + config->firewall.inspect_queue +
		  fps * 1e-9 * config->firewall.inspect_ns;
	frames += SLACK;
	return frames <= WIRE_MAX_IN_FLIGHT ? (uint32_t)frames : 0;
}

static int
check_direction(const struct fg_device_direction *c, struct fg_error *err)
{
	const struct wire_range ranges[] = {
		{"reference_device.capacity", c->capacity_fps, 1e-3, 1e12, true},
		{"reference_device.bandwidth", c->capacity_bps, 1, 1e15, true},
		{"reference_device.latency", c->latency_ns, 0, 1e12, true},
		{"reference_device.latency_per_byte", c->latency_ns_per_octet, 0, 1e9, true},
		{"reference_device.recovery", c->recovery_ns, 0, 1e15, true},
	};

	return wire_check_ranges(ranges, RTE_DIM(ranges), err);
}

int
wire_device_init(struct direction *d, const struct fg_device_config *config, unsigned side,
		 struct fg_error *err)
{
	const struct fg_device_direction *c = &config->direction[side];
	int rc = check_direction(c, err);

	if (rc != 0)
		return rc;
	if (!(config->rate_bps >= 1e3 && config->rate_bps <= 1e12))
		return fg_error_set(err, EINVAL, "reference_device.rate",
				    "%g bit/s is not in 1 kbit/s to 1 Tbit/s", config->rate_bps);
	d->config = c;
	d->octet_time = wire_fixed(8e12L / config->rate_bps);
	d->recovery = wire_ps(c->recovery_ns);
	return wire_waiting_init(&d->waiting, c->buffer, c->buffer_octets, "reference_device.buffer", err);
}

void
wire_device_reset(struct direction *d, uint64_t seed)
{
	d->line_free = d->server_free = d->out_free = 0;
	wire_waiting_reset(&d->waiting);
	fg_path_reset(&d->path, seed);
	d->outage_from = d->outage_to = 0;
	d->last_full = 0;
	d->skipped = false;
	d->counters = (struct fg_device_counters){0};
	wire_profiles_reset(d->profiles);
}

void
wire_device_free(struct direction *d)
{
	wire_waiting_free(&d->waiting);
	free(d->profiles);
}

static struct passage
passage_of(const struct direction *d, uint32_t frame_size)
{
	const struct fg_device_direction *c = d->config;
	struct passage p = {.frame_size = frame_size};
	fg_u128 by_frames = c->capacity_fps > 0 ? wire_fixed(1e12L / c->capacity_fps) : 0;
	fg_u128 by_bits = c->capacity_bps > 0 ? wire_fixed(8e12L * frame_size / c->capacity_bps) : 0;

	p.line_time = d->octet_time * (frame_size + FG_ETHER_OVERHEAD);
	p.service_time = p.line_time;
	if (p.service_time < by_frames)
		p.service_time = by_frames;
	if (p.service_time < by_bits)
		p.service_time = by_bits;
	p.store_time = d->octet_time * (c->cut_through ? HEADER_OCTETS : frame_size);
	p.transit = wire_fixed(wire_ps(c->latency_ns) + 1e3L * c->latency_ns_per_octet * frame_size);
	return p;
}

void
wire_device_size(struct direction *d, uint32_t frame_size)
{
	struct passage *known = &d->known[(frame_size * 0x9e3779b1U) >> (32 - PASSAGES_LOG2)];

	if (known->frame_size != frame_size)
		*known = passage_of(d, frame_size);
	d->is = *known;
}

/*
 * An overload has ended when no frame has found the buffer full for a millisecond. From then until `recovery`
 * after the last frame that found it full, every second frame is lost. These losses do not occur during the
 * overload, because they would relieve it.
 */
static bool
is_recovering(struct direction *d, uint64_t now)
{
	uint64_t since = now - d->last_full;

	if (d->last_full == 0 || since < OVERLOAD_PAUSE_PS || since >= d->recovery)
		return false;
	d->skipped = !d->skipped;
	return d->skipped;
}

/* the counter of the reason why a frame is lost; NULL: not lost */
static uint64_t *
obstacle(struct direction *d, uint64_t eligible)
{
	if (eligible >= d->outage_from && eligible < d->outage_to)
		return &d->counters.outage;
	if (d->recovery > 0 && is_recovering(d, eligible))
		return &d->counters.recovering;
	return NULL;
}

/* delay the forwarding time of a frame by its profile. @return false: the frame is lost */
static bool
is_within_profile(struct direction *d, const uint8_t *frame, fg_u128 *eligible)
{
	uint64_t now = WHOLE(*eligible), at = wire_profiles_pass(d->profiles, frame, d->is.frame_size, now);

	if (at == UINT64_MAX) {
		d->counters.policed++;
		return false;
	}
	if (at > now)
		*eligible = FROM_WHOLE(at);
	return true;
}

uint64_t
wire_device_pass(struct direction *d, const uint8_t *frame, fg_u128 first_bit)
{
	fg_u128 eligible = first_bit + d->is.store_time, start, out;
	uint64_t now = WHOLE(eligible), *lost;

	if (fg_path_loses(&d->path))
		return UINT64_MAX;
	lost = obstacle(d, now);
	if (__builtin_expect(lost != NULL, 0)) {
		++*lost;
		return UINT64_MAX;
	}
	if (d->profiles != NULL && !is_within_profile(d, frame, &eligible))
		return UINT64_MAX;
	start = eligible;
	if (start < d->server_free) {
		start = d->server_free;
		if (!wire_waiting_enter(&d->waiting, eligible, start, d->is.frame_size)) {
			d->counters.buffer_full++;
			d->last_full = now;
			return UINT64_MAX;
		}
	}
	d->server_free = start + d->is.service_time;
	out = start + d->is.transit;
	if (out < d->out_free)
		out = d->out_free;
	d->out_free = out + d->is.line_time;
	d->counters.forwarded++;
	return WHOLE(out);
}
