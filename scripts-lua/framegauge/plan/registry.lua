-- SPDX-License-Identifier: BSD-3-Clause

--- The values of `test:` in a plan: the test methods, and services that run until they are stopped.
--
-- Each has a module <folder>/plan.lua, which declares:
--
--    name                  as `test:` has it
--    row                   the group of its keys, in the notation of plan/keys.lua
--    rules                 what must hold between them: list of function(values, found), see plan/rules.lua
--    quick                 settings of --quick: list of "path=value"
--    shape(group)          makes the final shape of the values: defaults that follow from other keys; or nil
--    service               whether it is a service with its own command, and not a test
--    on_wires              whether a service may have the ports of virtual wires, because it sends itself
--
-- and its needs of the tester, in terms that name no method:
--
--    frame_sizes(plan)     bytes with FCS of all frames that may be sent
--    marks(plan)           of all test frames: { outer_vlan =, pcp =, dei = 0 or 1, dscp = }
--    topology              which ports send to which (framegauge.traffic.topology), or function(values);
--                          default: pairs
--    topology_key          the key that says so, where there is one
--    one_way(plan)         whether only inputs send
--    alone                 whether a single port will do
--    fleet                 whether its ports may belong to agents (framegauge.fleet); or a rule for these,
--                          function(values, found)
--    sends_streams         whether it sends the streams of the plan
--    two_testers(values)   whether one of the ports is a remote tester's
--    clocks(plan)          how the clocks of several testers must agree: { delays = whether it measures any,
--                          within_ns = , share = meaning of within_ns in words, otherwise = the user's
--                          alternative }; nil: they need a common time
--    remembers             whether the device keeps state between trials; a resumed run repeats some of
--                          these (framegauge.trial.session)
--    one_queue             whether it uses one queue of each port
--    tcp                   whether its traffic is TCP's, whose segments a port may cut and join (`,offload`)
--    one_lcore_a_port      whether a port is sent to and received from on one lcore; or function(plan)
local emulate = require "framegauge.services.emulate.plan"

local M = {}

--- All of them, in the order they are listed.
M.ALL = {
   require "framegauge.methods.rfc2544.plan",
   require "framegauge.methods.rfc2889.plan",
   require "framegauge.methods.rfc3918.plan",
   require "framegauge.methods.traffic.plan",
   require "framegauge.methods.mesh.plan",
   require "framegauge.methods.y1564.plan",
   require "framegauge.methods.l4.plan",
   require "framegauge.methods.rfc6349.plan",
   require "framegauge.methods.replay.plan",
   require "framegauge.methods.convergence.plan",
   require "framegauge.methods.rfc8239.plan",
   require "framegauge.methods.rfc9411.plan",
   require "framegauge.methods.rfc9693.plan",
   require "framegauge.methods.characterise.plan",
   require "framegauge.methods.oam.plan",
   emulate.emulate,
   emulate.reflect,
   require "framegauge.services.agent.plan",
   require "framegauge.services.iperf3.plan",
   require "framegauge.services.otg.plan",
}

local by_name = {}
for _, method in ipairs(M.ALL) do
   by_name[method.name] = method
end

--- The one of a name, or nil.
function M.of(name)
   return by_name[name]
end

--- The pairs of sender and receiver among a plan's ports.
function M.topology(values)
   local method = by_name[values.test] or {}
   local topology = method.topology or "pairs"
   return type(topology) == "function" and topology(values) or topology
end

--- All reference devices of a run, one after the other: groups as reference_device.
function M.devices(plan)
   local method = by_name[plan.test] or {}
   return method.devices and method.devices(plan) or { plan.reference_device }
end

--- The needs of a plan's method.
-- @return { topology =, one_way =, frame_sizes =, one_lcore_a_port =, marks = or nil, clocks = or nil }
function M.needs(plan)
   local method = by_name[plan.test]
   local one_lcore = method.one_lcore_a_port
   if type(one_lcore) == "function" then
      one_lcore = one_lcore(plan)
   end
   return {
      topology = M.topology(plan), one_way = method.one_way ~= nil and method.one_way(plan),
      frame_sizes = method.frame_sizes and method.frame_sizes(plan) or {},
      one_lcore_a_port = one_lcore == true, marks = method.marks and method.marks(plan),
      clocks = method.clocks and method.clocks(plan),
   }
end

return M
