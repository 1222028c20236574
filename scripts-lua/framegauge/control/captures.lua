-- SPDX-License-Identifier: BSD-3-Clause

--- The captures of a tester: files of what its ports receive while streams or tests run.
--
-- A capture begins and ends at any time, also during jobs. It ends when the ports are closed or opened again,
-- which is announced. A capture that dropped frames is announced at the end of each job.
local capture = require "framegauge.tester.capture"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local Captures = {}
Captures.__index = Captures

--- Of a tester (control/init.lua).
function Captures.new(control)
   return setmetatable({ control = control, list = {} }, Captures)
end

function Captures:begin(tester, o)
   local one = capture.start(tester, o)
   self.list[#self.list + 1] = one
   if o.trigger then
      return ("%s: waits on %s for %s"):format(one.file, one.name,
         o.trigger == "loss" and "loss" or "its trigger")
   end
   return ("%s: frames that %s receives from now on"):format(one.file, one.name)
end

--- Begin one, next to a job if there is one.
-- @param o  as tester/capture.lua takes it
-- @return a sentence; or the job that opens closed ports for it and ends with that sentence
function Captures:start(o)
   local control = self.control
   if control.tester and control.tasks:running()[1] then
      return self:begin(control.tester, o)
   end
   return control.tasks:start("capture", control:port_names(), function()
      return nil, self:begin(control.traffic:tester(), o)
   end)
end

-- End the captures of a port, or all. @return list of sentences: file, counts, failure
function Captures:finish(port)
   local kept, ended = {}, {}
   for _, one in ipairs(self.list) do
      if port and one.name ~= port then
         kept[#kept + 1] = one
      else
         local counts, failure = one:stop()
         ended[#ended + 1] = ("%s: %s%s"):format(one.file, capture.in_words(counts),
            failure and "; " .. tostring(failure) or "")
      end
   end
   self.list = kept
   return ended
end

--- End the captures of a port, or all.
-- @param port  name; nil: all
-- @return list of sentences: file, counts, failure
function Captures:stop(port)
   local ended = self:finish(port)
   if not ended[1] then
      user_error.raise("capture", 2, "there is no capture%s", port and " on " .. port or "")
   end
   return ended
end

--- The ports are about to be closed.
function Captures:close()
   for _, sentence in ipairs(self:finish()) do
      self.control:announce(("capture ended because the ports were closed: %s\n"):format(sentence))
   end
end

--- A job has ended: announce captures that have dropped frames.
function Captures:warn()
   for _, one in ipairs(self.list) do
      local counts = one:counts()
      if counts.dropped > 0 then
         self.control:announce(("capture is incomplete: %s: %s\n"):format(one.file, capture.in_words(counts)))
      end
   end
end

--- List of { port =, file =, seen =, written =, filtered =, dropped =, triggers = }.
function Captures:rows()
   return tables.map(self.list, function(one)
      local row = one:counts()
      row.port, row.file = one.name, one.file
      return row
   end)
end

return Captures
