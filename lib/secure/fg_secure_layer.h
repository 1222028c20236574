/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_secure.h"
#include "fg_stream.h"

__BEGIN_DECLS

/* How lib/apps puts applications on TLS, and what it reads of it. */

/**
 * Let an application of a worker, which is the last one of w->app, stand on TLS: the layer's own application
 * becomes the last one, so there must be room for it.
 */
int fg_secure_add(struct fg_l4 *w, struct fg_app *app, const struct fg_secure_config *config,
		  struct fg_error *err);
/** Free all that was added to a worker. */
void fg_secure_free(struct fg_l4 *w);

/** Of an application with TLS: what was counted; how long handshakes took; the context. NULL: it has none. */
const struct fg_secure_tally *fg_secure_tally(const struct fg_l4 *w, const struct fg_app *app);
const struct fg_histogram *fg_secure_handshakes(const struct fg_l4 *w, const struct fg_app *app);
const struct fg_tls_context *fg_secure_context(const struct fg_l4 *w, const struct fg_app *app);
/** Bytes of records and handshakes that TCP has sent and received for it. */
const struct fg_l4_tally *fg_secure_carried(const struct fg_l4 *w, const struct fg_app *app);

__END_DECLS
