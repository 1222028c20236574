-- SPDX-License-Identifier: BSD-3-Clause

--- With which marks the frames of a service arrive, against those they were sent with.
--
-- A device may write other marks into frames: because they exceed the committed rate, because it trusts no
-- sender, or by mistake. Which of it is meant nobody but the plan can say (`preserve`). What is not there to
-- be compared, such as the tag of a frame that arrives without one, has not changed.
local format = require "framegauge.report.format"
local frames = require "framegauge.method.y1564.frames"

local M = {}

local KEYS = { "pcp", "dei", "dscp" }

-- What of one way to arrive differs from how the frames were sent: list of "pcp", "dei", "dscp".
local function differences(marked, path, colour)
   local list, sent = {}, {}
   sent.pcp, sent.dei, sent.dscp = frames.marks(path, colour)
   for _, key in ipairs(KEYS) do
      local there = marked[key] and (key == "dscp" or path.tagged)
      list[#list + 1] = there and marked[key] ~= sent[key] and key or nil
   end
   return list
end

--- Frames that arrived with any other mark, or with another one of these.
-- @param marks   of a direction (framegauge.bench.marks)
-- @param colour  they were sent with
-- @param only    "pcp", "dei" or "dscp"; nil: any
function M.changed(marks, path, colour, only)
   local count = 0
   for _, marked in ipairs(marks) do
      for i, key in ipairs(differences(marked, path, colour)) do
         if only == key or not only and i == 1 then
            count = count + marked.frames
         end
      end
   end
   return count
end

--- Hold the frames of a colour against what must arrive as it was sent.
-- @param v        framegauge.method.y1564.criteria
-- @param figures  of the stream: marks, rx
function M.judge(v, figures, path, colour)
   for _, key in ipairs(path.service.preserve) do
      local changed = M.changed(figures.marks, path, colour, key)
      if changed > 0 then
         v.failed[#v.failed + 1] = "marking"
         v.reasons[#v.reasons + 1] = ("%s of %s arrived with another %s"):format(format.count(changed),
            format.plural(figures.rx, colour .. " frame"), key:upper())
      end
   end
end

return M
