/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The SNMP query of RFC 2544, 11.2 and C.2.6.3, from both ends: the device's up time, and the bytes and
 * unicast packets in and out of an interface, in one GetRequest of version 1 (RFC 1157). The tester sends the
 * query and verifies the reply; the reference device answers. BER nests lengths, so messages are written from
 * end to start, where each length is already known. All are at most 255 bytes long.
 */
#include <arpa/inet.h>
#include <string.h>

#include "net_priv.h"

enum {
	INTEGER = 0x02,
	OCTETS = 0x04,
	NOTHING = 0x05,
	NAME = 0x06,
	SEQUENCE = 0x30,
	COUNTER = 0x41,
	TIME_TICKS = 0x43,
	GET_REQUEST = 0xa0,
	GET_RESPONSE = 0xa2,
	MAX_MESSAGE = 255,
	MAX_NAME = 16,
	COLUMN = 8, /* byte of the name that selects the object of an interface */
};

/*
 * names without the interface, which comes last: sysUpTime.0, and ifInOctets, ifOutOctets, ifInUcastPkts,
 * ifOutUcastPkts (RFC 1213), in the order of the RFC
 */
static const uint8_t up_time[] = {0x2b, 6, 1, 2, 1, 1, 3, 0};
static const uint8_t of_interface[] = {0x2b, 6, 1, 2, 1, 2, 2, 1};
static const uint8_t column[FG_SNMP_OBJECTS] = {0, 10, 16, 11, 17};

struct name {
	uint8_t octets[MAX_NAME];
	size_t length;
};

/* the part of a message not read yet; points into the message */
struct message {
	const uint8_t *community;
	size_t community_length;
	uint8_t type;
	uint32_t request, error;
	unsigned objects;
	struct name name[FG_SNMP_OBJECTS];
	uint8_t kind[FG_SNMP_OBJECTS]; /* of the value */
};

/* a buffer that is filled from its end; `at` is the start of the message so far */
struct writer {
	uint8_t room[MAX_MESSAGE], *at;
};

static void
put(struct writer *w, const void *data, size_t length)
{
	w->at -= length;
	memcpy(w->at, data, length);
}

static void
put_octet(struct writer *w, uint8_t octet)
{
	*--w->at = octet;
}

/* write tag and length of the content from here to @p end */
static void
wrap(struct writer *w, uint8_t tag, const uint8_t *end)
{
	size_t length = (size_t)(end - w->at);

	put_octet(w, (uint8_t)length);
	if (length > 127)
		put_octet(w, 0x81);
	put_octet(w, tag);
}

static void
put_number(struct writer *w, uint8_t tag, uint32_t value)
{
	const uint8_t *end = w->at;

	do
		put_octet(w, (uint8_t)value);
	while ((value >>= 8) != 0);
	if (*w->at & 0x80) /* else the number would be negative */
		put_octet(w, 0);
	wrap(w, tag, end);
}

static struct name
name_of(unsigned object, uint32_t interface)
{
	struct name n = {.length = sizeof(of_interface)};
	int shift = 28;

	if (object == 0) {
		memcpy(n.octets, up_time, sizeof(up_time));
		return n;
	}
	memcpy(n.octets, of_interface, sizeof(of_interface));
	n.octets[n.length++] = column[object];
	while (shift > 0 && interface >> shift == 0)
		shift -= 7;
	for (; shift >= 0; shift -= 7)
		n.octets[n.length++] = (uint8_t)((interface >> shift & 0x7f) | (shift > 0 ? 0x80 : 0));
	return n;
}

/* the object of a name; FG_SNMP_OBJECTS: unknown */
static unsigned
object_of(const struct name *name)
{
	if (name->length == sizeof(up_time) && memcmp(name->octets, up_time, sizeof(up_time)) == 0)
		return 0;
	for (unsigned i = 1; i < FG_SNMP_OBJECTS; i++)
		if (name->length > COLUMN + 1 &&
		    memcmp(name->octets, of_interface, sizeof(of_interface)) == 0 &&
		    name->octets[COLUMN] == column[i])
			return i;
	return FG_SNMP_OBJECTS;
}

/* @param values  by object; NULL: a question */
static void
write_message(struct writer *w, const struct message *m, const uint32_t *values)
{
	const uint8_t *end = w->at = w->room + sizeof(w->room), *start;

	for (unsigned i = m->objects; i-- > 0;) {
		unsigned object = object_of(&m->name[i]);

		start = w->at;
		if (values == NULL)
			wrap(w, NOTHING, w->at);
		else
			put_number(w, object == 0 ? TIME_TICKS : COUNTER, values[object]);
		const uint8_t *name_end = w->at;

		put(w, m->name[i].octets, m->name[i].length);
		wrap(w, NAME, name_end);
		wrap(w, SEQUENCE, start);
	}
	wrap(w, SEQUENCE, end);
	put_number(w, INTEGER, 0); /* error index */
	put_number(w, INTEGER, m->error);
	put_number(w, INTEGER, m->request);
	wrap(w, m->type, end);
	start = w->at;
	put(w, m->community, m->community_length);
	wrap(w, OCTETS, start);
	put_number(w, INTEGER, 0); /* version 1 */
	wrap(w, SEQUENCE, end);
}

struct reader {
	const uint8_t *at, *end;
};

