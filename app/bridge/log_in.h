/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <nats/nats.h>

#include "pair.h"

/** Connect to one of the servers: TLS, our identity, time limits. @param options  with handlers */
natsStatus bridge_log_in(natsConnection **nats, natsOptions *options, const struct bridge_servers *servers);
