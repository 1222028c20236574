-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold for the errors that a stream makes on purpose (plan/fault_rows.lua).
local faults = require "framegauge.traffic.faults"
local ports = require "framegauge.plan.port_rules"
local sizes = require "framegauge.traffic.sizes"

local M = {}

-- Kinds of ports that send runts as they are.
local SENDS_RUNTS = { wire = true, memif = true, pcap = true }

local function check_port(errors, path, port, found)
   if not port.device then
      return
   elseif errors.fcs and not ports.is_wire(port) then
      found:add(path .. ".fcs", ("%s writes the FCS itself and sends no wrong one"):format(port.device.name),
         "a virtual wire, such as wire0")
   elseif errors.runt and not SENDS_RUNTS[port.device.kind] then
      found:add(path .. ".runt", ("%s fills up frames of less than 64 bytes"):format(port.device.name),
         "a virtual wire, memif or pcap")
   end
end

--- Check the errors of one stream, whose frames can be built.
-- @param path   of the group in the plan
-- @param port   that sends it, with its device as the plan has it
-- @param fps    frames per second in the mean, as far as the plan knows
-- @param make   function(size) that makes a template of its frames
-- @param found  takes the problems
function M.check(stream, path, port, fps, make, found)
   local errors = stream.errors
   for _, key in ipairs(faults.KINDS) do
      local one = errors[key]
      if one and one.every == 0 and one.random == 0 then
         found:add(path .. "." .. key, "never happens", "every or random with it")
      elseif one and one.every > 0 and one.run > one.every then
         found:add(path .. "." .. key .. ".run", ("%d of every %d frames"):format(one.run, one.every),
            "at most every")
      end
   end
   local _, size = sizes.of(stream)
   if errors.oversize and errors.oversize.size <= size.most then
      found:add(path .. ".oversize.size", ("the other frames have up to %d bytes"):format(size.most),
         "more than that")
   end
   local ok, err = pcall(make, errors.oversize and errors.oversize.size or size.least)
   if not ok then
      found:add(path .. ".oversize.size", err.message)
   end
   if errors.ip_length and errors.l4_length and errors.ip_length.by ~= errors.l4_length.by then
      found:add(path .. ".l4_length.by", "another than that of ip_length", "the same")
   end
   check_port(errors, path, port, found)
   if found:has_below(path) then
      return
   end
   local template = make(size.least)
   local problem = faults.problem(faults.config(stream, template, { fps = fps, make = make }), template, path)
   if problem then
      found:add(problem.where, problem.message)
   end
end

return M
