-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge relay` and `framegauge reflect`: ports opened, frames passed on until the end, counts shown.
local api = require "framegauge.api"
local ffi = require "ffi"
local format = require "framegauge.report.format"
local host = require "framegauge.bench.host"
local impairments = require "framegauge.bench.impairments"
local job = require "framegauge.job"
local octets = require "framegauge.octets"
local placement = require "framegauge.bench.placement"
local ports = require "framegauge.bench.ports"
local units = require "framegauge.units"

local C = api.C
local M = {}

local Relay = {}
Relay.__index = Relay

-- Where the line does not say what it carries; and the frames it is thought to carry.
local LINE, FRAME = 1e9, 512

-- What is counted, in the order of struct fg_relay_counters, and what it is called when there is any of it.
local COUNTERS = {
   { "received" }, { "octets" }, { "forwarded" },
   { "lossy", "lost on purpose" }, { "queue_full", "lost, queue full" },
   { "line_full", "lost, no room" }, { "foreign", "not to be sent back" }, { "answered", "answered" },
   { "duplicated", "duplicated" }, { "corrupted", "corrupted" }, { "reordered", "reordered" },
   { "no_buffer", "not duplicated, no buffer" }, { "refused", "times the port was full" },
}

-- What is lost at the ports themselves.
local PORT_LOSSES = {
   { "rx_missed", "not received, receive ring full" }, { "rx_no_mbuf", "not received, no buffer left" },
   { "rx_errors", "received with errors" }, { "tx_errors", "not sent by the port" },
}

-- What is done from one port to the next, from a plan to struct fg_relay_way.
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
      list[#list + 1] = { from = i, to = i + 1, does = plan.relay }
      list[#list + 1] = { from = i + 1, to = i, does = plan.relay.reverse or plan.relay }
   end
   return list
end

-- All that can be said before the ports are open; and how many frames of each port are kept.
function Relay:prepare()
   local plan, keep = self.plan, {}
   self.config = ffi.new("struct fg_relay_config", { ways = #self.ways })
   for i, way in ipairs(self.ways) do
      local out, port = self.config.way[i - 1], plan.ports[way.from]
      way.name = plan.reflect and port.name or port.name .. "->" .. plan.ports[way.to].name
      if way.does then
         fill_way(out, way.does)
         out.seed = plan.relay.seed * #self.ways + i - 1
         set_room(out, way.does, port.line_rate)
      else
         out.room, out.restamp, out.filter = 64, plan.reflect.restamp, plan.reflect.filter
      end
      keep[way.from] = out.room
   end
   return keep
end

function Relay:place()
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

function Relay:open()
   local plan, keep = self.plan, self:prepare()
   host.start(plan)
   ports.open(self.handles, plan.ports, (plan.relay or plan.reflect).max_frame, keep)
   for i, way in ipairs(self.ways) do
      local out, handle = self.config.way[i - 1], self.handles[way.from]
      out.from, out.to = handle, self.handles[way.to]
      local port = plan.ports[way.from]
      set_host(out, port, port.mac and octets.mac(port.mac) or ffi.string(handle.caps.mac, 6))
   end
   self:place()
   local out, err = ffi.new("struct fg_relay *[1]"), api.error()
   api.check(C.fg_relay_create(self.config, out, err), err)
   self.relay = out[0]
end

function Relay:close()
   C.fg_relay_free(self.relay)
   self.relay = nil
   ports.close(self.handles)
end

--- Counts of every way since the start, by the names of struct fg_relay_counters.
function Relay:counts()
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

-- What happened since the counts before: rates, and everything else that there was.
local function line(now, before, seconds)
   local parts = { ("%s fps, %s"):format(
      format.count((now.forwarded - before.forwarded) / seconds),
      units.format_bits((now.octets - before.octets) * 8 / seconds)) }
   for _, counter in ipairs(COUNTERS) do
      local more = now[counter[1]] - before[counter[1]]
      if counter[2] and more > 0 then
         parts[#parts + 1] = ("%s %s"):format(format.count(more), counter[2])
      end
   end
   return ("%-20s %s"):format(now.name, table.concat(parts, ", "))
end

local function totals(counts)
   local lines = {}
   for i, way in ipairs(counts) do
      local parts = { ("%s received, %s forwarded"):format(format.count(way.received),
         format.count(way.forwarded)) }
      for _, counter in ipairs(COUNTERS) do
         if counter[2] and way[counter[1]] > 0 then
            parts[#parts + 1] = ("%s %s"):format(format.count(way[counter[1]]), counter[2])
         end
      end
      lines[i] = ("%-20s %s"):format(way.name, table.concat(parts, ", "))
   end
   return table.concat(lines, "\n") .. "\n"
end

-- What the ports themselves lost, which is none of the path's doing.
function Relay:port_losses()
   local lines, counters = {}, ffi.new("struct fg_port_counters")
   for i, handle in ipairs(self.handles) do
      handle.ops.counters(handle, counters)
      for _, loss in ipairs(PORT_LOSSES) do
         local frames = tonumber(counters[loss[1]])
         if frames > 0 then
            lines[#lines + 1] = ("%-20s %s %s\n"):format(self.plan.ports[i].name, format.count(frames),
               loss[2])
         end
      end
   end
   return table.concat(lines)
end

function Relay:show_seconds(seconds)
   local before, passed = self:counts(), 0
   while not seconds or passed < seconds do
      local step = math.min(1, seconds and seconds - passed or 1)
      job.sleep(step)
      passed = passed + step
      local now = self:counts()
      for i, way in ipairs(now) do
         print(("%6.0f s  %s"):format(passed, line(way, before[i], step)))
      end
      io.stdout:flush()
      before = now
   end
end

--- Pass frames on until the time is over or Ctrl-C.
-- @param plan             a loaded plan with relay or reflect
-- @param options.seconds  for so long; nil: until Ctrl-C
-- @return exit status
function M.main(plan, options)
   local self = setmetatable({ plan = plan, handles = {}, ways = ways_of(plan) }, Relay)
   local ok, why = pcall(function()
      self:open()
      for i, way in ipairs(self.ways) do
         local handle = self.handles[way.from]
         print(("%-20s %s (%s), room for %d frames"):format(way.name, plan.ports[way.from].device,
            ffi.string(handle.caps.mode), self.config.way[i - 1].room))
      end
      io.stdout:flush()
      self:show_seconds(options.seconds)
   end)
   if self.relay then
      local counts = self:counts()
      io.write("\nin all:\n", totals(counts), self:port_losses())
   end
   self:close()
   if not ok and not (type(why) == "table" and why.interrupted) then
      error(why, 0)
   end
   return 0
end

return M
