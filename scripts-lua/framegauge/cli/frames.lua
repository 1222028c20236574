-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge frames`: what a plan would send, as text or as a capture.
local dissection = require "framegauge.cli.dissection"
local frames = require "framegauge.tester.frames"
local load_plan = require "framegauge.cli.load_plan"
local methods = require "framegauge.methods"
local parse = require "framegauge.cli.parse"
local sizes = require "framegauge.traffic.sizes"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local BAD_PLAN, MACHINE = 2, 4
local WIDTH, INDENT = 92, 4

-- A word, then others in addition, wrapped.
local function wrapped(indent, word, parts, out)
   local text = ("%-28s"):format((" "):rep(indent) .. word)
   local margin = (" "):rep(#text)
   for i, part in ipairs(parts) do
      if i > 1 and #text + #part + 2 > WIDTH then
         out[#out + 1] = text .. "\n"
         text = margin
      end
      text = text .. "  " .. part
   end
   out[#out + 1] = text:gsub("%s+$", "") .. "\n"
end

local function layer_text(layer, out)
   local parts = tables.map(layer.fields, function(field) return field.name .. " " .. field.text end)
   if layer.padding then
      parts[1] = layer.size .. " bytes"
   end
   local inside = layer.option or layer.padding
   wrapped(inside and INDENT + 2 or INDENT, layer.padding and "padding" or layer.protocol, parts, out)
end

local function hex_text(octets, out)
   for at = 1, #octets, 16 do
      local row = octets:sub(at, at + 15):gsub(".", function(octet)
         return (" %02x"):format(octet:byte())
      end)
      out[#out + 1] = ("%s%04x %s\n"):format((" "):rep(INDENT), at - 1, row)
   end
end

local function frame_text(number, octets, time_ns, errors, out)
   local layers, payload = dissection.read(octets)
   out[#out + 1] = ("  frame %d at %.0f ns%s\n"):format(number, time_ns,
      errors[1] and ", on purpose: " .. table.concat(errors, ", ") or "")
   for _, layer in ipairs(layers) do
      layer_text(layer, out)
   end
   local mark, rest = dissection.signature(octets), #octets - dissection.SIGNATURE - payload
   wrapped(INDENT, "payload", { math.max(0, rest) .. " bytes" }, out)
   wrapped(INDENT, "signature", { "stream " .. mark.stream, ("sequence %.0f"):format(mark.sequence),
      ("time %.0f ns"):format(mark.time_ns), mark.again and "again" or nil }, out)
   hex_text(octets, out)
end

local function print_streams(list, count)
   for _, one in ipairs(list) do
      local stream, out = one.stream, {}
      local rate = stream.fps and (", %.0f frames/s"):format(stream.fps) or ""
      local d = sizes.describe(stream.cycle)
      local size = d.least == d.most and d.least or ("%d to %d (mean %.1f)"):format(d.least, d.most, d.mean)
      io.write(("%s: %s, %s bytes%s\n"):format(stream.name, stream.direction, size, rate))
      for number, octets, time_ns, errors in frames.of_stream(stream, one.index, count) do
         frame_text(number, octets, time_ns, errors, out)
      end
      io.write(table.concat(out))
   end
end

-- All frames of all streams in the order in which they leave.
local function in_order(list, count)
   local all = {}
   for _, one in ipairs(list) do
      for _, octets, time_ns in frames.of_stream(one.stream, one.index, count) do
         all[#all + 1] = { octets = octets, time_ns = time_ns, order = #all }
      end
   end
   table.sort(all, function(a, b)
      return a.time_ns < b.time_ns or (a.time_ns == b.time_ns and a.order < b.order)
   end)
   return all
end

local function write_capture(path, list, count)
   local file, message = require("framegauge.text.pcap").create(path)
   if not file then
      user_error.raise("frames", MACHINE, "%s", message)
   end
   local all = in_order(list, count)
   for _, one in ipairs(all) do
      file:add(one.octets, one.time_ns)
   end
   local ok, why = file:close()
   if not ok then
      user_error.raise("frames", MACHINE, "%s: %s", path, why)
   end
   print(("%s: %d frames of %d streams"):format(path, #all, #list))
end

local function wanted(streams, names)
   local list, left = {}, {}
   for _, name in ipairs(names) do
      left[name] = true
   end
   for i, stream in ipairs(streams) do
      if not names[1] or left[stream.name] ~= nil then
         list[#list + 1] = { stream = stream, index = i }
         left[stream.name] = names[1] and false or nil
      end
   end
   for _, name in ipairs(names) do
      if left[name] then
         parse.usage_error("frames", "frames: the plan has no stream '%s'", name)
      end
   end
   return list
end

local function count_of(options)
   local count = options.count and options.count:find("^%d+$") and tonumber(options.count) or nil
   if options.count and (not count or count < 1 or count > 1e7) then
      parse.usage_error("frames", "frames: --count '%s' is no number from 1 to 10000000", options.count)
   end
   return count or 1
end

function M.main(arguments, options)
   local count = count_of(options)
   local plan = load_plan(arguments[1], options)
   local made = methods.of(plan).test_frames or function() end
   local list = wanted(frames.streams(plan, made(plan)), options.stream)
   if not list[1] then
      user_error.raise("frames", BAD_PLAN, "%s: no streams, and the test makes its own as it goes",
         arguments[1])
   elseif options.pcap then
      write_capture(options.pcap, list, count)
   else
      print_streams(list, count)
   end
   return 0
end

return M
