/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of HTTP/3. */
#ifndef L4_HTTP3_H
#define L4_HTTP3_H

#include "l4_quic.h"

extern "C" {
#include "fields_priv.h"
}

namespace l4
{
/* that asks for this number of bytes */
inline fg_l4_app
Http3(uint32_t body)
{
	static std::map<uint32_t, std::string> paths;
	fg_l4_app client = l4::Client("HTTP3");

	paths[body] = "/octets/" + std::to_string(body);
	client.path = paths[body].c_str();
	client.host = "fg.test";
	client.request = 0;
	client.response = body;
	return client;
}

} /* namespace l4 */

#endif
