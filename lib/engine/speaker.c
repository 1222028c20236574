/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The speaker sends a port's multicast messages in a trial: joins and leaves, each at its time, and reports
 * in answer to a router's queries. A port that departs frames by itself gets reports ahead with their times,
 * so they leave at the very instant; the time at which each left is kept, because delays are counted from it.
 *
 * Queries come over the responder, which lives on the same lcore. A speaker takes them from its first poll to
 * its last one only. Answers are spread over the first half of the time that the query leaves for them, in a
 * few lots.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "fg_membership.h"
#include "speaker_priv.h"

enum { LOTS = 16, MAX_RECORDS = 183, JOIN_AND_LEAVE = 2 };
static const uint64_t DEFAULT_RESPONSE_NS = 10000000000; /* RFC 2236, 8.3 */

/* a message due at a time */
struct event {
	uint64_t at; /* ticks */
	uint32_t member;
	bool leave;
};

/* a membership of the port */
struct spoken {
	struct fg_member config;
	uint64_t joined, left; /* first report and first leave, ticks; UINT64_MAX: not yet */
	uint64_t answer;       /* when to answer, ticks; UINT64_MAX: no query */
};

struct speaker {
	struct fg_task task;
	struct responder *responder;
	uint64_t start, lead; /* ticks */
	int time_offset;
	uint64_t time_flag; /* 0: the port sends when it is told */
	uint64_t next_answer, queries, answers;
	struct event *event;
	unsigned events, next;
	unsigned members;
	struct spoken member[];
};

/* @return when it leaves, ticks; UINT64_MAX: it did not */
static uint64_t
say(struct speaker *s, enum fg_membership_version version, enum fg_membership_change change,
    const struct fg_membership_group *group, unsigned n, uint64_t at, uint64_t now)
{
	struct rte_mbuf *m;
	uint8_t *out = responder_buffer(s->responder, &m);

	if (out == NULL)
		return UINT64_MAX;
	responder_dress(m, fg_membership_report(&s->responder->host, version, change, group, n, out),
			&s->responder->tag, s->responder->tag != 0);
	if (s->time_flag != 0) {
		m->ol_flags |= s->time_flag;
		*RTE_MBUF_DYNFIELD(m, s->time_offset, uint64_t *) = at;
	}
	if (s->responder->port->tx(s->responder->port, &m, 1, now) == 1)
		return s->time_flag != 0 ? at : now;
	rte_pktmbuf_free(m);
	return UINT64_MAX;
}

static void
say_event(struct speaker *s, const struct event *e, uint64_t now)
{
	struct spoken *member = &s->member[e->member];
	uint64_t *first = e->leave ? &member->left : &member->joined, sent;

	sent = say(s, member->config.version, e->leave ? FG_MEMBERSHIP_LEAVE : FG_MEMBERSHIP_JOIN,
		   &member->config.group, 1, RTE_MAX(e->at, now), now);
	*first = RTE_MIN(*first, sent);
	if (e->leave)
		member->answer = UINT64_MAX;
}

static bool
is_joined(const struct spoken *member)
{
	return member->joined != UINT64_MAX && member->left == UINT64_MAX;
}

/* records of one kind that are due share as few messages as possible */
static void
answer(struct speaker *s, uint64_t now)
{
	struct fg_membership_group lot[MAX_RECORDS];
	unsigned n = 0;

	s->next_answer = UINT64_MAX;
	for (unsigned i = 0; i < s->members; i++) {
		struct spoken *member = &s->member[i];
		const struct fg_member *c = &member->config;

		if (member->answer > now) {
			s->next_answer = RTE_MIN(s->next_answer, member->answer);
			continue;
		}
		member->answer = UINT64_MAX;
		lot[n++] = c->group;
		if (n == fg_membership_records(c->version, true) || i + 1 == s->members ||
		    s->member[i + 1].answer > now) {
			s->answers += n;
			say(s, c->version, FG_MEMBERSHIP_ANSWER, lot, n, now, now);
			n = 0;
		}
	}
}

static bool
is_asked(const struct spoken *member, const struct fg_membership_message *query)
{
	static const uint8_t all[16] = {0};

	return is_joined(member) &&
	       fg_membership_is_ipv6(member->config.version) == fg_membership_is_ipv6(query->version) &&
	       (memcmp(query->group, all, 16) == 0 ||
		memcmp(query->group, member->config.group.group, 16) == 0);
}

