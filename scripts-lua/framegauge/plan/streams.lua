-- SPDX-License-Identifier: BSD-3-Clause

--- The user's own streams: their keys and rules: their ports exist, and their frames can be built. As in
-- plan/rules.lua, each rule gets the values and the list of problems.
local keys = require "framegauge.plan.keys"
local api = require "framegauge.core.api"
local loads = require "framegauge.traffic.loads"
local octet_program = require "framegauge.plan.octet_program"
local plan_faults = require "framegauge.plan.faults"
local plan_ports = require "framegauge.plan.ports"
local plan_stack = require "framegauge.plan.stack"
local shared = require "framegauge.plan.shared_rows"
local sizes = require "framegauge.traffic.sizes"
local stack = require "framegauge.traffic.stack"
local stream_config = require "framegauge.traffic.stream_config"
local tables = require "framegauge.core.tables"

local M = {}

local size_row = keys.group("size", "bytes from the destination address to the FCS: one number, a list, a mix by name, or one of:", {
   { "list", "list", "sizes in this order, again and again; imix is 7:4:1 frames of 64, 570 and 1518, imix_576 and imix_594 the same with other middle ones, emix the genome abceg",
     of = { type = "frame_size" }, default_help = "64" },
   { "genome", "string", "a sequence of letters (RFC 6985): a 64, b 128, c 256, d 512, e 1024, f 1280, g 1518, h 2112, i 9000, j 16000, z `largest`; a number before a letter repeats it",
     longest = 4096, default_help = "none" },
   { "letters", "map", "other letters, or other sizes of these",
     name = "letter", optional = true,
     of = keys.group(nil, nil, {
        { "size", "size", "bytes with FCS", min = "64", max = "16128", required = true },
     }, { short = "size" }), names = { longest = 1, match = "^%a$", expected = "a letter" },
     expected = "letters with sizes, such as {A: 64, B: 570}", default_help = "none" },
   { "largest", "size", "the letter z", min = "64", max = "16128", default = "1518" },
   { "mix", "map", "frames of each size, spread evenly",
     name = "size", optional = true,
     of = keys.group(nil, nil, {
        { "weight", "integer", "frames of this size among all", min = "1", max = "65536", required = true },
     }, { short = "weight" }), names = { longest = 5, match = "^%d+$", expected = "bytes" },
     expected = "weights by size, such as {64: 7, 570: 4, 1518: 1}", default_help = "none" },
   { "from", "size", "sizes from this ...", min = "64", max = "16128", default_help = "none" },
   { "to", "size", "... to this ...", min = "64", max = "16128", default_help = "none" },
   { "step", "integer", "... in such steps", min = "1", max = "16064", default = "1" },
   { "random", "string", "any size of a range, such as 64-1518", longest = 31, default_help = "none" },
   { "order", { "fixed", "random" }, "random: the frames of the cycle shuffled, so that their shares stay",
     default = "fixed" },
   shared.seed("1", "of what is random"),
}, {
   short = "list", expected = "bytes with FCS, a list of them, a mix such as imix, or keys",
   default_help = "64",
})

local function ramp(help)
   return {
      { "from", "rate", "a ramp from this load ...", max = "100%", default_help = "none" },
      { "to", "rate", "... to this one ...", max = "100%", default_help = "none" },
      { "over", "time", help, min = "1us", max = "24h", default_help = "none" },
   }
end

local steps = {
   { "rate", "rate", "a constant load; 0 is a pause", max = "100%", default = "10%" },
   { "for", "time", "how long", min = "1us", max = "24h", default_help = "none" },
   ramp "... evenly in this time",
}

