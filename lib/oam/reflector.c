/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reflector: a request becomes its reply where it stands. It counts the requests of each session by
 * itself, unless it is to be stateless, so that the sender can distinguish the direction of a loss; an idle
 * session is forgotten when its place is needed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "oam_priv.h"

enum { SESSIONS = 4096, WAYS = 8 }; /* remembered; looked at for one */
enum { TTL = 255, MAC = 6, MULTICAST_LAST = 0x30 };
static const uint64_t FORGET_NS = UINT64_C(900000000000); /* REFWAIT of RFC 5357 */

/** The sender: address, port and SSID; or MAC and test id of SLM. */
struct session_key {
	uint8_t address[16];
	uint16_t port, ssid;
	uint32_t id;
};

struct session {
	struct session_key key;
	bool used;
	uint64_t last; /* request, ns of the clock */
	uint32_t count;
};

struct fg_oam_reflector {
	struct fg_oam_reflector_config config;
	_Atomic int64_t unix_ahead; /* writer: control */
	_Atomic uint16_t estimate;  /* the same */
	struct fg_oam_reflector_counts counts;
	uint64_t came, returned; /* frames of the service */
	struct session session[SESSIONS];
};

static int64_t
unix_time(const struct fg_oam_reflector *r, uint64_t ns)
{
	return (int64_t)ns + atomic_load_explicit(&r->unix_ahead, memory_order_relaxed);
}

