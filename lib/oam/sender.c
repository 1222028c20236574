/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sender of a session: probes at equal intervals from one template, and a record of each. A reply is
 * known by the number it returns, a delay measurement reply by the time at which its request left. What a
 * reply does not return as the standard has it is counted by kind; its times are kept anyway.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fg_oam_endpoint.h"
#include "oam_probe_priv.h"

enum { MAC = 6, LOOK_BACK = 4096, MOST_PROBES = 1000001 };

struct fg_oam_sender {
	struct fg_endpoint endpoint;
	struct fg_oam_sender_config config;
	struct oam_message place;
	uint8_t frame[FG_FRAME_MAX]; /* template */
	uint64_t start, last;        /* last: when a probe was sent */
	int64_t together;            /* probes sent then, less one */
	uint32_t next, newest;       /* probe to be sent; the latest one that was answered, plus 1 */
	uint32_t ahead;              /* frames of the service to be sent before it */
	uint64_t came;               /* frames of the service */
	_Atomic int64_t unix_ahead;  /* writer: control */
	_Atomic uint16_t estimate;   /* the same */
	struct fg_oam_counters counters;
	struct fg_oam_probe *probe;
};

static int64_t
unix_time_of(const struct fg_oam_sender *s, uint64_t ns)
{
	return (int64_t)ns + atomic_load_explicit(&s->unix_ahead, memory_order_relaxed);
}

/* number, time and checksums of the probe, in a copy of the template */
static void
fill(const struct fg_oam_sender *s, uint8_t *frame, uint32_t number, const struct fg_oam_probe *probe)
{
	uint8_t *message = frame + s->place.at;

	switch (s->config.test) {
	case FG_OAM_STAMP:
	case FG_OAM_TWAMP_LIGHT:
		fg_put32(message + STAMP_SEQUENCE, number);
		fg_put64(message + STAMP_TIME, oam_stamp_time(probe->unix_t1, s->config.ptp));
		fg_put16(message + STAMP_ESTIMATE, probe->own_estimate);
		break;
	case FG_OAM_LOOPBACK:
		fg_put32(message + Y1731_FIELDS, s->config.id + number);
		break;
	case FG_OAM_DELAY:
		fg_put64(message + Y1731_DM_T1, fg_oam_to_ptp(probe->unix_t1));
		break;
	case FG_OAM_SYNTHETIC:
		fg_put32(message + Y1731_SL_SENT, number + 1);
		break;
	case FG_OAM_LOSS:
		fg_put32(message + Y1731_LM_SENT, number * s->config.between);
		break;
	}
	oam_finish(frame, &s->place, s->place.length);
}

static void
send_probe(struct fg_oam_sender *s, uint64_t now, struct fg_burst *out)
{
	struct fg_oam_probe *probe = &s->probe[s->next];
	uint16_t octets = (uint16_t)(s->place.at + s->place.length);

	/* a DMM is known by its time alone: of several that leave in one poll no two may have the same */
	s->together = s->counters.sent > 0 && now == s->last ? s->together + 1 : 0;
	s->last = now;
	probe->t1 = now;
	probe->unix_t1 = unix_time_of(s, now) + s->together;
	probe->own_estimate = (uint16_t)(atomic_load_explicit(&s->estimate, memory_order_relaxed) |
					 (s->config.ptp ? FG_OAM_PTP : 0));
	probe->flags = FG_OAM_PROBE_SENT;
	memcpy(out->room[out->frames], s->frame, octets);
	fill(s, out->room[out->frames], s->next, probe);
	out->segment[out->frames] = 0;
	out->length[out->frames++] = octets;
	s->counters.sent++;
}

static void
send_service(const struct fg_oam_sender *s, struct fg_burst *out)
{
	uint8_t *frame = out->room[out->frames];
	uint16_t octets = (uint16_t)(s->place.at + s->place.length);

	memset(frame, 0, octets);
	memcpy(frame, s->frame, (size_t)2 * MAC);
	fg_put16(frame + (size_t)2 * MAC, FG_ETHER_LOCAL);
	fg_put64(frame + FG_ETHER_HEADER, OAM_SERVICE);
	out->segment[out->frames] = 0;
	out->length[out->frames++] = octets;
}

