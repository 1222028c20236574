-- SPDX-License-Identifier: BSD-3-Clause

--- What became of the captures of a run (framegauge.captures), in words.
local format = require "framegauge.report.format"

local M = {}

--- What became of one.
-- @param fact  as run.json has it
function M.in_words(fact)
   local text = ("Captured on %s in %s: %s of %s."):format(fact.port, fact.file, format.count(fact.written),
      format.plural(fact.seen, "frame"))
   if (fact.triggers or 0) > 0 then
      text = ("%s %s."):format(text, format.plural(fact.triggers, "trigger"))
   end
   if fact.dropped > 0 then
      text = ("%s Not complete: %s dropped, since the file was written too slowly."):format(text,
         format.plural(fact.dropped, "frame"))
   end
   return fact.failure and text .. " " .. fact.failure .. "." or text
end

return M
