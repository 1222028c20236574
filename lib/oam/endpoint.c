/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reflector behind a port. A reply is made when its request has come, and gets the time of its departure
 * at each poll as long as it waits, since it leaves right after one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fg_bytes.h"
#include "fg_oam_endpoint.h"
#include "oam_priv.h"

struct fg_oam_station {
	struct fg_endpoint endpoint;
	struct fg_oam_reflector *reflector;
	uint64_t passed; /* frames that the reflector has counted */
};

static bool
is_message(const uint8_t *frame)
{
	return fg_get16(frame + FG_ETHER_HEADER - 2) == FG_ETHER_CFM;
}

static void
station_input(struct fg_endpoint *endpoint, const struct fg_arrival *in, unsigned n, struct fg_burst *out)
{
	struct fg_oam_station *s = (struct fg_oam_station *)endpoint;

	for (unsigned i = 0; i < n; i++) {
		bool fits = out->frames < out->rooms && in[i].length + FG_OAM_ROOM <= out->capacity;
		uint8_t *room = fits ? out->room[out->frames] : NULL;
		size_t octets;

		fg_oam_reflector_count(s->reflector, in[i].passed - s->passed);
		s->passed = in[i].passed;
		if (!fits) { /* no reply; a frame of the service came all the same */
			fg_oam_reflector_count(s->reflector, !is_message(in[i].frame));
			continue;
		}
		memcpy(room, in[i].frame, in[i].length);
		octets = fg_oam_reflector_answer(s->reflector, room, in[i].length, in[i].now);
		out->length[out->frames] = (uint16_t)octets;
		out->segment[out->frames] = 0;
		out->frames += octets > 0;
	}
}

static uint64_t
station_poll(struct fg_endpoint *endpoint, uint64_t now, struct fg_burst *out)
{
	struct fg_oam_station *s = (struct fg_oam_station *)endpoint;

	for (unsigned i = 0; i < out->frames; i++)
		fg_oam_reflector_depart(s->reflector, out->room[i], out->length[i], now);
	return UINT64_MAX;
}

int
fg_oam_station_create(const struct fg_oam_reflector_config *config, struct fg_oam_station **out,
		      struct fg_error *err)
{
	struct fg_oam_station *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return fg_error_set(err, ENOMEM, "oam", "no memory");
	s->endpoint.input = station_input;
	s->endpoint.poll = station_poll;
	s->endpoint.y1731 = !oam_is_over_udp(config->test);
	rc = fg_oam_reflector_create(config, &s->reflector, err);
	if (rc != 0) {
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void
fg_oam_station_free(struct fg_oam_station *s)
{
	if (s != NULL)
		fg_oam_reflector_free(s->reflector);
	free(s);
}

struct fg_endpoint *
fg_oam_station_endpoint(struct fg_oam_station *s)
{
	return &s->endpoint;
}

struct fg_oam_reflector *
fg_oam_station_reflector(struct fg_oam_station *s)
{
	return s->reflector;
}
