-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge emulate` and `framegauge reflect`: open ports, forward frames until the end, show counts.
local CommonTime = require "framegauge.tester.oam.common_time"
local api = require "framegauge.core.api"
local failure = require "framegauge.core.failure"
local ffi = require "ffi"
local format = require "framegauge.text.format"
local host = require "framegauge.tester.host"
local impairments = require "framegauge.tester.impairments"
local job = require "framegauge.core.job"
local octets = require "framegauge.core.octets"
local link_watch = require "framegauge.tester.link_watch"
local oam = require "framegauge.tester.oam.session"
local placement = require "framegauge.tester.placement"
local print_nowait = require "framegauge.core.print_nowait"
local time = require "framegauge.clock.time"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"

local C = api.C
local M = {}

local Emulator = {}
Emulator.__index = Emulator

local ENVIRONMENT = 4

-- At the common time, in a second.
local LOOKS = 10

-- Assumed line rate where it is unknown, and assumed size of frames.
local LINE, FRAME = 1e9, 512

-- The counters of the emulator, and how they are reported when they are not 0 (lib/relay).
local COUNTERS, text = {}, ffi.new "const char *[1]"
repeat
   local name = C.fg_relay_counter_name(#COUNTERS, text)
   if name ~= nil then
      COUNTERS[#COUNTERS + 1] = { ffi.string(name), text[0] ~= nil and ffi.string(text[0]) or nil }
   end
until name == nil

-- What the ports themselves drop.
local PORT_LOSSES = {
   { "rx_missed", "not received (receive ring full)" }, { "rx_no_mbuf", "not received (no buffer)" },
   { "rx_errors", "received with errors" }, { "tx_errors", "not sent by the port" },
}

-- One direction of a plan as struct fg_relay_way.
local function fill_way(out, way)
   impairments.fill(out.impair, way)
   out.delay_ns = way.delay * 1e9
   out.rate_bps = way.rate or 0
   out.bucket, out.queue = way.burst, way.queue
end

local function set_room(out, way, line_rate)
   out.room = way.room or C.fg_relay_room(out, (line_rate or LINE) / 8 / (FRAME + 20), FRAME)
end

-- The reflector's own addresses.
local function set_host(out, port, mac)
   ffi.copy(out.mac, mac, 6)
   if port.ipv4 then
      out.has_ipv4 = true
      ffi.copy(out.ipv4, octets.ipv4(port.ipv4), 4)
   end
   if port.ipv6 then
      out.has_ipv6 = true
      ffi.copy(out.ipv6, octets.ipv6(port.ipv6), 16)
   end
end

-- The ways of a plan: from and to are numbers of ports.
local function ways_of(plan)
   local list = {}
   if plan.reflect then
      for i in ipairs(plan.ports) do
         list[i] = { from = i, to = i }
      end
      return list
   end
   for i = 1, #plan.ports, 2 do
      list[#list + 1] = { from = i, to = i + 1, does = plan.emulate }
      list[#list + 1] = { from = i + 1, to = i, does = plan.emulate.reverse or plan.emulate }
   end
   return list
end

-- Whether it answers probes of a protocol. As the reflector of C knows them: all of Y.1731 is one.
local function test_of(reflect)
   local mode = reflect and reflect.mode
   return mode and mode ~= "signature" and oam.TESTS[mode == "y1731" and "delay" or mode] or nil
end

-- A reflector of probes for a port.
function Emulator:add_reflector(out, test)
   local o, err, made = self.plan.reflect, api.error(), ffi.new("struct fg_oam_reflector *[1]")
   local config = ffi.new("struct fg_oam_reflector_config", {
      test = test, port = o.port, stateless = not o.stateful, level = o.level, mep = o.mep,
   })
   for _, key in ipairs { "mac", "ipv4", "ipv6" } do
      ffi.copy(config.host[key], out[key], ffi.sizeof(out[key]))
   end
   config.host.has_ipv4, config.host.has_ipv6 = out.has_ipv4, out.has_ipv6
   api.check(C.fg_oam_reflector_create(config, made, err), err)
   table.insert(self.reflectors, made[0])
   out.oam = made[0]
end

-- Tell the reflectors what time it is: by how much UTC is ahead of their clock, which drifts a little from
-- CLOCK_MONOTONIC_RAW.
function Emulator:tell_time()
   if not self.common_time then
      return
   end
   local ahead, estimate = self.common_time:look()
   local before = time.raw()
   local theirs = ffi.cast("int64_t", C.fg_relay_now_ns(self.relay))
   local drift = before + (time.raw() - before) / 2 - theirs
   for _, reflector in ipairs(self.reflectors) do
      C.fg_oam_reflector_set_clock(reflector, ahead + drift, estimate)
   end
end

-- Everything that needs no open ports. @return number of frames of each port that are kept
function Emulator:prepare()
   local plan, keep = self.plan, {}
   self.config = ffi.new("struct fg_relay_config", { ways = #self.ways })
   for i, way in ipairs(self.ways) do
      local out, port = self.config.way[i - 1], plan.ports[way.from]
      way.name = plan.reflect and port.name or port.name .. "->" .. plan.ports[way.to].name
      if way.does then
         fill_way(out, way.does)
         out.seed = plan.emulate.seed * #self.ways + i - 1
         set_room(out, way.does, port.line_rate)
      else
         out.room, out.restamp, out.filter = 64, plan.reflect.restamp, plan.reflect.filter
      end
      keep[way.from] = out.room
   end
   return keep
end

function Emulator:place()
   local numa, lcores = {}, {}
   for i, handle in ipairs(self.handles) do
      numa[i] = { numa = handle.caps.numa_node }
   end
   local places, workers = placement.place(numa, false)
   for i, way in ipairs(self.ways) do
      local out, worker = self.config.way[i - 1], workers[places[way.from][1].rx + 1]
      if not lcores[worker] then
         self.config.lcore[self.config.lcores] = worker
         lcores[worker] = self.config.lcores
         self.config.lcores = self.config.lcores + 1
      end
      out.lcore = lcores[worker]
   end
end

function Emulator:open()
   local plan, keep = self.plan, self:prepare()
   host.start(plan)
   host.open(self.handles, plan.ports, (plan.emulate or plan.reflect).max_frame, keep)
   for i, way in ipairs(self.ways) do
      local out, handle = self.config.way[i - 1], self.handles[way.from]
      out.from, out.to = handle, self.handles[way.to]
      local port = plan.ports[way.from]
      set_host(out, port, port.mac and octets.mac(port.mac) or ffi.string(handle.caps.mac, 6))
      if test_of(plan.reflect) then
         self:add_reflector(out, test_of(plan.reflect))
      end
   end
   self:place()
   local out, err = ffi.new("struct fg_relay *[1]"), api.error()
   api.check(C.fg_relay_create(self.config, out, err), err)
   self.relay = out[0]
   if self.reflectors[1] then
      self.common_time = CommonTime.open(plan.clock)
      self:tell_time()
   end
end

function Emulator:close()
   C.fg_relay_free(self.relay)
   self.relay = nil
   for _, reflector in ipairs(self.reflectors) do
      C.fg_oam_reflector_free(reflector)
   end
   self.reflectors = {}
   host.close(self.handles)
end

--- Counts of every way since the start, by the names of struct fg_relay_counters.
function Emulator:counts()
   local list, out = {}, ffi.new("struct fg_relay_counters")
   for i, way in ipairs(self.ways) do
      C.fg_relay_counters(self.relay, i - 1, out)
      list[i] = { name = way.name }
      for _, counter in ipairs(COUNTERS) do
         list[i][counter[1]] = tonumber(out[counter[1]])
      end
   end
   return list
end

-- One line: a beginning, and each of the named counters that is not 0.
local function line(name, first, counters, count_of)
   local parts = { first }
   for _, counter in ipairs(counters) do
      local n = counter[2] and count_of(counter[1]) or 0
      parts[#parts + 1] = n > 0 and ("%s %s"):format(format.count(n), counter[2]) or nil
   end
   return ("%-20s %s"):format(name, table.concat(parts, ", "))
end

-- What happened since earlier counts.
local function second(now, before, seconds)
   local function more(key)
      return now[key] - before[key]
   end
   return line(now.name, ("%s fps, %s"):format(format.count(more "forwarded" / seconds),
      units.format_bits(more "octets" * 8 / seconds)), COUNTERS, more)
end

local function total(counts)
   return line(counts.name, ("%s received, %s forwarded"):format(format.count(counts.received),
      format.count(counts.forwarded)), COUNTERS, function(key)
         return counts[key]
      end)
end

-- Print the counts of all, and what the ports themselves have dropped.
function Emulator:show_totals()
   print_nowait "\ntotal:"
   local late = {}
   for i, counts in ipairs(self:counts()) do
      print_nowait(total(counts))
      local ns = tonumber(C.fg_relay_late_ns(self.relay, i - 1))
      late[#late + 1] = counts.forwarded > 0 and ("%s %s"):format(counts.name, format.nanoseconds(ns)) or nil
   end
   if late[1] then
      print_nowait("frames left later than asked, at most: " .. table.concat(late, ", "))
   end
   local counters = ffi.new("struct fg_port_counters")
   for i, handle in ipairs(self.handles) do
      handle.ops.counters(handle, counters)
      for _, loss in ipairs(PORT_LOSSES) do
         local frames = tonumber(counters[loss[1]])
         if frames > 0 then
            print_nowait(("%-20s %s %s"):format(self.plan.ports[i].name, format.count(frames), loss[2]))
         end
      end
   end
end

-- Until the time is over, or a port is no longer there.
function Emulator:show_seconds(seconds)
   local before, passed = self:counts(), 0
   while not self.links.removed and (not seconds or passed < seconds) do
      local step = math.min(1, seconds and seconds - passed or 1)
      for _ = 1, LOOKS do
         job.sleep(step / LOOKS)
         self:tell_time()
      end
      passed = passed + step
      local now = self:counts()
      for i, way in ipairs(now) do
         print_nowait(("%6.0f s  %s"):format(passed, second(way, before[i], step)))
      end
      for _, sentence in ipairs(self.links:look()) do
         print_nowait(("%6.0f s  %s"):format(passed, sentence))
      end
      before = now
   end
end

--- Forward frames until the time is over or Ctrl-C.
-- @param plan             a loaded plan with emulate or reflect
-- @param options.seconds  how long; nil: until Ctrl-C
function M.main(plan, options)
   local self = setmetatable({
      plan = plan, handles = {}, ways = ways_of(plan), reflectors = {},
   }, Emulator)
   failure.finally(function()
      if self.relay then
         self:show_totals()
      end
      self:close()
   end, function()
      self:open()
      for i, way in ipairs(self.ways) do
         local handle = self.handles[way.from]
         print_nowait(("%-20s %s (%s), room for %d frames"):format(way.name, plan.ports[way.from].device,
            ffi.string(handle.caps.mode), self.config.way[i - 1].room))
      end
      local problem = self.common_time and self.common_time:problem()
      if problem then
         print_nowait(("timestamps are of a clock that nothing bounds, and say so (%s)"):format(problem))
      end
      self.links = link_watch.start(plan.ports, self.handles)
      job.until_interrupted(self.show_seconds, self, options.seconds)
      local lost = self.links:problem()
      if lost then
         user_error.raise(nil, ENVIRONMENT, "%s: %s", plan.test, lost)
      end
   end)
end

return M
