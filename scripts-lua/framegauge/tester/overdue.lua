-- SPDX-License-Identifier: BSD-3-Clause

--- What should have arrived by now, while a trial runs. What was sent less what was received also has the
-- frames on their way, and frames that the receiver has counted and not published yet.

--- Note what was sent so far, and find what was sent longer than the drain before the receivers' counts were
-- copied.
-- @param noted   list of the looks until now, kept here; empty at the start of a trial
-- @param sent    what was sent, in any form
-- @param at      when it was read, or later, s since the trial's start
-- @param copied  when the oldest of the receivers' counts was copied, s
-- @param drain   how long a frame may be on its way, s
-- @return what was sent, as it was noted then; nil where nobody looked then
return function(noted, sent, at, copied, drain)
   local due = copied - drain
   noted[#noted + 1] = { at = at, sent = sent }
   while noted[2] and noted[2].at <= due do
      table.remove(noted, 1)
   end
   return noted[1].at <= due and noted[1].sent or nil
end
