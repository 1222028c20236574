/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state table of a Responder: one array, an entry for each number. The first copy of a frame makes the
 * entry; a gateway that translates a further copy otherwise is not followed.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_mbuf.h>

#include "fg_bytes.h"
#include "fg_net.h"
#include "fg_signature.h"
#include "fg_state_table.h"

enum { SOURCE_AT = 12, DESTINATION_AT = 16, PORTS = 4 };

struct fg_state_table {
	struct fg_tap tap; /* first: the tap is the table */
	uint32_t connections;
	struct fg_state_entry entry[];
};

static void
note(struct fg_state_entry *entry, const uint8_t *frame, size_t length)
{
	struct fg_net_packet packet;
	const uint8_t *header, *ports;

	fg_net_find_packet(frame, length, &packet);
	if (packet.version != 4 || packet.protocol != FG_IP_UDP || packet.fragment ||
	    packet.content + PORTS > length)
		return;
	header = frame + packet.header;
	ports = frame + packet.content;
	*entry = (struct fg_state_entry){
		.source = fg_get32(header + SOURCE_AT),
		.destination = fg_get32(header + DESTINATION_AT),
		.source_port = fg_get16(ports),
		.destination_port = fg_get16(ports + 2),
		.known = true,
	};
}

static void
state_table_see(struct fg_tap *tap, struct rte_mbuf *const *frames, const uint64_t *arrival_ns, unsigned n)
{
	struct fg_state_table *t = (struct fg_state_table *)tap;

	for (unsigned i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(frames[i], const uint8_t *);
		size_t length = frames[i]->data_len;
		struct fg_signature s;

		if (fg_signature_read(frame + length, length, &s) && s.stream == tap->first_id &&
		    s.sequence < t->connections && !t->entry[s.sequence].known)
			note(&t->entry[s.sequence], frame, length);
	}
}

int
fg_state_table_create(uint32_t connections, struct fg_state_table **out, struct fg_error *err)
{
	struct fg_state_table *t;

	if (connections == 0)
		return fg_error_set(err, EINVAL, "state table", "no connections");
	t = calloc(1, sizeof(*t) + connections * sizeof(t->entry[0]));
	if (t == NULL)
		return fg_error_set(err, ENOMEM, "state table", "no memory for %u connections", connections);
	t->tap.see = state_table_see;
	t->connections = connections;
	*out = t;
	return 0;
}

void
fg_state_table_free(struct fg_state_table *t)
{
	free(t);
}

struct fg_tap *
fg_state_table_tap(struct fg_state_table *t)
{
	return &t->tap;
}

const struct fg_state_entry *
fg_state_table_entries(const struct fg_state_table *t)
{
	return t->entry;
}
