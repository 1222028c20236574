-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 section 4: how much multicast a device forwards to all receivers, through tunnels too.
--
-- A frame counts at each receiver. A load passes if no receiver loses a frame; the throughput is the source's
-- load, and the aggregate the sum over all receivers.
local ethernet = require "framegauge.core.ethernet"
local formats = require "framegauge.methods.rfc3918.plan.formats"
local search = require "framegauge.search"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.methods.rfc3918.trials"
local verdict = require "framegauge.text.verdict"

local M = {}

M.KEYS = tables.joined({ "mixed_class", "group_matrix", "aggregated" }, formats.TESTS)

-- Frames per second that the lines carry of a load: of the source, and of each receiver, which gets its share
-- of it.
local function theoretical(c, share)
   local least = math.huge
   for _, port in ipairs(c.tester.ports) do
      local function carried(size)
         return math.floor(port.line_rate / ethernet.l1_bps(1, size))
      end
      if port.name == c.source then
         least = math.min(least, carried(c.offered_size))
      elseif tables.contains(c.receivers, port.name) then
         least = math.min(least, carried(c.forwarded_size) / share)
      end
   end
   return least
end

local function find(c, unicast)
   local o, limits = c.o, c.plan.tester_limits
   local goal = search.goal(o, { max = o.max * c.line_fps, min = 0, resolution = o.resolution * c.line_fps,
      carried = limits and limits[c.frame_size] })
   function goal.trial(fps, seconds, phase)
      return trials.verified(c, {
         n = o.groups, fps = fps, seconds = seconds, phase = phase, any_loss = true, unicast = unicast,
      })
   end
   return search.run("binary", goal)
end

local function base_of(c, n)
   return { test = c.key, frame_size = c.frame_size, version = c.version, groups = n,
      source = c.source, receivers = #c.receivers, monitor = c.monitor }
end

-- The row of a search.
local function searched(c, unicast)
   local result, row = find(c, unicast), base_of(c, c.o.groups)
   local lower, upper = result.lower_trial, result.upper_trial
   local last = lower or upper
   row.validity = verdict.of_search(result.limited_by)
   row.reasons = select(2, verdict.merge { upper and row.validity ~= "valid" and upper
      or { validity = row.validity, reasons = {} } })
   row.throughput_fps, row.upper_fps = result.load, result.upper
   row.throughput_percent = result.load and result.load / c.line_fps * 100
   row.resolution_fps, row.trial_s = c.o.resolution * c.line_fps, c.o.trial
   row.limited_by, row.trials = result.limited_by, #c.session.trials - c.before
   row.lower_trial, row.upper_trial = lower and lower.trial, upper and upper.trial
   row.egress, row.floods_unknown = last and last.egress or {}, last and last.floods or false
   return row, lower, upper
end

local function aggregated(c)
   local row = searched(c)
   row.theoretical_fps = theoretical(c, 1)
   row.aggregate_fps = row.throughput_fps and math.min(row.throughput_fps, row.theoretical_fps) * #c.receivers
   return { row }
end

local function tunnelled(c)
   local row = aggregated(c)[1]
   row.ingress_tunnel, row.egress_tunnel = c.ingress, c.egress
   row.tunnels = (c.ingress and 1 or 0) + (c.egress and #c.receivers or 0)
   row.groups_per_tunnel, row.offered_size = c.o.groups, c.offered_size
   local sizes = tables.field(row.egress, "size")
   row.forwarded_size = sizes[1] and stats.mean(sizes)
   return { row }
end

local function mixed_class(c)
   local u = c.o.unicast_share
   local row, lower, upper = searched(c, u)
   local x = row.throughput_fps
   row.unicast_ratio = u
   row.unicast_fps, row.multicast_fps = x and x * u, x and x * (1 - u)
   row.theoretical_fps = theoretical(c, 1 - u + u / #c.receivers)
   row.aggregate_fps = x and math.min(x, row.theoretical_fps) * ((1 - u) * #c.receivers + u)
   row.offered_unicast_frames = lower and lower.tx_unicast
   row.offered_multicast_frames = lower and lower.tx_multicast
   row.upper_lost_unicast_frames = upper and upper.lost_unicast
   row.upper_lost_multicast_frames = upper and upper.lost_multicast
   return { row }
end

local FEWEST_MOST = 100 -- groups of the matrix, where nothing tells how many the device holds

-- The most groups of the matrix.
-- @param found  results of the tests before
local function matrix_max(o, found)
   local row = (found.group_capacity or {})[1]
   -- one trial at least, whatever group_capacity found
   return o.matrix_max or math.max(row and row.groups > 0 and row.groups or FEWEST_MOST, o.matrix_first)
end

-- The same before anything is measured: group_capacity, if it comes before, may find as many as it tries.
local function matrix_max_ahead(o)
   for _, key in ipairs(o.matrix_max and {} or o.tests) do
      if key == "group_matrix" then
         break
      elseif key == "group_capacity" then
         return math.max(matrix_max(o, {}), o.capacity_max)
      end
   end
   return matrix_max(o, {})
end

local function group_matrix(c, found)
   local rows, most = {}, ethernet.lines_fps(tables.map(c.tester.ports, function(port)
      return tables.contains(c.receivers, port.name) and port or nil
   end), c.forwarded_size)
   for n = c.o.matrix_first, matrix_max(c.o, found), c.o.matrix_step do
      local before, row = #c.session.trials, base_of(c, n)
      local record = trials.verified(c, {
         n = n, fps = c.o.matrix_load * c.line_fps, seconds = c.o.trial, phase = "forwarding",
      })
      row.offered_fps, row.tx, row.loss_ratio = record.offered_fps, record.tx, record.loss_ratio
      row.aggregate_fps = record.tx > 0
         and math.min(most, record.rx / record.tx * #c.receivers * record.offered_fps) or 0
      row.per_egress_fps = row.aggregate_fps / #c.receivers
      row.trial_s, row.trial, row.trials = c.o.trial, record.trial, #c.session.trials - before
      row.egress, row.floods_unknown = record.egress, record.floods
      row.validity, row.reasons = record.validity, record.reasons
      rows[#rows + 1] = row
   end
   return rows
end

local TESTS = { mixed_class = mixed_class, group_matrix = group_matrix, aggregated = aggregated }
for _, key in ipairs(formats.TESTS) do
   TESTS[key] = tunnelled
end

--- Measure at every frame size.
-- @param rows   takes the rows as they are found
-- @param found  results of the tests before
function M.run(plan, tester, session, key, rows, found)
   for _, frame_size in ipairs(plan.rfc3918.frame_sizes) do
      tables.append(rows, TESTS[key](trials.context(plan, tester, session, key, frame_size), found))
   end
end

--- The trials to come, at most.
function M.parts(plan, key)
   local o = plan.rfc3918
   -- the highest load, halves of it, and the one that decides
   local count = math.ceil(math.log(o.max / o.resolution) / math.log(2)) + 2
   local seconds = (count - 1) * trials.seconds(plan, o.groups, o.search_trial)
      + trials.seconds(plan, o.groups, o.trial)
   if key == "group_matrix" then
      local most = matrix_max_ahead(o)
      count, seconds = 0, 0
      for n = o.matrix_first, most, o.matrix_step do
         count, seconds = count + 1, seconds + trials.seconds(plan, n, o.trial)
      end
   end
   return tables.map(o.frame_sizes, function(frame_size)
      return { test = "rfc3918." .. key, frame_size = frame_size, trials = count, seconds = seconds }
   end)
end

return M