static uint64_t
poll(struct fg_endpoint *endpoint, uint64_t now, struct fg_burst *out)
{
	struct fg_oam_sender *s = (struct fg_oam_sender *)endpoint;
	uint32_t between = s->config.test == FG_OAM_LOSS ? s->config.between : 0;

	while (s->next < s->config.count) {
		uint64_t due = s->start + s->next * s->config.interval_ns -
			       s->ahead * s->config.interval_ns / (between + 1);

		if (due > now || out->frames == out->rooms)
			return due;
		if (s->ahead > 0) {
			send_service(s, out);
			s->ahead--;
			continue;
		}
		if (s->config.skip == 0 || s->next != s->config.skip)
			send_probe(s, now, out);
		s->next++;
		s->ahead = between;
	}
	return UINT64_MAX;
}

/* the probe that a reply is to. @return NULL: none that was sent */
static struct fg_oam_probe *
probe_of(struct fg_oam_sender *s, uint32_t number)
{
	if (number >= s->next || s->probe[number].flags == 0) {
		s->counters.unknown++;
		return NULL;
	}
	return &s->probe[number];
}

/* of a time; later probes have later ones, but where the clock was set back: then look at the last ones */
static struct fg_oam_probe *
probe_at(struct fg_oam_sender *s, uint64_t ptp)
{
	uint32_t first = 0, end = s->next;

	while (first < end) {
		uint32_t middle = first + (end - first) / 2;

		if (fg_oam_to_ptp(s->probe[middle].unix_t1) < ptp)
			first = middle + 1;
		else
			end = middle;
	}
	if (first < s->next && fg_oam_to_ptp(s->probe[first].unix_t1) == ptp)
		return &s->probe[first];
	for (uint32_t i = s->next; i > 0 && s->next - i < LOOK_BACK; i--)
		if (fg_oam_to_ptp(s->probe[i - 1].unix_t1) == ptp)
			return &s->probe[i - 1];
	s->counters.unknown++;
	return NULL;
}

/* @return false: it is not the first reply to this probe */
static bool
note(struct fg_oam_sender *s, struct fg_oam_probe *probe, uint64_t now)
{
	uint32_t number = (uint32_t)(probe - s->probe);

	if (probe->flags & FG_OAM_PROBE_ANSWERED) {
		s->counters.duplicates++;
		return false;
	}
	s->counters.received++;
	probe->flags |= FG_OAM_PROBE_ANSWERED;
	if (number + 1 < s->newest)
		probe->flags |= FG_OAM_PROBE_REORDERED;
	else
		s->newest = number + 1;
	probe->t4 = now;
	probe->unix_t4 = unix_time_of(s, now);
	return true;
}

/* the time in the reflector, by its own clock */
static bool
is_possible(const struct fg_oam_probe *probe)
{
	return probe->t2 <= probe->t3 && (uint64_t)probe->t3 - (uint64_t)probe->t2 <= probe->t4 - probe->t1;
}

static bool
is_ssid(const struct fg_oam_sender *s, const uint8_t *at)
{
	uint16_t ssid = fg_get16(at);

	/* a reflector that does not know RFC 8972 leaves it zero */
	return ssid == 0 || (s->config.test == FG_OAM_STAMP && ssid == s->config.ssid);
}

static void
check_stamp(struct fg_oam_sender *s, const struct fg_oam_probe *probe, const uint8_t *content, size_t length)
{
	const uint8_t *echo = content + STAMP_SENDER;
	bool stamp = s->config.test == FG_OAM_STAMP;

	s->counters.echo += fg_get64(echo + STAMP_TIME) != oam_stamp_time(probe->unix_t1, s->config.ptp) ||
			    fg_get16(echo + STAMP_ESTIMATE) != probe->own_estimate;
	s->counters.size += length != s->place.length;
	s->counters.zero +=
		!is_ssid(s, content + STAMP_SSID) || fg_get16(content + STAMP_ZERO) != 0 ||
		(stamp && (content[STAMP_TTL + 1] | content[STAMP_TTL + 2] | content[STAMP_TTL + 3]) != 0);
	s->counters.order += !is_possible(probe);
	s->counters.estimate += (probe->estimate & 0xff) == 0;
	s->counters.tlv += stamp && length == s->place.length && !oam_stamp_padding_is_back(content, length);
}

