-- SPDX-License-Identifier: BSD-3-Clause

--- The errors that a stream makes on purpose: their keys, and what must hold between them.
local keys = require "framegauge.plan.keys"
local api = require "framegauge.core.api"
local faults = require "framegauge.traffic.faults"
local ports = require "framegauge.plan.ports"
local sizes = require "framegauge.traffic.sizes"

local M = {}

local COUNT = "4294967295"

-- The affected frames, and the keys of the error.
local function kind(key, what, ...)
   return keys.group(key, what, {
      { "every", "integer", "every n-th frame; 0: none", default = "0", min = "0", max = COUNT },
      { "random", "ratio", "and this share of the frames at random", default = "0%", max = "100%" },
      { "run", "integer", "frames in a row each time: of every n the last ones, at random the ones that follow",
        default = "1", min = "1", max = "1024" },
      { "most", "integer", "at most this many frames in all; 0: without end",
        default = "0", min = "0", max = COUNT },
      ...
   }, { optional = true })
end

local BY = { "by", "integer", "how much too large the length is; below 0: too small",
   default = "1", min = "-32768", max = "32767" }

M.row = keys.group("errors", "errors on purpose. None of them counts against the device: frames that are left out, sent twice or sent late are no loss, duplicate or reordering in the results, and wrong frames have counts of their own", {
   { "seed", "integer", "of what is random", default = "1", min = "0", max = COUNT },
   kind("skip", "skipped sequence numbers; the next frame departs in their place"),
   kind("duplicate", "frames sent twice in a row, with the same number"),
   kind("reorder", "frames sent later than their turn, behind others",
      { "by", "integer", "how many frames later",
        default = "1", min = "1", max = "1024" }),
   kind("delay", "frames sent later than their time; frames due meanwhile go before them",
      { "late", "time", "how much, by the mean load of the stream; at most 1024 frames",
        default = "1ms", min = "1ns", max = "1h" }),
   kind("ip_checksum", "frames with a wrong IPv4 header checksum"),
   kind("l4_checksum", "frames with a wrong checksum behind IP: UDP, TCP, ICMP, SCTP and the like"),
   kind("ip_length", "frames with a wrong length in their IP header, whose checksum is right", BY),
   kind("l4_length", "frames with a wrong length in their UDP header", BY),
   kind("payload", "frames with inverted bits between headers and signature, which no checksum knows of",
      { "bits", "integer", "how many of them",
        default = "1", min = "1", max = "65535" }),
   kind("fcs", "frames with a wrong FCS, on a virtual wire; other ports write it themselves"),
   kind("runt", "frames of less than 64 bytes, where the port does not fill them up: on virtual wires, memif and capture files. What is cut off is missing before the signature",
      { "size", "size", "bytes with FCS",
        default = "60", min = "36", max = "63" }),
   kind("oversize", "frames that are longer than the others",
      { "size", "size", "bytes with FCS",
        default = "1600", min = "65", max = "16128" }),
}, { optional = true })

-- Kinds of ports that send runts without padding.
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
      api.raise_unexpected(err)
      found:add(path .. ".oversize.size", err.message)
   end
   if errors.ip_length and errors.l4_length and errors.ip_length.by ~= errors.l4_length.by then
      found:add(path .. ".l4_length.by", "another than in ip_length", "the same")
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
