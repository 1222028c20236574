-- SPDX-License-Identifier: BSD-3-Clause

--- An event of progress (run/progress.lua) as a line of text. Programs take the event as it is.
local format = require "framegauge.text.format"
local mixes = require "framegauge.core.mixes"
local units = require "framegauge.text.units"

local M = {}

local count, decimal = format.count, format.decimal

-- What is under way, and its load: at most two phrases.
local function name_of(e)
   local size = e.frame_size and "  " .. mixes.text(e.frame_size) or ""
   return e.title or e.test:match "[^.]+$" .. (e.modifier and ", " .. e.modifier or "") .. size
end

local function load_of(e)
   local text = e.load_fps and format.frame_rate(e.load_fps) .. " fps"
   return e.load_percent and decimal(e.load_percent, 2) .. " % = " .. text or text
end

local function own_queue_of(e)
   return e.own_queue_max_ns and "own queue " .. format.nanoseconds(e.own_queue_max_ns)
end

--- Where a job is at this moment.
function M.line(e)
   local words = {}
   if e.trial then
      words[1], words[2] = name_of(e), ("trial %d of about %d"):format(e.trial, e.of)
      words[3] = load_of(e)
      words[#words + 1] = words[3] and "missing " .. count(e.missing)
      words[#words + 1] = own_queue_of(e)
      words[#words + 1] = format.clock(e.elapsed_s)
         .. (e.left_s and ", " .. format.clock(e.left_s) .. " left" or "")
      return table.concat(words, "  ")
   end
   words[1] = e.tx_bps_l1 and units.format_bits(e.tx_bps_l1) .. " L1"
   words[#words + 1] = "sent " .. count(e.sent) .. (e.of and " of " .. count(e.of) or "")
   words[#words + 1] = e.missing and "missing " .. count(e.missing)
   words[#words + 1] = own_queue_of(e)
   words[#words + 1] = e.elapsed_s and units.format_time(e.elapsed_s)
   return table.concat(words, ", ")
end

--- A trial that has ended, for a log.
function M.ended(e)
   local load = load_of(e)
   return ("%s  trial %d  %s%g s: %s"):format(name_of(e), e.ended.trial, load and load .. "  " or "",
      e.ended.duration_s, e.ended.outcome)
end

return M