static void
take_stamp(struct fg_oam_sender *s, const uint8_t *content, size_t length, uint64_t now)
{
	size_t least = s->config.test == FG_OAM_STAMP ? STAMP_BASE : TWAMP_REPLY;
	struct fg_oam_probe *probe;

	if (length < least) {
		s->counters.short_reply++;
		return;
	}
	probe = probe_of(s, fg_get32(content + STAMP_SENDER));
	if (probe == NULL || !note(s, probe, now))
		return;
	probe->reflected = fg_get32(content);
	probe->estimate = fg_get16(content + STAMP_ESTIMATE);
	probe->t3 = oam_stamp_unix(fg_get64(content + STAMP_TIME), probe->estimate);
	probe->t2 = oam_stamp_unix(fg_get64(content + STAMP_T2), probe->estimate);
	probe->ttl = content[STAMP_TTL];
	check_stamp(s, probe, content, length);
}

static void
take_loopback(struct fg_oam_sender *s, const uint8_t *message, size_t length, uint64_t now)
{
	const size_t fixed = Y1731_FIELDS + Y1731_LB_FIELDS;
	struct fg_oam_probe *probe = probe_of(s, fg_get32(message + Y1731_FIELDS) - s->config.id);

	if (probe == NULL || !note(s, probe, now))
		return;
	s->counters.size += length != s->place.length;
	s->counters.echo +=
		length < s->place.length ||
		memcmp(message + fixed, s->frame + s->place.at + fixed, s->place.length - fixed) != 0;
}

static void
take_delay(struct fg_oam_sender *s, const uint8_t *message, uint64_t now)
{
	struct fg_oam_probe *probe = probe_at(s, fg_get64(message + Y1731_DM_T1));
	uint64_t t2 = fg_get64(message + Y1731_DM_T2), t3 = fg_get64(message + Y1731_DM_T3);

	if (probe == NULL || !note(s, probe, now) || t2 == 0 || t3 == 0)
		return; /* both are optional */
	probe->t2 = fg_oam_from_ptp(t2);
	probe->t3 = fg_oam_from_ptp(t3);
	s->counters.order += !is_possible(probe);
}

static void
take_synthetic(struct fg_oam_sender *s, const uint8_t *message, uint64_t now)
{
	struct fg_oam_probe *probe = probe_of(s, fg_get32(message + Y1731_SL_SENT) - 1);

	if (probe == NULL || !note(s, probe, now))
		return;
	probe->reflected = fg_get32(message + Y1731_SL_ANSWERED);
	s->counters.echo += fg_get16(message + Y1731_SL_SOURCE) != s->config.mep ||
			    fg_get32(message + Y1731_SL_ID) != s->config.id;
}

static void
take_loss(struct fg_oam_sender *s, const uint8_t *message, uint64_t came, uint64_t now)
{
	uint32_t sent = fg_get32(message + Y1731_LM_SENT), between = s->config.between;
	struct fg_oam_probe *probe = probe_of(s, sent % between == 0 ? sent / between : UINT32_MAX);

	if (probe == NULL || !note(s, probe, now))
		return;
	probe->reflected = fg_get32(message + Y1731_LM_CAME);
	probe->returned = fg_get32(message + Y1731_LM_BACK);
	probe->came = (uint32_t)came;
}

static void
take_y1731(struct fg_oam_sender *s, const uint8_t *message, size_t length, const struct fg_arrival *in)
{
	if (length <= Y1731_FIELDS || message[Y1731_LEVEL] >> 5 != s->config.level)
		return;
	if (s->config.test == FG_OAM_LOOPBACK && oam_is_y1731(message, length, Y1731_LBR, Y1731_LB_FIELDS))
		take_loopback(s, message, length, in->now);
	else if (s->config.test == FG_OAM_DELAY && oam_is_y1731(message, length, Y1731_DMR, Y1731_DM_FIELDS))
		take_delay(s, message, in->now);
	else if (s->config.test == FG_OAM_SYNTHETIC &&
		 oam_is_y1731(message, length, Y1731_SLR, Y1731_SL_FIELDS))
		take_synthetic(s, message, in->now);
	else if (s->config.test == FG_OAM_LOSS && oam_is_y1731(message, length, Y1731_LMR, Y1731_LM_FIELDS))
		take_loss(s, message, s->came + in->passed, in->now);
}

