-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 in a plan: its keys, what must hold between them, and what it needs of the tester. In the
-- notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local ethernet = require "framegauge.core.ethernet"
local shared = require "framegauge.plan.shared_rows"
local shared_rules = require "framegauge.plan.shared_rules"
local tables = require "framegauge.core.tables"

local TESTS = { "line_rate", "buffer", "microburst", "head_of_line", "incast", "stateful_incast" }
local PROCEDURES = { "efficiency", "port", "pairs", "many_to_one" }

-- Ports that each needs.
local LEAST = {
   line_rate = 2, buffer = 3, microburst = 3, head_of_line = 4, incast = 3, efficiency = 3, port = 3,
      pairs = 6,
   many_to_one = 3, stateful_incast = 3,
}

local buffer = keys.group("buffer", "of the test buffer", {
   { "procedures", "list", "efficiency: the frame size at which the buffer holds most bytes; port: the buffer of each egress; pairs: two egresses congested at once; many_to_one: all other ports to one, each in turn",
     unique = true, least = 1, default = { "efficiency", "port" },
     of = { type = "enum", values = PROCEDURES } },
   { "frame_size", "size", "bytes of the frames of all procedures but efficiency",
     min = "64", max = "16128", default_help = "the one that efficiency finds, else the largest" },
   { "oversubscription", "ratio", "by how much of its line an egress is congested",
     default = "1%", min = "0.01%", max = "100%" },
   { "trial_max", "time", "a trial in which the buffer does not fill is made again, four times as long, up to this",
     default = "300s", min = "1ms", max = "1h" },
   { "min", "integer", "bytes that a port must buffer to pass", min = "1", default_help = "none" },
})

local microburst = keys.group("microburst", "of the test microburst", {
   { "ingresses", "list", "how many ports send at once; all others receive",
     unique = true, least = 1, of = { type = "integer", min = "1", max = "63" },
     default_help = "all that congest: from N - 1 down" },
   { "rotations", { "all", "one" }, "whether the ports take every place in turn, or only the one of their order",
     default = "all" },
   { "intensity", "ratio", "load within a burst, as a share of the line; 100%: minimum gaps",
     default = "100%", min = "1%", max = "100%" },
   { "limit", "integer", "frames of the longest burst that is tried, of each ingress",
     default = "1000000", min = "1", max = "100000000" },
   { "verify", "integer", "how often a burst must pass", default = "3", min = "1", max = "100" },
})

local incast = keys.group("incast", "of the tests incast and stateful_incast: senders without a state, in bursts at one instant", {
   { "burst_frames", "integer", "frames of a burst of each sender",
     default = "100", min = "1", max = "1000000" },
   { "burst_interval", "time", "from the start of one burst to the start of the next; a trial has whole bursts, at least one",
     min = "1us", max = "10s", default_help = "10ms, doubled until a burst is shorter" },
})

local stateful_incast = keys.group("stateful_incast", "of the test stateful_incast: senders by TCP with bursts", {
   { "connections", "integer", "of TCP, of each port that sends by it",
     default = "1", min = "1", max = "10000" },
   { "omit", "ratio", "share of a trial at its start in which the payload of TCP does not count",
     default = "10%", max = "90%" },
   shared.tcp,
})

local row = keys.group("rfc8239", "benchmarking of data centre switches by RFC 8239, in the terms of RFC 8238, between all ports", {
   { "tests", "list", "which of its tests to run: line_rate (section 2), buffer (3), microburst (4), head_of_line (5), incast (6): bursts alone, stateful_incast (6): TCP with bursts",
     unique = true, least = 1, default = TESTS, of = { type = "enum", values = TESTS } },
   shared.frame_sizes( "bytes from the destination address to the FCS; the RFC has 4096, 8000 and 9216, too", { "64", "128", "256", "512", "1024", "1518" }),
   { "line", "ratio", "the load that is line rate, of each line: below 100% by the error of two clocks",
     default = "99.98%", min = "1%", max = "100%" },
   { "trial", "time", "length of the load", default = "60s", min = "1ms", max = "1h" },
   { "iterations", "integer", "how often each figure is measured", default = "5", min = "1", max = "1000" },
   { "max_rsd", "ratio", "relative standard deviation of the iterations above which a row is unrepeatable",
     default = "10%", min = "0.01%", max = "100%" },
   { "definition", { "filo", "fifo" }, "of latency: from the first bit in to the last bit out (filo), which the RFC demands, or to the first bit out (fifo)",
     default = "filo" },
   { "cable", "time", "what the cable of each port takes; taken off the latency at both ends",
     default = "0s", max = "1ms" },
   { "dscp", "list", "code points of the frames; buffer is measured with each",
     of = { type = "integer", min = "0", max = "63" }, unique = true, least = 1, default = { "0" } },
   { "setup", "list", "for the report: tester, cards, transceivers and cables of both ends, software of both",
     of = { type = "string", longest = 200 }, default = {}, default_help = "none" },
   buffer, microburst, incast, stateful_incast, shared.learning_wait "100ms", shared.drain "2s",
   shared.settle "1s", shared.retries,
})

