-- SPDX-License-Identifier: BSD-3-Clause

--- Played agents for fleet_scale.py: the real code of agents over testers that answer from a model.
--
--    framegauge script fleet_agents.lua FOLDER FIRST LAST
--
-- Agent rackN listens on FOLDER/rackN. Ends when its input does.
package.path = arg[0]:match "^(.*)/bench/[^/]*$" .. "/lua/?.lua;" .. package.path
local job = require "framegauge.core.job"
local connection = require "framegauge.core.connection"
local uv = require "luv"
local World = require "fleet_world"

local LOOK_SECONDS = 0.5

World.STRAY_EVERY = math.huge -- with many streams these would be most of what agents tell

local folder, names = arg[1], {}
for i = tonumber(arg[2]), tonumber(arg[3]) do
   names[#names + 1] = "rack" .. i
end

job.run(function()
   job.ignore_broken_pipes()
   -- with a folder for each process: on a host of its own an agent finds nobody else's results there
   local world = World.new { agents = names, folder = folder .. "/state/" .. arg[2], patience = 20 }
   for name, agent in pairs(world.agents) do
      assert(connection.listen({ path = folder .. "/" .. name }, function(handle) agent.bus:attach(handle) end))
   end
   io.write("ready\n")
   io.flush()
   local ended
   local input = uv.new_pipe()
   input:open(0)
   input:read_start(function(_, text) ended = text == nil end)
   while not ended do
      for _, agent in pairs(world.agents) do
         agent:look()
      end
      world.now = world.now + LOOK_SECONDS
      job.sleep(LOOK_SECONDS)
   end
end)
os.exit(0)
