-- SPDX-License-Identifier: BSD-3-Clause

--- The keys that every test has: the phases around the load of a trial (RFC 2544, 23), and how often a trial
-- that says nothing is made again. In the notation of plan/rows.lua; a test says its defaults, and in its own
-- words what a phase is for where that is something else.
local M = {}

local function phase(key, words)
   M[key] = function(default, help)
      return { key = key, type = "time", default = default, max = "10min", help = help or words }
   end
end

phase("learning_wait", "between the learning frames and the load")
phase("drain", "how long frames may still arrive after the load; later ones are lost")
phase("settle", "rest for the device after a trial")

-- Rows of numbers: { type, least, most }. M[key](default, help, most) makes one; it needs `most` where none
-- stands here.
for key, one in pairs {
   trial = { "time", "1ms" }, search_trial = { "time", "1ms" }, repetitions = { "integer", "1" },
   max_trials = { "integer", "2" }, max_frame = { "size", "64", "16128" },
   port = { "integer", "1", "65535" }, seed = { "integer", "0", "4294967295" },
} do
   M[key] = function(default, help, most)
      return { key = key, type = one[1], default = default, min = one[2], max = most or one[3], help = help }
   end
end

--- Sizes of test frames. @param default  the RFC's, where it is left out
function M.frame_sizes(help, default)
   return { key = "frame_sizes", type = "list", of = { type = "size", min = "64", max = "16128" },
      unique = true, least = 1, default = default or { "64", "128", "256", "512", "1024", "1280", "1518" },
      help = help or "bytes from the destination address to the FCS" }
end

--- How often a trial may be made again.
M.retries = {
   key = "retries", type = "integer", default = "2", min = "0", max = "100",
   help = "how often an invalid trial is repeated",
}

M.outer_vlan = {
   key = "outer_vlan", type = "integer", min = "1", max = "4094", default_help = "none",
   help = "service VLAN (802.1ad) around the VLAN; each tag is part of the frame size",
}
M.pcp = {
   key = "pcp", type = "integer", min = "0", max = "7", default = "0", help = "priority in the outermost tag",
}
M.dscp = {
   key = "dscp", type = "integer", min = "0", max = "63", default = "0", help = "DSCP of the IP header",
}

--- The marks of all test frames of a method, whose plan module gives their values (plan/registry.lua).
M.marks = {
   M.outer_vlan, M.pcp, { key = "dei", type = "boolean", default = "false",
      help = "whether the outermost tag has the drop eligible indicator" }, M.dscp,
}

--- How TCP behaves: of the tests between two ports, and of a server.
M.tcp = {
   key = "tcp", type = "group",
   help = "how both ends' TCP behaves",
   fields = {
      { key = "congestion", type = "enum", values = { "cubic", "newreno" }, default = "cubic",
        help = "congestion control: CUBIC (RFC 9438) or NewReno (RFC 5681)" },
      { key = "receive_buffer", type = "size", default = "1MiB", min = "1KiB", max = "1GiB",
        help = "the window that is offered" },
      { key = "send_buffer", type = "size", default = "1MiB", min = "1KiB", max = "1GiB",
        help = "most that may be in flight" },
      { key = "mss", type = "integer", min = "88", max = "9216", default_help = "what the MTU allows",
        help = "the MSS announced" },
      { key = "initial_window", type = "integer", default = "10", min = "1", max = "100",
        help = "segments (RFC 6928)" },
      { key = "nodelay", type = "boolean", default = "false", help = "Nagle's algorithm is off" },
      { key = "timestamps", type = "boolean", default = "true", help = "RFC 7323" },
      { key = "sack", type = "boolean", default = "true", help = "RFC 2018" },
      { key = "window_scaling", type = "boolean", default = "true", help = "RFC 7323" },
      { key = "ecn", type = "boolean", default = "false", help = "RFC 3168" },
      { key = "delayed_ack", type = "time", default = "40ms", max = "500ms",
        help = "how long an acknowledgement may wait for company" },
      { key = "handshake_ack_alone", type = "boolean", default = "false",
        help = "the acknowledgement that ends the handshake carries neither request nor FIN, for devices that lose these there (SYN proxies)" },
      { key = "min_rto", type = "time", default = "200ms", min = "1ms", max = "60s",
        help = "retransmission time-out beyond the round trip, at least; RFC 6298 asks for 1s in all, the usual stacks take 200ms" },
      { key = "time_wait", type = "time", default = "1s", max = "4min",
        help = "how long a closed connection is remembered; see docs/explanation/tcp.md" },
   },
}

--- A program that is run, and its arguments. `framegauge check` names it (plan/actions.lua).
function M.command(key, help, default)
   return {
      key = key, type = "list", of = { type = "string", longest = 10000 }, least = 1, does = "runs a command",
      default_help = default, help = help,
   }
end

return M