static bool
is_ours(const struct fg_oam_sender *s, const uint8_t *frame, const struct oam_message *m)
{
	if (memcmp(frame, s->config.host.mac, MAC) != 0 || m->version != s->place.version)
		return false;
	if (m->version == 0)
		return true;
	if (fg_get16(frame + m->udp) != s->config.to || fg_get16(frame + m->udp + 2) != s->config.from)
		return false;
	return m->version == 4
		       ? memcmp(((const struct fg_ipv4 *)(frame + m->ip))->dst, s->config.host.ipv4, 4) == 0
		       : memcmp(((const struct fg_ipv6 *)(frame + m->ip))->dst, s->config.host.ipv6, 16) == 0;
}

static void
input(struct fg_endpoint *endpoint, const struct fg_arrival *in, unsigned n, struct fg_burst *out)
{
	struct fg_oam_sender *s = (struct fg_oam_sender *)endpoint;
	struct oam_message m;

	for (unsigned i = 0; i < n; i++) {
		s->came += oam_type(in[i].frame, in[i].length) != FG_ETHER_CFM;
		if (!oam_find(in[i].frame, in[i].length, &m) || !is_ours(s, in[i].frame, &m))
			continue;
		if (s->place.version != 0)
			take_stamp(s, in[i].frame + m.at, m.length, in[i].now);
		else
			take_y1731(s, in[i].frame + m.at, m.length, &in[i]);
	}
}

int
fg_oam_sender_create(const struct fg_oam_sender_config *c, struct fg_oam_sender **out, struct fg_error *err)
{
	struct fg_oam_sender *s;
	size_t least;

	if (c->count == 0 || c->count > MOST_PROBES || c->interval_ns == 0 || c->level > 7 ||
	    (c->test == FG_OAM_LOSS && (c->between == 0 || c->between > UINT32_MAX / MOST_PROBES)))
		return fg_error_set(err, EINVAL, "oam",
				    "needs 1 to %d probes, an interval, a level to 7, 1 to %u frames between",
				    MOST_PROBES, UINT32_MAX / MOST_PROBES);
	s = calloc(1, sizeof(*s));
	if (s != NULL)
		s->probe = calloc(c->count, sizeof(*s->probe));
	if (s == NULL || s->probe == NULL) {
		fg_oam_sender_free(s);
		return fg_error_set(err, ENOMEM, "oam", "no memory for %u probes", c->count);
	}
	s->config = *c;
	s->endpoint.input = input;
	s->endpoint.poll = poll;
	s->endpoint.y1731 = !oam_is_over_udp(c->test);
	fg_oam_sender_set_clock(s, 0, 1);
	least = oam_make_probe(c, s->frame, &s->place);
	if (least != 0) {
		fg_oam_sender_free(s);
		return fg_error_set(err, EINVAL, "oam.frame_sizes", "%u is not in %zu to %d", c->frame_size,
				    least, FG_FRAME_MAX);
	}
	*out = s;
	return 0;
}

void
fg_oam_sender_free(struct fg_oam_sender *s)
{
	if (s != NULL)
		free(s->probe);
	free(s);
}

struct fg_endpoint *
fg_oam_sender_endpoint(struct fg_oam_sender *s)
{
	return &s->endpoint;
}

void
fg_oam_sender_schedule(struct fg_oam_sender *s, uint64_t start_ns)
{
	s->start = start_ns;
}

void
fg_oam_sender_set_clock(struct fg_oam_sender *s, int64_t unix_ahead_ns, uint16_t estimate)
{
	atomic_store_explicit(&s->unix_ahead, unix_ahead_ns, memory_order_relaxed);
	atomic_store_explicit(&s->estimate, estimate, memory_order_relaxed);
}

const struct fg_oam_probe *
fg_oam_sender_probes(const struct fg_oam_sender *s)
{
	return s->probe;
}

void
fg_oam_sender_read(const struct fg_oam_sender *s, struct fg_oam_counters *out)
{
	*out = s->counters;
}

const char *
fg_oam_counter_name(unsigned i, const char **text)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
#define ROW(name, text) {#name, text},
		FG_OAM_COUNTERS(ROW)};

	if (i >= sizeof(rows) / sizeof(rows[0]))
		return NULL;
	*text = rows[i].text;
	return rows[i].name;
}