local KEY = "rfc8239."

local function there_are_ports_enough(values, found)
   local o, n = values.rfc8239, #values.ports
   if found:has_below "ports" then
      return
   end
   for _, key in ipairs(o.tests) do
      if n < LEAST[key] then
         found:add(KEY .. "tests", ("%s with %d ports"):format(key, n), ("at least %d ports"):format(LEAST[key]))
         return
      end
   end
   for _, key in ipairs(tables.contains(o.tests, "buffer") and o.buffer.procedures or {}) do
      if n < LEAST[key] then
         found:add(KEY .. "buffer.procedures", ("%s with %d ports"):format(key, n),
            ("at least %d ports"):format(LEAST[key]))
         return
      end
   end
   for i, m in ipairs(o.microburst.ingresses or {}) do
      if 2 * m <= n or m >= n then
         found:add(found:item(KEY .. "microburst.ingresses", i), ("%d of %d ports congest no other"):format(m,
            n),
            ("%d to %d"):format(math.floor(n / 2) + 1, n - 1))
      end
   end
end

local function has_bursts(o)
   return tables.contains(o.tests, "incast") or tables.contains(o.tests, "stateful_incast")
end

local function bursts_have_pauses(values, found)
   local o = values.rfc8239
   local line = values.reference_switch and values.reference_switch.rate
   local interval = has_bursts(o) and o.incast.burst_interval
   if line and interval
      and ethernet.max_fps(line, math.max(unpack(o.frame_sizes))) * interval < o.incast.burst_frames then
      found:add(KEY .. "incast.burst_interval", "shorter than a burst", "a longer one, or fewer frames")
   end
end

local function is_stateful(plan)
   return tables.contains(plan.rfc8239.tests, "stateful_incast")
end

-- TCP works behind one queue of a port.
local function tcp_has_one_queue(values, found)
   for _, port in ipairs(is_stateful(values) and values.ports or {}) do
      if (port.queues or 1) > 1 then
         found:add(("ports.%s.queues"):format(port.name), "the test stateful_incast uses one of each port",
            "1, or rfc8239.tests without it")
      end
   end
end

local INSTANT = "bursts are to leave several ports at one instant, and agents start as far apart as their clocks are"

-- Why tests are not for the ports of agents.
local UNSHARED = {
   buffer = "they do not tell what is lost and delayed from one microsecond to the next",
   microburst = INSTANT, incast = INSTANT, stateful_incast = "no streams run together with connections",
}

return {
   name = "rfc8239", row = row, remembers = true, one_lcore_a_port = is_stateful,
   fleet = shared_rules.not_of_agents("rfc8239", UNSHARED),
   rules = {
      there_are_ports_enough, bursts_have_pauses, tcp_has_one_queue,
      shared_rules.frames_have_room("rfc8239", "frame_sizes"),
      shared_rules.no_gateways "a switch is no router",
   },
   topology = "full-mesh",
   frame_sizes = function(plan)
      return tables.joined(plan.rfc8239.frame_sizes, { plan.rfc8239.buffer.frame_size },
         is_stateful(plan) and { 64, 1518 } or {})
   end,
   shape = function(group)
      group.buffer.trial_max = math.max(group.buffer.trial_max, group.trial)
   end,
   quick = {
      "rfc8239.trial=100ms", "rfc8239.iterations=1", "rfc8239.buffer.trial_max=1s",
      "rfc8239.microburst.rotations=one", "rfc8239.microburst.verify=1", "rfc8239.learning_wait=10ms",
      "rfc8239.drain=50ms", "rfc8239.settle=0s",
   },
}
