-- SPDX-License-Identifier: BSD-3-Clause

--- Changes of a configuration that is there: flows that are added, removed, or have another rate or size.
--
-- Each looks at the whole request first and returns what is to be done, or adds faults.
local config = require "framegauge.services.otg.config"
local read = require "framegauge.services.otg.read"
local tables = require "framegauge.core.tables"

local M = {}

-- The properties in which two flows differ, but for those that may.
local function other_differences(before, after, allowed, flow, found)
   local keys = {}
   for _, one in ipairs { before, after } do
      for key in pairs(one) do
         keys[key] = true
      end
   end
   for _, key in ipairs(tables.keys(keys)) do
      if not tables.contains(allowed, key) and not tables.same(before[key], after[key]) then
         found:fault("", "%s property update is not supported on flow %s", key, flow)
      end
   end
end

--- Flows with another rate or size.
-- @param request  ConfigUpdate that was read; raw = as it came
-- @param c        { value = the configuration as it is, state = of it (services.otg.config), env = }
-- @return list of { index = in the configuration, raw =, stream = }
function M.updates(request, raw, c, found)
   local list, allowed = {}, request.flows.property_names
   for i, flow in ipairs(request.flows.flows) do
      local path = ("flows.flows[%d]"):format(i - 1)
      local index = tables.index_of(c.value.flows or {}, flow.name)
      if not index then
         found:fault(path .. ".name", '"%s" is no flow', flow.name)
      else
         local before = read.message("Flow", c.value.flows[index], read.found())
         other_differences(before, flow, allowed, flow.name, found)
         local streams = found.errors[1] and {} or config.flows({ flow }, "flows.flows", c.state, c.env,
            found)
         list[#list + 1] = { index = index, raw = raw.flows.flows[i], stream = streams[1] }
      end
   end
   return list
end

-- Items of all resources of a list; also of one as it came, in which null stands for nothing.
local function flows_in(resources)
   local list = {}
   for _, one in ipairs(type(resources) == "table" and resources or {}) do
      list = tables.joined(list, type(one.flows) == "table" and one.flows or {})
   end
   return list
end

--- Flows that are added.
-- @return list of streams, and of the flows as they came
function M.additions(request, raw, c, found)
   local flows, seen = flows_in(request.config_append_list), {}
   config.each_name(c.value, function(one)
      seen[one.name] = true
   end)
   for i, flow in ipairs(flows) do
      if seen[flow.name] then
         found:fault(read.item_path("config_append_list.flows", i, flow) .. ".name", "is taken")
      end
      seen[flow.name] = true
   end
   return config.flows(flows, "config_append_list.flows", c.state, c.env, found),
      flows_in(raw.config_append_list)
end

--- Names of flows that are removed.
function M.removals(request, c, found)
   local names, seen = flows_in(request.config_delete_list), {}
   for i, name in ipairs(names) do
      if not c.flows[name] or seen[name] then
         found:fault(("config_delete_list.flows[%d]"):format(i - 1), '"%s" %s', name,
            seen[name] and "is there twice" or "is no flow")
      end
      seen[name] = true
   end
   return names
end

return M
