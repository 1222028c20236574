/* SPDX-License-Identifier: BSD-3-Clause */
/* One address changes, and the checksums that contain it, by the difference. */
#include <string.h>

#include "fg_bytes.h"
#include "rewrite_priv.h"

/* RFC 1624, equation 3 */
void
rewrite_mend(uint8_t *checksum, const uint8_t *old, const uint8_t *new_, size_t n)
{
	uint64_t sum;

	if (checksum == NULL || memcmp(old, new_, n) == 0)
		return;
	sum = (uint16_t)~fg_get16(checksum);
	for (size_t i = 0; i < n; i += 2)
		sum += (uint16_t)~fg_get16(old + i) + (uint64_t)fg_get16(new_ + i);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	fg_put16(checksum, (uint16_t)~sum);
}

static bool
is_in(const struct fg_move *m, const uint8_t *address)
{
	unsigned whole = m->prefix / 8, rest = m->prefix % 8;

	return memcmp(address, m->from, whole) == 0 &&
	       (rest == 0 || ((address[whole] ^ m->from[whole]) >> (8 - rest)) == 0);
}

static void
move(const struct fg_move *m, uint8_t *address)
{
	unsigned whole = m->prefix / 8, rest = m->prefix % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	memcpy(address, m->to, whole);
	if (rest > 0)
		address[whole] = (uint8_t)((address[whole] & ~mask) | (m->to[whole] & mask));
}

void
rewrite_address(struct rewriting *c, uint8_t *address, uint8_t octets, uint8_t *sum, uint8_t *other_sum)
{
	const struct fg_rewrite *r = c->how;
	uint8_t old[16];

	memcpy(old, address, octets);
	for (unsigned i = 0; i < r->moves; i++) {
		if (r->move[i].octets != octets || !is_in(&r->move[i], address))
			continue;
		move(&r->move[i], address);
		rewrite_mend(sum, old, address, octets);
		rewrite_mend(other_sum, old, address, octets);
		c->moved = true;
		if (c->found != NULL)
			c->found->moved[i]++;
		return;
	}
}

void
rewrite_mac(const struct rewriting *c, uint8_t *mac, uint8_t *sum)
{
	const uint8_t *new_ = NULL;
	uint8_t old[6];

	memcpy(old, mac, sizeof(old));
	if (c->how->has_source_mac && memcmp(mac, c->old_source_mac, sizeof(old)) == 0)
		new_ = c->how->source_mac;
	else if (c->how->has_destination_mac && memcmp(mac, c->old_destination_mac, sizeof(old)) == 0)
		new_ = c->how->destination_mac;
	if (new_ == NULL)
		return;
	memcpy(mac, new_, sizeof(old));
	rewrite_mend(sum, old, mac, sizeof(old));
}
