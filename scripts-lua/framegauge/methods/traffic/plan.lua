-- SPDX-License-Identifier: BSD-3-Clause

--- The test of a plan's own streams: its keys, what must hold between them, and what it needs of the tester.
-- In the notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local ethernet = require "framegauge.core.ethernet"
local shared = require "framegauge.plan.shared_rows"
local ports = require "framegauge.plan.ports"
local sizes = require "framegauge.traffic.sizes"
local stack = require "framegauge.traffic.stack"
local stream_config = require "framegauge.traffic.stream_config"
local units = require "framegauge.text.units"

local row = keys.group("traffic", "all streams of the plan at once, for a given time", {
   { "duration", "time", "how long they are sent", default = "10s", min = "1ms", max = "240h" },
   { "t_max", "time", "a frame that arrives later than this after it was sent is lost (the waiting time T_max, RFC 7680)",
     default = "3s", min = "1us", max = "1h" },
   shared.learning_wait "1s", shared.drain "1s", shared.settle "0s", shared.retries,
})

local function there_are_streams(values, found)
   if #values.streams == 0 and not found:has_below "streams" then
      found:add("streams", "the test traffic sends the plan's streams, and the plan has no stream",
         "streams by name, such as voice: {size: 200, rate: 10Mbps L2}")
   end
end

local function streams_fit_their_lines(values, found)
   local sums = {}
   for _, stream in ipairs(values.streams) do
      local from = stack.ends(values.ports, stream)
      local rate = from and ports.line_rate(values, values.ports[from])
      if rate and not found:has_below("streams." .. stream.name) then
         local _, fps = stream_config.fps(values.ports, stream, rate)
         sums[from] = (sums[from] or 0) + ethernet.l1_bps(fps, select(2, sizes.of(stream)).mean)
         if sums[from] > rate * (1 + 1e-9) then
            found:add(("streams.%s.rate"):format(stream.name),
               ("with it the streams from %s are %s at layer 1, more than its line carries (%s)"):format(
                  values.ports[from].name, units.format_bits_apart(sums[from], rate)))
            return
         end
      end
   end
end

local function counts_fit_the_duration(values, found)
   for _, stream in ipairs(values.streams) do
      local from = stack.ends(values.ports, stream)
      local path = "streams." .. stream.name
      local problem = from and not found:has_below(path) and stream_config.count_problem(values.ports, stream,
         ports.line_rate(values, values.ports[from]), values.traffic.duration)
      if problem then
         found:add(path .. "." .. problem.key, problem.message, problem.expected)
      end
   end
end

local rules = { there_are_streams, streams_fit_their_lines, counts_fit_the_duration }

-- The sizes of all frames, those that are too long on purpose with them.
local function frame_sizes(plan)
   local list, seen = {}, {}
   for _, stream in ipairs(plan.streams) do
      for _, size in ipairs(select(2, sizes.of(stream)).kinds) do
         list[#list + 1], seen[size] = not seen[size] and size or nil, true
      end
      local oversize = stream.errors and stream.errors.oversize
      if oversize then
         list[#list + 1] = oversize.size
      end
   end
   return list
end

return {
   name = "traffic", sends_streams = true, fleet = true,
   row = row, rules = rules, frame_sizes = frame_sizes, topology_key = "ports",
   topology = function(values) -- streams of a single port come back to it
      return #values.ports == 1 and "loopback" or "pairs"
   end,
   quick = { "traffic.duration=1s", "traffic.learning_wait=100ms", "traffic.drain=200ms" },
}
