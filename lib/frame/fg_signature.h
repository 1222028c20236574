/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

__BEGIN_DECLS

/*
 * The signature identifies the tester's own frames: the last 18 bytes before the FCS, which is all the
 * payload of a 64-byte IPv4/UDP frame. It is found from the end of the frame, so tags and tunnels that a
 * device adds or removes in front do not hide it.
 *
 *    0               2               4                         10                              16      18
 *    +---------------+---------------+-------------------------+-------------------------------+-------+
 *    | magic  "Fg"   | stream        | sequence number         | transmit time, ns             | bal.  |
 *    +---------------+---------------+-------------------------+-------------------------------+-------+
 *
 * Big-endian. Sequence and time count modulo 2^48 (78 hours for the time). "bal." makes the one's complement
 * sum of the nine 16-bit words 0xffff, that is, zero: the checksum of the packet around it does not depend on
 * what the signature holds and never needs computing again, and a receiver has 16 more bits to tell a test
 * frame from another that happens to carry the magic. This holds at odd offsets too, since 0xffff reads the
 * same swapped.
 *
 * The highest bit of the sequence number is set in a frame that is sent a second time on purpose.
 */
enum {
	FG_SIGNATURE_SIZE = 18,
	FG_SIGNATURE_MAGIC = 0x4667,
};

#define FG_SIGNATURE_MASK48 0xffffffffffffULL
#define FG_SIGNATURE_COPY   (1ULL << 47)

struct fg_signature {
	uint16_t stream;
	uint64_t sequence; /* 48 bits */
	uint64_t time_ns;  /* 48 bits */
};

/** The balance word for the first sixteen bytes, given as two 64-bit words in any one byte order. */
static inline uint16_t
fg_signature_balance(uint64_t a, uint64_t b)
{
	/*
	 * 2^16 = 1 in one's complement: the sum of wide words equals the sum of narrow ones, with every carry
	 * brought round
	 */
	uint64_t sum = a + b;
	uint32_t half;
	uint16_t word;

	sum += sum < b;
	half = (uint32_t)(sum >> 32) + (uint32_t)sum;
	half += half < (uint32_t)sum;
	word = (uint16_t)((half >> 16) + half);
	word = (uint16_t)(word + (word < (uint16_t)half));
	return (uint16_t)~word;
}

/** Write the signature of a frame. @param end  one past the last byte before the FCS */
static inline void
fg_signature_write(uint8_t *end, uint16_t stream, uint64_t sequence, uint64_t time_ns)
{
	uint64_t a = (uint64_t)FG_SIGNATURE_MAGIC << 48 | (uint64_t)stream << 32 |
		     ((sequence & FG_SIGNATURE_MASK48) >> 16);
	uint64_t b = sequence << 48 | (time_ns & FG_SIGNATURE_MASK48);
	uint16_t balance = htobe16(fg_signature_balance(a, b));

	a = htobe64(a);
	b = htobe64(b);
	memcpy(end - 18, &a, 8);
	memcpy(end - 10, &b, 8);
	memcpy(end - 2, &balance, 2);
}

/**
 * Is this a test frame? Then read its signature.
 * @param end     one past the last byte before the FCS
 * @param length  bytes of the frame without FCS
 */
static inline bool
fg_signature_read(const uint8_t *end, size_t length, struct fg_signature *out)
{
	uint64_t a, b;
	uint16_t balance;

	if (__builtin_expect(length < FG_SIGNATURE_SIZE, 0))
		return false;
	memcpy(&a, end - 18, 8);
	memcpy(&b, end - 10, 8);
	memcpy(&balance, end - 2, 2);
	a = be64toh(a);
	b = be64toh(b);
	if (__builtin_expect(a >> 48 != FG_SIGNATURE_MAGIC || be16toh(balance) != fg_signature_balance(a, b),
			     0))
		return false;
	out->stream = (uint16_t)(a >> 32);
	out->sequence = (a & 0xffffffff) << 16 | b >> 48;
	out->time_ns = b & FG_SIGNATURE_MASK48;
	return true;
}

/** The stream, and the time in ns, of a signature that was not verified. @param end  as above */
static inline uint16_t
fg_signature_stream(const uint8_t *end)
{
	uint16_t stream;

	memcpy(&stream, end - 16, 2);
	return be16toh(stream);
}

static inline uint64_t
fg_signature_time(const uint8_t *end)
{
	uint64_t b;

	memcpy(&b, end - 10, 8);
	return be64toh(b) & FG_SIGNATURE_MASK48;
}

/** Signed difference later - earlier of two 48-bit times, ns; right while it is less than 39 hours. */
static inline int64_t
fg_signature_elapsed(uint64_t later, uint64_t earlier)
{
	return (int64_t)((later - earlier) << 16) >> 16;
}

__END_DECLS
