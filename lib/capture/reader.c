/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a capture with libpcap, which knows pcap and pcapng and either order of octets. Each frame comes
 * out as it will be sent: whole, rewritten, and with a time that does not go back. Times of a file may do so:
 * a little if they are of several queues, far if a clock was set or two recordings were joined.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "reader_priv.h"

int
reader_open(struct reader *r, const struct fg_replay_config *config, struct fg_error *err)
{
	char message[PCAP_ERRBUF_SIZE];
	struct stat status;
	int link;

	memset(r, 0, sizeof(*r));
	r->config = config;
	/* a pipe may have no writer, and cannot be read twice */
	if (stat(config->path, &status) == 0 && !S_ISREG(status.st_mode))
		return fg_error_set(err, EINVAL, config->path,
				    "no regular file; expected a capture, pcap or pcapng");
	r->file = pcap_open_offline_with_tstamp_precision(config->path, PCAP_TSTAMP_PRECISION_NANO, message);
	if (r->file == NULL)
		return fg_error_set(err, errno == ENOENT || errno == EACCES ? errno : EINVAL, config->path,
				    "%s; expected a capture, pcap or pcapng", message);
	link = pcap_datalink(r->file);
	if (link != DLT_EN10MB) {
		const char *name = pcap_datalink_val_to_name(link);

		reader_close(r);
		return fg_error_set(err, EINVAL, config->path, "a capture of %s; expected one of Ethernet",
				    name == NULL ? "an unknown kind of link" : name);
	}
	return 0;
}

/* the frame as it is to be sent; false: it cannot be */
static bool
take(struct reader *r, const struct pcap_pkthdr *header, const u_char *octets)
{
	const uint32_t limit = r->config->max_frame - FG_ETHER_FCS;

	if (header->len > limit || header->len < FG_ETHER_HEADER || header->caplen > header->len) {
		r->oversize++;
		return false;
	}
	memcpy(r->frame, octets, header->caplen);
	memset(r->frame + header->caplen, 0, header->len - header->caplen);
	r->length = (uint32_t)fg_rewrite_apply(&r->config->rewrite, r->frame, header->len);
	if (r->length > limit) {
		r->oversize++;
		return false;
	}
	r->truncated += header->caplen < header->len;
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
	if (r->read == 1) {
		r->last_ns = ns;
	} else if (ns >= r->last_ns) {
		r->time_ns += ns - r->last_ns;
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

int
reader_next(struct reader *r, struct fg_error *err)
{
	struct pcap_pkthdr *header;
	const u_char *octets;
	int rc;

	while ((rc = pcap_next_ex(r->file, &header, &octets)) == 1) {
		/* what libpcap calls microseconds are nanoseconds, as asked for */
		uint64_t ns = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec;

		r->read++;
		take_time(r, ns);
		if (take(r, header, octets))
			return 1;
	}
	if (rc == PCAP_ERROR_BREAK)
		return 0;
	return fg_error_set(err, EINVAL, r->config->path, "broken after frame %llu: %s",
			    (unsigned long long)r->read, pcap_geterr(r->file));
}

uint64_t
reader_period(const struct reader *r)
{
	return r->read > 1 ? r->time_ns + r->time_ns / (r->read - 1) : r->time_ns;
}

void
reader_close(struct reader *r)
{
	if (r->file != NULL)
		pcap_close(r->file);
	r->file = NULL;
}
