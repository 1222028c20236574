-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 6349, a framework for TCP throughput testing: path MTU, baseline round trip and bottleneck bandwidth,
-- then transfers with windows of several sizes and the three metrics of each. Both ends are the tester's own.
local common = require "framegauge.methods.rfc6349.common"
local format = require "framegauge.text.format"
local outlook = require "framegauge.methods.common.outlook"
local steps = require "framegauge.methods.rfc6349.path"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local transfer = require "framegauge.methods.rfc6349.transfer"
local units = require "framegauge.text.units"

local M = {}

M.TITLE = "RFC 6349"

--- What criteria can be about: windows, as shares of what the path holds.
function M.subjects(plan)
   return { { key = "window_share", values = plan.rfc6349.windows, read = units.parse_ratio } }
end

local SMALLEST_FRAME, MAC_AND_FCS = 64, 18
local SHORTEST_RUN = 30 -- seconds (RFC 6349, 3.3)

-- Which ports send, in each part: { { 1 }, { 2 }, { 1, 2 } }.
local function parts_of(plan)
   local list, of = {}, { forward = { 1 }, backward = { 2 }, both = { 1, 2 } }
   for i, name in ipairs(plan.rfc6349.directions) do
      list[i] = of[name]
   end
   return list
end

-- Ports that send in any part.
local function senders(plan)
   local list, seen = {}, {}
   for _, part in ipairs(parts_of(plan)) do
      for _, port in ipairs(part) do
         list[#list + 1], seen[port] = not seen[port] and port or nil, true
      end
   end
   table.sort(list)
   return list
end

function M.directions(plan)
   return tables.map(senders(plan), function(from) return common.direction(plan, from) end)
end

function M.heading(plan)
   return ("TCP throughput, %s"):format(format.plural(#plan.rfc6349.windows, "window size"))
end

function M.scope(plan)
   return format.plural(#plan.rfc6349.directions, "direction")
end

function M.parts(plan)
   local o = plan.rfc6349
   local waits = o.learning_wait + o.settle
   local parts, transfers = {}, #o.directions * #o.windows
   local searches = o.bottleneck and 0 or #senders(plan)
   local trials = math.ceil(math.log(1 / o.bandwidth.resolution) / math.log(2)) + 2
   local sizes = o.path_mtu and 0 or #steps.first_sizes(o.mtu, "ipv4") - 1
   parts[1] = { test = steps.PATH_MTU, trials = sizes, seconds = sizes * (o.probe.timeout + waits) }
   parts[2] = { test = steps.BASELINE, trials = 1, seconds = o.baseline + o.drain + waits }
   parts[3] = {
      test = steps.BANDWIDTH, trials = searches * trials, frame_size = o.mtu + MAC_AND_FCS,
      seconds = searches * (o.bandwidth.trial + (trials - 1) * o.bandwidth.search_trial
         + trials * (waits + o.drain)),
   }
   parts[4] = {
      test = transfer.NAME, trials = transfers,
      seconds = transfers * (o.duration * o.patience + o.drain + waits),
   }
   return parts
end

function M.outlook(plan, _, notes)
   local o, lines = plan.rfc6349, {}
   for _, name in ipairs(o.directions) do
      for _, share in ipairs(o.windows) do
         lines[#lines + 1] = ("%s: windows of %.4g %% of the bandwidth-delay product, %s, about %s"):format(
            name, share * 100, format.plural(o.connections, "connection"), units.format_time(o.duration))
      end
   end
   return outlook.text(lines, notes)
end

function M.check(plan, tester)
   if not plan.rfc6349.bottleneck and not tester:max_fps(SMALLEST_FRAME) then
      return "rfc6349: the line rate of these ports is not known, so the bottleneck cannot be sought; give rfc6349.bottleneck or the ports' line_rate"
   end
   return nil
end

function M.conformance(plan)
   local o = plan.rfc6349
   return suite.conformance("RFC 6349", function(note)
      note(o.path_mtu, "the path MTU was given, not measured")
      note(o.bottleneck, "the bottleneck bandwidth was given, not measured")
      note(o.duration < SHORTEST_RUN, "transfers of %s: the RFC asks for at least %d s",
         units.format_time(o.duration), SHORTEST_RUN)
   end)
end

local function find_mtu(plan, tester, session, found)
   if plan.rfc6349.path_mtu then
      found.path_mtu = { mtu = plan.rfc6349.path_mtu, given = true, probes = 0, validity = "valid",
         reasons = {} }
   else
      found.path_mtu = steps.find_path_mtu(plan, tester, session)
   end
   return found.path_mtu.mtu
end

local function find_bandwidth(plan, tester, session, path, found)
   path.bandwidth, found.bandwidth = {}, {}
   for i, from in ipairs(senders(plan)) do
      if plan.rfc6349.bottleneck then
         path.bandwidth[from] = plan.rfc6349.bottleneck
      else
         found.bandwidth[i] = steps.find_bandwidth(plan, tester, session, path, from)
         path.bandwidth[from] = found.bandwidth[i].bandwidth_l1_bps
         if not path.bandwidth[from] then
            return false
         end
      end
   end
   return true
end

-- "east->west, windows of 62.5 kB: 941.5 Mbit/s, transfer time ratio 1.012, ..."
local function sentence(row)
   if not row.actual_s then
      return ("%s, windows of %s: not ended"):format(row.direction, units.format_size(row.windows))
   end
   return ("%s, windows of %s: %s, transfer time ratio %.3f, efficiency %.2f %%, buffer delay %.1f %%"):format(
      row.direction, units.format_size(row.windows), units.format_bits(row.achieved_bps),
      row.transfer_time_ratio,
      row.efficiency_percent, row.buffer_delay_percent or 0)
end

--- Measure.
-- @param results  gets the table rfc6349, which fills as it goes
function M.run(plan, tester, session, results)
   local found, path = { transfers = {} }, {}
   results.rfc6349 = found
   path.mtu = find_mtu(plan, tester, session, found)
   if not path.mtu then
      return
   end
   found.baseline = steps.find_baseline(plan, tester, session, path)
   if not found.baseline.rtt_min_ns then
      return
   end
   path.rtt = found.baseline.rtt_min_ns / 1e9
   if not find_bandwidth(plan, tester, session, path, found) then
      return
   end
   for _, from in ipairs(parts_of(plan)) do
      for _, share in ipairs(plan.rfc6349.windows) do
         for _, row in ipairs(transfer.run(plan, tester, session, path, from, share)) do
            found.transfers[#found.transfers + 1] = row
            session.say(sentence(row))
         end
      end
   end
end

return M
