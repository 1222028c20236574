/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Token buckets. A token is 10^-12 bit: a rate in bit/s times a time in ps is then a whole number of tokens,
 * without rounding. 128 bits hold a day at a terabit per second with room to spare.
 */
#include <errno.h>
#include <inttypes.h>

#include "fg_meter.h"

static const uint64_t TOKENS_PER_OCTET = 8 * 1000000000000ULL;
static const uint64_t MAX_BPS = 1000000000000000ULL, MAX_OCTETS = 1ULL << 40;

static int
check(const char *where, uint64_t value, uint64_t most, struct fg_error *err)
{
	if (value <= most)
		return 0;
	return fg_error_set(err, ERANGE, where, "%" PRIu64 " is more than %" PRIu64, value, most);
}

int
fg_meter_init(struct fg_meter *m, const struct fg_meter_config *config, struct fg_error *err)
{
	int rc = check("cir", config->cir_bps, MAX_BPS, err);

	if (rc == 0)
		rc = check("eir", config->eir_bps, MAX_BPS, err);
	if (rc == 0)
		rc = check("cbs", config->cbs, MAX_OCTETS, err);
	if (rc == 0)
		rc = check("ebs", config->ebs, MAX_OCTETS, err);
	if (rc != 0)
		return rc;
	if (config->kind == FG_METER_RFC2698 && config->eir_bps < config->cir_bps)
		return fg_error_set(err, ERANGE, "eir",
				    "the peak rate %" PRIu64 " is below the committed rate %" PRIu64,
				    config->eir_bps, config->cir_bps);
	m->config = *config;
	m->committed_size = (fg_u128)config->cbs * TOKENS_PER_OCTET;
	m->excess_size = (fg_u128)config->ebs * TOKENS_PER_OCTET;
	fg_meter_reset(m);
	return 0;
}

void
fg_meter_reset(struct fg_meter *m)
{
	m->time = 0;
	m->committed = m->committed_size;
	m->excess = m->excess_size;
}

/* add to a bucket. @return what did not fit */
static fg_u128
fill(fg_u128 *bucket, fg_u128 size, fg_u128 tokens)
{
	fg_u128 over = 0;

	*bucket += tokens;
	if (*bucket > size) {
		over = *bucket - size;
		*bucket = size;
	}
	return over;
}

static void
refill(struct fg_meter *m, uint64_t time)
{
	const struct fg_meter_config *c = &m->config;
	uint64_t passed = time > m->time ? time - m->time : 0;
	fg_u128 over = fill(&m->committed, m->committed_size, (fg_u128)c->cir_bps * passed);

	fill(&m->excess, m->excess_size, (fg_u128)c->eir_bps * passed + (c->coupling ? over : 0));
	m->time += passed;
}

/* MEF 10: green from the one bucket, yellow from the other */
static enum fg_colour
mef(struct fg_meter *m, fg_u128 cost, enum fg_colour comes)
{
	if (comes == FG_GREEN && cost <= m->committed) {
		m->committed -= cost;
		return FG_GREEN;
	}
	if (comes != FG_RED && cost <= m->excess) {
		m->excess -= cost;
		return FG_YELLOW;
	}
	return FG_RED;
}

/* RFC 2698, 3: nothing passes the peak, and only what passes it may be green */
static enum fg_colour
two_rates(struct fg_meter *m, fg_u128 cost, enum fg_colour comes)
{
	if (comes == FG_RED || m->excess < cost)
		return FG_RED;
	m->excess -= cost;
	if (comes == FG_YELLOW || m->committed < cost)
		return FG_YELLOW;
	m->committed -= cost;
	return FG_GREEN;
}

enum fg_colour
fg_meter_colour(struct fg_meter *m, uint64_t time, uint32_t octets, enum fg_colour comes)
{
	fg_u128 cost = (fg_u128)octets * TOKENS_PER_OCTET;

	refill(m, time);
	if (!m->config.aware)
		comes = FG_GREEN;
	return m->config.kind == FG_METER_MEF ? mef(m, cost, comes) : two_rates(m, cost, comes);
}

uint64_t
fg_meter_when(const struct fg_meter *m, uint64_t from, uint32_t octets)
{
	fg_u128 cost = (fg_u128)octets * TOKENS_PER_OCTET, wait;
	uint64_t cir = m->config.cir_bps;

	if (from < m->time)
		from = m->time;
	if (cost > m->committed_size)
		return UINT64_MAX;
	if (cost <= m->committed)
		return from;
	if (cir == 0)
		return UINT64_MAX;
	wait = (cost - m->committed + cir - 1) / cir;
	return wait > from - m->time ? m->time + (uint64_t)wait : from;
}
