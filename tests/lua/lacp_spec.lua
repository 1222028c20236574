-- SPDX-License-Identifier: BSD-3-Clause

-- LACP (IEEE 802.1AX): frames by the standard's layout, and agents at both ends of links.
local agents = require "framegauge.tester.lacp"
local lacp = require "framegauge.traffic.lacp"
local octets = require "framegauge.core.octets"

local MAC = "02:00:00:00:00:0"
-- the layout of the standard
local PDU = "0180c2000002" .. "020000000001" .. "8809" .. "0101"
   .. "0114" .. "8000" .. "0200000000aa" .. "000d" .. "00ff" .. "0016" .. "3f" .. "000000"
   .. "0214" .. "0007" .. "0200000000bb" .. "0011" .. "0080" .. "0002" .. "c5" .. "000000"
   .. "0310" .. "0000" .. ("00"):rep(12) .. "0000" .. ("00"):rep(50)
local ACTOR = { system_priority = 0x8000, system = "02:00:00:00:00:aa", key = 13, port_priority = 255,
   port = 22, activity = true, timeout = true, aggregation = true, synchronization = true, collecting = true,
   distributing = true, defaulted = false, expired = false }
local PARTNER = { system_priority = 7, system = "02:00:00:00:00:bb", key = 17, port_priority = 128, port = 2,
   activity = true, timeout = false, aggregation = true, synchronization = false, collecting = false,
   distributing = false, defaulted = true, expired = true }

