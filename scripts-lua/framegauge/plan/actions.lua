-- SPDX-License-Identifier: BSD-3-Clause

--- A plan's actions on the host in addition to frames: programs it runs, files it reads and writes, addresses
-- it sends messages to. A plan from somebody else is as powerful as a script; this lists its actions.
--
-- A row of a key with such an action has `does`, a verb phrase that the value completes.
local named_file = require "framegauge.core.named_file"
local plain = require "framegauge.text.plain"
local registry = require "framegauge.plan.registry"
local rows = require "framegauge.plan.rows"
local shell = require "framegauge.core.shell"
local tables = require "framegauge.core.tables"

local M = {}

local WRITES = "writes the file"

-- What devices do, by patterns of their names.
local DEVICES = {
   { "^pcap:([^,]+)", "reads the file" }, { "^pcap:[^,]*,(.+)$", WRITES },
   { "^vdev:(.+)$", "has a DPDK driver open" },
}

local SHAPED = { capture = "captures" } -- what a loaded plan calls the group

-- On one line, without control characters for a terminal.
local function text_of(value)
   local text = type(value) == "table" and shell.command(value) or tostring(value)
   return (plain.text(text):gsub("%c", "?"))
end

local function walk(row, value, path, add)
   if value == nil or value == row.default or row.type == "list" and not value[1] then
      return
   elseif row.does then
      add(path, row.does, value)
   elseif row.type == "map" then
      for _, one in ipairs(value) do
         walk(row.of, one, path .. "." .. one[row.name], add)
      end
   elseif row.fields and type(value) == "table" then
      for _, field in ipairs(row.fields) do
         walk(field, value[field.key], path .. "." .. field.key, add)
      end
   end
end

local SERVICE_TAG = 0x88a8

-- Whether frames have an 802.1ad tag. DPDK's driver of AF_PACKET puts back each tag that the kernel removed
-- from a received frame as an 802.1Q tag.
local function has_service_tag(value)
   if type(value) ~= "table" then
      return false
   end
   for _, item in pairs(value) do
      if has_service_tag(item) then
         return true
      end
   end
   return value.outer_vlan ~= nil or value.protocol == "qinq" or value.name == "type" and value.value == SERVICE_TAG
end

--- The actions of a loaded plan on the host.
-- @return list of { key =, does =, what = }
function M.of(plan)
   local list = {}
   local function add(key, does, what)
      list[#list + 1] = { key = key, does = does, what = text_of(what) }
   end
   local tagged = has_service_tag { plan[plan.test], registry.of(plan.test).sends_streams and plan.streams }
   for _, port in ipairs(plan.ports) do
      if tagged and port.device:find "^kernel:.*,af_packet$" then
         add(("ports.%s.device"):format(port.name), "sends tags 0x88a8, which it receives as 0x8100", port.device)
      end
      for _, device in ipairs(DEVICES) do
         local what = port.device:match(device[1])
         if what then
            add(("ports.%s.device"):format(port.name), device[2], what)
         end
      end
   end
   for _, key in ipairs { "calibration", "host", plan.test, "capture", "hooks" } do
      walk(tables.find(rows.fields, "key", key), plan[SHAPED[key] or key], key, add)
   end
   return list
end

--- Why the test of a plan cannot write one of its files, which it may write only after a trial: the trial
-- would be wasted. Nil when no reason is known on this machine.
-- @param is_used  function(key of the test): whether the plan uses it
function M.unwritable(plan, is_used)
   local message
   walk(tables.find(rows.fields, "key", plan.test), plan[plan.test], plan.test, function(key, does, file)
      local problem = does == WRITES and is_used(key) and named_file.write_problem(file)
      message = message or problem and ("%s: %s"):format(key, problem) or nil
   end)
   return message
end

return M
