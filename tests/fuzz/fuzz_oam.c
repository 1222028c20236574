/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that a peer made up, to a reflector of each kind and to a sender that waits for replies. What must
 * hold: no access out of bounds; a reply fits into the room that is promised, goes where the request came
 * from, and is found again as a message; a frame that is not answered stays as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "fg_oam_endpoint.h"
#include "oam_priv.h"

enum { MOST = 2048, FIRST = 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* the addresses that the seeds have */
static const struct fg_host host = {.mac = {2, 0, 0, 0, 0, 2}};

static void
reflect(enum fg_oam_test test, const uint8_t *data, size_t size)
{
	struct fg_oam_reflector_config config = {.test = test, .host = host, .port = FG_OAM_PORT, .level = 4};
	struct fg_oam_reflector *reflector;
	struct oam_message message;
	uint8_t *frame = malloc(size + FG_OAM_ROOM);
	size_t octets;

	if (frame == NULL || fg_oam_reflector_create(&config, &reflector, NULL) != 0)
		abort();
	memcpy(frame, data, size);
	octets = fg_oam_reflector_answer(reflector, frame, size, 1);
	if (octets == 0 && memcmp(frame, data, size) != 0)
		abort();
	if (octets != 0) {
		fg_oam_reflector_depart(reflector, frame, octets, 2);
		if (octets > size + FG_OAM_ROOM ||
		    (oam_type(frame, octets) != FG_ETHER_LOCAL && !oam_find(frame, octets, &message)) ||
		    memcmp(frame, data + 6, 6) != 0 || memcmp(frame + 6, host.mac, 6) != 0)
			abort();
	}
	fg_oam_reflector_free(reflector);
	free(frame);
}

static void
receive(enum fg_oam_test test, const uint8_t *data, size_t size)
{
	struct fg_oam_sender_config config = {.test = test,
					      .host = host,
					      .from = 50000,
					      .to = FG_OAM_PORT,
					      .level = 4,
					      .frame_size = 128,
					      .count = 4,
					      .between = 1,
					      .interval_ns = 1};
	struct fg_oam_sender *sender;
	struct fg_endpoint *endpoint;
	uint8_t room[4][MOST];
	struct fg_burst out = {.rooms = 4, .capacity = MOST, .room = {room[0], room[1], room[2], room[3]}};
	struct fg_arrival in = {.frame = data, .length = size, .now = 100};

	if (fg_oam_sender_create(&config, &sender, NULL) != 0)
		abort();
	endpoint = fg_oam_sender_endpoint(sender);
	endpoint->poll(endpoint, 10, &out);
	if (out.frames != 4)
		abort();
	endpoint->input(endpoint, &in, 1, &out);
	fg_oam_sender_free(sender);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum fg_oam_test test;

	if (size <= FIRST || size > MOST)
		return 0;
	test = (enum fg_oam_test)(data[0] % (FG_OAM_LOSS + 1));
	reflect(test, data + FIRST, size - FIRST);
	receive(test, data + FIRST, size - FIRST);
	return 0;
}
