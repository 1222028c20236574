-- SPDX-License-Identifier: BSD-3-Clause

-- Which methods take the ports of agents, and in which words the others refuse them.
local plans = require "framegauge.plan"
local registry = require "framegauge.plan.registry"
local World = require "fleet_world"

local STREAMS = "streams: {one: {from: a, to: b, rate: 1kfps}}"
local MORE = {
   traffic = STREAMS, replay = "replay: {file: x.pcap}",
   rfc8239 = "rfc8239: {tests: [line_rate, head_of_line]}",
   y1564 = "y1564: {services: {voice: {frame_size: 218, cir: 100kbps, cbs: 16KiB}}}",
}

local function problems(test, more)
   local text = World.plan { test = test, more = more or MORE[test] or "" }
   if test == "l4" then -- for two ports
      text = text:gsub("  [cd]: [^\n]*\n", "")
   end
   local plan, errors = plans.load_text(text, "plan.yaml")
   local list = {}
   for i, one in ipairs(not plan and errors or {}) do
      list[i] = tostring(one)
   end
   return table.concat(list, "\n")
end

describe("the ports of agents", function()
   it("are for these methods, and all others say which", function()
      local taken = {}
      for _, method in ipairs(registry.ALL) do
         local found = not method.service and problems(method.name)
         if found == "" then
            taken[#taken + 1] = method.name
         elseif found then
            local why = ("plan.yaml:1:7: test: %s cannot use the ports of agents; expected rfc2544, rfc2889, rfc3918, traffic, mesh, y1564, l4 or rfc8239"):format(method.name)
            assert.matches(why, found, 1, true)
         end
      end
      assert.equal("rfc2544 rfc2889 rfc3918 traffic mesh y1564 l4 rfc8239", table.concat(taken, " "))
   end)

   it("are not for tests that need what agents have not", function()
      for key, why in pairs {
         ["rfc2889: {tests: [errored_frames]}"] = "they are not told to send errors on purpose",
         ["rfc3918: {tests: [latency]}"] = "would have the error of the receivers' clocks",
         ["rfc8239: {tests: [line_rate, buffer]}"] = "what is lost and delayed from one microsecond",
         ["l4: {tests: [TCP_RR, HTTP]}"] = "they are told no files, texts and keys",
         ["rfc8239: {tests: [microburst]}"] = "bursts are to leave several ports at one instant",
      } do
         local test, name = key:match "^(%w+).-(%a+)%]"
         name = name == "frames" and "errored_frames" or name
         assert.matches(("%s cannot use the ports of agents: "):format(name), problems(test, key), 1, true)
         assert.matches(why, problems(test, key), 1, true)
      end
   end)

   it("are all of a plan's, or none", function()
      local text = World.plan { more = STREAMS }:gsub("agent:rack2/east", "kernel:eth9")
      local plan, errors = plans.load_text(text .. "isolated_network: true\n", "plan.yaml")
      assert.is_nil(plan)
      assert.matches("kernel:eth9 is not the port of an agent; expected agent:NAME/PORT for every port",
         tostring(errors[1]), 1, true)
   end)
end)
