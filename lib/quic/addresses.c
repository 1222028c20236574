/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of a flow as libngtcp2 has them, and back. */
#include <arpa/inet.h>
#include <string.h>

#include "quic_priv.h"

static void
put_address(ngtcp2_sockaddr_union *to, ngtcp2_addr *out, const uint8_t address[16], uint16_t port, bool ipv6)
{
	memset(to, 0, sizeof(*to));
	if (ipv6) {
		to->in6.sin6_family = AF_INET6;
		to->in6.sin6_port = htons(port);
		memcpy(&to->in6.sin6_addr, address, 16);
	} else {
		to->in.sin_family = AF_INET;
		to->in.sin_port = htons(port);
		memcpy(&to->in.sin_addr, address + 12, 4);
	}
	*out = (ngtcp2_addr){&to->sa, ipv6 ? sizeof(to->in6) : sizeof(to->in)};
}

void
path_of(const struct fg_flow *f, ngtcp2_path_storage *out)
{
	put_address(&out->local_addrbuf, &out->path.local, f->local, f->local_port, f->ipv6);
	put_address(&out->remote_addrbuf, &out->path.remote, f->remote, f->remote_port, f->ipv6);
	out->path.user_data = NULL;
}

static void
get_address(const ngtcp2_addr *from, uint8_t address[16], uint16_t *port)
{
	const ngtcp2_sockaddr_union *a = (const ngtcp2_sockaddr_union *)from->addr;

	if (a->sa.sa_family == AF_INET6) {
		memcpy(address, &a->in6.sin6_addr, 16);
		*port = ntohs(a->in6.sin6_port);
	} else { /* what is before the last four bytes is the same for all */
		memcpy(address + 12, &a->in.sin_addr, 4);
		*port = ntohs(a->in.sin_port);
	}
}

struct fg_flow
flow_of(const struct quic *q, const ngtcp2_path *path)
{
	struct fg_flow out = q->flow;

	get_address(&path->local, out.local, &out.local_port);
	get_address(&path->remote, out.remote, &out.remote_port);
	return out;
}
