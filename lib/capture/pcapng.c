/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file is blocks, each with its kind and length; blocks of unknown kinds are skipped. A section begins with
 * its byte order, and describes its interfaces before their frames. libpcap reads all that, but refuses a
 * file with an interface of another kind though no frame is of it, and sections of both byte orders; and it
 * does not say which frames have their check sequence.
 */
#include <stdlib.h>
#include <string.h>

#include "fg_int128.h"
#include "pcapng_priv.h"

enum { INTERFACE = 1, OLD_PACKET = 2, SIMPLE_PACKET = 3, PACKET = 6 };
enum { BYTE_ORDER_MARK = 0x1a2b3c4d, HEAD = 8, TAIL = 4, LARGEST_BLOCK = 16 << 20 };
enum { PACKET_HEAD = 20, INTERFACE_HEAD = 8, SIMPLE_HEAD = 4 };
enum { OPTION_END = 0, OPTION_FLAGS = 2, OPTION_RESOLUTION = 9, OPTION_FCS = 13, OPTION_OFFSET = 14 };
static const uint64_t LATEST_S = 18000000000; /* in nanoseconds it fits 64 bits */

static int
broken(struct pcapng *p, const char *problem)
{
	p->problem = problem;
	return -1;
}

static uint16_t
get16(const struct pcapng *p, const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return p->swapped ? __builtin_bswap16(value) : value;
}

static uint32_t
get32(const struct pcapng *p, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return p->swapped ? __builtin_bswap32(value) : value;
}

static uint64_t
get64(const struct pcapng *p, const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return p->swapped ? __builtin_bswap64(value) : value;
}

/* an option of a block whose options begin at @p at; NULL: it has none */
static const uint8_t *
option(const struct pcapng *p, uint32_t at, uint16_t code, uint16_t length)
{
	while (at + 4 <= p->size) {
		const uint16_t has = get16(p, p->block + at), octets = get16(p, p->block + at + 2);

		if (has == OPTION_END || octets > p->size - at - 4)
			return NULL;
		if (has == code && octets >= length)
			return p->block + at + 4;
		at += 4 + ((octets + 3U) & ~3U);
	}
	return NULL;
}

/* ticks in a second; 0: too many */
static uint64_t
resolution(uint8_t value)
{
	uint64_t ticks = 1;

	if (value & 0x80)
		return (value & 0x7f) < 64 ? 1ULL << (value & 0x7f) : 0;
	if (value > 19)
		return 0;
	while (value-- > 0)
		ticks *= 10;
	return ticks;
}

static int
take_interface(struct pcapng *p)
{
	struct pcapng_interface *all, *new_;
	const uint8_t *found;

	if (p->size < INTERFACE_HEAD)
		return broken(p, "an interface without a description");
	all = realloc(p->interface, (p->interfaces + 1) * sizeof(*all));
	if (all == NULL)
		return broken(p, "no memory for its interfaces");
	p->interface = all;
	new_ = &all[p->interfaces++];
	*new_ = (struct pcapng_interface){.link = get16(p, p->block), .snap = get32(p, p->block + 4)};
	found = option(p, INTERFACE_HEAD, OPTION_RESOLUTION, 1);
	new_->per_second = found != NULL ? resolution(*found) : 1000000;
	if (new_->per_second == 0)
		return broken(p, "an interface with finer times than 64 bits hold");
	found = option(p, INTERFACE_HEAD, OPTION_FCS, 1);
	new_->fcs = found != NULL ? *found : 0;
	found = option(p, INTERFACE_HEAD, OPTION_OFFSET, 8);
	new_->offset = found != NULL ? (int64_t)get64(p, found) : 0;
	return 0;
}

static uint64_t
time_of(const struct pcapng_interface *i, uint64_t ticks)
{
	const uint64_t rest = ticks % i->per_second;
	uint64_t seconds = ticks / i->per_second;

	if (i->offset < 0) {
		const uint64_t back = -(uint64_t)i->offset;

		seconds = back < seconds ? seconds - back : 0;
	} else if (__builtin_add_overflow(seconds, (uint64_t)i->offset, &seconds)) {
		seconds = LATEST_S;
	}
	if (seconds > LATEST_S)
		seconds = LATEST_S;
	return seconds * 1000000000 + (uint64_t)((fg_u128)rest * 1000000000 / i->per_second);
}

