/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Numbers in network byte order, at any address. The writers return the byte after the number. */
#include <stdint.h>

static inline uint16_t
fg_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t
fg_get32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint64_t
fg_get64(const uint8_t *at)
{
	return (uint64_t)fg_get32(at) << 32 | fg_get32(at + 4);
}

static inline uint8_t *
fg_put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static inline uint8_t *
fg_put32(uint8_t *at, uint32_t value)
{
	return fg_put16(fg_put16(at, (uint16_t)(value >> 16)), (uint16_t)value);
}

static inline uint8_t *
fg_put64(uint8_t *at, uint64_t value)
{
	return fg_put32(fg_put32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}
