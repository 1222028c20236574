/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of iperf3 have in common. */
#ifndef L4_IPERF_H
#define L4_IPERF_H

#include "l4_wire.h"

extern "C" {
#include "fg_l4_iperf.h"
}

namespace l4
{
const char iperf_cookie[] = "abcdefghijklmnopqrstuvwxyz2345672345";
const uint16_t iperf_port = 5201;

inline std::vector<fg_l4_iperf_report>
Reports(fg_l4 *server)
{
	std::vector<fg_l4_iperf_report> list;
	fg_l4_iperf_report r;

	while (fg_l4_iperf_next(server, 0, &r))
		list.push_back(r);
	return list;
}

inline std::vector<fg_l4_iperf_report>
OfKind(const std::vector<fg_l4_iperf_report> &all, uint8_t kind)
{
	std::vector<fg_l4_iperf_report> list;

	for (const fg_l4_iperf_report &r : all)
		if (r.kind == kind)
			list.push_back(r);
	return list;
}

} /* namespace l4 */

#endif
