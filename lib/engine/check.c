/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Check a trial's configuration before set-up: ports exist, frames fit them, copied streams send.
 */
#include <errno.h>

#include "engine_priv.h"

static int
check_values(const struct fg_value_fields *values, struct fg_error *err)
{
	unsigned bits = 0;

	if (values->n > FG_VALUE_FIELDS || values->most == 0 || values->most > FG_MAX_VALUES)
		return fg_error_set(err, EINVAL, "stream.values", "%u values of %u fields", values->most,
				    values->n);
	for (unsigned i = 0; i < values->n; i++) {
		if (values->field[i].bits == 0 || values->field[i].bits > 32)
			return fg_error_set(err, EINVAL, "stream.values", "a field of %u bits",
					    values->field[i].bits);
		bits += values->field[i].bits;
	}
	return bits <= FG_VALUE_BITS ? 0 : fg_error_set(err, EINVAL, "stream.values", "%u bits", bits);
}

int
trial_check_stream(const struct fg_engine *e, const struct fg_stream_config *s, struct fg_error *err)
{
	unsigned most = 0;
	const struct fg_port *port;

	if (s->tx_port >= e->config.ports || s->rx_port >= e->config.ports)
		return fg_error_set(err, EINVAL, "stream", "port %u of %u", RTE_MAX(s->tx_port, s->rx_port),
				    e->config.ports);
	port = e->config.port[s->tx_port].port;
	for (unsigned k = 0; k < (s->sizes == NULL ? 1 : s->sizes->kinds); k++) {
		const struct fg_template *frame = s->sizes == NULL ? s->frame : s->frames[k];

		if (s->sizes != NULL && frame->frame_size != s->sizes->size[k])
			return fg_error_set(err, EINVAL, "stream.size", "frame %u has %u bytes, not %u", k,
					    frame->frame_size, s->sizes->size[k]);
		most = RTE_MAX(most, frame->frame_size);
	}
	if (s->faults != NULL && s->faults->oversize != NULL)
		most = RTE_MAX(most, s->faults->oversize->frame_size);
	if (most > e->config.max_frame || most > port->caps.max_frame)
		return fg_error_set(err, EMSGSIZE, port->name, "frames of %u bytes: the port sends up to %u",
				    most, RTE_MIN(e->config.max_frame, port->caps.max_frame));
	return s->values == NULL ? 0 : check_values(s->values, err);
}

/* a stream of copies is of a stream before it that is one, and all of it comes over one queue */
static int
check_copies(const struct fg_engine *e, const struct fg_trial_config *c, unsigned i, struct fg_error *err)
{
	const struct fg_stream_config *s = &c->stream[i];
	unsigned of = s->copies_of;

	if (of == 0)
		return 0;
	if (of > i || c->stream[of - 1].copies_of != 0)
		return fg_error_set(err, EINVAL, "stream", "copies of stream %u, which does not send",
				    of - 1);
	if (e->port[s->tx_port].queue.queues > 1 || e->port[s->rx_port].queue.queues > 1)
		return fg_error_set(err, EINVAL, "stream", "copies come over one queue of a port");
	return 0;
}

int
trial_check(const struct fg_engine *e, const struct fg_trial_config *c, struct fg_error *err)
{
	int rc = 0;

	if (c->streams > FG_MAX_STREAMS || c->spares > FG_MAX_STREAMS - c->streams)
		return fg_error_set(err, EINVAL, "streams", "%u streams and room for %u more: at most %d",
				    c->streams, c->spares, FG_MAX_STREAMS);
	for (unsigned i = 0; i < c->tasks; i++)
		if (c->task[i].port >= e->config.ports)
			return fg_error_set(err, EINVAL, "tasks", "port %u of %u", c->task[i].port,
					    e->config.ports);
	for (unsigned i = 0; i < c->members; i++)
		if (c->member[i].port >= e->config.ports)
			return fg_error_set(err, EINVAL, "members", "port %u of %u", c->member[i].port,
					    e->config.ports);
	for (unsigned i = 0; i < c->streams && rc == 0; i++)
		rc = trial_check_stream(e, &c->stream[i], err);
	for (unsigned i = 0; i < c->streams && rc == 0; i++)
		rc = check_copies(e, c, i, err);
	return rc;
}
