-- SPDX-License-Identifier: BSD-3-Clause

--- Ask agents over a bus, again and again, until the input ends: framegauge script bus_flood.lua BUS AGENT...
-- Prints "asking" at the first answer, and at the end how many there were.
local Controller = require "framegauge.fleet.controller"
local job = require "framegauge.core.job"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local AT_ONCE = 4 -- questions of each agent that wait for their answers
local PAUSE = 0.005 -- seconds

local names, answers, ended = { unpack(arg, 2) }, 0, false

job.run(function()
   job.ignore_broken_pipes()
   local control = Controller.connect(tables.map(names, function(name)
      return { name = name, address = arg[1] }
   end))
   local input = uv.new_pipe()
   input:open(0)
   input:read_start(function(_, text) ended = text == nil end)
   local asking = {}
   for _, name in ipairs(names) do
      for _ = 1, AT_ONCE do
         asking[#asking + 1] = job.spawn(function()
            while not ended do
               control:must(name, "ports", {})
               answers = answers + 1
               if answers == 1 then
                  io.write "asking\n"
                  io.flush()
               end
               job.sleep(PAUSE)
            end
         end)
      end
   end
   for _, one in ipairs(asking) do
      one:join()
   end
   control:close()
end)
print(answers)
os.exit(0)
