-- SPDX-License-Identifier: BSD-3-Clause

--- The keys that every test has: the phases around the load of a trial (RFC 2544, 23), and how often a trial
-- that says nothing is made again. In the notation of plan/keys.lua; a test says its defaults, and in its own
-- words what a phase is for where that is something else.
local keys = require "framegauge.plan.keys"

local M = {}

local function phase(key, words)
   M[key] = function(default, help)
      return { key, "time", help or words, default = default, max = "10min" }
   end
end

phase("learning_wait", "between the learning frames and the load")
phase("drain", "how long frames may still arrive after the load; later ones are lost")
phase("settle", "pause for the device after a trial")

-- Rows of numbers: { type, least, most }. M[key](default, help, most) makes one; it needs `most` where none
-- stands here.
for key, one in pairs {
   trial = { "time", "1ms" }, search_trial = { "time", "1ms" }, repetitions = { "integer", "1" },
   max_trials = { "integer", "2" }, max_frame = { "size", "64", "16128" },
   port = { "integer", "1", "65535" }, seed = { "integer", "0", "4294967295" },
} do
   M[key] = function(default, help, most)
      return { key, one[1], help, default = default, min = one[2], max = most or one[3] }
   end
end

--- Sizes of test frames. @param default  the RFC's, where it is left out
function M.frame_sizes(help, default)
   return { "frame_sizes", "list", help or "bytes from the destination address to the FCS",
      of = { type = "size", min = "64", max = "16128" }, unique = true, least = 1,
      default = default or { "64", "128", "256", "512", "1024", "1280", "1518" } }
end

--- How often a trial may be made again.
M.retries = { "retries", "integer", "how often an invalid trial is repeated",
   default = "2", min = "0", max = "100" }

-- The sessions of a reference device that keeps them, as firewall or NAT.
M.sessions = { "sessions", "integer", "sessions that its table holds",
   default = "1000000", min = "1", max = "4194304", into = "sessions" }
M.setup_rate = { "setup_rate", "number", "sessions that it sets up a second",
   min = "0.001", max = "1000000000", default_help = "as they come", into = "setup_rate" }
M.setup_queue = { "setup_queue", "integer", "sessions that wait for it; more are lost",
   default = "64", min = "0", max = "65536", into = "setup_queue" }
M.session_timeout = { "timeout", "time", "time after which an idle session is forgotten",
   default = "300s", min = "1us", max = "24h", into = "timeout_ns" }

M.outer_vlan = { "outer_vlan", "integer", "service VLAN (802.1ad) around the VLAN; each tag is part of the frame size",
   min = "1", max = "4094", default_help = "none" }
M.pcp = { "pcp", "integer", "priority in the outermost tag", min = "0", max = "7", default = "0" }
M.dscp = { "dscp", "integer", "DSCP of the IP header", min = "0", max = "63", default = "0" }

--- The marks of all test frames of a method, whose plan module gives their values (plan/registry.lua).
M.marks = {
   M.outer_vlan, M.pcp, { "dei", "boolean", "whether the outermost tag has the drop eligible indicator",
      default = "false" }, M.dscp,
}

--- How TCP behaves: of the tests between two ports, and of a server.
M.tcp = keys.group("tcp", "how both ends' TCP behaves", {
   { "congestion", { "cubic", "newreno" }, "congestion control: CUBIC (RFC 9438) or NewReno (RFC 5681)",
     default = "cubic" },
   { "receive_buffer", "size", "the window that is offered", default = "1MiB", min = "1KiB", max = "1GiB" },
   { "send_buffer", "size", "most that may be in flight", default = "1MiB", min = "1KiB", max = "1GiB" },
   { "mss", "integer", "the MSS announced", min = "88", max = "9216", default_help = "what the MTU allows" },
   { "initial_window", "integer", "segments (RFC 6928)", default = "10", min = "1", max = "100" },
   { "nodelay", "boolean", "Nagle's algorithm is off", default = "false" },
   { "timestamps", "boolean", "RFC 7323", default = "true" },
   { "sack", "boolean", "RFC 2018", default = "true" },
   { "window_scaling", "boolean", "RFC 7323", default = "true" },
   { "ecn", "boolean", "RFC 3168", default = "false" },
   { "delayed_ack", "time", "how long an acknowledgement may wait for company",
     default = "40ms", max = "500ms" },
   { "handshake_ack_alone", "boolean", "the acknowledgement that ends the handshake carries neither request nor FIN, for devices that lose these there (SYN proxies)",
     default = "false" },
   { "min_rto", "time", "retransmission time-out beyond the round trip, at least; RFC 6298 asks for 1s in all, the usual stacks take 200ms",
     default = "200ms", min = "1ms", max = "60s" },
   { "time_wait", "time", "how long a closed connection is remembered; see docs/explanation/tcp.md",
     default = "1s", max = "4min" },
})

--- A program that is run, and its arguments. `framegauge check` names it (plan/actions.lua).
function M.command(key, help, default)
   return { key, "list", help,
      of = { type = "string", longest = 10000 }, least = 1, does = "runs a command", default_help = default }
end

return M
