-- SPDX-License-Identifier: BSD-3-Clause

-- Streams of a plan, from the stack to the bytes and back.
local dissection = require "framegauge.cli.dissection"
local frames = require "framegauge.tester.frames"
local plans = require "framegauge.plan"

local HEAD = [[
test: rfc2544
ports:
  east: {device: wire0, ipv4: 198.18.1.2/24, ipv6: "2001:2:0:1::2/64", mac: "02:00:00:00:00:0a"}
  west: {device: wire1, ipv4: 198.19.1.2/24, ipv6: "2001:2:0:2::2/64"}
]]

local function load(text)
   local plan, errors = plans.load_text(HEAD .. text, "plan")
   assert(plan, errors and tostring(errors[1]))
   return plan
end

-- The layers of frame n of the only stream: { name = ..., field = text ... }
local function layers_of(keys, number)
   local stream = frames.streams(load("streams:\n  s: {" .. keys .. "}\n"))[1]
   for n, octets in frames.of_stream(stream, 1, (number or 0) + 1) do
      if n == (number or 0) then
         local list = {}
         for i, layer in ipairs((dissection.read(octets))) do
            list[i] = { name = layer.protocol }
            for _, field in ipairs(layer.fields) do
               list[i][field.name] = field.text
            end
         end
         return list, octets
      end
   end
end

local function names(list)
   local out = {}
   for i, layer in ipairs(list) do
      out[i] = layer.name
   end
   return table.concat(out, " ")
end

describe("a stream of the plan", function()
   it("has the addresses of the ports where it says none", function()
      local list = layers_of "size: 128"
      assert.equal("ethernet ipv4 udp", names(list))
      assert.equal("02:00:00:00:00:0a", list[1].source)
      assert.equal("02:46:67:00:00:02", list[1].destination)
      assert.equal("198.18.1.2", list[2].source)
      assert.equal("198.19.1.2", list[2].destination)
      list = layers_of "from: west, size: 128, frame: [ethernet, ipv6, udp]"
      assert.equal("2001:2:0:2::2", list[2].source)
      assert.equal("02:00:00:00:00:0a", list[1].destination)
   end)

   it("must not be fragmented, unless its stack says so", function()
      local function flags(stack, at)
         return layers_of("size: 200, frame: [" .. stack .. "]")[at or 2].flags
      end
      assert.equal("df", layers_of("size: 128")[2].flags)
      assert.equal("df", flags "ethernet, {ipv4: {ttl: 9}}, udp")
      assert.equal("none", flags "ethernet, {ipv4: {flags: none}}, udp")
      assert.equal("mf", flags "ethernet, {ipv4: {flags: mf}}, udp")
      assert.equal("none", flags "ethernet, {ipv4: {fragment_offset: 3}}, udp")
      assert.equal("df", flags("ethernet, ipv4, udp, vxlan, ethernet, ipv4, udp", 6))
      local made = frames.streams(load "", { 64 }, {})[1]
      for _, octets in frames.of_stream(made, 1, 1) do
         assert.equal(0x40, octets:byte(21)) -- of IPv4: flags, and the offset of the fragment
      end
   end)

   it("is what was asked for, read back from its octets", function()
      local list = layers_of([[size: 200, frame: [{ethernet: {destination: "02:00:00:00:00:0b"}},
         {qinq: 200}, {vlan: {id: 100, priority: 5}}, {mpls: 17}, {mpls: {label: 18, ttl: 1}},
         {ipv4: {dscp: 46, flags: df, options: [nop, router_alert]}},
         {tcp: {flags: syn+ece, options: [{mss: 536}, {option: "0102"}]}}]
      ]])
      assert.equal("ethernet qinq vlan mpls mpls ipv4 ipv4_nop ipv4_router_alert ipv4 tcp tcp_mss tcp_option",
         names(list))
      assert.same({ "200", "5", "100" }, { list[2].id, list[3].priority, list[3].id })
      assert.same({ "17", "0", "18", "1", "1" },
         { list[4].label, list[4].bottom, list[5].label, list[5].bottom, list[5].ttl })
      assert.same({ "46", "df", "7" }, { list[6].dscp, list[6].flags, list[6].header_length })
      assert.same({ "syn+ece", "536", "0102" }, { list[10].flags, list[11].size, list[12].data })
   end)

   it("is wrong where it was asked to be", function()
      local right = layers_of "frame: [ethernet, ipv4, udp]"
      local wrong = layers_of "frame: [ethernet, {ipv4: {checksum: bad}}, {udp: {length: 5, checksum: bad}}]"
      assert.equal(tonumber(right[2].checksum) + 1, tonumber(wrong[2].checksum))
      assert.equal("5", wrong[3].length)
      assert.not_equal(right[3].checksum, wrong[3].checksum)
      assert.equal("0xdead", layers_of("frame: [ethernet, {ipv4: {checksum: 0xdead}}]")[2].checksum)
   end)

   it("goes to the MAC address of the group that IP names, and of bridges", function()
      local function mac(stack)
         return layers_of("size: 128, frame: " .. stack)[1].destination
      end
      assert.equal("01:00:5e:01:02:03", mac "[ethernet, {ipv4: {destination: 239.129.2.3}}, igmp]")
      assert.equal("33:33:00:00:01:02", mac '[ethernet, {ipv6: {destination: "ff02::102"}}, mld]')
      assert.equal("01:80:c2:00:00:01", mac "[ethernet, pause]")
      assert.equal("02:46:67:00:00:02", mac "[ethernet, {raw: aabb}]")
   end)

   it("changes from frame to frame", function()
      local stack = "frame: [ethernet, {ipv4: {destination: 198.19.1.9-198.19.1.7}}, {udp: {source: {from: 10, to: 14, step: 2}, destination: {random: 100-199, seed: 3}}}]"
      local seen = {}
      for n = 0, 5 do
         local list = layers_of(stack, n)
         seen[n] = list[2].destination:match("%d+$") .. " " .. list[3].source
         assert.is_true(tonumber(list[3].destination) >= 100 and tonumber(list[3].destination) < 200)
      end
      assert.same({ [0] = "9 10", "8 12", "7 14", "9 10", "8 12", "7 14" }, seen)
   end)

   it("changes either half of an IPv6 address", function()
      local list = layers_of('size: 128, frame: [ethernet, {ipv6: {source: "2001:2:0:1::7-2001:2:0:f::7", destination: "2001:2::1-2001:2::ff"}}, udp]', 3)
      assert.same({ "2001:2:0:4::7", "2001:2::4" }, { list[2].source, list[2].destination })
   end)

   it("carries the tag of its port", function()
      local tagged = HEAD:gsub('west: {', 'west: {vlan: 7, ')
      local stream = frames.streams(plans.load_text(tagged .. "rfc2544: {frame_sizes: [68]}\n"
         .. "streams: {s: {from: west, size: 68}}", "p"))[1]
      local _, octets = frames.of_stream(stream, 1, 1)(nil, -1)
      local list = dissection.read(octets)
      assert.same({ "vlan", "7", "ipv4" }, { list[2].protocol, list[2].fields[3].text, list[3].protocol })
   end)
end)

