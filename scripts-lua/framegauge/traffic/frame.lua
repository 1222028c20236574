-- SPDX-License-Identifier: BSD-3-Clause

--- Frames from protocol stacks, by the tables of lib/frame.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local octets = require "framegauge.core.octets"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local C = api.C
local M = {}

-- What templates were built from, as long as they live.
local recipes = setmetatable({}, { __mode = "k" })

--- Smallest RFC 2544 test frame with room for the signature, bytes with FCS, untagged.
M.SMALLEST = { [4] = 64, [6] = 84 }

--- Flags of IPv4 in frames where a plan says nothing else: don't fragment. A device that cannot forward a
-- frame whole shall lose it, and not count for one that carries two.
M.DONT_FRAGMENT = 2

-- From the seed of one half of an address to the seed of the other.
local OTHER_DRAWS = 0x9e3779b97f4a7c15ULL

-- How a field changes.
-- @param list  uint64_t array of its values, or nil
-- @param high  whether the first 64 bits of an address change, not the last
local function vary_config(o, hold, list, high)
   return ffi.new("struct fg_vary_config", {
      first = o.first or 0, step = o.step or 0, count = o.list and #o.list or o.count, every = o.every or 1,
      seed = o.seed or 0, random = o.random or false, high = high or false, hold = hold or o.hold or 1,
      list = list,
   })
end

