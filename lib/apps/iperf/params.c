/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a client of iperf3 asks for, and what either side says it has counted. Both are JSON; keys that
 * concern only the other side are passed over, as iperf3 does, so that clients of all versions are served.
 */
#include "iperf_priv.h"

enum { MIN_UDP = 16, MIN_TCP_MSS = 88, MAX_TCP_MSS = 9216, TCP_LENGTH = 131072 };
static const double MAX_TIME_S = 86400, MIN_WINDOW = 2304, MAX_WINDOW = 1 << 30, MAX_OCTETS = 1e18;

static bool
has_text(const struct json_value *v, const char *text)
{
	return strlen(text) == v->text_octets && memcmp(text, v->text, v->text_octets) == 0;
}

static void
take_congestion(struct iperf_params *p, const struct json_value *v)
{
	if (has_text(v, "cubic"))
		p->congestion = 1 + FG_L4_CUBIC;
	else if (has_text(v, "reno"))
		p->congestion = 1 + FG_L4_NEWRENO;
	else
		p->other_congestion = true;
}

/* the few keys that matter: their numbers, and whether they are said at all */
static void
take_param(void *context, const struct json_value *v)
{
	struct iperf_params *p = context;
	const struct {
		const char *key;
		double *number;
		bool *flag;
	} keys[] = {
		{"udp", NULL, &p->udp},
		{"sctp", NULL, &p->sctp},
		{"reverse", NULL, &p->reverse},
		{"bidirectional", NULL, &p->both},
		{"udp_counters_64bit", NULL, &p->wide_counters},
		{"get_server_output", NULL, &p->wants_output},
		{"parallel", &p->parallel, NULL},
		{"len", &p->length, NULL},
		{"omit", &p->omit_s, NULL},
		{"time", &p->time_s, NULL},
		{"bandwidth", &p->rate_bps, NULL},
		{"MSS", &p->mss, NULL},
		{"window", &p->window, NULL},
		{"num", &p->octets, NULL},
		{"blockcount", &p->blocks, NULL},
	};

	if (v->depth != 1 || v->key == NULL)
		return;
	if (v->kind == JSON_STRING && json_is(v, "congestion"))
		take_congestion(p, v);
	if (v->kind != JSON_NUMBER && v->kind != JSON_BOOLEAN)
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!json_is(v, keys[i].key))
			continue;
		if (keys[i].flag != NULL)
			*keys[i].flag = v->number != 0;
		else
			*keys[i].number = v->number;
	}
}

static bool
within(double value, double low, double high)
{
	return value >= low && value <= high; /* false also of what is no number */
}

uint32_t
iperf_read_params(struct iperf_params *p, const char *text, size_t octets, uint32_t longest)
{
	*p = (struct iperf_params){.parallel = 1};
	if (!json_read(text, octets, take_param, p))
		return IPERF_BAD_PARAMS;
	if (p->sctp)
		return IPERF_NO_SCTP;
	if (!within(p->parallel, 1, IPERF_MAX_PARALLEL))
		return IPERF_BAD_STREAMS;
	if (!within(p->time_s, 0, MAX_TIME_S) || !within(p->omit_s, 0, MAX_TIME_S))
		return IPERF_BAD_DURATION;
	if (p->udp && !within(p->length, MIN_UDP, longest))
		return IPERF_BAD_UDP_LENGTH;
	if (p->mss != 0 && !within(p->mss, MIN_TCP_MSS, MAX_TCP_MSS))
		return IPERF_BAD_MSS;
	if (p->other_congestion)
		return IPERF_BAD_CONGESTION;
	if (!within(p->length, 1, 1e9))
		p->length = TCP_LENGTH;
	if (!within(p->rate_bps, 1, 1e15))
		p->rate_bps = 0;
	if (p->blocks > 0)
		p->octets = p->blocks * p->length;
	p->blocks = within(p->octets, 1, MAX_OCTETS) ? ceil(p->octets / p->length) : 0;
	return p->reverse && p->both ? IPERF_BAD_PARAMS : 0;
}

