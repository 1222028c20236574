-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold between the keys of a path (plan/path_rows.lua).
local api = require "framegauge.api"
local ffi = require "ffi"
local methods = require "framegauge.method"

local C = api.C
local M = {}

-- A group that says how, but not how often, was not meant so; for a second way it may say that there is none.
local function happens(way, key, path, found)
   local group = way[key]
   if group and group.every == 0 and group.random == 0 then
      found:add(path .. "." .. key, "never happens", "every or random with it")
   end
end

--- Check the keys of one way.
-- @param way    its values
-- @param path   where they stand in the plan
-- @param found  takes the problems (plan/problems.lua)
-- @param first  the way whose keys hold where this one says nothing; nil: there is none
function M.check(way, path, found, first)
   local run, every = way.loss_run, way.loss_every or first and first.loss_every or 0
   if run and every == 0 then
      found:add(path .. ".loss_run", "says how many, but not when", "loss_every beside it")
   elseif run and run > every then
      found:add(path .. ".loss_run", ("%d of every %d frames"):format(run, every), "at most loss_every")
   end
   for _, key in ipairs(first and {} or { "reorder", "duplicate", "corrupt" }) do
      happens(way, key, path, found)
   end
   if way.jitter and way.jitter.deviation and way.jitter.distribution ~= "normal" then
      found:add(path .. ".jitter.deviation", ("not for a %s distribution"):format(way.jitter.distribution),
         "distribution: normal beside it")
   end
end

-- Both ways of a group.
local function both(key)
   return function(values, found)
      local group = values[key]
      M.check(group, key, found)
      if group.reverse then
         M.check(group.reverse, key .. ".reverse", found, group)
      end
   end
end

-- The relay's clock is the processor's, and the other end of a wire is in this process.
local function relay_needs_other_devices(values, found)
   local concerned = methods.SERVICES[values.test]
   for _, port in ipairs(concerned and values.ports or {}) do
      if port.device and port.device.kind == "wire" then
         found:add(("ports.%s.device"):format(port.name),
            ("nothing comes out of %s that does not come from this process"):format(port.device.name),
            "a device that others send to, such as memif:/run/a.sock or kernel:eth1")
      end
   end
end

local function filter_is_one(values, found)
   local filter, err = values.reflect.filter, api.error()
   if filter and C.fg_filter_check(filter, "", err) ~= 0 then
      api.raise_refused(err)
      found:add("reflect.filter", ffi.string(err.message), "a filter such as udp port 7, see pcap-filter(7)")
   end
end

-- With addresses it is a router, and one that reflects sends everything back.
local function table_is_a_bridges(values, found)
   local device = values.reference_device
   if not device.mac_table then
      return
   elseif device.reflect then
      found:add("reference_device.mac_table", "a loopback has no table", "reflect: false")
   end
   for _, port in ipairs(values.ports) do
      if port.gateway or port.gateway6 then
         found:add("reference_device.mac_table", "with gateways the device is a router",
            "ports without them")
         return
      end
   end
end

M.rules = {
   both "reference_device", both "relay", relay_needs_other_devices, filter_is_one, table_is_a_bridges,
}

return M
