/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CRC32c of SCTP. Unlike an Internet checksum it changes when a signature that sums to
 * zero is written, nor can it follow a changed field by a sum. So it is computed over each frame when all
 * else in it stands.
 *
 * Where the packet lies in a tunnel, a checksum outside covers the CRC. The innermost of these makes up for
 * it, and then nothing changes for those further out, which cover both.
 */
#include "fg_crc32c.h"
#include "frame_priv.h"

enum { CRC_AT = 8, CRC_OCTETS = 4 }; /* in the packet's common header */

/* CRC with its field counted as zero; as sent, low byte first */
static uint32_t
crc_of_packet(const uint8_t *packet, size_t length)
{
	static const uint8_t zero[CRC_OCTETS];
	uint32_t crc = fg_crc32c(0, packet, CRC_AT);

	crc = fg_crc32c(crc, zero, CRC_OCTETS);
	crc = fg_crc32c(crc, packet + CRC_AT + CRC_OCTETS, length - CRC_AT - CRC_OCTETS);
	return __builtin_bswap32(crc);
}

/* the computed checksum around @p sealed, and how it covers the CRC */
static void
find_cover(const struct fg_layer *sealed, struct fg_template *t)
{
	for (const struct fg_layer *layer = sealed->outer; layer != NULL; layer = layer->outer) {
		const struct fg_protocol *p = layer->protocol;
		size_t begin = (size_t)(layer->header - t->bytes);
		int field = fg_field_find(p, "checksum"), bit;

		if (p->checksum_scope == FG_CHECKSUM_NONE || p->checksum_scope == FG_CHECKSUM_HEADER ||
		    layer->written >> field & 1)
			continue;
		bit = fg_field_bit(p, &p->fields[field], layer->header);
		if (bit < 0 || (p->checksum_scope == FG_CHECKSUM_PAYLOAD && fg_layer_network(layer) == NULL))
			continue;
		t->seal.cover = (uint16_t)(begin + (unsigned)bit / 8);
		t->seal.odd = (t->seal.packet + CRC_AT - begin) % 2 != 0;
		t->seal.never_zero = p->checksum_never_zero;
		return;
	}
}

void
fg_seal_compile(const struct fg_layer *layers, unsigned n, struct fg_template *t)
{
	for (unsigned i = n; i-- > 0;) {
		const struct fg_layer *layer = &layers[i];
		uint64_t mine = layer->protocol->sealed ? (layer->written | layer->bad) >>
								  fg_field_find(layer->protocol, "checksum")
							: 1;

		if (mine & 1) /* no computed checksum, or a wrong one on purpose */
			continue;
		t->seal.packet = (uint16_t)(layer->header - t->bytes);
		find_cover(layer, t);
		return;
	}
}

static uint32_t
load(const uint8_t *at, unsigned octets)
{
	return (uint32_t)fg_field_read(at, 0, 8 * octets);
}

/* RFC 1624, of four bytes whose words may lie across the checksum's words */
static void
make_up(const struct fg_seal *seal, uint32_t before, uint32_t after, uint8_t *checksum)
{
	uint64_t sum = (uint16_t)~load(checksum, 2);
	uint64_t change = (uint64_t)(uint32_t)~before + after;

	sum += seal->odd ? change << 8 : change;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = (uint16_t)~sum;
	fg_field_write(checksum, 0, 16, sum == 0 && seal->never_zero ? 0xffff : sum);
}

void
fg_template_seal(const struct fg_template *t, uint8_t *frame)
{
	uint8_t *packet = frame + t->seal.packet;
	uint32_t before = load(packet + CRC_AT, CRC_OCTETS);
	uint32_t after = crc_of_packet(packet, (size_t)t->length - t->seal.packet);

	fg_field_write(packet, 8 * CRC_AT, 8 * CRC_OCTETS, after);
	if (t->seal.cover != 0)
		make_up(&t->seal, before, after, frame + t->seal.cover);
}
