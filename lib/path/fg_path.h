/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_delay_line.h"
#include "fg_impair.h"

__BEGIN_DECLS

/*
 * One direction of an impaired path: it carries out the decisions of fg_impair. The reference device and the
 * network emulator both use it. The path handles frames through the functions of fg_path_frames, so it needs
 * no DPDK.
 */

/** Frame operations, given by the user of the path. @p context is the user's. */
struct fg_path_frames {
	/**
	 * The frame, or a copy in its place, whose bytes may be changed. @return NULL: no buffer; the frame
	 * is kept
	 */
	void *(*own)(void *context, void *frame);
	/** Another frame with the same bytes. @return NULL: no buffer */
	void *(*copy)(void *context, void *frame);
	uint8_t *(*bytes)(void *frame, uint32_t *length);
	/** Cut the frame to @p length bytes. */
	void (*cut)(void *frame, uint32_t length);
};

/** One direction. One writer; members are private but for the counters. */
struct fg_path {
	struct fg_impair impair;
	struct fg_path_counters counters;
	const struct fg_path_frames *frames;
	void *context;
};

/** As fg_impair_init(). @param frames  must outlive the path */
int fg_path_init(struct fg_path *path, const struct fg_impair_config *config, uint64_t hz,
		 const struct fg_path_frames *frames, void *context, const char *where, struct fg_error *err);

/** Restart: counters at 0, and the same decisions for the same seed. */
void fg_path_reset(struct fg_path *path, uint64_t seed);

/** Whether the path loses the next frame. Ask once for each frame. */
static inline bool
fg_path_loses(struct fg_path *path)
{
	bool lost = path->impair.loses && fg_impair_lost(&path->impair);

	path->counters.lost_on_path += lost;
	return lost;
}

/**
 * Put a frame that is not lost, with unimpaired release at @p time, into the line.
 * @return false: no room for the frame and a copy; the caller keeps the frame
 */
bool fg_path_send(struct fg_path *path, struct fg_delay_line *line, void *frame, uint64_t time);

/** Counters, and the counters of the line that the path sends into. */
void fg_path_read_counters(const struct fg_path *path, const struct fg_delay_line *line,
			   struct fg_path_counters *out);

__END_DECLS