describe("the frames of RFC 2544", function()
   it("are those of every size, direction and modifier", function()
      local list = frames.streams(load "", { 64, 512 }, { "broadcast" })
      local seen = {}
      for i, stream in ipairs(list) do
         seen[i] = stream.name .. ", " .. stream.direction
      end
      assert.equal(12, #seen)
      assert.equal("64 bytes, east->west", seen[1])
      assert.equal("512 bytes, broadcast, unmeasured, west->east", seen[12])
      assert.equal(508, list[7].templates[512].length)
   end)
end)

describe("a payload", function()
   local function carried(payload)
      local _, octets = layers_of("size: 80" .. (payload and ", payload: " .. payload or ""))
      return octets:sub(43, -19)
   end

   it("is what was asked for, repeated up to the signature", function()
      assert.equal(16, #carried())
      assert.equal("\0\1\2\3\4\5\6\7\8\9\10\11\12\13\14\15", carried())
      assert.equal(carried(), carried "incrementing")
      assert.equal(("\0"):rep(16), carried "zeros")
      assert.equal(("\255"):rep(16), carried "ones")
      assert.equal(("\90"):rep(16), carried "0x5a")
      assert.equal(("\222\173\190"):rep(5) .. "\222", carried "0xdeadbe")
      assert.equal("hello, hello, he", carried "{text: 'hello, '}")
   end)

   it("is a pseudorandom sequence of ITU-T O.150", function()
      local zeros = { prbs9 = 8, prbs15 = 15 } -- in a row at most, in a whole period
      local stages = { prbs9 = { 9, 5 }, prbs15 = { 15, 14 }, prbs23 = { 23, 18 }, prbs31 = { 31, 28 } }
      for name, stage in pairs(stages) do
         local _, octets = layers_of("size: 9000, payload: " .. name)
         local bits, run, longest = {}, 0, 0
         for octet in octets:sub(43, -19):gmatch "." do
            for i = 7, 0, -1 do
               local one = math.floor(octet:byte() / 2 ^ i) % 2
               bits[#bits + 1], run = name == "prbs9" and one or 1 - one, one == 0 and run + 1 or 0
               longest = math.max(longest, run)
            end
         end
         local n, tap = stage[1], stage[2]
         for i = 1, #bits do
            assert.equal(i <= n and 1 or (bits[i - n] + bits[i - tap]) % 2, bits[i])
         end
         assert.equal(zeros[name] or longest, longest)
      end
      assert.equal("\255\131\223\23\50\9\78\209", carried("prbs9"):sub(1, 8))
   end)

   it("is random by its seed", function()
      assert.equal(carried "random", carried "{octets: random, seed: 1}")
      assert.not_equal(carried "random", carried "{octets: random, seed: 2}")
      local ones, _, octets = 0, layers_of "size: 9000, payload: random"
      for octet in octets:sub(43, -19):gmatch "." do
         for i = 0, 7 do
            ones = ones + math.floor(octet:byte() / 2 ^ i) % 2
         end
      end
      assert.near(0.5, ones / (8 * (#octets - 42 - 18)), 0.01) -- five standard deviations
   end)
end)

describe("reading frames", function()
   it("takes nothing for granted that does not fit", function()
      local _, octets = layers_of("size: 200, frame: [ethernet, {ipv4: {options: [{record_route: 0.0.0.0}]}},{tcp: {options: [{mss: 9}, {timestamps: 1}]}}]")
      for length = 0, #octets do
         local list = dissection.read(octets:sub(1, length))
         local last = list[#list]
         assert.is_true(not last or last.offset + last.size <= length)
      end
   end)
end)
