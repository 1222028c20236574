-- SPDX-License-Identifier: BSD-3-Clause

--- Frames that should have arrived by now, while a trial runs. The difference of sent and received frames
-- also contains frames under way, and frames that the receiver has counted but not yet published.

--- Note the frames sent so far, and find those sent longer than the drain before the receivers' counts were
-- copied.
-- @param noted   list of earlier notes, kept here; empty at the start of a trial
-- @param sent    the sent frames, in any form
-- @param at      time of reading, or later, s since the trial's start
-- @param copied  when the oldest of the receivers' counts was copied, s
-- @param drain   how long a frame may be on its way, s
-- @return the sent frames as noted then; nil where there is no such note
return function(noted, sent, at, copied, drain)
   local due = copied - drain
   noted[#noted + 1] = { at = at, sent = sent }
   while noted[2] and noted[2].at <= due do
      table.remove(noted, 1)
   end
   return noted[1].at <= due and noted[1].sent or nil
end