static int
take_packet(struct pcapng *p, uint32_t kind, struct packet *out)
{
	const struct pcapng_interface *i;
	const uint8_t *flags;
	uint32_t number;

	if (p->size < PACKET_HEAD)
		return broken(p, "a frame without its length");
	number = kind == PACKET ? get32(p, p->block) : get16(p, p->block);
	if (number >= p->interfaces)
		return broken(p, "a frame of an interface that is not described");
	i = &p->interface[number];
	out->ns = time_of(i, (uint64_t)get32(p, p->block + 4) << 32 | get32(p, p->block + 8));
	out->timed = true;
	out->kept = get32(p, p->block + 12);
	out->length = get32(p, p->block + 16);
	if (out->kept > p->size - PACKET_HEAD)
		return broken(p, "a frame longer than its block");
	out->link = i->link;
	out->octets = p->block + PACKET_HEAD;
	flags = option(p, PACKET_HEAD + ((out->kept + 3U) & ~3U), OPTION_FLAGS, 4);
	out->fcs = flags != NULL ? get32(p, flags) >> 5 & 0xf : 0;
	if (out->fcs == 0)
		out->fcs = i->fcs;
	return 1;
}

/* of the first interface, and without a time */
static int
take_simple(struct pcapng *p, struct packet *out)
{
	const struct pcapng_interface *i = p->interface;

	if (p->size < SIMPLE_HEAD || p->interfaces == 0)
		return broken(p, "a frame without its length or its interface");
	*out = (struct packet){.length = get32(p, p->block), .link = i->link, .fcs = i->fcs};
	out->kept = i->snap > 0 && i->snap < out->length ? i->snap : out->length;
	if (out->kept > p->size - SIMPLE_HEAD)
		return broken(p, "a frame longer than its block");
	out->octets = p->block + SIMPLE_HEAD;
	return 1;
}

static bool
read_all(struct pcapng *p, void *to, size_t n)
{
	return fread(to, 1, n, p->file) == n;
}

/* the byte order of a section stands behind the length of its first block, which is in that order */
static bool
begin_section(struct pcapng *p, uint8_t mark[4])
{
	p->swapped = false;
	p->interfaces = 0;
	p->swapped = get32(p, mark) != BYTE_ORDER_MARK;
	return get32(p, mark) == BYTE_ORDER_MARK;
}

static bool
make_room(struct pcapng *p, uint32_t octets)
{
	uint8_t *more = octets > p->room ? realloc(p->block, octets) : p->block;

	if (more == NULL)
		return false;
	p->block = more;
	p->room = octets > p->room ? octets : p->room;
	return true;
}

/* @return 1, 0: the end, -1 */
static int
read_block(struct pcapng *p, uint32_t *kind)
{
	uint8_t head[HEAD], tail[TAIL], mark[4];
	const size_t got = fread(head, 1, HEAD, p->file);
	uint32_t length, there = 0;

	if (got == 0 && feof(p->file))
		return 0;
	if (got < HEAD)
		return broken(p, "the file ends within a block");
	*kind = get32(p, head);
	if (*kind == PCAPNG_MAGIC) {
		if (!read_all(p, mark, sizeof(mark)) || !begin_section(p, mark))
			return broken(p, "a section without a byte order");
		there = sizeof(mark);
	}
	length = get32(p, head + 4);
	if (length % 4 != 0 || length < HEAD + TAIL + there || length > LARGEST_BLOCK)
		return broken(p, "a block with a length that cannot be");
	p->size = length - HEAD - TAIL;
	if (!make_room(p, p->size + 4))
		return broken(p, "no memory for a block");
	memcpy(p->block, mark, there);
	if (!read_all(p, p->block + there, p->size - there) || !read_all(p, tail, TAIL))
		return broken(p, "the file ends within a block");
	return get32(p, tail) == length ? 1 : broken(p, "a block with two lengths");
}

void
pcapng_open(struct pcapng *p, FILE *file)
{
	*p = (struct pcapng){.file = file};
}

int
pcapng_next(struct pcapng *p, struct packet *out)
{
	uint32_t kind = 0;
	int rc;

	while ((rc = read_block(p, &kind)) == 1) {
		if (kind == PACKET || kind == OLD_PACKET)
			return take_packet(p, kind, out);
		if (kind == SIMPLE_PACKET)
			return take_simple(p, out);
		if (kind == INTERFACE && take_interface(p) != 0)
			return -1;
	}
	return rc;
}

void
pcapng_close(struct pcapng *p)
{
	if (p->file != NULL)
		fclose(p->file);
	free(p->interface);
	free(p->block);
	*p = (struct pcapng){0};
}
