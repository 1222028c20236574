-- SPDX-License-Identifier: BSD-3-Clause

--- What a session of OAM must find of a device that loses one frame in a number: it is played frame by frame.
local M = {}

--- What becomes of the probes of a session where every n-th frame is lost there and every m-th back; each
-- port has announced itself by a frame before.
-- @return lost there and back before the last reply, and lost at all
function M.losses(count, n, m)
   local there, back, lost_there, lost_back, last = 1, 1, 0, 0, { 0, 0, 0 }
   for i = 1, count do
      there = there + 1
      if n > 0 and there % n == 0 then
         lost_there = lost_there + 1
      else
         back = back + 1
         if m > 0 and back % m == 0 then
            lost_back = lost_back + 1
         else
            last = { lost_there, lost_back, i }
         end
      end
   end
   return last[1], last[2], lost_there + lost_back
end

--- What LMM must find where every n-th frame is lost there, and every m-th of what returns. Each port
-- announces itself by a frame before. @return frames of the service lost there and back, probes lost; without
-- the first two where fewer than two replies came
function M.lost_service(count, between, n, m)
   local there, back, last, lost, answered = 1, 1, nil, {}, 0
   local came, returned, got = 0, 0, 0
   for i = 1, (count - 1) * (between + 1) + 1 do
      local message = (i - 1) % (between + 1) == 0
      there = there + 1
      if there % n ~= 0 then
         came, returned = came + (message and 0 or 1), returned + (message and 0 or 1)
         back = back + 1
         if back % m ~= 0 then
            got = got + (message and 0 or 1)
            if message then
               local now = { (i - 1) / (between + 1) * between, came, returned, got }
               answered = answered + 1
               lost = last and { now[1] - last[1] - (now[2] - last[2]),
                  now[3] - last[3] - (now[4] - last[4]) } or lost
               last = last or now
            end
         end
      end
   end
   return lost[1], lost[2], count - answered
end

return M
