/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client makes of an answer: whether it is to the question, well formed, and our server's. */
#include "dns_message_priv.h"

/* how many bytes differ from the answer of our server */
static uint32_t
wrong_bytes(const struct dns_judge *j, const uint8_t *sent, uint32_t sent_bytes, const uint8_t *data,
	    uint32_t length, uint32_t room)
{
	struct dns_query query, answer;
	int rcode = dns_read_query(sent, sent_bytes, &query);
	uint32_t bytes, wrong, common;

	query.id = fg_get16(data);
	if (j->zone->cookies) {
		dns_read_options(data, length, &answer); /* which cookie our server gives, it alone knows */
		query.answers_cookie = answer.cookie_bytes == DNS_COOKIE;
		if (query.answers_cookie)
			memcpy(query.answer_cookie, answer.cookie, DNS_COOKIE);
	}
	if (room < DNS_MESSAGE_MAX)
		room = dns_datagram_room(j->zone, &query, room);
	bytes = dns_answer(j->zone, &query, rcode, j->expected, room);
	if (bytes == length && memcmp(data, j->expected, bytes) == 0)
		return 0;
	common = fg_u32_min(bytes, length);
	wrong = fg_u32_max(bytes, length) - common;
	for (uint32_t i = 0; i < common; i++)
		wrong += data[i] != j->expected[i];
	return wrong;
}

bool
dns_is_answer(struct fg_l4 *w, const struct dns_judge *j, const uint8_t *query, uint32_t bytes,
	      const uint8_t *data, uint32_t length, uint32_t room)
{
	uint32_t question = bytes - DNS_HEADER - (j->zone->udp_size > 0 ? DNS_OPT : 0);

	if (fg_get16(data + 4) != 1 || length < DNS_HEADER + question ||
	    !dns_same_question(data + DNS_HEADER, query + DNS_HEADER, question)) {
		j->sums[DNS_SUM_MISMATCHED]++;
		return false;
	}
	if (!dns_is_well_formed(data, length)) {
		j->sums[DNS_SUM_MALFORMED]++;
		j->tally->refused++;
		return true;
	}
	j->sums[dns_sum_of(data[3] & 0xf)]++;
	if ((fg_get16(data + 2) & DNS_TC) != 0)
		j->sums[DNS_SUM_TRUNCATED]++;
	if (!j->zone->any_answer)
		w->counters.wrong_octets += wrong_bytes(j, query, bytes, data, length, room);
	return true;
}
