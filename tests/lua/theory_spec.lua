-- SPDX-License-Identifier: BSD-3-Clause

local ethernet = require "framegauge.core.ethernet"
local theory = require "framegauge.cli.theory"

-- The reference tables, row by row as published with the methods (RFC 5180 A.1; RFC 6349 for the bytes on
-- the wire).
local FRAME_RATES = [[
|F|10M|100M|1G|2.5G|10G|25G|40G|100G|200G|400G|
|64|14880|148809|1488095|3720238|14880952|37202380|59523809|148809523|297619047|595238095|
|128|8445|84459|844594|2111486|8445945|21114864|33783783|84459459|168918918|337837837|
|256|4528|45289|452898|1132246|4528985|11322463|18115942|45289855|90579710|181159420|
|512|2349|23496|234962|587406|2349624|5874060|9398496|23496240|46992481|93984962|
|1024|1197|11973|119731|299329|1197318|2993295|4789272|11973180|23946360|47892720|
|1280|961|9615|96153|240384|961538|2403846|3846153|9615384|19230769|38461538|
|1518|812|8127|81274|203185|812743|2031859|3250975|8127438|16254876|32509752|
|1522|810|8106|81063|202658|810635|2026588|3242542|8106355|16212710|32425421|
|9018|138|1383|13830|34576|138304|345762|553219|1383049|2766098|5532197|
]]
local GOODPUT = [[
|M|TCP4|TCP4+TS|UDP4|TCP6|TCP6+TS|UDP6|
|576|8729.6|8534.2|8925.1|8403.9|8208.5|8599.3|
|1280|9408.2|9317.1|9499.2|9256.4|9165.4|9347.5|
|1500|9492.8|9414.8|9570.9|9362.8|9284.8|9440.8|
|4096|9811.3|9782.3|9840.3|9762.9|9733.9|9792.0|
|9000|9913.7|9900.4|9927.0|9891.6|9878.3|9904.8|
|1500 VLAN|9468.2|9390.4|9546.0|9338.5|9260.7|9416.3|
|1500 QinQ|9443.7|9366.1|9521.3|9314.4|9236.7|9392.0|
|9000 VLAN|9909.3|9896.0|9922.6|9887.2|9873.9|9900.5|
]]

-- The words of the printed table, in the form of the vectors above.
local function cells(text)
   local rows = {}
   for row in text:match("\n\n(.*)"):gmatch("[^\n]+") do
      row = row:gsub("^%s+", ""):gsub("(%d) ([VQ])", "%1_%2"):gsub("%s+", "|"):gsub("_", " ")
      rows[#rows + 1] = "|" .. row .. "|\n"
   end
   return table.concat(rows)
end

-- What the command prints with these options.
local function printed(name, options)
   local text = {}
   local write = stub(io, "write", function(...)
      text[#text + 1] = table.concat { ... }
   end)
   local all = { rate = {}, size = {}, mtu = {} }
   for key, value in pairs(options or {}) do
      all[key] = value
   end
   local ok, err = pcall(theory.main, { name }, all)
   write:revert()
   return ok and table.concat(text) or error(err, 0)
end

describe("the tables", function()
   it("of frame rates has every published value", function()
      assert.equal(FRAME_RATES, cells(printed("frames")))
   end)

   it("of goodput has every published value", function()
      assert.equal(GOODPUT, cells(printed("goodput")))
   end)

   it("are both printed when none is named", function()
      local both = printed()
      assert.truthy(both:find(printed("frames"), 1, true))
      assert.truthy(both:find(printed("goodput"), 1, true))
   end)

   it("take the sizes and rates that are asked for", function()
      local heading = GOODPUT:match("^[^\n]*\n")
      assert.equal("|F|10G|5G|\n|64|14880952|7440476|\n|4096|303692|151846|\n",
         cells(printed("frames", { rate = { "10Gbps", "5 Gbps" }, size = { "64", "4096" } })))
      assert.equal(heading .. "|1500 VLAN|946.8|939.0|954.6|933.9|926.1|941.6|\n",
         cells(printed("goodput", { rate = { "1Gbps" }, mtu = { "1500" }, vlan = "1" })))
   end)

   it("show no payload where the headers leave no room", function()
      assert.truthy(printed("goodput", { mtu = { "68" } }):find("68 .*%s%-%s"))
   end)

   it("go with their options", function()
      assert.falsy(printed(nil, { size = { "64" } }):find("Goodput"))
      assert.falsy(printed(nil, { vlan = "1" }):find("Maximum frames"))
   end)
end)

describe("a bad value", function()
   local function refused(pattern, name, options)
      local ok, err = pcall(printed, name, options)
      assert.falsy(ok)
      assert.equal(2, err.status)
      assert.truthy(tostring(err):find(pattern), tostring(err))
   end

   it("is refused with what was expected", function()
      refused("%-%-rate 10 .*such as 10Gbps", "frames", { rate = { "10" } })
      refused("%-%-rate fast .*such as 10Gbps", "frames", { rate = { "fast" } })
      refused("%-%-rate 0bps", "frames", { rate = { "0bps" } })
      refused("%-%-size 63 .*64 to 65535", "frames", { size = { "63" } })
      refused("%-%-size 64.5", "frames", { size = { "64.5" } })
      refused("%-%-mtu 60 .*68 to 65535", "goodput", { mtu = { "60" } })
      refused("%-%-vlan 3 .*0, 1 or 2", "goodput", { vlan = "3" })
      refused("'frames' or 'goodput'", "fraems")
      refused("belongs to the frames table", "goodput", { size = { "64" } })
      refused("belong to the goodput table", "frames", { mtu = { "1500" } })
   end)
end)

describe("the arithmetic of the line", function()
   it("names the rates of every layer", function()
      local fps = 10e9 / (8 * 84)
      assert.near(10000e6, ethernet.l1_bps(fps, 64), 1)
      assert.near(7619.0e6, ethernet.l2_bps(fps, 64), 0.1e6)
      assert.near(5476.2e6, ethernet.l3_bps(fps, 64), 0.1e6)
      for layer, bps in ipairs { ethernet.l1_bps, ethernet.l2_bps, ethernet.l3_bps } do
         assert.near(12345, ethernet.fps(bps(12345, 512, 1), layer, 512, 1), 1e-6)
      end
   end)

   it("pads short packets to the smallest frame", function()
      assert.equal(84, ethernet.wire_octets(20))
      assert.equal(84, ethernet.wire_octets(46))
      assert.equal(85, ethernet.wire_octets(47))
      assert.equal(1538, ethernet.wire_octets(1500))
      assert.equal(1546, ethernet.wire_octets(1500, 2))
   end)
end)
