/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <pcap/pcap.h>

#include "fg_filter.h"

int
fg_filter_compile(const char *text, const char *where, struct bpf_program *out, struct fg_error *err)
{
	pcap_t *dead;
	int rc = 0;

	if (text == NULL)
		return 0;
	dead = pcap_open_dead(DLT_EN10MB, UINT16_MAX);
	if (dead == NULL)
		return fg_error_set(err, ENOMEM, where, "no memory");
	if (pcap_compile(dead, out, text, 1, PCAP_NETMASK_UNKNOWN) != 0)
		rc = fg_error_set(err, EINVAL, where, "%s: %s", text, pcap_geterr(dead));
	pcap_close(dead);
	return rc;
}

bool
fg_filter_passes(const struct bpf_program *program, const uint8_t *frame, uint32_t length, uint32_t kept)
{
	const struct pcap_pkthdr header = {.caplen = kept, .len = length};

	return pcap_offline_filter(program, &header, frame) != 0;
}

int
fg_filter_check(const char *text, const char *where, struct fg_error *err)
{
	struct bpf_program program = {0};
	int rc = fg_filter_compile(text, where, &program, err);

	if (rc == 0)
		pcap_freecode(&program);
	return rc;
}