static uint32_t
hash_of(const struct session_key *key)
{
	const uint8_t *octet = (const uint8_t *)key;
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < sizeof(*key); i++)
		hash = (hash ^ octet[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/* the session of a key, new or known. @return NULL: there is no place for one more */
static struct session *
session_of(struct fg_oam_reflector *r, const struct session_key *key, uint64_t now)
{
	uint32_t hash = hash_of(key);
	struct session *place = NULL;

	for (unsigned i = 0; i < WAYS; i++) {
		struct session *s = &r->session[(hash + i) % SESSIONS];
		bool old = s->used && now > s->last && now - s->last > FORGET_NS;

		if (s->used && !old && memcmp(&s->key, key, sizeof(*key)) == 0) {
			s->last = now;
			return s;
		}
		if (place == NULL && (!s->used || old))
			place = s;
	}
	if (place == NULL) {
		r->counts.crowded++;
		return NULL;
	}
	r->counts.sessions += !place->used;
	*place = (struct session){.key = *key, .used = true, .last = now};
	return place;
}

static bool
is_for_us(const struct fg_oam_reflector *r, const uint8_t *frame, const struct oam_message *m)
{
	const struct fg_host *host = &r->config.host;

	if (memcmp(frame, host->mac, MAC) != 0 || (frame[MAC] & 1) != 0 ||
	    fg_get16(frame + m->udp + 2) != r->config.port)
		return false;
	if (m->version == 4)
		return !host->has_ipv4 ||
		       memcmp(((const struct fg_ipv4 *)(frame + m->ip))->dst, host->ipv4, 4) == 0;
	return !host->has_ipv6 || memcmp(((const struct fg_ipv6 *)(frame + m->ip))->dst, host->ipv6, 16) == 0;
}

static struct session_key
key_of_datagram(const uint8_t *frame, const struct oam_message *m, bool stamp)
{
	struct session_key key;

	memset(&key, 0, sizeof(key));
	if (m->version == 4)
		memcpy(key.address, ((const struct fg_ipv4 *)(frame + m->ip))->src, 4);
	else
		memcpy(key.address, ((const struct fg_ipv6 *)(frame + m->ip))->src, 16);
	key.port = fg_get16(frame + m->udp);
	key.ssid = stamp ? fg_get16(frame + m->at + STAMP_SSID) : 0;
	key.id = m->version;
	return key;
}

static void
set_marks(uint8_t *frame, const struct oam_message *m, uint8_t dscp)
{
	if (m->version == 4) {
		struct fg_ipv4 *ip = (struct fg_ipv4 *)(frame + m->ip);

		ip->ttl = TTL;
		ip->tos = (uint8_t)(dscp << 2);
	} else {
		struct fg_ipv6 *ip = (struct fg_ipv6 *)(frame + m->ip);

		ip->hop_limit = TTL;
		ip->version_class_flow =
			htonl((ntohl(ip->version_class_flow) & 0xf00fffff) | (uint32_t)dscp << 22);
	}
}

/* bytes of the reply's content: TWAMP's has 27 more of header, which the padding makes up for */
static size_t
reply_octets(const struct oam_message *m, bool stamp)
{
	size_t least = stamp ? STAMP_BASE : TWAMP_REPLY;

	return m->length > least ? m->length : least;
}

static size_t
answer_stamp(struct fg_oam_reflector *r, uint8_t *frame, const struct oam_message *m, uint64_t arrival)
{
	/* a STAMP reflector answers TWAMP Light as well, whose packets may be shorter (RFC 8762, 4.6) */
	bool stamp = r->config.test == FG_OAM_STAMP && m->length >= STAMP_BASE;
	uint8_t *content = frame + m->at, *sender = content + STAMP_SENDER, dscp = m->tos >> 2;
	uint16_t estimate = atomic_load_explicit(&r->estimate, memory_order_relaxed);
	uint16_t wanted, ssid = 0;
	uint32_t sequence = 0;
	size_t octets = reply_octets(m, stamp);

	if (m->length < STAMP_SENDER_LEAST) {
		r->counts.refused++;
		return 0;
	}
	if (!r->config.stateless) {
		struct session_key key = key_of_datagram(frame, m, stamp);
		struct session *s = session_of(r, &key, arrival);

		if (s == NULL)
			return 0;
		sequence = s->count++;
	}
	wanted = fg_get16(content + STAMP_ESTIMATE) & FG_OAM_PTP;
	if (stamp)
		ssid = fg_get16(content + STAMP_SSID);
	memmove(sender, content, STAMP_SENDER_OCTETS);
	if (r->config.stateless)
		sequence = fg_get32(sender);
	fg_put32(content, sequence);
	fg_put16(content + STAMP_ESTIMATE, estimate | wanted);
	fg_put16(content + STAMP_SSID, ssid);
	fg_put64(content + STAMP_T2, oam_stamp_time(unix_time(r, arrival), wanted != 0));
	fg_put16(content + STAMP_ZERO, 0);
	content[STAMP_TTL] = m->ttl;
	if (stamp) {
		memset(content + STAMP_TTL + 1, 0, STAMP_BASE - STAMP_TTL - 1);
		oam_stamp_answer_tlvs(content, m->length, m->tos, &dscp);
	}
	fg_net_reflect(frame, m->at + m->length);
	set_marks(frame, m, dscp);
	return oam_finish(frame, m, octets);
}

static bool
is_for_our_mep(const struct fg_oam_reflector *r, const uint8_t *frame, const struct oam_message *m)
{
	static const uint8_t group[MAC - 1] = {0x01, 0x80, 0xc2, 0, 0};
	bool ours = memcmp(frame, r->config.host.mac, MAC) == 0;

	/* class 1 of the multicast addresses */
	ours = ours || (memcmp(frame, group, sizeof(group)) == 0 &&
			frame[MAC - 1] == (MULTICAST_LAST | r->config.level));
	return ours && (frame[MAC] & 1) == 0 && m->length > Y1731_FIELDS &&
	       frame[m->at] >> 5 == r->config.level;
}

/* the count of answers to a test of a MEP. @return 0: no place is left to remember it */
static uint32_t
count_synthetic(struct fg_oam_reflector *r, const uint8_t *frame, const uint8_t *message, uint64_t now)
{
	struct session_key key;
	struct session *s;

	memset(&key, 0, sizeof(key));
	memcpy(key.address, frame + MAC, MAC);
	key.ssid = fg_get16(message + Y1731_SL_SOURCE);
	key.id = fg_get32(message + Y1731_SL_ID);
	s = session_of(r, &key, now);
	return s == NULL ? 0 : ++s->count;
}

static size_t
send_back(const struct fg_oam_reflector *r, uint8_t *frame, size_t length)
{
	memcpy(frame, frame + MAC, MAC);
	memcpy(frame + MAC, r->config.host.mac, MAC);
	return length;
}

static size_t
answer_y1731(struct fg_oam_reflector *r, uint8_t *frame, size_t length, const struct oam_message *m,
	     uint64_t arrival)
{
	uint8_t *message = frame + m->at;

	if (oam_is_y1731(message, m->length, Y1731_LBM, Y1731_LB_FIELDS)) {
		message[Y1731_OPCODE] = Y1731_LBR;
	} else if (oam_is_y1731(message, m->length, Y1731_DMM, Y1731_DM_FIELDS)) {
		message[Y1731_OPCODE] = Y1731_DMR;
		fg_put64(message + Y1731_DM_T2, fg_oam_to_ptp(unix_time(r, arrival)));
	} else if (oam_is_y1731(message, m->length, Y1731_SLM, Y1731_SL_FIELDS)) {
		uint32_t count = count_synthetic(r, frame, message, arrival);

		if (count == 0)
			return 0;
		message[Y1731_OPCODE] = Y1731_SLR;
		fg_put16(message + Y1731_SL_RESPONDER, r->config.mep);
		fg_put32(message + Y1731_SL_ANSWERED, count);
	} else if (oam_is_y1731(message, m->length, Y1731_LMM, Y1731_LM_FIELDS)) {
		message[Y1731_OPCODE] = Y1731_LMR;
		fg_put32(message + Y1731_LM_CAME, (uint32_t)r->came);
		fg_put32(message + Y1731_LM_BACK, (uint32_t)r->returned);
	} else {
		r->counts.refused++;
		return 0;
	}
	return send_back(r, frame, length);
}

/* a frame of the service */
static size_t
answer_service(struct fg_oam_reflector *r, uint8_t *frame, size_t length)
{
	size_t at = fg_net_type_at(frame, length) + 2;

	r->came++;
	if (oam_type(frame, length) != FG_ETHER_LOCAL || length < at + sizeof(uint64_t) ||
	    fg_get64(frame + at) != OAM_SERVICE || (frame[MAC] & 1) != 0 ||
	    memcmp(frame, r->config.host.mac, MAC) != 0)
		return 0;
	fg_put64(frame + at, OAM_RETURNED);
	r->returned++;
	return send_back(r, frame, length);
}

void
fg_oam_reflector_count(struct fg_oam_reflector *r, uint64_t frames)
{
	r->came += frames;
}

size_t
fg_oam_reflector_answer(struct fg_oam_reflector *r, uint8_t *frame, size_t length, uint64_t arrival)
{
	bool over_udp = oam_is_over_udp(r->config.test);
	struct oam_message m;
	size_t octets = 0;

	if (!over_udp && oam_type(frame, length) != FG_ETHER_CFM)
		return answer_service(r, frame, length);
	if (!oam_find(frame, length, &m) || over_udp != (m.version != 0))
		return 0;
	if (over_udp && is_for_us(r, frame, &m))
		octets = answer_stamp(r, frame, &m, arrival);
	else if (!over_udp && is_for_our_mep(r, frame, &m))
		octets = answer_y1731(r, frame, length, &m, arrival);
	if (octets == 0)
		return 0;
	r->counts.answered++;
	fg_oam_reflector_depart(r, frame, octets, arrival);
	return octets;
}

void
fg_oam_reflector_depart(const struct fg_oam_reflector *r, uint8_t *frame, size_t length, uint64_t departure)
{
	struct oam_message m;

	/* the checksum is not right before it has been computed with the time */
	if (!oam_find(frame, length, &m))
		return;
	if (m.version != 0) {
		bool ptp = (fg_get16(frame + m.at + STAMP_ESTIMATE) & FG_OAM_PTP) != 0;

		fg_put64(frame + m.at + STAMP_TIME, oam_stamp_time(unix_time(r, departure), ptp));
		oam_finish(frame, &m, m.length);
	} else if (frame[m.at + Y1731_OPCODE] == Y1731_DMR) {
		fg_put64(frame + m.at + Y1731_DM_T3, fg_oam_to_ptp(unix_time(r, departure)));
	}
}

void
fg_oam_reflector_set_clock(struct fg_oam_reflector *r, int64_t unix_ahead_ns, uint16_t estimate)
{
	atomic_store_explicit(&r->unix_ahead, unix_ahead_ns, memory_order_relaxed);
	atomic_store_explicit(&r->estimate, estimate, memory_order_relaxed);
}

void
fg_oam_reflector_read(const struct fg_oam_reflector *r, struct fg_oam_reflector_counts *out)
{
	*out = r->counts;
}

int
fg_oam_reflector_create(const struct fg_oam_reflector_config *config, struct fg_oam_reflector **out,
			struct fg_error *err)
{
	struct fg_oam_reflector *r;

	if (config->level > 7)
		return fg_error_set(err, EINVAL, "oam", "level %u is not in 0 to 7", config->level);
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return fg_error_set(err, ENOMEM, "oam", "no memory");
	r->config = *config;
	fg_oam_reflector_set_clock(r, 0, 1); /* not synchronised, and a multiplier that is valid */
	*out = r;
	return 0;
}

void
fg_oam_reflector_free(struct fg_oam_reflector *r)
{
	free(r);
}
