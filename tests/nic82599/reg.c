/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of registers, looked up: by offset, with the name for traces, and from where they stood on
 * older cards.
 */
#include <stdio.h>

#include "nic.h"

static const struct nic_register table[] = {
#define X(name, offset, count, distance, access, reserved, section) \
	{#name, section, offset, count, distance, reserved, NIC_##access},
	NIC_REGISTERS(X)
#undef X
};

const struct nic_register *
nic_register_at(uint32_t offset)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct nic_register *e = &table[i];

		if (offset >= e->first && offset < e->first + e->count * e->distance &&
		    (offset - e->first) % e->distance == 0)
			return e;
	}
	return NULL;
}

const char *
nic_register_name(uint32_t offset, char *out, size_t size)
{
	const struct nic_register *e = nic_register_at(offset);

	if (e == NULL)
		snprintf(out, size, "0x%05x", offset);
	else if (e->count == 1)
		snprintf(out, size, "%s", e->name);
	else
		snprintf(out, size, "%s[%u]", e->name, (offset - e->first) / e->distance);
	return out;
}

/* Some registers stand at an older place, too (8.2.2, "alias addresses") */
uint32_t
nic_register_place(uint32_t offset)
{
	if (offset >= 0x02100 && offset < 0x02140)
		return NIC_SRRCTL + (offset - 0x02100) / 4 * 0x40;
	if (offset >= 0x02200 && offset < 0x02240)
		return NIC_DCA_RXCTRL + (offset - 0x02200) / 4 * 0x40;
	if (offset >= 0x05400 && offset < 0x05480)
		return NIC_RAL + (offset - 0x05400);
	if (offset >= 0x05480 && offset < 0x054C0)
		return NIC_PSRTYPE + (offset - 0x05480);
	if (offset >= 0x05C00 && offset < 0x05C80)
		return NIC_RETA + (offset - 0x05C00);
	if (offset >= 0x05C80 && offset < 0x05CA8)
		return NIC_RSSRK + (offset - 0x05C80);
	if (offset == 0x05818)
		return NIC_MRQC;
	return offset;
}