/* skip one element and return its content; false: another tag (0: any), or truncated */
static bool
take(struct reader *r, uint8_t tag, struct reader *content)
{
	size_t length, octets = 0;

	if (r->end - r->at < 2 || (tag != 0 && r->at[0] != tag))
		return false;
	length = r->at[1];
	if (length > 127) {
		octets = length & 0x7f;
		if (octets == 0 || octets > 2 || (size_t)(r->end - r->at) < 2 + octets)
			return false;
		length = r->at[2];
		if (octets == 2)
			length = length << 8 | r->at[3];
	}
	if ((size_t)(r->end - r->at) < 2 + octets + length)
		return false;
	content->at = r->at + 2 + octets;
	content->end = r->at = content->at + length;
	return true;
}

static bool
take_number(struct reader *r, uint32_t *value)
{
	struct reader content;

	if (!take(r, INTEGER, &content) || content.at == content.end || content.end - content.at > 5)
		return false;
	for (*value = 0; content.at < content.end; content.at++)
		*value = *value << 8 | *content.at;
	return true;
}

static bool
take_objects(struct reader *list, struct message *m)
{
	struct reader pair, name, value;

	for (m->objects = 0; list->at < list->end; m->objects++) {
		struct name *out = &m->name[m->objects];

		if (m->objects == FG_SNMP_OBJECTS || !take(list, SEQUENCE, &pair) ||
		    !take(&pair, NAME, &name))
			return false;
		out->length = (size_t)(name.end - name.at);
		if (out->length > sizeof(out->octets) || pair.at == pair.end)
			return false;
		memcpy(out->octets, name.at, out->length);
		m->kind[m->objects] = *pair.at;
		if (!take(&pair, 0, &value))
			return false;
	}
	return true;
}

static bool
read_message(const uint8_t *data, size_t length, struct message *m)
{
	struct reader all = {data, data + length}, message, community, pdu, list;
	uint32_t version, index;

	if (!take(&all, SEQUENCE, &message) || !take_number(&message, &version) || version != 0 ||
	    !take(&message, OCTETS, &community) || message.at == message.end)
		return false;
	m->community = community.at;
	m->community_length = (size_t)(community.end - community.at);
	m->type = *message.at;
	return take(&message, 0, &pdu) && take_number(&pdu, &m->request) && take_number(&pdu, &m->error) &&
	       take_number(&pdu, &index) && take(&pdu, SEQUENCE, &list) && take_objects(&list, m);
}

size_t
fg_net_snmp_query(const struct fg_host *host, const struct fg_snmp_query *query, uint8_t *out)
{
	struct message m = {
		.community = (const uint8_t *)query->community,
		.community_length = strlen(query->community),
		.type = GET_REQUEST,
		.request = query->request,
		.objects = FG_SNMP_OBJECTS,
	};
	struct writer w;
	size_t length;

	for (unsigned i = 0; i < FG_SNMP_OBJECTS; i++)
		m.name[i] = name_of(i, query->interface);
	write_message(&w, &m, NULL);
	length = (size_t)(w.room + sizeof(w.room) - w.at);
	memcpy(out + NET_UDP_CONTENT, w.at, length);
	return net_udp(host,
		       &(struct net_udp){query->agent_mac, query->agent, FG_SNMP_FROM, FG_SNMP_PORT, length},
		       out);
}

bool
fg_net_snmp_replies(const struct fg_host *host, uint32_t request, const uint8_t *frame, size_t length)
{
	size_t content = net_udp_content(host, FG_SNMP_FROM, frame, length);
	struct message m;

	if (content == 0 || !read_message(frame + NET_UDP_CONTENT, content, &m) || m.type != GET_RESPONSE ||
	    m.request != request || m.error != 0 || m.objects != FG_SNMP_OBJECTS)
		return false;
	for (unsigned i = 0; i < FG_SNMP_OBJECTS; i++)
		if (object_of(&m.name[i]) != i || m.kind[i] != (i == 0 ? TIME_TICKS : COUNTER))
			return false;
	return true;
}

size_t
fg_net_snmp_answer(const struct fg_host *host, const uint32_t values[FG_SNMP_OBJECTS], uint8_t *frame,
		   size_t length)
{
	struct fg_ether *ether = (struct fg_ether *)frame;
	struct fg_ipv4 *ip = (struct fg_ipv4 *)(ether + 1);
	struct fg_udp *udp = (struct fg_udp *)(ip + 1);
	size_t content = net_udp_content(host, FG_SNMP_PORT, frame, length);
	uint8_t mac[6], address[4];
	struct message m;
	struct writer w;

	if (content == 0 || !read_message(frame + NET_UDP_CONTENT, content, &m) || m.type != GET_REQUEST ||
	    m.community_length > FG_SNMP_COMMUNITY)
		return 0;
	for (unsigned i = 0; i < m.objects; i++)
		if (object_of(&m.name[i]) == FG_SNMP_OBJECTS)
			return 0;
	m.type = GET_RESPONSE;
	write_message(&w, &m, values);
	content = (size_t)(w.room + sizeof(w.room) - w.at);
	memcpy(mac, ether->src, 6);
	memcpy(address, ip->src, 4);
	memcpy(frame + NET_UDP_CONTENT, w.at, content);
	return net_udp(host, &(struct net_udp){mac, address, FG_SNMP_PORT, ntohs(udp->src), content}, frame);
}
