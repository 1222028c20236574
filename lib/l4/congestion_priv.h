/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONGESTION_PRIV_H
#define CONGESTION_PRIV_H

#include "tcp_priv.h"

/** What one algorithm of congestion control does differently from another. */
struct congestion {
	/** So many octets were acknowledged in congestion avoidance: enlarge cwnd. */
	void (*grow)(const struct fg_l4 *w, struct conn *c, uint32_t acked);
	/** Congestion. @return the new ssthresh; it will not be below two segments */
	uint32_t (*reduce)(const struct fg_l4 *w, struct conn *c, bool timeout);
};

/** What a reduction starts from: what is in flight, without what limited transmit added (RFC 5681, 3.2, step 2). */
static inline uint32_t
congestion_base(const struct conn *c)
{
	return u32_min(flight(c), c->cwnd);
}

extern const struct congestion congestion_cubic;

#endif
