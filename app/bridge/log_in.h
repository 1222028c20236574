/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGE_LOG_IN_H
#define BRIDGE_LOG_IN_H

#include <nats/nats.h>

#include "pair.h"

/** Connect to one of the servers: TLS, our identity, time limits. @param options  with handlers */
natsStatus bridge_log_in(natsConnection **nats, natsOptions *options, const struct bridge_servers *servers);

#endif
