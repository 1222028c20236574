/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a capture: pcap with libpcap, pcapng ourselves. Each frame comes out as it will be sent: whole,
 * rewritten, and with a time that does not go back. Times of a file may do so: a little if they are of
 * several queues, far if a clock was set or two recordings were joined.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "reader_priv.h"

enum { LINKTYPE_RAW = 101 };

/* @param link  DLT_ or LINKTYPE_; the names of most are the same */
static int
refuse_link(const struct reader *r, int link, struct fg_error *err)
{
	const char *name = pcap_datalink_val_to_name(link == LINKTYPE_RAW ? DLT_RAW : link);
	char frame[40] = "a capture";

	if (r->read > 0)
		snprintf(frame, sizeof(frame), "frame %llu is", (unsigned long long)r->read);
	return fg_error_set(err, EINVAL, r->config->path, "%s of %s; expected %s of Ethernet", frame,
			    name == NULL ? "an unknown kind of link" : name, r->read > 0 ? "frames" : "one");
}

/* @return 0, or why this is no capture that can be read */
static int
open_pcap(struct reader *r, struct fg_error *err)
{
	const char *path = r->config->path;
	char message[PCAP_ERRBUF_SIZE];
	int link, more;

	r->pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, message);
	if (r->pcap == NULL)
		return fg_error_set(err, EINVAL, path, "%s; expected a capture, pcap or pcapng", message);
	link = pcap_datalink(r->pcap);
	more = pcap_datalink_ext(r->pcap);
	r->fcs = LT_FCS_LENGTH_PRESENT(more) ? (uint32_t)LT_FCS_LENGTH(more) * 2 : 0; /* words of 16 bits */
	return link == DLT_EN10MB ? 0 : refuse_link(r, link, err);
}

int
reader_open(struct reader *r, const struct fg_replay_config *config, struct fg_error *err)
{
	uint32_t magic = 0;
	struct stat status;
	FILE *file;
	int rc;

	memset(r, 0, sizeof(*r));
	r->config = config;
	/* a pipe may have no writer, and cannot be read twice */
	if (stat(config->path, &status) == 0 && !S_ISREG(status.st_mode))
		return fg_error_set(err, EINVAL, config->path,
				    "no regular file; expected a capture, pcap or pcapng");
	file = fopen(config->path, "rb");
	if (file == NULL)
		return fg_error_set(err, errno, config->path, "%s; expected a capture, pcap or pcapng",
				    strerror(errno));
	if (fread(&magic, sizeof(magic), 1, file) == 1 && magic == PCAPNG_MAGIC) {
		rewind(file);
		pcapng_open(&r->pcapng, file);
		return 0;
	}
	fclose(file);
	rc = open_pcap(r, err);
	if (rc != 0)
		reader_close(r);
	return rc;
}

/* bytes of the check sequence that are not to be sent */
static uint32_t
fcs_of(const struct reader *r, const struct packet *p)
{
	switch (r->config->fcs) {
	case FG_REPLAY_FCS_KEEP:
		return 0;
	case FG_REPLAY_FCS_REMOVE:
		return FG_ETHER_FCS;
	default:
		return p->fcs;
	}
}

/* the frame as it is to be sent; false: it cannot be */
static bool
take(struct reader *r, struct packet *p)
{
	const uint32_t limit = r->config->max_frame - FG_ETHER_FCS, fcs = fcs_of(r, p);

	if (p->kept > p->length) {
		r->wrong_length++;
		return false;
	}
	if (p->length < FG_ETHER_HEADER + fcs) {
		r->too_short++;
		return false;
	}
	p->length -= fcs;
	p->kept = p->kept < p->length ? p->kept : p->length;
	if (p->length > limit) {
		r->oversize++;
		return false;
	}
	memcpy(r->frame, p->octets, p->kept);
	memset(r->frame + p->kept, 0, p->length - p->kept);
	r->length = (uint32_t)fg_rewrite_apply(&r->config->rewrite, r->frame, p->length, &r->found);
	if (r->length > limit) {
		r->oversize++;
		return false;
	}
	r->truncated += p->kept < p->length;
	r->fcs_removed += fcs > 0;
	return true;
}

static void
note_gap(struct reader *r, uint64_t gap)
{
	r->gap_ns[1] = r->gap_frame == 0 ? gap : r->gap_ns[0];
	r->gap_ns[0] = gap;
	if (r->gap_frame == 0 || gap > r->gap_max_ns) {
		r->gap_max_ns = gap;
		r->gap_frame = r->read;
	}
}

/*
 * The time of the frame that was just read. Where times begin anew no distance was recorded: the lesser of
 * the two before it stands in, so that one wrong time far ahead is not taken for the usual distance.
 */
static void
take_time(struct reader *r, uint64_t ns)
{
	if (!r->timed) {
		r->timed = true;
		r->last_ns = ns;
	} else if (ns >= r->last_ns) {
		if (__builtin_add_overflow(r->time_ns, ns - r->last_ns, &r->time_ns))
			r->time_ns = UINT64_MAX / 2; /* of a file that was made to */
		note_gap(r, ns - r->last_ns);
		r->last_ns = ns;
	} else if (r->last_ns - ns < FG_REPLAY_ANEW_NS) {
		r->times_back++;
	} else {
		r->times_back++;
		r->times_anew++;
		r->time_ns += r->gap_ns[0] < r->gap_ns[1] ? r->gap_ns[0] : r->gap_ns[1];
		r->last_ns = ns;
	}
}

/* @return 1, 0: the end, -1: @p problem says why not */
static int
next_packet(struct reader *r, struct packet *p, const char **problem)
{
	struct pcap_pkthdr *header;
	int rc;

	if (r->pcap == NULL) {
		rc = pcapng_next(&r->pcapng, p);
		*problem = r->pcapng.problem;
		return rc;
	}
	*p = (struct packet){.timed = true, .fcs = r->fcs, .link = PCAPNG_ETHERNET};
	rc = pcap_next_ex(r->pcap, &header, &p->octets);
	if (rc == 1) {
		/* what libpcap calls microseconds are nanoseconds, as asked for; from 2038 on it has negative
		 * seconds, which the file has not */
		p->ns = (uint64_t)(uint32_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec;
		p->length = header->len;
		p->kept = header->caplen;
		return 1;
	}
	*problem = pcap_geterr(r->pcap);
	return rc == PCAP_ERROR_BREAK ? 0 : -1;
}

int
reader_next(struct reader *r, struct fg_error *err)
{
	const char *problem = NULL;
	struct packet p;
	int rc;

	while ((rc = next_packet(r, &p, &problem)) == 1) {
		r->read++;
		if (p.link != PCAPNG_ETHERNET)
			return refuse_link(r, p.link, err);
		if (p.timed)
			take_time(r, p.ns);
		if (take(r, &p))
			return 1;
	}
	if (rc == 0)
		return 0;
	return fg_error_set(err, EINVAL, r->config->path, "broken after frame %llu: %s",
			    (unsigned long long)r->read, problem);
}

uint64_t
reader_period(const struct reader *r)
{
	return r->read > 1 ? r->time_ns + r->time_ns / (r->read - 1) : r->time_ns;
}

void
reader_close(struct reader *r)
{
	if (r->pcap != NULL)
		pcap_close(r->pcap);
	r->pcap = NULL;
	pcapng_close(&r->pcapng);
}
