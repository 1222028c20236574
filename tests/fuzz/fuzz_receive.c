/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever comes in from the network. The input is a train of frames (of two bytes at least), each behind
 * one byte that names its kind and two for its length; every frame goes the way of a received one:
 * signature, sequence tracker, histogram, reflector, and the talk with neighbours. A frame lies in memory of
 * just its size, so that the sanitizer sees a read beyond it. Since few random frames have a valid signature
 * or checksum, the first byte may ask for one to be written.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fg_checksum.h"
#include "fg_metric.h"
#include "fg_net.h"
#include "fg_signature.h"

enum { SIGN = 1, MEND = 2, HEAD = 3 };

static const struct fg_host host = {
	.mac = {2, 0, 0, 0, 0, 1},
	.has_ipv4 = true,
	.has_ipv6 = true,
	.ipv4 = {198, 18, 1, 2},
	.ipv6 = {0x20, 0x01, 0, 2, [15] = 2},
};

static struct fg_sequence *tracker;
static struct fg_histogram *latency;
static struct fg_variation *variation;

static void
check(int condition)
{
	if (!condition)
		abort();
}

static void
track(const struct fg_signature *s, uint64_t now)
{
	int64_t elapsed = fg_signature_elapsed(now, s->time_ns);

	check(elapsed >= -(1LL << 47) && elapsed < 1LL << 47);
	if (!fg_sequence_observe(tracker, s->sequence, now))
		return;
	fg_histogram_record(latency, elapsed);
	fg_variation_record(variation, s->sequence, elapsed);
}

/* give a question the checksums that its lengths ask for, where there are that many bytes */
static void
mend(uint8_t *frame, size_t length)
{
	struct fg_ether *ether = (struct fg_ether *)frame;
	struct fg_ipv4 *ip4 = (struct fg_ipv4 *)(ether + 1);
	struct fg_ipv6 *ip6 = (struct fg_ipv6 *)(ether + 1);
	struct fg_icmp *icmp4 = (struct fg_icmp *)(ip4 + 1), *icmp6 = (struct fg_icmp *)(ip6 + 1);
	size_t end;

	if (length >= sizeof(*ether) + sizeof(*ip4) + sizeof(struct fg_udp) &&
	    ether->type == htons(FG_ETHER_IPV4) && ip4->protocol == FG_IP_UDP) {
		ip4->checksum = ((struct fg_udp *)(ip4 + 1))->checksum = 0;
		ip4->checksum = fg_checksum_finish(fg_checksum_add(0, ip4, sizeof(*ip4)));
	} else if (length >= sizeof(*ether) + sizeof(*ip4) + sizeof(*icmp4) &&
		   ether->type == htons(FG_ETHER_IPV4)) {
		ip4->checksum = icmp4->checksum = 0;
		ip4->checksum = fg_checksum_finish(fg_checksum_add(0, ip4, sizeof(*ip4)));
		end = ntohs(ip4->length);
		if (end >= sizeof(*ip4) && end <= length - sizeof(*ether))
			icmp4->checksum = fg_checksum_finish(fg_checksum_add(0, icmp4, end - sizeof(*ip4)));
	} else if (length >= sizeof(*ether) + sizeof(*ip6) + sizeof(*icmp6) &&
		   ether->type == htons(FG_ETHER_IPV6)) {
		end = ntohs(ip6->payload_length);
		icmp6->checksum = 0;
		if (end <= length - sizeof(*ether) - sizeof(*ip6))
			icmp6->checksum = fg_checksum_finish(fg_checksum_add(
				fg_checksum_pseudo6(ip6, FG_IP_ICMPV6, (uint32_t)end), icmp6, end));
	}
}

/* turned round twice it is as it was; and one that is not to be turned round is left alone */
static void
reflect(uint8_t *frame, size_t length, const uint8_t *before)
{
	if (fg_net_reflect(frame, length))
		check(fg_net_reflect(frame, length));
	check(memcmp(frame, before, length) == 0);
}

static void
receive(const uint8_t *data, size_t length, int wishes, uint64_t now)
{
	static const uint32_t values[FG_SNMP_OBJECTS] = {1, 0x80, 0xffff, 0x7fffffff, 0xffffffff};
	size_t room = length < FG_DATAGRAM_ROOM ? FG_DATAGRAM_ROOM : length;
	uint8_t *frame = malloc(length), *answer = malloc(room), mac[6];
	struct fg_signature signature;

	check(frame != NULL && answer != NULL);
	memcpy(frame, data, length);
	memcpy(answer, data, length);
	if (wishes & MEND) {
		mend(frame, length);
		mend(answer, length);
	}
	if ((wishes & SIGN) && length >= FG_SIGNATURE_SIZE)
		fg_signature_write(frame + length, data[0], data[1], now);
	if (fg_signature_read(frame + length, length, &signature))
		track(&signature, now);
	else
		check(!(wishes & SIGN) || length < FG_SIGNATURE_SIZE);
	check(fg_net_kind_name(fg_net_kind(frame, length)) != NULL);
	memcpy(frame, answer, length);
	reflect(frame, length, answer);
	fg_net_learn_ipv4(frame, length, host.ipv4, mac);
	fg_net_learn_ipv6(frame, length, host.ipv6, mac);
	fg_net_snmp_replies(&host, 7, frame, length);
	if (fg_net_answer(&host, answer, length) == 0)
		check(fg_net_snmp_answer(&host, values, answer, length) <= FG_DATAGRAM_ROOM);
	free(frame);
	free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_variation_counts varied;
	struct fg_sequence_counts counts;
	uint64_t received = 0;

	tracker = fg_sequence_create(64, 0, NULL);
	latency = fg_histogram_create(2, 1000000, NULL);
	variation = fg_variation_create(1, 1000000, 16, NULL);
	check(tracker != NULL && latency != NULL && variation != NULL);
	for (uint64_t now = 0; size > HEAD; now += 1000) {
		size_t length = (size_t)(data[1] << 8 | data[2]);

		length = length > size - HEAD ? size - HEAD : length;
		if (length > 1)
			receive(data + HEAD, length, data[0], now);
		data += HEAD + length;
		size -= HEAD + length;
		received++;
	}
	fg_sequence_read(tracker, received, &counts);
	check(counts.received == counts.unique + counts.duplicates + counts.stale);
	check(counts.received <= received && counts.lost == (int64_t)(received - counts.unique));
	check(latency->count == counts.unique);
	check(fg_histogram_percentile(latency, 1) == latency->max);
	check(counts.order.in_order + counts.reordered == counts.unique);
	fg_variation_read(variation, &varied);
	check(varied.pairs < counts.unique || counts.unique == 0);
	check(varied.pairs == 0 || (varied.min <= varied.p001 && varied.p999 <= varied.max));
	fg_variation_free(variation);
	fg_sequence_free(tracker);
	fg_histogram_free(latency);
	return 0;
}
