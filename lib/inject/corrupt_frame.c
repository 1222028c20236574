/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that are malformed on purpose. Each frame is made correctly first and then changed in one place
 * only: modifiers have the values of its number, a wrong checksum differs by one from the right one, and a
 * wrong IP length stands under a header checksum that is right.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fg_bytes.h"
#include "fg_net.h"
#include "fg_signature.h"
#include "fg_inject_frame.h"

#define HAS(kinds, kind) (((kinds) >> (kind)&1) != 0)

static bool
wants(const struct fg_inject_config *config, enum fg_inject kind)
{
	return fg_trigger_is_set(&config->rule[kind].trigger);
}

static int
refuse(struct fg_error *err, const char *where, const char *key, const char *what)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", where, key);
	return fg_error_set(err, EINVAL, name, "%s", what);
}

int
fg_inject_check(const struct fg_inject_fields *s, const struct fg_inject_config *config,
		const struct fg_template *t, const char *where, struct fg_error *err)
{
	const struct {
		enum fg_inject kind;
		uint16_t offset;
		const char *key, *what;
	} fields[] = {
		{FG_INJECT_IP_CHECKSUM, s->ip_checksum, "ip_checksum", "the frames have no IPv4 header"},
		{FG_INJECT_L4_CHECKSUM, s->l4_checksum, "l4_checksum",
		 "the frames have no header behind IP with a checksum"},
		{FG_INJECT_IP_LENGTH, s->ip_length, "ip_length", "the frames have no IP header"},
		{FG_INJECT_L4_LENGTH, s->l4_length, "l4_length", "the frames have no UDP header"},
	};

	for (unsigned i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (wants(config, fields[i].kind) &&
		    (fields[i].offset == 0 || fields[i].offset + 2 + FG_SIGNATURE_SIZE > t->length))
			return refuse(err, where, fields[i].key, fields[i].what);
	if (wants(config, FG_INJECT_PAYLOAD) && t->header + FG_SIGNATURE_SIZE >= t->length)
		return refuse(err, where, "payload",
			      "there is nothing between headers and signature; larger frames have a payload");
	if (wants(config, FG_INJECT_RUNT) &&
	    (s->runt_size < FG_INJECT_MIN_RUNT || s->runt_size >= FG_ETHER_MIN))
		return refuse(err, where, "runt", "a runt has 36 to 63 bytes");
	return 0;
}

/* one more; but zero may mean no checksum, and all ones are the same sum as zero */
static void
corrupt_checksum(uint8_t *at)
{
	uint16_t value = fg_get16(at);

	fg_put16(at, value >= 0xfffe ? 1 : (uint16_t)(value + 1));
}

static void
corrupt_ip_length(const struct fg_inject_fields *s, uint8_t *frame)
{
	uint16_t before = fg_get16(frame + s->ip_length), after = (uint16_t)(before + s->length_by);
	uint32_t sum;

	fg_put16(frame + s->ip_length, after);
	if (s->ip_checksum == 0)
		return;
	/* RFC 1624: without the old value and with the new one */
	sum = (uint32_t)(uint16_t)~fg_get16(frame + s->ip_checksum) + (uint16_t)~before + after;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	fg_put16(frame + s->ip_checksum, (uint16_t)~sum);
}

/* consecutive bits, starting one bit further in each frame */
static void
corrupt_payload(const struct fg_inject_fields *s, const struct fg_template *t, uint8_t *frame,
		uint64_t number)
{
	uint64_t bits = 8 * ((uint64_t)t->length - FG_SIGNATURE_SIZE - t->header);

	for (uint64_t i = 0; i < s->payload_bits && i < bits; i++) {
		uint64_t bit = (number + i) % bits;

		frame[t->header + bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	}
}

/* the runt: the frame's beginning, and the signature at its new end */
static uint16_t
cut(const struct fg_inject_fields *s, const struct fg_template *t, uint8_t *frame)
{
	uint16_t length = (uint16_t)(s->runt_size - FG_ETHER_FCS);

	memmove(frame + length - FG_SIGNATURE_SIZE, frame + t->length - FG_SIGNATURE_SIZE, FG_SIGNATURE_SIZE);
	return length;
}

uint16_t
fg_inject_apply(const struct fg_inject_fields *s, const struct fg_template *t, uint32_t kinds,
		uint64_t number, uint8_t *frame)
{
	if (HAS(kinds, FG_INJECT_RUNT))
		return cut(s, t, frame);
	if (HAS(kinds, FG_INJECT_IP_LENGTH))
		corrupt_ip_length(s, frame);
	if (HAS(kinds, FG_INJECT_L4_LENGTH))
		fg_put16(frame + s->l4_length, (uint16_t)(fg_get16(frame + s->l4_length) + s->length_by));
	if (HAS(kinds, FG_INJECT_PAYLOAD))
		corrupt_payload(s, t, frame, number);
	if (HAS(kinds, FG_INJECT_IP_CHECKSUM))
		corrupt_checksum(frame + s->ip_checksum);
	if (HAS(kinds, FG_INJECT_L4_CHECKSUM))
		corrupt_checksum(frame + s->l4_checksum);
	return t->length;
}
