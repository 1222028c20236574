-- SPDX-License-Identifier: BSD-3-Clause

--- The frames of a service: tags, IP and UDP as the plan has them, green or yellow.
local format = require "framegauge.text.format"
local frame = require "framegauge.traffic.frame"
local octets = require "framegauge.core.octets"

local M = {}

--- How the frames of a path say which colour they have: PCP, DEI and DSCP.
-- @param colour  "green" or "yellow"
function M.marks(path, colour)
   local service = path.service
   local pcp, dei, dscp = service.pcp, 0, service.dscp
   if colour == "yellow" or path.all_yellow then
      pcp = service.marking == "pcp" and service.yellow or pcp
      dei = service.marking == "dei" and 1 or 0
      dscp = service.marking == "dscp" and service.yellow or dscp
   end
   return pcp, dei, dscp
end

-- In a loopback the far end is the port's gateway.
local function destination_of(version, own, path, ports)
   local key = path.from == path.to and "gateway" or "ipv"
   return octets["ipv" .. version](own or ports[path.to][key .. version])
end

--- Build what a stream of a path is made of.
-- @param tester  with plan, ports and gateway_mac (framegauge.tester)
-- @param path    framegauge.methods.y1564.plan.paths
-- @param colour  "green" or "yellow"
-- @return a template, or of a path with several sizes a function(size) that makes one
function M.build(tester, path, colour)
   local service, plan = path.service, tester.plan
   local source, target = plan.ports[path.from], plan.ports[path.to]
   local version = source.ipv4 and target.ipv4 and 4 or 6
   local pcp, dei, dscp = M.marks(path, colour)
   local from, to = service.source, service.destination
   local src_port, dst_port = service.source_port, service.destination_port
   if path.backward then
      from, to, src_port, dst_port = to, from, dst_port, src_port
   end
   local stack = {
      {
         "ethernet", source = octets.mac(tester.ports[path.from].mac),
         destination = tester:gateway_mac(path.from, version) or octets.mac(tester.ports[path.to].mac),
      },
   }
   frame.push_tags(stack, {
      outer_vlan = service.outer_vlan, vlan = service.vlan or source.vlan, pcp = pcp, dei = dei,
   })
   stack[#stack + 1] = {
      "ipv" .. version, source = octets["ipv" .. version](from or source["ipv" .. version]),
      destination = destination_of(version, to, path, plan.ports),
      dscp = dscp, flags = version == 4 and frame.DONT_FRAGMENT or nil,
   }
   stack[#stack + 1] = {
      "udp", source = src_port, destination = dst_port, checksum = version == 4 and 0 or nil,
   }
   if path.sizes then
      return function(size)
         return frame.build(size, stack)
      end
   end
   return frame.build(path.frame_size, stack)
end

-- The marks that the frames of a service arrive with, compared with the marks they were sent with.
--
-- A device may write other marks into frames: because they exceed the committed rate, because it trusts no
-- sender, or by mistake. Only the plan can say which is meant (`preserve`). An absent field, such as the tag
-- of a frame that arrives without one, counts as unchanged.

local KEYS = { "pcp", "dei", "dscp" }

-- What of one way to arrive differs from how the frames were sent: list of "pcp", "dei", "dscp".
local function differences(marked, path, colour)
   local list, sent = {}, {}
   sent.pcp, sent.dei, sent.dscp = M.marks(path, colour)
   for _, key in ipairs(KEYS) do
      local there = marked[key] and (key == "dscp" or path.tagged)
      list[#list + 1] = there and marked[key] ~= sent[key] and key or nil
   end
   return list
end

--- Frames that arrived with any other mark, or with a change in one given mark.
-- @param marks   of a direction (framegauge.tester.measures)
-- @param colour  they were sent with
-- @param only    "pcp", "dei" or "dscp"; nil: any
function M.changed(marks, path, colour, only)
   local count = 0
   for _, marked in ipairs(marks) do
      for i, key in ipairs(differences(marked, path, colour)) do
         if only == key or not only and i == 1 then
            count = count + marked.frames
         end
      end
   end
   return count
end

--- Hold the frames of a colour against what must arrive as it was sent.
-- @param v        framegauge.methods.y1564.criteria
-- @param figures  of the stream: marks, rx
function M.judge(v, figures, path, colour)
   for _, key in ipairs(path.service.preserve) do
      local changed = M.changed(figures.marks, path, colour, key)
      if changed > 0 then
         v.failed[#v.failed + 1] = "marking"
         v.reasons[#v.reasons + 1] = ("%s of %s arrived with another %s"):format(format.count(changed),
            format.plural(figures.rx, colour .. " frame"), key:upper())
      end
   end
end

return M
