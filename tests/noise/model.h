/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a device whose truth is known: a policer, a buffer before a server, a delay. What becomes
 * of a frame follows from the moments at which it and those before it arrived, and from nothing else; so a
 * device that looks late at its clock is still the same device, as long as the stamps are right. truth.py
 * has the same device by itself, in Python.
 */
#ifndef NOISE_MODEL_H
#define NOISE_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOISE_LOST UINT64_MAX
/* an overload is over when no frame found the buffer full for so long */
#define NOISE_OVERLOAD_NS 5e6

struct noise_model {
	double police_bps, bucket_octets; /* 0: no policer */
	double serve_fps, queue_frames;   /* 0: no server */
	double sick_ns;                   /* after an overload every second frame is lost for so long */
	uint64_t delay_ns;
	double tokens, free_ns, full_ns;
	uint64_t last_ns;
	bool skipped;
};

/* why a frame was lost, or that it was not */
enum noise_fate { NOISE_PASSED, NOISE_POLICED, NOISE_FULL, NOISE_SICK, NOISE_OUTAGE, NOISE_FATES };

static inline uint64_t
noise_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* @return the number behind "key=" in @p text, or @p otherwise */
static inline double
noise_number(const char *text, const char *key, double otherwise)
{
	size_t n = strlen(key);

	for (const char *at = text; at != NULL && *at != '\0'; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, n) == 0 && at[n] == '=')
			return atof(at + n + 1);
	}
	return otherwise;
}

static inline void
noise_model_init(struct noise_model *m, const char *text)
{
	*m = (struct noise_model){
		.police_bps = noise_number(text, "police_bps", 0),
		.bucket_octets = noise_number(text, "bucket", 0),
		.serve_fps = noise_number(text, "serve_fps", 0),
		.queue_frames = noise_number(text, "queue", 0),
		.sick_ns = noise_number(text, "sick_ms", 0) * 1e6,
		.delay_ns = (uint64_t)(noise_number(text, "delay_us", 0) * 1e3),
	};
	m->tokens = m->bucket_octets;
}

static inline bool
noise_polices(struct noise_model *m, uint64_t now, unsigned octets)
{
	double since = m->last_ns == 0 || now < m->last_ns ? 0 : (double)(now - m->last_ns);

	m->last_ns = now;
	if (m->police_bps == 0)
		return false;
	m->tokens += since * m->police_bps / 8e9;
	if (m->tokens > m->bucket_octets)
		m->tokens = m->bucket_octets;
	if (m->tokens < octets)
		return true;
	m->tokens -= octets;
	return false;
}

static inline bool
noise_is_sick(struct noise_model *m, double now)
{
	double since = now - m->full_ns;

	if (m->full_ns == 0 || since < NOISE_OVERLOAD_NS || since >= m->sick_ns)
		return false;
	m->skipped = !m->skipped;
	return m->skipped;
}

/**
 * A frame arrives. @param octets  with FCS. @param[out] fate  what became of it
 * @return when it leaves, ns; NOISE_LOST: it does not
 */
static inline uint64_t
noise_model_pass(struct noise_model *m, uint64_t now, unsigned octets, enum noise_fate *fate)
{
	double at = (double)now, service;

	*fate = NOISE_POLICED;
	if (noise_polices(m, now, octets))
		return NOISE_LOST;
	*fate = NOISE_SICK;
	if (noise_is_sick(m, at))
		return NOISE_LOST;
	*fate = NOISE_FULL;
	if (m->serve_fps > 0) {
		service = 1e9 / m->serve_fps;
		if (m->free_ns - at > m->queue_frames * service) {
			m->full_ns = at;
			return NOISE_LOST;
		}
		m->free_ns = (m->free_ns > at ? m->free_ns : at) + service;
		at = m->free_ns;
	}
	*fate = NOISE_PASSED;
	return (uint64_t)at + m->delay_ns;
}

#endif
