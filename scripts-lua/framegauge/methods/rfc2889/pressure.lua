-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889 section 5.6: forward pressure. Does a switch that is offered more than a line can carry send with
-- less than the 96 bits between frames that the standard asks for?
--
-- The first port sends to the second with 88 bits between frames, as the RFC has it. A switch that keeps the
-- standard forwards what its line carries; one that copies the gap saves the time of a byte in each frame.
-- The rate is taken from the first arrival to the last, so what a buffer still delivers does not count.
-- Clocks may be 100 millionths off, on both sides.
local ethernet = require "framegauge.core.ethernet"
local tables = require "framegauge.core.tables"

local M = {}

M.KEYS = { "forward_pressure" }

local GAP = 11 -- bytes: 88 bits
local CLOCKS_PPM = 200

-- The share of one byte in a frame with its gap, in millionths.
local function of_a_byte(frame_size)
   return 1e6 / (frame_size + ethernet.OVERHEAD - 1)
end

-- @return a sentence on why such a switch cannot be told from a conforming one; nil: it can
local function obstacle(tester, frame_size)
   if of_a_byte(frame_size) <= CLOCKS_PPM then
      return ("one byte in frames of %d is less than two clocks may differ"):format(frame_size)
   elseif not tester:can_set_gap() then
      return ("%s cannot send with less than 96 bits between frames"):format(tester.ports[1].name)
   end
end

local function measure(plan, tester, session, frame_size)
   local from, to = tester.ports[1], tester.ports[2]
   local mol = to.line_rate / ethernet.l1_bps(1, frame_size)
   local fps = from.line_rate / ethernet.l1_bps(1, frame_size - ethernet.OVERHEAD + 8 + GAP)
   local record = session:trial {
      test = "rfc2889.forward_pressure", phase = "measure", frame_size = frame_size, direction = "all",
      directions = { from.name .. "->" .. to.name }, fps = fps, seconds = plan.rfc2889.trial, line_fps = mol,
      any_loss = true, gap = GAP,
   }
   local d = record.directions[1]
   local row = {
      test = "forward_pressure", frame_size = frame_size, mol_fps = mol, offered_fps = d.offered_fps,
      gap_bits = 8 * GAP, validity = record.validity, reasons = record.reasons, trial = record.trial,
   }
   if d.rx > 1 and d.rx_duration_ns > 0 then
      local bound = d.latency and d.latency.error_bound_ns or 1
      row.forwarding_span_fps = (d.rx - 1) * 1e9 / d.rx_duration_ns
      row.excess_ppm = (row.forwarding_span_fps / mol - 1) * 1e6
      row.tolerance_ppm = CLOCKS_PPM + 2e6 * bound / d.rx_duration_ns
      row.forward_pressure = row.excess_ppm > row.tolerance_ppm
   end
   if record.validity == "valid" and row.forward_pressure ~= nil then
      row.outcome = row.forward_pressure and "fail" or "pass"
      row.reasons = row.forward_pressure and {
         ("it forwards %.0f ppm more than the line carries with 96 bits between frames"):format(
            row.excess_ppm),
      } or {}
   end
   return row
end

--- Measure at every frame size.
-- @param rows  takes the rows as they are found
function M.run(plan, tester, session, key, rows)
   for _, frame_size in ipairs(plan.rfc2889.frame_sizes) do
      local why = obstacle(tester, frame_size)
      rows[#rows + 1] = why and {
         test = key, frame_size = frame_size, validity = "not-applicable", reasons = { why },
      } or measure(plan, tester, session, frame_size)
   end
end

--- The trials to come, at most: as mesh.parts().
function M.parts(plan, key, tester)
   local o = plan.rfc2889
   return tables.map(o.frame_sizes, function(frame_size)
      return { test = "rfc2889." .. key, frame_size = frame_size, trials = 1,
         frames = o.trial * tester:max_fps(frame_size),
         seconds = o.trial + o.learning_wait + o.drain + o.settle }
   end)
end

return M
