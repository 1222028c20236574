/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that are wrong on purpose. Each is made as it should be first and then changed where it shall be wrong, and only
 * there: fields that vary are those of its number, a checksum is wrong by one from the right one, and a wrong length
 * stands under a header checksum that is right.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fg_net.h"
#include "fg_signature.h"
#include "fg_spoil.h"

#define HAS(kinds, kind) (((kinds) >> (kind)&1) != 0)

static bool
wants(const struct fg_faults_config *faults, enum fg_fault kind)
{
	const struct fg_chance *chance = &faults->fault[kind].chance;

	return chance->every > 0 || chance->random > 0;
}

static int
refuse(struct fg_error *err, const char *where, const char *key, const char *what)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", where, key);
	return fg_error_set(err, EINVAL, name, "%s", what);
}

int
fg_spoil_check(const struct fg_spoil *s, const struct fg_faults_config *faults, const struct fg_template *t,
	       const char *where, struct fg_error *err)
{
	const struct {
		enum fg_fault kind;
		uint16_t offset;
		const char *key, *what;
	} fields[] = {
		{FG_FAULT_IP_CHECKSUM, s->ip_checksum, "ip_checksum", "the frames have no IPv4 header"},
		{FG_FAULT_L4_CHECKSUM, s->l4_checksum, "l4_checksum",
		 "the frames have no header behind IP with a checksum"},
		{FG_FAULT_IP_LENGTH, s->ip_length, "ip_length", "the frames have no IP header"},
		{FG_FAULT_L4_LENGTH, s->l4_length, "l4_length", "the frames have no UDP header"},
	};

	for (unsigned i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (wants(faults, fields[i].kind) &&
		    (fields[i].offset == 0 || fields[i].offset + 2 + FG_SIGNATURE_SIZE > t->length))
			return refuse(err, where, fields[i].key, fields[i].what);
	if (wants(faults, FG_FAULT_PAYLOAD) && t->header + FG_SIGNATURE_SIZE >= t->length)
		return refuse(err, where, "payload",
			      "there is nothing between headers and signature; larger frames have a payload");
	if (wants(faults, FG_FAULT_RUNT) && (s->runt_size < FG_SPOIL_LEAST || s->runt_size >= FG_ETHER_MIN))
		return refuse(err, where, "runt", "a runt has 36 to 63 octets");
	return 0;
}

static uint16_t
load(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void
store(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* one more; but zero may say that there is none, and all ones are the same sum as zero */
static void
spoil_checksum(uint8_t *at)
{
	uint16_t value = load(at);

	store(at, value >= 0xfffe ? 1 : (uint16_t)(value + 1));
}

static void
spoil_ip_length(const struct fg_spoil *s, uint8_t *frame)
{
	uint16_t before = load(frame + s->ip_length), after = (uint16_t)(before + s->length_by);
	uint32_t sum;

	store(frame + s->ip_length, after);
	if (s->ip_checksum == 0)
		return;
	/* RFC 1624: without the old value and with the new one */
	sum = (uint32_t)(uint16_t)~load(frame + s->ip_checksum) + (uint16_t)~before + after;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	store(frame + s->ip_checksum, (uint16_t)~sum);
}

/* bits in a row, which begin one further with each frame */
static void
spoil_payload(const struct fg_spoil *s, const struct fg_template *t, uint8_t *frame, uint64_t number)
{
	uint64_t bits = 8 * ((uint64_t)t->length - FG_SIGNATURE_SIZE - t->header);

	for (uint64_t i = 0; i < s->payload_bits && i < bits; i++) {
		uint64_t bit = (number + i) % bits;

		frame[t->header + bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	}
}

/* what is left of a frame: its beginning, and the signature where it ends now */
static uint16_t
cut(const struct fg_spoil *s, const struct fg_template *t, uint8_t *frame)
{
	uint16_t length = (uint16_t)(s->runt_size - FG_ETHER_FCS);

	memmove(frame + length - FG_SIGNATURE_SIZE, frame + t->length - FG_SIGNATURE_SIZE, FG_SIGNATURE_SIZE);
	return length;
}

uint16_t
fg_spoil_frame(const struct fg_spoil *s, const struct fg_template *t, uint32_t kinds, uint64_t number,
	       uint8_t *frame)
{
	if (HAS(kinds, FG_FAULT_RUNT))
		return cut(s, t, frame);
	if (HAS(kinds, FG_FAULT_IP_LENGTH))
		spoil_ip_length(s, frame);
	if (HAS(kinds, FG_FAULT_L4_LENGTH))
		store(frame + s->l4_length, (uint16_t)(load(frame + s->l4_length) + s->length_by));
	if (HAS(kinds, FG_FAULT_PAYLOAD))
		spoil_payload(s, t, frame, number);
	if (HAS(kinds, FG_FAULT_IP_CHECKSUM))
		spoil_checksum(frame + s->ip_checksum);
	if (HAS(kinds, FG_FAULT_L4_CHECKSUM))
		spoil_checksum(frame + s->l4_checksum);
	return t->length;
}
