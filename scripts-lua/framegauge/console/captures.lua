-- SPDX-License-Identifier: BSD-3-Clause

--- The captures of a tester: what its ports receive while streams or tests run, kept in files.
--
-- A capture is begun and ended at any time, beside jobs as well, and it ends with the open ports: whoever has
-- these opened anew is told so. One that dropped frames says so at the end of each job, and at its own.
local capture = require "framegauge.capture"
local in_words = require("framegauge.cli.capture").in_words
local refusal = require "framegauge.refusal"

local Captures = {}
Captures.__index = Captures

--- Of a tester (framegauge.console.tester).
function Captures.new(tester)
   return setmetatable({ tester = tester, list = {} }, Captures)
end

local function remove(list, one)
   for i, other in ipairs(list) do
      if other == one then
         table.remove(list, i)
      end
   end
end

function Captures:begin(bench, o)
   local one = capture.start(bench, o)
   self.list[#self.list + 1] = one
   if o.trigger then
      return ("%s: waits on %s for %s"):format(one.file, one.name,
         o.trigger == "loss" and "loss" or "its trigger")
   end
   return ("%s: what %s receives from now on"):format(one.file, one.name)
end

--- Begin one, beside a job if there is one.
-- @param o  as framegauge.capture takes it
-- @return a sentence; or the job that opens the ports for it, where they are not, and ends with that sentence
function Captures:start(o)
   local tester = self.tester
   if tester.bench and tester.tasks:running()[1] then
      return self:begin(tester.bench, o)
   end
   return tester.tasks:start("capture", tester:port_names(), function()
      return nil, self:begin(tester:bench_for(tester.traffic:plan()), o)
   end)
end

--- End those of a port, or all.
-- @param port  name; nil: all
-- @return list of sentences: file, counts, what went wrong
function Captures:stop(port)
   local said = {}
   for _, one in ipairs { unpack(self.list) } do
      if not port or one.name == port then
         said[#said + 1] = self:finish(one)
      end
   end
   if not said[1] then
      refusal.raise("capture", 2, "%s is captured", port and "nothing of " .. port or "nothing")
   end
   return said
end

function Captures:finish(one)
   local counts, failure = one:stop()
   remove(self.list, one)
   return ("%s: %s%s"):format(one.file, in_words(counts), failure and "; " .. tostring(failure) or "")
end

--- The ports are about to be closed.
function Captures:close()
   for _, one in ipairs { unpack(self.list) } do
      self.tester:announce(("capture ended with the open ports: %s\n"):format(self:finish(one)))
   end
end

--- A job has ended: those who have dropped frames say so.
function Captures:warn()
   for _, one in ipairs(self.list) do
      local counts = one:counts()
      if counts.dropped > 0 then
         self.tester:announce(("capture not complete: %s: %s\n"):format(one.file, in_words(counts)))
      end
   end
end

--- Those there are.
-- @return list of { port =, file =, seen =, written =, filtered =, dropped =, triggers = }
function Captures:rows()
   local rows = {}
   for i, one in ipairs(self.list) do
      rows[i] = one:counts()
      rows[i].port, rows[i].file = one.name, one.file
   end
   return rows
end

return Captures
