-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889 section 5.9: whether a switch forwards frames with errors, which it must not.
--
-- From the first port to the second, each kind and size separately at each load: one of every n frames has an
-- error. None of these may arrive, and all others have to. A frame that comes out with its wrong FCS is
-- dropped by the receiving port, which counts it; one that comes out with a correct FCS has been laundered:
-- no later device can detect the damage.
local card = require "framegauge.tester.card"
local ethernet = require "framegauge.core.ethernet"
local faults = require "framegauge.traffic.faults"
local format = require "framegauge.text.format"
local frames = require "framegauge.methods.rfc2889.frames"

local M = {}

M.KEYS = { "errored_frames" }

local TAG = 4

-- What is wrong with frames of each kind, in the words of streams; and their sizes.
local KINDS = {
   oversize = { error = "oversize" }, undersize = { error = "runt" }, crc = { error = "fcs" },
}
local NEEDS_A_PHY = "bits that do not fill a byte: no port of this tester can send them, which takes a PHY of its own"

-- Why a kind of frames cannot be sent, or has no meaning, in a sentence; nil: it can.
local function obstacle(tester, kind, size, limit)
   local port = tester.plan.ports[1]
   if not KINDS[kind] then
      return NEEDS_A_PHY
   elseif kind == "oversize" and port.vlan and size <= limit + TAG then
      return ("a frame with a tag may have %d bytes more"):format(TAG)
   elseif not card.can_send(tester.handles[1], KINDS[kind].error) then
      return ("%s cannot send them"):format(tester.ports[1].name)
   end
end

-- Bytes of the good frames among which a kind is sent, and of the wrong ones.
local function octets_of(plan, kind, size)
   local good = frames.size(plan, 1, 2, kind == "oversize" and plan.rfc2889.errored_frames.max_frame
      or kind == "crc" and size or ethernet.MIN_FRAME)
   return good, kind == "crc" and good or size
end

-- The stream of a trial with one wrong frame in `every`, at a share of the line's bits.
local function stream_of(tester, o, kind, size, iload, seconds)
   local good, wrong = octets_of(tester.plan, kind, size)
   local mean = good + (wrong - good) / o.every
   local fps = iload * tester.ports[1].line_rate / ethernet.l1_bps(1, mean)
   local stream = {
      name = tester.ports[1].name .. "->" .. tester.ports[2].name, from = tester.ports[1].name,
      to = tester.ports[2].name, measure = {}, loads = { { fps = fps, seconds = seconds } },
      frame = frames.template(tester, 1, 2, good),
      errors = { seed = 1, [KINDS[kind].error] = {
         every = o.every, random = 0, run = 1, most = 0, size = size,
      } },
   }
   stream.faults, stream.longer = faults.config(stream, stream.frame, {
      fps = fps, make = function(octets) return frames.template(tester, 1, 2, octets) end,
   })
   return stream, fps, good, wrong
end

local function judge(row)
   local reasons = {}
   local function add(...)
      reasons[#reasons + 1] = string.format(...)
   end
   if row.laundered > 0 then
      add("%s arrived with an FCS that is right: the switch wrote a new one",
         format.plural(row.laundered, "damaged frame"))
   elseif row.received > 0 then
      add("%s of %s wrong frames arrived", format.count(row.received), format.count(row.sent))
   end
   if row.good_lost > 0 then
      add("%s among them lost", format.plural(row.good_lost, "good frame"))
   end
   return reasons
end

local function measure(plan, tester, session, kind, size, iload)
   local o, seconds = plan.rfc2889.errored_frames, plan.rfc2889.trial
   local stream, fps, good, wrong = stream_of(tester, o, kind, size, iload, seconds)
   local record = session:trial {
      test = "rfc2889.errored_frames", phase = "measure", frame_size = wrong,
      direction = kind, fps = fps, seconds = seconds, line_fps = fps / iload, streams = { stream },
      any_loss = true,
   }
   local direction = record.directions[1]
   local accepted = direction.errors[1].received
   local row = {
      test = "errored_frames", kind = kind, frame_size = wrong, good_size = good, iload_percent = iload * 100,
      sent = direction.errors[1].sent, received = accepted + (kind == "crc" and record.rx_errors or 0),
      laundered = kind == "crc" and accepted or 0, good_sent = direction.tx - direction.wrong_tx,
      good_lost = direction.lost, trial = record.trial, validity = record.validity, reasons = record.reasons,
   }
   if record.validity == "valid" then
      row.reasons = judge(row)
      row.outcome = row.reasons[1] and "fail" or "pass"
   end
   return row
end

-- Sizes of a kind; a kind without sizes is tried once, or not at all.
local function sizes_of(o, kind)
   return o[kind] or { false }
end

--- Send each kind and size at each load.
-- @param rows  takes the rows as they are found
function M.run(plan, tester, session, key, rows)
   local o = plan.rfc2889.errored_frames
   for _, kind in ipairs(o.kinds) do
      for _, size in ipairs(sizes_of(o, kind)) do
         local why = obstacle(tester, kind, size or 0, o.max_frame)
         for _, iload in ipairs(why and {} or o.iloads) do
            rows[#rows + 1] = measure(plan, tester, session, kind, size, iload)
         end
         rows[#rows + 1] = why and {
            test = key, kind = kind, frame_size = size or nil, validity = "not-applicable", reasons = { why },
         } or nil
      end
   end
end

--- The trials to come, at most: as mesh.parts().
function M.parts(plan, key, tester)
   local p, o, parts, loads = plan.rfc2889, plan.rfc2889.errored_frames, {}, 0
   for _, load in ipairs(o.iloads) do
      loads = loads + load
   end
   for _, kind in ipairs(o.kinds) do
      for _, size in ipairs(KINDS[kind] and o[kind] or {}) do
         local _, wrong = octets_of(plan, kind, size)
         parts[#parts + 1] = { test = "rfc2889." .. key, frame_size = wrong, trials = #o.iloads,
            frames = loads * p.trial * tester:max_fps(math.max(size, 64)),
            seconds = #o.iloads * (p.trial + p.learning_wait + p.drain + p.settle) }
      end
   end
   return parts
end

return M