-- Values as the numbers of their last eight bytes, or of the eight before.
-- @return the array, and whether all values are the same
local function numbers(values, high)
   local array, same = ffi.new("uint64_t[?]", #values), true
   for i, value in ipairs(values) do
      array[i - 1] = octets.number(high and value:sub(1, 8) or value)
      same = same and array[i - 1] == array[0]
   end
   return array, same
end

local function vary_field(frame, name, o, hold, err)
   if not o.list then
      api.check(C.fg_frame_vary(frame, name, vary_config(o, hold, o.values, o.high), err), err)
      if o.other then -- with draws of its own
         local other = vary_config(o, hold, nil, true)
         other.first, other.step, other.count = o.other.first, o.other.step, o.other.count
         other.seed = other.seed + OTHER_DRAWS
         api.check(C.fg_frame_vary(frame, name, other, err), err)
      end
      return
   end
   local array = numbers(o.list)
   api.check(C.fg_frame_vary(frame, name, vary_config(o, hold, array), err), err)
   if type(o.list[1]) == "string" and #o.list[1] == 16 then
      local high, same = numbers(o.list, true)
      if not same then
         api.check(C.fg_frame_vary(frame, name, vary_config(o, hold, high, true), err), err)
      end
   end
end

local function vary_octets(frame, o, hold, err)
   local array = o.program.list and numbers(o.program.list)
   local config = vary_config(o.program, hold, array)
   api.check(C.fg_frame_vary_octets(frame, o.at, o.octets, o.mask, config, err), err)
end

-- One field of the layer that was pushed last.
local function set_field(frame, name, value, err)
   if type(value) == "string" then
      api.check(C.fg_frame_set_bytes(frame, name, value, #value, err), err)
   else
      api.check(C.fg_frame_set(frame, name, value, err), err)
   end
end

-- For how many frames each field holds its value where they are nested: the last one written changes with
-- every frame, the one before when that has gone through its values. A hold of its own is how often what is
-- inside goes through its values meanwhile, innermost how many frames.
local function nested_holds(programs)
   local holds, product = {}, 1
   for i = #programs, 1, -1 do
      local program = programs[i]
      local loose = program.random and "random" or (program.every or 1) > 1 and "every"
      if loose then
         user_error.raise(nil, 2, "%s: not with `vary: nested`, where each field goes through its values",
            loose)
      end
      holds[program] = product * (program.hold or 1)
      product = holds[program] * tonumber(program.count)
      if product > 2 ^ 48 then
         user_error.raise(nil, 2, "nested fields have more than 2^48 values together")
      end
   end
   return holds
end

local function programs_of(stack)
   local list = {}
   for _, layer in ipairs(stack) do
      for _, o in ipairs(layer.fields or {}) do
         list[#list + 1] = o.program
      end
      for _, o in ipairs(layer.bytes or {}) do
         list[#list + 1] = o.program
      end
   end
   for i, program in ipairs(list) do
      program.seed = program.seed or i
   end
   return list
end

local function write_field(frame, o, holds, err)
   if o.bad then
      api.check(C.fg_frame_set_bad(frame, o.name, err), err)
   elseif o.program then
      local base = o.program.base or (o.program.list and o.program.list[1])
      if base then
         set_field(frame, o.name, base, err)
      end
      vary_field(frame, o.name, o.program, holds[o.program], err)
   else
      set_field(frame, o.name, o.value, err)
   end
end

-- The layers of a stack are tables: a name by itself is an easy slip.
local function check_layers(stack)
   for i, layer in ipairs(stack) do
      if type(layer) ~= "table" or type(layer[1]) ~= "string" then
         user_error.raise("frame", 2, "frame.build: layer %d is %s; expected a table with the protocol's name first, such as { \"ipv4\", ttl = 64 }", i, type(layer) == "string" and ("%q"):format(layer)
            or type(layer) == "table" and "without a name" or tostring(layer))
      end
   end
end

-- An empty frame, freed when nobody refers to it any more.
local function new_frame()
   local frame = C.fg_frame_create()
   if frame == nil then
      error("not enough memory for a frame", 0)
   end
   return ffi.gc(frame, C.fg_frame_free)
end

--- Build the template of a frame.
-- @param size   bytes with FCS
-- @param stack  layers from the outside in: { "ethernet", destination = <bytes>, ... }; a field is a number
--               or, for addresses, a string of its bytes; or in `vary` what it changes to from frame to
--               frame, { first =, step =, count =, every = 1, seed = 0, random = false } (fg_vary.h),
--               and other = { first =, step =, count = } of the first 64 bits of an address at random;
--               or one of a list `fields` of { name =, and value =, bad = true or program = the same, also
--               with list = values, or values = a uint64_t array of `count` numbers, hold = frames }; in
--               `bytes` a list of { at = offset in the layer,
--               octets =, mask =, program = }
-- @param o.nested  whether the programs nest, the last one innermost, and do not go in step; none is random
-- or of some frames only
-- @param o.bytes   as in a layer, with offsets in the frame
-- @param o.payload  bytes that the payload repeats; by default it counts up
-- @param o.unsigned  whether the payload goes on up to the FCS, without a test signature
-- @return a struct fg_template, freed when nobody refers to it any more. Errors are raised.
-- @usage frame.build(64, { { "ethernet" }, { "ipv4" }, { "udp" } }).length --> 60
function M.build(size, stack, o)
   o = o or {}
   check_layers(stack)
   local err = api.error()
   local frame = new_frame()
   local all = { { bytes = o.bytes }, unpack(stack) }
   local programs = programs_of(all)
   local holds = o.nested and nested_holds(programs) or {}
   for _, one in ipairs(o.bytes or {}) do
      vary_octets(frame, one, holds[one.program], err)
   end
   for _, layer in ipairs(stack) do
      api.check(C.fg_frame_push(frame, layer[1], err), err)
      for field, value in pairs(layer) do
         if field ~= 1 and type(value) ~= "table" then
            set_field(frame, field, value, err)
         end
      end
      for _, field in ipairs(layer.fields or {}) do
         write_field(frame, field, holds, err)
      end
      for _, one in ipairs(layer.bytes or {}) do
         vary_octets(frame, one, holds[one.program], err)
      end
      for field, program in pairs(layer.vary or {}) do
         vary_field(frame, field, program, nil, err)
      end
   end
   if o.payload then
      api.check(C.fg_frame_set_payload(frame, o.payload, #o.payload, err), err)
   end
   if o.unsigned then
      C.fg_frame_leave_unsigned(frame)
   end
   local out = ffi.new("struct fg_template *[1]")
   api.check(C.fg_frame_finish(frame, size, out, err), err)
   local template = ffi.gc(out[0], C.fg_template_free)
   C.fg_frame_free(ffi.gc(frame, nil)) -- the garbage collector does not know how large it is
   recipes[template] = { size = size, stack = stack, more = o }
   return template
end

--- What build() was told: { size =, stack =, more = its o }.
-- @usage frame.recipe(frame.build(64, { { "ethernet" }, { "ipv4" }, { "udp" } })).size --> 64
function M.recipe(template)
   return recipes[template]
end

--- One frame, as a port would send it.
-- @param template  of build()
-- @param stream    its number in the signature
-- @param number    of the frame in its stream, from 0
-- @param time_ns   when it leaves, for the signature
-- @return its bytes without FCS
-- @usage #frame.make(frame.build(64, { { "ethernet" }, { "ipv4" }, { "udp" } }), 1, 0, 0) --> 60
function M.make(template, stream, number, time_ns)
   local out = ffi.new("uint8_t[?]", template.length)
   C.fg_template_make(template, stream, number, time_ns, out)
   return ffi.string(out, template.length)
end

--- Push the tags of a frame, from the outside in; priority and drop eligibility are the outermost one's.
-- @param stack  layers so far; it is changed
-- @param o      outer_vlan = id of the 802.1ad tag, vlan = of the 802.1Q one, or nil; pcp, dei
-- @return the stack
-- @usage frame.push_tags({ { "ethernet" } }, { vlan = 100, pcp = 5 })[2].priority --> 5
function M.push_tags(stack, o)
   local pcp, dei = o.pcp or 0, o.dei or 0
   if o.outer_vlan then
      stack[#stack + 1] = { "qinq", id = o.outer_vlan, priority = pcp, drop_eligible = dei }
      pcp, dei = 0, 0
   end
   if o.vlan then
      stack[#stack + 1] = { "vlan", id = o.vlan, priority = pcp, drop_eligible = dei }
   end
   return stack
end

--- The test frame of RFC 2544, C.2.6.4, but with DF: UDP echo, over IPv4 without UDP checksum, over IPv6 with
-- (RFC 5180).
-- @param size        bytes with FCS, a tag included
-- @param o.version   4 or 6
-- @param o.src_mac, o.dst_mac  six bytes
-- @param o.src, o.dst          addresses, four or sixteen bytes
-- @param o.dst_port  UDP port; by default echo
-- @param o.vlan, o.outer_vlan, o.pcp, o.dei  as push_tags() takes them; o.dscp
-- @param o.outer     layers between Ethernet, or the tag, and IP, such as a tunnel's; or nil
-- @param o.vary      what changes from frame to frame, see build(): src_mac, dst_mac, dst, src_port, dst_port
-- @usage frame.rfc2544(64, { version = 4, src = "\198\18\1\2", dst = "\198\19\1\2" }).length --> 60
function M.rfc2544(size, o)
   local vary = o.vary or {}
   local stack = {
      {
         "ethernet", source = o.src_mac, destination = o.dst_mac,
         vary = { source = vary.src_mac, destination = vary.dst_mac },
      },
   }
   M.push_tags(stack, o)
   tables.append(stack, o.outer or {})
   stack[#stack + 1] = {
      "ipv" .. o.version, source = o.src, destination = o.dst, vary = { destination = vary.dst },
      dscp = o.dscp, flags = o.version == 4 and M.DONT_FRAGMENT or nil,
   }
   stack[#stack + 1] = {
      "udp", destination = o.dst_port, checksum = o.version == 4 and 0 or nil,
      vary = { source = vary.src_port, destination = vary.dst_port },
   }
   return M.build(size, stack)
end

return M