describe("a frame of LACP", function()
   it("is built and read by the layout of the standard", function()
      assert.equal(PDU, octets.hex(lacp.build(MAC .. 1, ACTOR, PARTNER)))
      assert.same({ actor = ACTOR, partner = PARTNER }, lacp.read(octets.unhex(PDU), MAC .. 2))
   end)

   it("is malformed where it is cut or its TLVs are others, and none of ours where it is another", function()
      local whole = octets.unhex(PDU)
      assert.is_nil((lacp.read(whole:sub(1, 123), MAC .. 2)))
      for _, at in ipairs { 17, 18, 37, 38 } do
         assert.is_nil((lacp.read(whole:sub(1, at - 1) .. "\9" .. whole:sub(at + 1), MAC .. 2)))
      end
      for _, at in ipairs { 1, 6, 13, 14, 15 } do
         assert.is_false((lacp.read(whole:sub(1, at - 1) .. "\7" .. whole:sub(at + 1), MAC .. 2)))
      end
      for length = 0, #whole do
         assert.equal(length == #whole, (lacp.read(whole:sub(1, length), MAC .. 2) or false) ~= false)
      end
   end)

   it("answers a marker with the same, from its own MAC", function()
      local marker = "0180c2000002" .. "020000000001" .. "8809" .. "0201" .. "0110" .. "0016"
         .. "0200000000aa" .. "12345678" .. "0000" .. "0000" .. ("00"):rep(90)
      local answer = lacp.read(octets.unhex(marker), MAC .. 2).answer
      assert.equal((marker:gsub("020000000001", "020000000002"):gsub("02010110", "02010210")),
         octets.hex(answer))
      assert.is_false((lacp.read(answer, MAC .. 1)))
   end)
end)

-- Two ends, and links between agents of the same place; each is { up =, [1], [2] = agents }.
local Links = {}
Links.__index = Links

local function links_of(n, left, right)
   local self = setmetatable({ now = 0 }, Links)
   local groups = { {}, {} }
   for i = 1, n do
      self[i] = { up = true, begun = {} }
      for side, more in ipairs { left or {}, right or {} } do
         local o = { source = ("02:00:00:00:%02d:%02d"):format(side, i), system = MAC .. side, key = side,
            port = i, group = groups[side] }
         for key, value in pairs(type(more) == "function" and more(i) or more) do
            o[key] = value
         end
         self[i][side] = agents.agent(o)
      end
   end
   return self
end

-- Deliver what is said for a number of seconds.
function Links:run(seconds)
   local till = self.now + seconds
   while self.now < till do
      for _, link in ipairs(self) do
         for side = 1, 2 do
            local agent = link[side]
            local frames = agent[link.begun[side] and "turn" or "start"](agent, self.now, link.up)
            link.begun[side] = true
            for _, frame in ipairs(link.up and not link.cut and frames or {}) do
               link[3 - side]:hear(frame, self.now)
            end
         end
      end
      self.now = self.now + 0.05
   end
   return self
end

-- By link: which of the two ends distribute.
function Links:state()
   local out = {}
   for i, link in ipairs(self) do
      out[i] = (link[1]:is_distributing() and "<" or "-") .. (link[2]:is_distributing() and ">" or "-")
   end
   return table.concat(out, " ")
end

describe("agents of LACP", function()
   it("agree after the time that a port waits, and know each other", function()
      local links = links_of(2)
      assert.equal("-- --", links:run(1.9):state())
      assert.equal("<> <>", links:run(0.6):state())
      local one, other = links[2][1], links[2][2]
      assert.same({ MAC .. 2, 2, 2, true, true }, { one.partner.system, one.partner.key, one.partner.port,
         one.partner.collecting, one.partner.distributing })
      assert.is_true(other.counts.rx == one.counts.tx and one.counts.tx < 10)
   end)

   it("speak every second where the other end asks for it, else every 30", function()
      local links = links_of(1, {}, { timeout = 3 }):run(10)
      local fast, slow = links[1][1].counts.tx, links[1][2].counts.tx
      links:run(60)
      assert.near(60, links[1][1].counts.tx - fast, 4)
      assert.equal(2, links[1][2].counts.tx - slow)
      links = links_of(1, { interval = 5 }):run(10)
      fast = links[1][1].counts.tx
      links:run(60)
      assert.near(12, links[1][1].counts.tx - fast, 1)
   end)

   it("leave a link whose other end is silent for its timeout, and later forget it", function()
      local links = links_of(2, { timeout = 3 }):run(5)
      links[2].cut = true
      assert.equal("<> <>", links:run(1.9):state())
      assert.equal("<> ->", links:run(1.5):state())
      assert.is_true(links[2][1].actor.expired)
      assert.equal(MAC .. 2, links[2][1].partner.system)
      links:run(3)
      assert.same({ true, "00:00:00:00:00:00" }, { links[2][1].actor.defaulted, links[2][1].partner.system })
      assert.equal("<> --", links:run(90):state()) -- the other end has the long timeout
      links[2].cut = false
      assert.equal("<> <>", links:run(35):state())
   end)

   it("leave a link that is down at once, and take it again", function()
      local links = links_of(2):run(5)
      links[1].up = false
      assert.equal("-- <>", links:run(0.1):state())
      links[1].up = true
      assert.equal("<> <>", links:run(4):state())
   end)

   it("that are passive wait for one that is active", function()
      local links = links_of(1, { passive = true }, { passive = true }):run(40)
      assert.same({ "--", 0, 0 }, { links:state(), links[1][1].counts.tx, links[1][2].counts.tx })
      links = links_of(1, { passive = true }):run(3)
      assert.same({ "<>", false }, { links:state(), links[1][1].actor.activity })
   end)

   it("are out of sync while they are not admitted, and gone while they do not speak", function()
      local links = links_of(2):run(5)
      links[1][1]:admit(false)
      assert.equal("-- <>", links:run(0.2):state())
      assert.is_false(links[1][2].partner.synchronization)
      links[1][1]:admit(true)
      assert.equal("<> <>", links:run(3):state())
      links[2][2]:let_speak(false)
      local said = links[2][2].counts.tx
      assert.equal("<> --", links:run(5):state())
      assert.equal(said + 1, links[2][2].counts.tx)
      links[2][2]:let_speak(true)
      assert.equal("<> <>", links:run(35):state())
   end)

   it("keep a port out whose partner is another than the group's", function()
      local links = links_of(3, {}, function(i)
         return { system = MAC .. (i == 1 and 8 or 2), group = i == 1 and {} or nil }
      end)
      assert.equal("<- -- --", links:run(3):state():gsub(">", "-"))
      links[1].up = false -- the group goes to the other partner
      assert.equal("-- <> <>", links:run(3):state())
      links[1].up = true -- and stays with it
      assert.equal("-- <> <>", links:run(5):state())
   end)

   it("do not aggregate with a link that is an individual", function()
      local links = links_of(1)
      links[1][2].actor.aggregation = false
      assert.equal("-", links:run(4):state():sub(1, 1))
   end)

   it("say no more than three things in a second, and farewell", function()
      local links = links_of(1):run(5)
      local one = links[1][1]
      local said = one.counts.tx
      for i = 1, 40 do
         one:hear(octets.unhex(PDU), links.now + i / 50) -- which has us for another
         one:turn(links.now + i / 50, true)
      end
      assert.near(said + 3, one.counts.tx, 1)
      links.now = links.now + 2
      local pdu = lacp.read(one:stop(links.now)[1], MAC .. 9)
      assert.is_false(pdu.actor.synchronization or pdu.actor.collecting or pdu.actor.distributing)
      assert.same({}, one:stop(links.now))
   end)

   it("count what is malformed, and answer markers", function()
      local links = links_of(1):run(3)
      local one = links[1][1]
      local heard = one.counts.rx
      one:hear(octets.unhex(PDU):sub(1, 60), links.now)
      one:hear(octets.unhex((PDU:gsub("88090101", "88090201"):gsub("0114", "0110", 1))), links.now)
      one:hear(octets.unhex((PDU:gsub("88090101", "88090a01"))), links.now)
      assert.same({ heard, 1 }, { one.counts.rx, one.counts.errors })
      local frames = one:turn(links.now, true)
      assert.equal(2, frames[1]:byte(17))
   end)
end)