void
iperf_apply_params(const struct iperf_params *p, struct fg_l4_tcp *tcp)
{
	if (p->window >= 1)
		tcp->receive_buffer = tcp->send_buffer =
			(uint32_t)fmin(fmax(p->window, MIN_WINDOW), MAX_WINDOW);
	if (p->mss > 0)
		tcp->mss = (uint16_t)p->mss;
	if (p->congestion > 0)
		tcp->congestion = (uint8_t)(p->congestion - 1);
}

/* --- results: a list of streams, each with its number */

struct results {
	struct iperf *iperf;
	double id, bytes, packets, errors, omitted_errors, jitter_s, retransmits, start_s, end_s;
	bool has_omitted; /* versions before 3.13 do not say what of the errors was omitted */
};

static uint64_t
whole(double number)
{
	return within(number, 0, 1e18) ? (uint64_t)number : 0;
}

/*
 * Datagrams and errors count the whole test, octets the figures alone. Of the datagrams we
 * leave out what we know of the omitted time, so that both sides' have the same begin. Where the errors of
 * that time are not said, no more were lost than the octets do not account for.
 */
static void
leave_out_omitted(const struct iperf *p, const struct results *r, struct iperf_stream *s)
{
	struct fg_l4_iperf_count *c = &s->theirs;
	uint64_t omitted = s->omitted.datagrams, came, missing;

	if (!p->params.udp || omitted == 0)
		return;
	c->datagrams -= omitted < c->datagrams ? omitted : c->datagrams;
	if (r->has_omitted) {
		c->lost -= whole(r->omitted_errors) < c->lost ? whole(r->omitted_errors) : c->lost;
		return;
	}
	came = c->octets / (uint64_t)p->params.length;
	missing = c->datagrams > came ? c->datagrams - came : 0;
	c->lost = missing < c->lost ? missing : c->lost;
}

static void
end_of_stream(struct results *r)
{
	struct iperf *p = r->iperf;
	struct iperf_stream *s = NULL;

	for (uint32_t i = 0; i < p->streams; i++)
		if (iperf_number(i) == r->id)
			s = &p->stream[i];
	if (s != NULL)
		s->theirs = (struct fg_l4_iperf_count){
			.octets = whole(r->bytes),
			.datagrams = whole(r->packets),
			.lost = whole(r->errors),
			.retransmits =
				within(r->retransmits, 0, 1e18) ? (uint64_t)r->retransmits : UINT64_MAX,
			.jitter_ns = within(r->jitter_s, 0, 1e6) ? r->jitter_s * 1e9 : 0,
			.from_s = within(r->start_s, 0, 1e9) ? r->start_s : 0,
			.to_s = within(r->end_s, 0, 1e9) ? r->end_s : 0,
		};
	if (s != NULL)
		leave_out_omitted(p, r, s);
	*r = (struct results){.iperf = p};
}

static void
take_result(void *context, const struct json_value *v)
{
	struct results *r = context;
	const struct {
		const char *key;
		double *number;
	} keys[] = {
		{"id", &r->id},
		{"bytes", &r->bytes},
		{"packets", &r->packets},
		{"errors", &r->errors},
		{"omitted_errors", &r->omitted_errors},
		{"jitter", &r->jitter_s},
		{"retransmits", &r->retransmits},
		{"start_time", &r->start_s},
		{"end_time", &r->end_s},
	};

	if (v->kind == JSON_END_OF_OBJECT && v->depth == 2)
		end_of_stream(r);
	for (size_t i = 0; v->kind == JSON_NUMBER && v->depth == 3 && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_is(v, keys[i].key)) {
			*keys[i].number = v->number;
			r->has_omitted |= keys[i].number == &r->omitted_errors;
		}
}

bool
iperf_read_results(struct iperf *p)
{
	struct results r = {.iperf = p};

	return json_read(p->in, p->text, take_result, &r);
}
