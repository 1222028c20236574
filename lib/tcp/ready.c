/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections that may have something to send, in the order in which they got there. A connection that
 * ended while it stood in the list is given back when it leaves the list.
 */
#include "tcp_priv.h"

void
ready_append(struct fg_l4 *w, struct conn *c)
{
	uint32_t index = conn_index(w, c);

	c->flags |= READY;
	c->ready_next = 0;
	if (own(w)->ready_head == 0)
		own(w)->ready_head = index;
	else
		own(w)->conn[own(w)->ready_tail].ready_next = index;
	own(w)->ready_tail = index;
}
