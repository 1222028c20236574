-- SPDX-License-Identifier: BSD-3-Clause

--- How many frames are missing while a trial runs. What was sent less what was received also has the frames
-- on their way, and frames that the receiver has counted and not published yet.

--- Frames that were sent longer than the drain ago and have not arrived, by the looks until now; 0 where
-- nobody looked then.
-- @param trial    drain = s; sent = {} at its start, kept here
-- @param elapsed  now, s since its start
-- @param tx, rx   frames sent and received until now
return function(trial, elapsed, tx, rx)
   local sent, due = trial.sent, elapsed - trial.drain
   sent[#sent + 1] = { at = elapsed, tx = tx }
   while sent[2] and sent[2].at <= due do
      table.remove(sent, 1)
   end
   return sent[1].at <= due and math.max(0, sent[1].tx - rx) or 0
end
