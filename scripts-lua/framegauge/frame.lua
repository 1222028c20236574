-- SPDX-License-Identifier: BSD-3-Clause

--- Frames from protocol stacks, by the tables of lib/frame.
local api = require "framegauge.api"
local ffi = require "ffi"

local C = api.C
local M = {}

--- Smallest RFC 2544 test frame with room for the signature, octets with FCS, untagged.
M.SMALLEST = { [4] = 64, [6] = 84 }

local function vary_config(o)
   return ffi.new("struct fg_vary_config", {
      first = o.first, step = o.step, count = o.count, every = o.every or 1, seed = o.seed or 0,
      random = o.random or false, high = o.high or false,
   })
end

-- One field of the layer that was pushed last.
local function set_field(frame, name, value, err)
   if type(value) == "string" then
      api.check(C.fg_frame_set_bytes(frame, name, value, #value, err), err)
   else
      api.check(C.fg_frame_set(frame, name, value, err), err)
   end
end

local function write_field(frame, o, err)
   if o.bad then
      api.check(C.fg_frame_set_bad(frame, o.name, err), err)
   elseif o.program then
      if o.program.base then
         set_field(frame, o.name, o.program.base, err)
      end
      api.check(C.fg_frame_vary(frame, o.name, vary_config(o.program), err), err)
   else
      set_field(frame, o.name, o.value, err)
   end
end

--- Build the template of a frame.
-- @param size   octets with FCS
-- @param stack  layers from the outside in: { "ethernet", destination = <octets>, ... }; a field is a number
--               or, for addresses, a string of its octets; or in `vary` what it changes to from frame to
--               frame, { first =, step =, count =, every = 1, seed = 0, random = false } (fg_vary.h);
--               or one of a list `fields` of { name =, and value =, bad = true or program = the same }
-- @return a struct fg_template, freed when nobody refers to it any more. Errors are raised.
-- @usage frame.build(64, { { "ethernet" }, { "ipv4" }, { "udp" } }).length --> 60
function M.build(size, stack)
   local err = api.error()
   local frame = ffi.gc(C.fg_frame_create(), C.fg_frame_free)
   for _, layer in ipairs(stack) do
      api.check(C.fg_frame_push(frame, layer[1], err), err)
      for field, value in pairs(layer) do
         if field ~= 1 and type(value) ~= "table" then
            set_field(frame, field, value, err)
         end
      end
      for _, field in ipairs(layer.fields or {}) do
         write_field(frame, field, err)
      end
      for field, o in pairs(layer.vary or {}) do
         api.check(C.fg_frame_vary(frame, field, vary_config(o), err), err)
      end
   end
   local out = ffi.new("struct fg_template *[1]")
   api.check(C.fg_frame_finish(frame, size, out, err), err)
   return ffi.gc(out[0], C.fg_template_free)
end

--- One frame, as a port would send it.
-- @param template  of build()
-- @param stream    its number in the signature
-- @param number    of the frame in its stream, from 0
-- @param time_ns   when it leaves, for the signature
-- @return its octets without FCS
-- @usage #frame.make(frame.build(64, { { "ethernet" }, { "ipv4" }, { "udp" } }), 1, 0, 0) --> 60
function M.make(template, stream, number, time_ns)
   local out = ffi.new("uint8_t[?]", template.length)
   C.fg_template_make(template, stream, number, time_ns, out)
   return ffi.string(out, template.length)
end

--- The test frame of RFC 2544, C.2.6.4: UDP echo, over IPv4 without UDP checksum, over IPv6 with (RFC 5180).
-- @param size        octets with FCS, a tag included
-- @param o.version   4 or 6
-- @param o.src_mac, o.dst_mac  six octets
-- @param o.src, o.dst          addresses, four or sixteen octets
-- @param o.dst_port  UDP port; by default echo
-- @param o.vlan      VLAN id of a tag, or nil
-- @param o.vary      what changes from frame to frame, see build(): src_mac, dst_mac, dst, src_port, dst_port
function M.rfc2544(size, o)
   local vary = o.vary or {}
   local stack = {
      {
         "ethernet", source = o.src_mac, destination = o.dst_mac,
         vary = { source = vary.src_mac, destination = vary.dst_mac },
      },
   }
   if o.vlan then
      stack[#stack + 1] = { "vlan", id = o.vlan }
   end
   stack[#stack + 1] = {
      "ipv" .. o.version, source = o.src, destination = o.dst, vary = { destination = vary.dst },
   }
   stack[#stack + 1] = {
      "udp", destination = o.dst_port, checksum = o.version == 4 and 0 or nil,
      vary = { source = vary.src_port, destination = vary.dst_port },
   }
   return M.build(size, stack)
end

return M
