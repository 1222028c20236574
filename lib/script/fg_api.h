/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The C functions Lua sees: functions of the libraries named here. The FFI declarations are generated from
 * this header and those it includes, so they hold plain declarations only: no DPDK type; inline functions are
 * left out.
 */
#include "fg_capture.h"
#include "fg_departures.h"
#include "fg_device.h"
#include "fg_endpoint_port.h"
#include "fg_engine.h"
#include "fg_error.h"
#include "fg_filter.h"
#include "fg_frame.h"
#include "fg_grpc.h"
#include "fg_host.h"
#include "fg_hosts.h"
#include "fg_l4_app.h"
#include "fg_l4_dns.h"
#include "fg_l4_iperf.h"
#include "fg_l4_page.h"
#include "fg_link.h"
#include "fg_net.h"
#include "fg_oam.h"
#include "fg_oam_endpoint.h"
#include "fg_port.h"
#include "fg_port_about.h"
#include "fg_probe.h"
#include "fg_protocol.h"
#include "fg_relay.h"
#include "fg_replay.h"
#include "fg_sizes.h"
#include "fg_stalls.h"
#include "fg_state_table.h"
#include "fg_switch.h"
#include "fg_tsc.h"
#include "fg_units.h"
#include "fg_verify.h"
#include "fg_web.h"
#include "fg_wire.h"