local load_row = keys.group("rate", "the load: one value, evenly sent, or keys:", {
   { "rate", "rate", "with `burst` the mean; frames per second are spaced evenly, bits and percent by the bytes of the frames; 0 sends nothing",
     max = "100%", default = "10%" },
   { "burst", "integer", "send bursts of this many frames",
     min = "1", max = "4294967295", default_help = "none" },
   { "within", "rate", "load within a burst", max = "100%", default_help = "the line's" },
   { "gap", "time", "from the last frame of a burst to the first of the next, in place of the rate",
     max = "24h", default_help = "as the rate says" },
   { "per_second", "number", "bursts per second, in place of the rate",
     min = "0.001", max = "1000000000", default_help = "as the rate says" },
   { "poisson", "rate", "frames at random times, independent of each other, at this rate in the mean",
     max = "100%", default_help = "none" },
   shared.seed("1", "of these times"),
   { "profile", "list", "loads one after the other, repeated; the number of frames follows the integral of the rates, also where a step is shorter than a frame: {rate: 10%, for: 1s}, {rate: 0, for: 1s}, {from: 0, to: 90%, over: 5s}",
     default_help = "none", of = keys.group(nil, "one load of a profile", steps) },
   ramp "... evenly in this time, then no more",
}, { short = "rate", expected = "a load, such as 40%, or keys", default_help = "10%" })

local payload_row = keys.group("payload", "what is between the headers and the signature, which the test `traffic` compares where it arrives:", {
   { "octets", "payload", "incrementing (RFC 2544), zeros, ones, random, prbs9, prbs15, prbs23 or prbs31 (ITU-T O.150; begins anew in each frame), or bytes in hex, which are repeated",
     default_help = "incrementing" },
   { "text", "string", "a text that is repeated, in place of octets", longest = 4096, default_help = "none" },
   shared.seed("1", "of random bytes, which are the same in every frame of the stream"),
}, {
   short = "octets",
   expected = "incrementing, zeros, ones, random, prbs31, bytes in hex such as 0xdeadbeef, or keys",
   default_help = "incrementing",
})

local stream_row = keys.group(nil, nil, {
   { "from", "string", "the port that sends it", longest = 31, default_help = "the first port" },
   { "to", "string", "the port that should receive it", longest = 31, default_help = "the next port" },
   { "frame", "stack", "its protocols from the outside in, each a name, a name with its fields, or a name with the value of its main field; addresses left out are the ports' and gateways', and ipv4 has DF where flags and fragment_offset are left out; see docs/reference/protocols.md",
     expected = plan_stack.expected, default_help = "[ethernet, ipv4, udp]" },
   { "vary", { "in-step", "nested" }, "how fields that change go together: all at once, or one within the other, the last one written the fastest",
     default = "in-step" },
   { "bytes", "bytes", "bytes of the frame that change, at any place: {at: OFFSET, octets: N, mask: 0xff, and value, from, to, list, random as for fields}",
     expected = octet_program.expected, default_help = "none" },
   payload_row, size_row, load_row,
   { "frames", "integer", "send exactly this number of frames, then no more",
     min = "1", max = "9007199254740992", default_help = "until the end" },
   plan_faults.row,
})

M.row = { "streams", "map", "streams of one's own, by names of your choice; `framegauge frames` shows what they would send",
   of = stream_row, name = "name", most = 16384,
   names = { longest = 64, match = "^%w[%w_.-]*$", expected = "letters, digits, '_', '.' and '-'" },
   expected = "streams by name, such as voice: {frame: [ethernet, ipv4, udp], rate: 10Mbps L2}" }

local function path(stream, key)
   return "streams." .. stream.name .. (key and "." .. key or "")
end

local function port_names(values)
   local names = tables.field(values.ports, "name")
   return table.concat(names, ", ")
end

local function ports_are_there(values, found)
   for _, stream in ipairs(values.streams) do
      local from, to = stack.ends(values.ports, stream)
      for key, index in pairs { from = from or false, to = to or false } do
         if stream[key] and not index then
            found:add(path(stream, key), ("there is no port %s"):format(stream[key]), port_names(values))
         end
      end
      if from and from == to and #values.ports > 1 then
         found:add(path(stream, stream.to and "to" or "from"), "a port cannot send to itself",
            "another port")
      end
   end
