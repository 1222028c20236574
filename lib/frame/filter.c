/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <pcap/pcap.h>

#include "fg_filter.h"

/*
 * Some conditions read kernel data of a live capture, such as the direction, at offsets beyond any frame.
 * Here they match no frame.
 */
static bool
needs_kernel(const struct bpf_program *program)
{
	for (unsigned i = 0; i < program->bf_len; i++) {
		const struct bpf_insn *insn = &program->bf_insns[i];

		if (BPF_CLASS(insn->code) == BPF_LD && BPF_MODE(insn->code) == BPF_ABS &&
		    (int32_t)insn->k < 0)
			return true;
	}
	return false;
}

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
	if (rc == 0 && needs_kernel(out)) {
		pcap_freecode(out);
		rc = fg_error_set(
			err, EINVAL, where,
			"%s: only the kernel knows the direction or interface of a frame; expected a condition on its bytes",
			text);
	}
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
