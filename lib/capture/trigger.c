/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loss is detected when a test frame arrives whose number does not follow the highest of its stream so far.
 * Those between may still come, out of order; and when the last frames of a stream are lost, nothing arrives
 * that could show it.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fg_filter.h"
#include "fg_signature.h"
#include "trigger_priv.h"

enum { STREAM_IDS = 1 << 16 };

int
trigger_init(struct trigger *t, const struct fg_capture_config *config, struct fg_error *err)
{
	if (config->on_loss) {
		t->next = calloc(STREAM_IDS, sizeof(*t->next));
		if (t->next == NULL)
			return fg_error_set(err, ENOMEM, "trigger", "no memory");
	}
	return fg_filter_compile(config->trigger, "trigger", &t->program, err);
}

void
trigger_free(struct trigger *t)
{
	if (t->program.bf_insns != NULL)
		pcap_freecode(&t->program);
	free(t->next);
}

static bool
matches(const struct bpf_program *program, const struct rte_mbuf *m)
{
	return fg_filter_passes(program, rte_pktmbuf_mtod(m, const uint8_t *), m->pkt_len, m->data_len);
}

/* numbers begin at 0 in every trial */
static void
follow_trial(struct trigger *t, const struct fg_tap *tap)
{
	if (t->first_id == tap->first_id && t->ids == tap->ids)
		return;
	t->first_id = tap->first_id;
	t->ids = tap->ids;
	memset(t->next, 0, t->ids * sizeof(*t->next));
}

static bool
shows_gap(struct trigger *t, const struct fg_tap *tap, const struct rte_mbuf *m, uint64_t *missing)
{
	const uint8_t *end = rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len);
	struct fg_signature signature;
	uint64_t *next, expected;
	uint16_t stream;

	follow_trial(t, tap);
	if (!fg_signature_read(end, m->data_len, &signature))
		return false;
	stream = (uint16_t)(signature.stream - t->first_id);
	if (stream >= t->ids)
		return false;
	next = &t->next[stream];
	expected = *next;
	if (signature.sequence < expected)
		return false;
	*next = signature.sequence + 1;
	*missing = signature.sequence - expected;
	return *missing > 0;
}

bool
trigger_fires(struct trigger *t, const struct fg_tap *tap, const struct rte_mbuf *m, uint64_t *missing)
{
	bool fires;

	*missing = 0;
	fires = t->next != NULL && shows_gap(t, tap, m, missing);
	return fires || (t->program.bf_insns != NULL && matches(&t->program, m));
}