end

-- Ports as traffic/stack.lua takes them.
local function plain_ports(values)
   local list = {}
   for i, port in ipairs(values.ports) do
      list[i] = {
         name = port.name, mac = port.mac, vlan = port.vlan,
         gateway4 = port.gateway, gateway6 = port.gateway6, gateway_mac = port.gateway_mac,
         ipv4 = port.ipv4 and port.ipv4.address, ipv6 = port.ipv6 and port.ipv6.address,
      }
   end
   return list
end

-- Where in the plan a layer of the stack stands.
local function layer_path(stream, layer)
   for i, one in ipairs(stream.frame or {}) do
      if one == layer.origin then
         return ("%s[%d]"):format(path(stream, "frame"), i)
      end
   end
   return path(stream, "frame")
end

-- Errors of a stream whose frames are right.
local function check_errors(values, stream, make, found)
   local from = stack.ends(values.ports, stream)
   local line_rate = plan_ports.line_rate(values, values.ports[from])
   local fps = stream_config.fps(values.ports, stream, line_rate)
   plan_faults.check(stream, path(stream, "errors"), values.ports[from], fps or 0, make, found)
end

-- The least of a stream's sizes, and one for each remainder of the others: packets may be whole words.
local function samples(stream)
   local _, size = sizes.of(stream)
   local list, seen = { size.least }, { [size.least % 4] = true }
   for _, octets in ipairs(size.kinds) do
      list[#list + 1], seen[octets % 4] = not seen[octets % 4] and octets or nil, true
   end
   return list
end

local function check_frame(values, stream, ports, found)
   local macs = stack.placeholders(ports)
   local layers, problem = stack.layers(ports, stream, macs)
   if not layers then
      found:add(layer_path(stream, problem.layer), problem.field .. ": " .. problem.message, problem.expected)
      return
   end
   local function make(octets)
      return stack.template(ports, stream, macs, octets)
   end
   local ok, err
   for _, octets in ipairs(samples(stream)) do
      ok, err = pcall(make, octets)
      if not ok then
         break
      end
   end
   if ok and stream.errors then
      check_errors(values, stream, make, found)
   elseif not ok then
      api.raise_unexpected(err)
      found:add(path(stream, err.where == "frame_size" and "size" or "frame"),
         err.where == "frame_size" and err.message or tostring(err))
   end
end

local function sizes_and_loads_are_some(values, found)
   for _, stream in ipairs(values.streams) do
      for _, part in ipairs(stream.size.mix or {}) do
         if tonumber(part.size) < 64 or tonumber(part.size) > 16128 then
            found:add(path(stream, "size.mix." .. part.size), "out of range", "64 to 16128")
         end
      end
      -- invalid sizes make no cycle
      local problem = not found:has_below(path(stream, "size")) and select(2, sizes.cycle(stream.size))
      if problem then
         found:add(path(stream, "size." .. problem.key), problem.message, problem.expected)
      end
      if stream.payload.octets and stream.payload.text then
         found:add(path(stream, "payload.text"), "not together with octets", "one of both")
      end
      local from = stack.ends(values.ports, stream)
      local line_rate = from and plan_ports.line_rate(values, values.ports[from])
      problem = loads.problem(stream.rate,
         not problem and from and stream_config.context(values.ports, stream, line_rate) or nil)
      if problem then
         found:add(path(stream, "rate." .. problem.key), problem.message, problem.expected)
      end
   end
end

local function frames_can_be_built(values, found)
   local ports = plain_ports(values)
   for _, stream in ipairs(values.streams) do
      local from, to = stack.ends(values.ports, stream)
      if from and to and not found:has_below(path(stream)) then
         check_frame(values, stream, ports, found)
      end
   end
end

--- All of them, in order.
M.rules = { ports_are_there, sizes_and_loads_are_some, frames_can_be_built }

return M
