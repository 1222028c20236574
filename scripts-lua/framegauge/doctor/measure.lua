-- SPDX-License-Identifier: BSD-3-Clause

--- Doctor: what rate to expect of the ports of a plan. Each sends for a second as fast as it takes frames,
-- and what arrives at the other end of the cable, if one is there, is counted. Of an interface of the kernel
-- for which the plan names no driver both are tried: which is faster depends on the card's. Only for plans
-- that may send: one with a port that reaches a network has `isolated_network: true`, or it could not be
-- read.
local finding = require "framegauge.doctor.finding"
local Tester = require "framegauge.tester"
local calibrate = require "framegauge.run.calibrate"
local ethernet = require "framegauge.core.ethernet"
local format = require "framegauge.text.format"
local job = require "framegauge.core.job"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"
local units = require "framegauge.text.units"

local M = {}

local SIZES = { 64, 1518 }
local SECONDS = 1
local MOST_FPS = 20e6 -- asked of a port without a line rate; what it does not take is given up
local TURNS, TURN_SECONDS = 5, 0.2 -- of each driver, by turns
local MUCH = 1.1 -- times as fast: less is not worth a change of the plan

local function row_of(name, size, direction)
   local sent = direction.tx / SECONDS
   local text = ("%s bytes: sends %s frames/s (%s)"):format(size, format.count(sent),
      units.format_bits(ethernet.l1_bps(sent, size), 1))
   if direction.rx == 0 then
      text = text .. ", nothing arrives: there is no cable, or a filter"
   else
      text = ("%s, %s arrive"):format(text, format.count(direction.rx / SECONDS))
   end
   return finding.ok(name, text)
end

local function directions_of(plan)
   return (topology.directions(plan.ports, plan.needs.topology, plan.needs.one_way))
end

local function measure_rates(looped)
   local tester, problem = Tester.open(looped, { frame_sizes = SIZES })
   if not tester then
      return { finding.problem("ports", tostring(problem)) }
   end
   local rows = {}
   for _, name in ipairs(directions_of(looped)) do
      for _, size in ipairs(SIZES) do
         local raw = tester:trial {
            frame_size = size, directions = { name }, fps = tester:max_fps(size) or MOST_FPS,
            duration = SECONDS,
         }
         rows[#rows + 1] = row_of(name, size, raw.directions[1])
      end
   end
   tester:close()
   rows[#rows].use = "the most, with loss; 'framegauge calibrate' finds what the tester carries without"
   return rows
end

-- Frames per second that a driver of a port carries: those that arrive, on it and from it, or without a cable
-- those that leave. nil: the driver cannot open it.
local function carried(looped, i, driver)
   local plan = tables.copy(looped)
   plan.ports = tables.copy(looped.ports)
   plan.ports[i] = tables.copy(looped.ports[i])
   plan.ports[i].device = plan.ports[i].device .. "," .. driver
   local tester = Tester.open(plan, { frame_sizes = { SIZES[1] } })
   if not tester then
      return nil
   end
   local raw = tester:trial {
      frame_size = SIZES[1], directions = directions_of(plan), fps = tester:max_fps(SIZES[1]) or MOST_FPS,
      duration = TURN_SECONDS,
   }
   tester:close()
   local tx, rx = 0, 0
   for _, direction in ipairs(raw.directions) do
      tx, rx = tx + direction.tx, rx + direction.rx
   end
   return (rx > 0 and rx or tx) / TURN_SECONDS
end

--- What both drivers of an interface carried, as a row: a warning if the one that is taken is the slower.
-- @param port         of a plan: name, device
-- @param xdp, packet  frames per second, a list of each
function M.judge_drivers(port, xdp, packet)
   local taken, other = stats.median(xdp), stats.median(packet)
   local row = finding.ok(port.name,
      ("%d bytes: %s frames/s by AF_XDP, which is taken, %s by AF_PACKET"):format(SIZES[1], format.count(taken), format.count(other)))
   if other > MUCH * taken then
      row.state, row.effect = "warning", "the slower of both is taken"
      row.fix = ("ports.%s.device: '%s,af_packet'"):format(port.name, port.device)
   end
   return row
end

-- Both drivers of an interface, by turns. nil: only one can open it, and the port tells why.
local function compare_drivers(looped, i)
   local xdp, packet = {}, {}
   for turn = 1, TURNS do
      xdp[turn], packet[turn] = carried(looped, i, "af_xdp"), carried(looped, i, "af_packet")
      if not (xdp[turn] and packet[turn]) then
         return nil
      end
   end
   return M.judge_drivers(looped.ports[i], xdp, packet)
end

local function measure(plan)
   local looped = calibrate.looped(plan)
   local rows = measure_rates(looped)
   for i, port in ipairs(looped.ports) do
      if port.device:find "^kernel:[^,]+$" then
         rows[#rows + 1] = compare_drivers(looped, i)
      end
   end
   return rows
end

--- Measure the ports of a plan.
-- @return list of rows
function M.examine(plan)
   return job.run(measure, plan)
end

return M
