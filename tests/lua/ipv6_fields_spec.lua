-- SPDX-License-Identifier: BSD-3-Clause

-- IPv6 addresses that change from frame to frame: both halves, whole networks, and steps into the next /64.
local dissection = require "framegauge.cli.dissection"
local frames = require "framegauge.tester.frames"
local plans = require "framegauge.plan"

local HEAD = [[
test: traffic
ports: {a: {device: wire0, ipv6: "2001:2:0:1::2/64"}, b: {device: wire1, ipv6: "2001:2:0:1::3/64"}}
reference_device: {rate: 1Gbps}
streams: {s: {size: 128, frame: [ethernet, {%s: {%s}}, udp]}}
]]

local function load(field, protocol)
   return plans.load_text(HEAD:format(protocol or "ipv6", field), "plan.yaml")
end

-- The sources of the first frames.
local function sources(field, n)
   local plan, errors = load(field)
   assert(plan, errors and tostring(errors[1]))
   local list = {}
   for _, octets in frames.of_stream(frames.streams(plan)[1], 1, n) do
      for _, layer in ipairs((dissection.read(octets))) do
         for _, one in ipairs(layer.protocol == "ipv6" and layer.fields or {}) do
            list[#list + 1] = one.name == "source" and one.text or nil
         end
      end
   end
   return list
end

local function refused(field, protocol)
   local _, errors = load(field, protocol)
   return errors and tostring(errors[1]) or ""
end

-- How many different values the groups of addresses from one to another have.
local function variety(list, first, last)
   local seen, n = {}, 0
   for _, address in ipairs(list) do
      local groups = {}
      for group in (address .. ":"):gmatch "([^:]*):" do
         groups[#groups + 1] = group
      end
      local part = table.concat(groups, ":", first, math.min(last, #groups))
      n, seen[part] = n + (seen[part] and 0 or 1), true
   end
   return n
end

describe("an IPv6 address", function()
   it("at random is any of 128 bits", function()
      local list = sources("source: {random: all, seed: 5}", 200)
      assert.is_true(variety(list, 1, 1) > 150)
      assert.equal(200, variety(list, 1, 4))
      assert.equal(200, variety(list, 5, 8))
   end)

   it("is any of a whole /64, and counts through it", function()
      local whole = '"2001:2:0:1::-2001:2:0:1:ffff:ffff:ffff:ffff"'
      local list = sources(("source: {random: %s}"):format(whole), 100)
      assert.same({ 1, 100 }, { variety(list, 1, 4), variety(list, 5, 8) })
      assert.same({ "2001:2:0:1::", "2001:2:0:1::1" }, sources("source: " .. whole, 2))
      assert.same({ "2001:2:0:1:ffff:ffff:ffff:ffff", "2001:2:0:1:ffff:ffff:ffff:fffe" },
         sources('source: "2001:2:0:1:ffff:ffff:ffff:ffff-2001:2:0:1::"', 2))
   end)

   it("is any of whole networks", function()
      local list = sources('source: {random: "2001:2:0:4::-2001:2:0:7:ffff:ffff:ffff:ffff"}', 100)
      assert.same({ 4, 100 }, { variety(list, 1, 4), variety(list, 5, 8) })
   end)

   it("steps through networks and into the next one", function()
      assert.same({ "2001:2:0:1::1", "2001:2:0:2::1", "2001:2:0:3::1", "2001:2:0:1::1" },
         sources('source: {from: "2001:2:0:1::1", count: 3, step: "0:0:0:1::"}', 4))
      local next_one = { "2001:2:0:1:ffff:ffff:ffff:ffff", "2001:2:0:2::", "2001:2:0:2::1",
         "2001:2:0:1:ffff:ffff:ffff:ffff" }
      assert.same(next_one, sources('source: {from: "2001:2:0:1:ffff:ffff:ffff:ffff", count: 3}', 4))
      assert.same(next_one, sources('source: "2001:2:0:1:ffff:ffff:ffff:ffff-2001:2:0:2::1"', 4))
      assert.same({ "2001:2:0:2::1", "2001:2:0:2::", "2001:2:0:1:ffff:ffff:ffff:ffff", "2001:2:0:2::1" },
         sources('source: "2001:2:0:2::1-2001:2:0:1:ffff:ffff:ffff:ffff"', 4))
      assert.same({ "2001:2::1", "2001:2:0:1::3", "2001:2:0:2::5" },
         sources('source: {from: "2001:2::1", count: 3, step: "0:0:0:1::2"}', 3))
   end)

   it("does not count through more than one /64", function()
      assert.matches("plan.yaml:4:.*ipv6.source.*70000 values from 2001:2:0:1:ffff:ffff:ffff:fff0: in several /64, and more than 65536 values; expected a range within a /64",
         refused 'source: {from: "2001:2:0:1:ffff:ffff:ffff:fff0", count: 70000}')
      assert.matches("2001:2:0:1::1 to 2001:2:0:2::9: in several /64", refused
         'source: "2001:2:0:1::1-2001:2:0:2::9"', 1, true)
      assert.matches("in several /64",
         refused 'source: {from: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", count: 2}')
   end)
end)

describe("a field that counts", function()
   it("says how many values there are from the first", function()
      assert.matches("source.count: 300 values from 255.255.255.0 in steps of 1 go beyond the field; expected at most 256", refused("source: {from: 255.255.255.0, count: 300}", "ipv4"))
      assert.equal("", refused("source: {from: 255.255.255.0, count: 256}, destination: 198.18.1.1", "ipv4"))
   end)
end)
