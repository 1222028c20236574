/* SPDX-License-Identifier: BSD-3-Clause */
/* What control reads of a worker. */
#include "tcp_priv.h"

void
fg_l4_read_counters(const struct fg_l4 *w, struct fg_l4_counters *out)
{
	*out = w->counters;
}

uint32_t
fg_l4_open(const struct fg_l4 *w)
{
	return __atomic_load_n(&own(w)->open, __ATOMIC_RELAXED) +
	       __atomic_load_n(&w->layer_open, __ATOMIC_RELAXED);
}

static uint64_t
pool_octets(const struct fg_pool *p)
{
	return (p->fresh - 1) * (uint64_t)p->size;
}

void
fg_l4_read_memory(const struct fg_l4 *w, struct fg_l4_memory *out)
{
	/* a connection's share of the hash table, for any size of the table */
	uint64_t share = own(w)->buckets * sizeof(*own(w)->bucket) / w->config.connections;

	out->connections = own(w)->fresh - 1;
	out->octets = out->connections * (sizeof(*own(w)->conn) + share) + pool_octets(&own(w)->ranges) +
		      pool_octets(&own(w)->losses) + pool_octets(&own(w)->kept) + w->layer_octets;
}

const char *
fg_l4_counter_name(unsigned i, int *severity, const char **text)
{
#define COUNTER_ROW(name, level, what) {#name, level, what},
	static const struct {
		const char *name;
		int severity;
		const char *text;
	} rows[] = {FG_L4_COUNTERS(COUNTER_ROW)};
#undef COUNTER_ROW

	if (i >= sizeof(rows) / sizeof(rows[0]))
		return NULL;
	if (severity != NULL)
		*severity = rows[i].severity;
	if (text != NULL)
		*text = rows[i].text;
	return rows[i].name;
}
