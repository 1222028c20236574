/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker: the endpoint that the engine polls. Segments that come in go to their connection; whatever may have
 * something to send stands in a list, in the order in which it got there, and is served while the burst has room.
 */
#include <errno.h>
#include <stdlib.h>

#include "app_priv.h"

enum { AHEAD = 8 /* segments are read before the first is taken */ };
enum { ICMP_UNREACHABLE = 3, ICMP_TOO_BIG_CODE = 4, ICMPV6_TOO_BIG = 2, IP_TCP = 6 };

static void
datagram(struct fg_l4 *w, const struct segment *s)
{
	w->counters.udp_rx++;
	for (unsigned i = 0; i < w->apps; i++)
		if (w->app[i]->udp && app_owns(w->app[i], s->flow.local) &&
		    w->app[i]->ops->datagram(w, w->app[i], s))
			return;
	w->counters.udp_no_listener++;
}

static uint16_t
get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/*
 * Fragmentation needed (RFC 1191) or packet too big (RFC 8201): the message quotes the head of a segment of ours, and
 * what it quotes must be in flight (RFC 5927, 7).
 */
static void
path_message(struct fg_l4 *w, const struct segment *s)
{
	const uint8_t *m = s->payload, *ip = m + 8, *tcp;
	size_t header = s->flow.ipv6 ? sizeof(struct fg_ipv6) : sizeof(struct fg_ipv4);
	struct flow f = {.ipv6 = s->flow.ipv6};
	struct conn *c;
	uint32_t mtu, seq;

	if (s->length < 8 + header + 8)
		return;
	if (f.ipv6 ? m[0] != ICMPV6_TOO_BIG || ip[6] != IP_TCP
		   : m[0] != ICMP_UNREACHABLE || m[1] != ICMP_TOO_BIG_CODE || ip[0] != 0x45 ||
			     ip[9] != IP_TCP)
		return;
	mtu = f.ipv6 ? (uint32_t)get16(m + 4) << 16 | get16(m + 6) : get16(m + 6);
	if (f.ipv6) {
		memcpy(f.local, ip + 8, 16);
		memcpy(f.remote, ip + 24, 16);
	} else {
		address_of_ipv4(ip + 12, f.local);
		address_of_ipv4(ip + 16, f.remote);
	}
	tcp = ip + header;
	f.local_port = get16(tcp);
	f.remote_port = get16(tcp + 2);
	seq = (uint32_t)get16(tcp + 4) << 16 | get16(tcp + 6);
	c = table_find(w, &f, table_hash(w, &f));
	if (c != NULL && c->state >= ESTABLISHED && seq - c->snd_una < flight(c))
		tcp_path_mtu(w, c, mtu);
}

static void
begin(struct fg_l4 *w, uint64_t now, struct fg_burst *out)
{
	w->now = now;
	w->out = out;
	if (!w->wheel.running)
		wheel_start(&w->wheel, now);
	if (now >= w->mark_at)
		schedule_pass(w);
}

static void
take(struct fg_l4 *w, struct segment *s)
{
	if (s->protocol == IP_TCP)
		tcp_input(w, s);
	else if (s->protocol == FG_IP_UDP)
		datagram(w, s);
	else
		path_message(w, s);
}

/*
 * Of many connections the next one's lines are not in the nearest caches, and where they are stands in a line of the
 * table. So a few segments are read before any is taken, first for one and then for the other, and the waits overlap.
 */
static void
input(struct fg_endpoint *endpoint, const struct fg_arrival *in, unsigned n, struct fg_burst *out)
{
	struct fg_l4 *w = (struct fg_l4 *)endpoint;
	struct segment s[AHEAD];

	w->counters.rx_frames += n;
	for (; n > 0; in += AHEAD) {
		unsigned few = n < AHEAD ? n : AHEAD;
		uint32_t useful = 0;

		for (unsigned i = 0; i < few; i++)
			if (segment_read(in[i].frame, in[i].length, &s[i], &w->counters)) {
				s[i].hash = table_hash(w, &s[i].flow);
				table_fetch(w, s[i].hash);
				useful |= 1U << i;
			}
		for (unsigned i = 0; i < few && few > 1; i++)
			if (useful & 1U << i)
				table_fetch_first(w, s[i].hash);
		for (unsigned i = 0; i < few; i++) {
			begin(w, in[i].now, out);
			if (useful & 1U << i)
				take(w, &s[i]);
		}
		n -= few;
	}
}

/* the head of the list leaves it; if it has more to send it goes to the end */
static void
serve(struct fg_l4 *w)
{
	while (w->ready_head != 0 && frame_room(w) != NULL) {
		struct conn *c = &w->conn[w->ready_head];
		bool done;

		w->ready_head = c->ready_next;
		c->flags &= ~(uint32_t)READY;
		if (c->state == CLOSED) {
			table_give(w, c);
			continue;
		}
		done = tcp_output(w, c);
		if (!done && c->state != CLOSED)
			tcp_ready(w, c);
	}
}

static uint64_t
poll(struct fg_endpoint *endpoint, uint64_t now, struct fg_burst *out)
{
	struct fg_l4 *w = (struct fg_l4 *)endpoint;
	uint64_t due, next;

	begin(w, now, out);
	wheel_advance(w);
	due = UINT64_MAX;
	for (unsigned i = 0; i < w->apps; i++) {
		next = w->app[i]->ops->poll == NULL ? UINT64_MAX : w->app[i]->ops->poll(w, w->app[i]);
		due = next < due ? next : due;
	}
	serve(w);
	if (w->ready_head != 0)
		return now;
	next = wheel_due(w);
	due = next < due ? next : due;
	return w->mark_at < due ? w->mark_at : due;
}

/* splitmix64 (Steele, Lea and Flood) */
uint64_t
draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

int
worker_create(const struct fg_l4_config *config, struct fg_l4 **out, struct fg_error *err)
{
	struct fg_l4 *w = calloc(1, sizeof(*w));
	uint64_t seed = config->seed;
	int rc;

	if (w == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	payload_init();
	w->config = *config;
	w->mark_at = UINT64_MAX;
	w->endpoint.input = input;
	w->endpoint.poll = poll;
	w->secret[0] = draw(&seed);
	w->secret[1] = draw(&seed);
	w->ts_offset = (uint32_t)draw(&seed);
	rc = table_create(w, err);
	if (rc != 0) {
		worker_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

void
worker_free(struct fg_l4 *w)
{
	if (w == NULL)
		return;
	table_free(w);
	free(w->app);
	free(w);
}
