-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold between the keys of a plan, whatever its test.
--
-- Each rule gets the values as the rows read them and the list of problems. A value that was bad has its
-- default or is nil by now; its own problem is already in the list.
local captures = require "framegauge.plan.captures"
local firewall = require "framegauge.plan.firewall"
local hooks = require "framegauge.plan.hooks"
local lab = require "framegauge.plan.lab"
local nat = require "framegauge.plan.nat"
local paths = require "framegauge.plan.paths"
local ports = require "framegauge.plan.port_rules"
local profiles = require "framegauge.plan.profiles"
local registry = require "framegauge.plan.registry"
local streams = require "framegauge.plan.streams"
local switch = require "framegauge.plan.switch"

local M = {}

--- Apply every rule: of the ports, of the reference device, of the streams and of the method that is
-- to run.
-- @param values  of the whole plan
-- @param found   takes the problems (plan/problems.lua)
function M.check(values, found)
   local method = registry.of(values.test)
   local own = method and method.rules or {}
   for _, list in ipairs {
      ports.rules, captures.rules, paths.rules, firewall.rules, nat.rules,
      switch.rules, profiles.rules, streams.rules, hooks.rules, lab.rules, own,
   } do
      for _, rule in ipairs(list) do
         rule(values, found)
      end
   end
end

return M
