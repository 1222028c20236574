-- SPDX-License-Identifier: BSD-3-Clause

--- `run --on FILE`: a plan for any ports, run against the reference device of a file instead, such as the
-- twin.yaml that a characterisation writes.
--
-- As settings (plan/sets.lua) it changes the YAML tree before the schema sees it: ports become wires, in
-- their order, and keep their addresses; the reference device or switch is the file's.
local tables = require "framegauge.core.tables"
local uv = require "luv"
local yaml = require "framegauge.yaml"

local M = {}

-- Keys of a port that a wire has, too.
local KEPT = { "ipv4", "gateway", "ipv6", "gateway6", "mac", "vlan" }

-- Other keys of the replaced ports, and of the device between them.
local DROPPED = { "reference_device", "reference_switch", "calibration" }

local function without(entries, names)
   return tables.map(entries, function(entry)
      return not tables.contains(names, entry.key) and entry or nil
   end)
end

local function wire(entries, i, origin)
   local list = tables.map(entries, function(entry)
      return tables.contains(KEPT, entry.key) and entry or nil
   end)
   list[#list + 1] = { key = "device", origin = origin,
      value = { kind = "scalar", value = "wire" .. i - 1, quoted = false, origin = origin } }
   return list
end

-- Each key of the file carries its line in that file.
local function mark(node, name)
   node.origin = ("%s:%d:%d"):format(name, node.line or 0, node.column or 0)
   for _, list in ipairs { node.items or {}, tables.map(node.entries or {}, function(entry)
      entry.origin = node.origin
      return entry.value
   end) } do
      for _, item in ipairs(list) do
         mark(item, name)
      end
   end
end

--- The file that a path names: for the folder of a characterisation its twin.yaml.
function M.file(path)
   local stat = uv.fs_stat(path)
   return stat and stat.type == "directory" and path .. "/twin.yaml" or path
end

--- Change a tree.
-- @param root   of the plan, a map
-- @param on     { text =, name = } of the file
-- @param found  takes the problems
function M.apply(root, on, found)
   local origin = "--on " .. on.name
   local at = { origin = origin }
   local file, err = yaml.parse(on.text, on.name)
   if not file then
      return found:add("", ("line %d: %s"):format(err.line or 0, err.message), nil, { origin = on.name })
   end
   local device = tables.find(file.entries or {}, "key", "reference_device")
      or tables.find(file.entries or {}, "key", "reference_switch")
   if not device then
      return found:add("reference_device", "missing there", "a file such as the twin.yaml of characterise", at)
   end
   mark(device.value, on.name)
   root.entries = without(root.entries, DROPPED)
   table.insert(root.entries, device)
   local ports = tables.find(root.entries, "key", "ports")
   for i, port in ipairs(ports and ports.value.entries or {}) do
      if port.value.entries then
         port.value.entries = wire(port.value.entries, i, origin)
      end
   end
end

return M
