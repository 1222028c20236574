/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client makes of an answer: whether it is to the question, well formed, and our server's. */
#include "dns_priv.h"

/* how many bytes differ from the answer of our server */
static uint32_t
wrong_bytes(const struct fg_l4 *w, struct dns *d, const uint8_t *sent, uint32_t sent_bytes,
	    const uint8_t *data, uint32_t length, bool stream)
{
	struct dns_query query;
	int rcode = dns_read_query(sent, sent_bytes, &query);
	uint32_t bytes, wrong, common, room = DNS_MESSAGE_MAX;

	query.id = fg_get16(data);
	if (!stream)
		room = dns_datagram_room(&d->config, &query,
					 datagram_most(w->config.mtu, d->requests.app.config.ipv6));
	bytes = dns_answer(&d->config, &query, rcode, d->expected, room);
	if (bytes == length && memcmp(data, d->expected, bytes) == 0)
		return 0;
	common = fg_u32_min(bytes, length);
	wrong = fg_u32_max(bytes, length) - common;
	for (uint32_t i = 0; i < common; i++)
		wrong += data[i] != d->expected[i];
	return wrong;
}

bool
dns_is_answer(struct fg_l4 *w, struct application *a, const uint8_t *query, uint32_t bytes,
	      const uint8_t *data, uint32_t length, bool stream)
{
	struct dns *d = dns_of(a);
	uint32_t question = bytes - DNS_HEADER - (d->config.udp_size > 0 ? DNS_OPT : 0);

	if (fg_get16(data + 4) != 1 || length < DNS_HEADER + question ||
	    !dns_same_question(data + DNS_HEADER, query + DNS_HEADER, question)) {
		dns_note(a, DNS_SUM_MISMATCHED);
		return false;
	}
	if (!dns_is_well_formed(data, length)) {
		dns_note(a, DNS_SUM_MALFORMED);
		a->base.tally.refused++;
		return true;
	}
	dns_note_rcode(a, data[3] & 0xf);
	if ((fg_get16(data + 2) & DNS_TC) != 0)
		dns_note(a, DNS_SUM_TRUNCATED);
	if (!d->config.any_answer)
		w->counters.wrong_octets += wrong_bytes(w, d, query, bytes, data, length, stream);
	return true;
}
