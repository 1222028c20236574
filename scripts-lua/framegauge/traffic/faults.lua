-- SPDX-License-Identifier: BSD-3-Clause

--- The errors that a stream of the plan makes on purpose, as the engine takes them.
--
-- Which frames are wrong follows from the plan alone (lib/path/fg_inject.h); here it is found out where in a
-- frame it stands what can be wrong: in the outermost IP header and the one behind it.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local protocols = require "framegauge.core.protocols"
local tables = require "framegauge.core.tables"

local C = api.C
local M = {}

local MOST = 64 -- headers of a frame

--- The kinds, in the order of enum fg_inject; keys of the group `errors` of a stream.
M.KINDS = {
   "skip", "duplicate", "reorder", "delay", "ip_checksum", "l4_checksum", "ip_length", "l4_length", "payload",
   "fcs", "runt", "oversize",
}

-- Where a field of a header is in the frame; 0: the header has none of that name.
local function field_at(found, protocol, name, bytes)
   local field = protocol.field[name]
   local at = field and C.fg_field_bit(protocol.c, field.c, bytes + found.offset) or -1
   return at >= 0 and found.offset + at / 8 or 0
end

-- What stands behind IP: no extension of it, and nothing that has lengths of its own and is IP again.
local function is_transport(protocol)
   return tables.any(protocol.places, function(place)
      return place.space == "ip" and protocol.network == 0 and protocol.field.checksum
   end)
end

local function offsets(out, template)
   local found, ip = ffi.new("struct fg_found[?]", MOST), nil
   for i = 0, C.fg_dissect("ethernet", template.bytes, template.length, found, MOST) - 1 do
      local protocol = protocols.by_name[ffi.string(found[i].protocol.name)]
      if protocol.network ~= 0 and not ip then
         ip = protocol
         out.ip_checksum = field_at(found[i], protocol, "checksum", template.bytes)
         out.ip_length = field_at(found[i], protocol, "length", template.bytes)
      elseif ip and is_transport(protocol) then
         out.l4_checksum = field_at(found[i], protocol, "checksum", template.bytes)
         if protocol.name == "udp" then
            out.l4_length = field_at(found[i], protocol, "length", template.bytes)
         end
         return
      end
   end
end

-- How many places later a frame departs.
local function places_of(key, o, fps)
   return key == "delay" and math.max(1, math.floor(o.late * fps + 0.5)) or key == "reorder" and o.by or 0
end

--- What the engine is told of a stream.
-- @param stream    of the plan; with errors
-- @param template  of its shortest frames
-- @param o.fps     its frames per second in the mean
-- @param o.make    function(size) that makes a template of its frames
-- @return a struct fg_stream_faults, and what must live as long
function M.config(stream, template, o)
   local config, errors = ffi.new("struct fg_stream_faults"), stream.errors
   config.program.seed = errors.seed
   for i, key in ipairs(M.KINDS) do
      local one = errors[key]
      if one then
         config.program.rule[i - 1] = {
            trigger = { one.every, one.random }, run = one.run, limit = one.most,
            places = math.min(places_of(key, one, o.fps), 2 ^ 31),
         }
      end
   end
   offsets(config.fields, template)
   local length = errors.l4_length or errors.ip_length
   config.fields.length_by = length and length.by or 1
   config.fields.payload_bits = errors.payload and errors.payload.bits or 1
   config.fields.runt_size = errors.runt and errors.runt.size or 60
   local oversize = errors.oversize and o.make(errors.oversize.size) or nil
   config.oversize = oversize
   return config, oversize
end

--- Keep it from being sent if it cannot be.
-- @param where  what stands before the keys in messages
-- @return an error of lib/path (where, message), or nil
function M.problem(config, template, where)
   local err, out = api.error(), ffi.new("struct fg_injector *[1]")
   if C.fg_inject_check(config.fields, config.program, template, where, err) ~= 0
      or C.fg_injector_create(config.program, where, out, err) ~= 0 then
      api.raise_refused(err)
      return { where = ffi.string(err.where), message = ffi.string(err.message) }
   end
   C.fg_injector_free(out[0])
   return nil
end

-- The kinds of a departure, by name.
local function names(kinds)
   local list = {}
   for i, key in ipairs(M.KINDS) do
      if math.floor(kinds / 2 ^ (i - 1)) % 2 == 1 then
         list[#list + 1] = key
      end
   end
   return list
end

--- What departs, one after the other.
-- @param config  as M.config gave it
-- @return function that returns the number of the next departure's frame, its kinds (bits of enum fg_inject)
-- and their names
function M.departures(config)
   local err, out = api.error(), ffi.new("struct fg_injector *[1]")
   api.check(C.fg_injector_create(config.program, "errors", out, err), err)
   local program, departure = ffi.gc(out[0], C.fg_injector_free), ffi.new("struct fg_departure")
   return function()
      C.fg_injector_next(program, departure)
      return tonumber(departure.number), departure.kinds, names(departure.kinds)
   end
end

--- Bit of a sequence number in the signature: the frame is sent a second time (lib/frame/fg_signature.h).
M.COPY = 2 ^ 47

--- One frame, as a port would send it.
-- @param template  of its size
-- @param stream    its number in the signature
-- @param number, kinds  as M.departures gave them
-- @return its bytes without FCS
function M.make(config, template, stream, number, kinds, time_ns)
   local out = ffi.new("uint8_t[?]", template.length)
   local copy = kinds % 4 >= 2 and M.COPY or 0
   C.fg_template_make(template, stream, number + copy, time_ns, out)
   return ffi.string(out, C.fg_inject_apply(config.fields, template, kinds, number, out))
end

--- What the engine counted of each kind that the stream was to make.
-- @param result  struct fg_stream_result
-- @return list of { kind =, sent =, received = nil for what is left out }, in the order of M.KINDS
function M.counts(stream_errors, result)
   local list = {}
   for i, key in ipairs(M.KINDS) do
      if stream_errors[key] then
         local count = result.faults[i - 1]
         list[#list + 1] = {
            kind = key, sent = tonumber(count.sent),
            received = key ~= "skip" and tonumber(count.received) or nil,
         }
      end
   end
   return list
end

return M