void
speaker_read(struct speaker *s, const uint8_t *frame, size_t length, uint64_t now)
{
	struct fg_membership_message query;
	uint64_t half;
	unsigned asked = 0, k = 0;

	if (!fg_membership_open(frame, length, &query) || !query.query)
		return;
	s->queries++;
	if (query.response_ns == 0)
		query.response_ns = DEFAULT_RESPONSE_NS;
	half = fg_clock_ticks(s->responder->clock, query.response_ns / 2);
	for (unsigned i = 0; i < s->members; i++)
		asked += is_asked(&s->member[i], &query);
	for (unsigned i = 0; i < s->members; i++) {
		struct spoken *member = &s->member[i];
		uint64_t at = asked == 0 ? now : now + half / LOTS * ((uint64_t)k * LOTS / asked);

		if (!is_asked(member, &query))
			continue;
		k++;
		member->answer = RTE_MIN(member->answer, at);
		s->next_answer = RTE_MIN(s->next_answer, at);
	}
}

static uint64_t
speaker_poll(struct fg_task *task, uint64_t now)
{
	struct speaker *s = (struct speaker *)task;
	bool said = false;
	uint64_t next;

	s->responder->speaker = s;
	for (; s->next < s->events && s->event[s->next].at <= now + s->lead; said = true)
		say_event(s, &s->event[s->next++], now);
	if (unlikely(s->next_answer <= now)) {
		answer(s, now);
		said = true;
	}
	if (said)
		return now;
	next = s->next < s->events ? s->event[s->next].at - s->lead : UINT64_MAX;
	return RTE_MIN(next, s->next_answer);
}

/* also after the last poll: it ignores later queries */
static void
speaker_publish(struct fg_task *task, uint64_t now)
{
	((struct speaker *)task)->responder->speaker = NULL;
}

static int
is_earlier(const void *first, const void *second)
{
	const struct event *a = first, *b = second;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->member != b->member ? (a->member < b->member ? -1 : 1) : b->leave - a->leave;
}

static void
add_events(struct speaker *s, uint32_t member, bool leave, uint64_t at_ns)
{
	const struct fg_member *c = &s->member[member].config;

	for (unsigned k = 0; k < c->reports && at_ns != FG_ENDLESS; k++)
		s->event[s->events++] = (struct event){
			.at = s->start + fg_clock_ticks(s->responder->clock, at_ns + k * c->again_ns),
			.member = member,
			.leave = leave,
		};
}

struct speaker *
speaker_create(const struct fg_trial_config *c, unsigned port, struct responder *responder,
	       const struct speaker_times *times)
{
	unsigned n = 0, events = 0;
	struct speaker *s;

	for (unsigned i = 0; i < c->members; i++)
		if (c->member[i].port == port) {
			n++;
			events += JOIN_AND_LEAVE * c->member[i].reports;
		}
	s = calloc(1, sizeof(*s) + n * sizeof(s->member[0]));
	if (s == NULL)
		return NULL;
	s->event = calloc(RTE_MAX(events, 1U), sizeof(*s->event));
	if (s->event == NULL) {
		free(s);
		return NULL;
	}
	s->task.poll = speaker_poll;
	s->task.publish = speaker_publish;
	s->responder = responder;
	s->start = times->start;
	s->next_answer = UINT64_MAX;
	s->time_offset = times->time_offset;
	if (responder->port->caps.launch_time) {
		s->time_flag = times->time_flag;
		s->lead = times->step + 1;
	}
	for (unsigned i = 0; i < c->members; i++) {
		if (c->member[i].port != port)
			continue;
		s->member[s->members] = (struct spoken){c->member[i], UINT64_MAX, UINT64_MAX, UINT64_MAX};
		add_events(s, s->members, false, c->member[i].join_ns);
		add_events(s, s->members, true, c->member[i].leave_ns);
		s->members++;
	}
	qsort(s->event, s->events, sizeof(*s->event), is_earlier);
	return s;
}

void
speaker_free(struct speaker *s)
{
	if (s != NULL)
		free(s->event);
	free(s);
}

struct fg_task *
speaker_task(struct speaker *s)
{
	return &s->task;
}

/* since the start; UINT64_MAX: not sent */
static uint64_t
since_start(const struct speaker *s, uint64_t ticks)
{
	return ticks == UINT64_MAX ? UINT64_MAX : fg_clock_span_ns(s->responder->clock, ticks - s->start);
}

void
speaker_result(const struct speaker *s, unsigned i, struct fg_member_result *out)
{
	*out = (struct fg_member_result){
		.joined_ns = since_start(s, s->member[i].joined),
		.left_ns = since_start(s, s->member[i].left),
		.queries = s->queries,
		.answers = s->answers,
	};
}
