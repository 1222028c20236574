-- SPDX-License-Identifier: BSD-3-Clause

-- Frames of LLDP by hand against what is read and built, and an agent by a clock of the test's own.
local agents = require "framegauge.tester.lldp"
local lldp = require "framegauge.traffic.lldp"
local octets = require "framegauge.core.octets"

local HEAD = "0180c200000e" .. "020000000001" .. "88cc"
local CHASSIS, PORT, TTL = "0207" .. "04020000000001", "0405" .. "05" .. "65746830", "0602" .. "0078"
local MANDATORY = HEAD .. CHASSIS .. PORT .. TTL

local function read(hex)
   return lldp.read(octets.unhex(hex))
end

describe("LLDP frames", function()
   it("are built as the standard has them", function()
      local frame = lldp.build {
         source = "02:00:00:00:00:01", chassis = { type = "mac_address", text = "02:00:00:00:00:01" },
         port = { type = "interface_name", text = "eth0" }, ttl = 120, system_name = "me",
         organisations = { { oui = "\0\128\194", subtype = 1, octets = "\0\7" } },
      }
      assert.equal(MANDATORY .. "0a02" .. "6d65" .. "fe06" .. "0080c2010007" .. "0000", octets.hex(frame))
   end)

   it("are read, filled up or not", function()
      local out = read(MANDATORY .. "0803" .. "657468" .. "0a02" .. "6d65" .. "0c03" .. "6c6e78"
         .. "0e04" .. "00140010" .. "100c" .. "0501c612000102000000010" .. "0" .. "fe05" .. "0012bb0141"
         .. "0000" .. ("00"):rep(20))
      assert.same({
         source = "02:00:00:00:00:01", chassis = { type = "mac_address", text = "02:00:00:00:00:01" },
         port = { type = "interface_name", text = "eth0" }, ttl = 120, port_description = "eth",
         system_name = "me", system_description = "lnx",
         capabilities = { { name = "mac_bridge", enabled = false }, { name = "router", enabled = true } },
         management = { type = "ipv4", text = "198.18.0.1" },
         organisations = { { oui = "\0\18\187", subtype = 1, octets = "A" } }, dropped = 0, unknown = 0,
      }, out)
   end)

   it("are told from others, and malformed ones from those of which a part is", function()
      assert.is_false(read("0180c2000001" .. MANDATORY:sub(13)))
      assert.is_false(read "0180c200000e")
      for what, hex in pairs {
         ["no TTL"] = HEAD .. CHASSIS .. PORT .. "0000", order = HEAD .. PORT .. CHASSIS .. TTL,
         ["a chassis of no subtype"] = HEAD .. "0201" .. "04" .. PORT .. TTL,
         ["a MAC of 5 octets"] = HEAD .. "0206" .. "040200000000" .. PORT .. TTL,
         ["a short TTL"] = HEAD .. CHASSIS .. PORT .. "0601" .. "00",
         ["a second chassis"] = MANDATORY .. CHASSIS .. "0000", nothing = HEAD,
      } do
         assert.is_nil(read(hex), what)
      end
      for what, hex in pairs {
         ["one that reaches beyond the frame"] = "0a09" .. "6d", ["half a head"] = "0a",
         ["capabilities of 3 octets"] = "0e03" .. "001400", ["a second name"] = "0a01610a0162",
         ["an address without its interface"] = "1006" .. "0501c6120001",
         ["an organisation"] = "fe03" .. "0080c2",
      } do
         local out = assert(read(MANDATORY .. hex), what)
         assert.equal(1, out.dropped, what)
      end
      assert.equal(1, read(MANDATORY .. "1401" .. "00" .. "0000").unknown)
   end)

   it("are never a fault of the program, whatever comes", function()
      math.randomseed(7)
      local whole = octets.unhex(MANDATORY .. "0e04" .. "00140010"
         .. "100c" .. "0501c6120001020000000100" .. "0000")
      for _ = 1, 2000 do
         local at = math.random(13, #whole)
         lldp.read((whole:sub(1, at - 1) .. string.char(math.random(0, 255)) .. whole:sub(at + 1))
            :sub(1, math.random(1, #whole)))
      end
   end)

   it("are refused that would be too long", function()
      local o = { source = "02:00:00:00:00:01", name = ("x"):rep(256) }
      assert.is_nil((agents.agent(o)))
      o.name, o.organisations = "x", { { oui = "abc", subtype = 1, octets = ("x"):rep(508) } }
      assert.is_nil((agents.agent(o)))
      o.organisations[1].octets = ("x"):rep(507)
      assert.is_table(agents.agent(o))
      o.organisations[2], o.organisations[3] = o.organisations[1], o.organisations[1]
      assert.is_nil((agents.agent(o)))
   end)
end)

describe("an agent of LLDP", function()
   local function agent(n, o)
      o = o or {}
      o.source = "02:00:00:00:00:0" .. n
      return assert(agents.agent(o))
   end

   it("speaks at once, then at its interval, and says farewell", function()
      local one = agent(1, { interval = 5, hold = 20 })
      assert.equal(1, #one:start(100))
      assert.same({ 0, 1, 0, 1 }, { #one:turn(104.9), #one:turn(105), #one:turn(109.9), #one:turn(110) })
      assert.equal(1, #one:turn(200)) -- late: once, not for each time that it missed
      assert.equal(0, #one:turn(200.1))
      assert.equal(0, lldp.read(one:stop()[1]).ttl)
      assert.equal(5, one.counts.frames_tx)
   end)

   it("keeps a neighbour for as long as it said", function()
      local one, other = agent(1), agent(2, { hold = 20 })
      one:start(0)
      local frame = other:start(0)[1]
      one:hear(frame, 1)
      one:hear(frame, 3)
      assert.equal(1, #one:neighbours(22.9))
      assert.same({ 1, 3 }, { one:neighbours(22.9)[1].first, one:neighbours(22.9)[1].updated })
      assert.equal(0, #one:neighbours(23))
      one:hear(frame, 30)
      one:hear(other:stop()[1], 31)
      assert.equal(0, #one:neighbours(31))
      assert.equal(4, one.counts.frames_rx)
   end)

   it("counts what is wrong, and keeps no more neighbours than it has room for", function()
      local one = agent(1)
      one:start(0)
      one:hear(octets.unhex(HEAD), 0)
      one:hear(octets.unhex(MANDATORY .. "0a09" .. "6d"), 0)
      one:hear(octets.unhex(MANDATORY .. "1401" .. "00" .. "0000"), 0)
      assert.same({ frames_tx = 1, frames_rx = 3, frames_error_rx = 2, frames_discard = 1, tlvs_discard = 1,
         tlvs_unknown = 1 }, one.counts)
      for i = 1, 70 do
         one:hear(agent(2, { name = "port" .. i }):start(0)[1], 0)
      end
      assert.same({ 64, 8 }, { #one:neighbours(0), one.counts.frames_discard })
   end)
end)
