-- SPDX-License-Identifier: BSD-3-Clause

-- What capture files may be like: written here byte by byte, as their formats say, and replayed.
local ffi = require "ffi"
local remarks = require "framegauge.tester.replay.remarks"
local replays = require "replays"
local scratch = require "scratch"

local ETHERNET, RAW = 1, 101

-- Numbers in a byte order, "<" or ">", each { bytes, value }.
local function numbers(order, list)
   local out = {}
   for i, one in ipairs(list) do
      local text = ffi.string(ffi.new("uint64_t[1]", one[2]), one[1])
      out[i] = order == "<" and text or text:reverse()
   end
   return table.concat(out)
end

local function padded(text)
   return text .. ("\0"):rep(-#text % 4)
end

local function frame(number, octets)
   return "\2\0\0\0\0\1\2\0\0\0\0\2\x88\xb5" .. ("%04d"):format(number) .. ("."):rep(octets - 18)
end

-- A pcap. @param frames  list of { bytes, length or nil }
local function pcap(frames, link)
   local out = { numbers("<", {
      { 4, 0xa1b2c3d4 }, { 2, 2 }, { 2, 4 }, { 8, 0 }, { 4, 65535 }, { 4, link },
   }) }
   for i, one in ipairs(frames) do
      local head = { { 4, 1000 }, { 4, i }, { 4, #one[1] }, { 4, one[2] or #one[1] } }
      out[#out + 1] = numbers("<", head) .. one[1]
   end
   return table.concat(out)
end

-- A block of pcapng.
local function block(order, kind, body)
   body = padded(body)
   local length = { 4, #body + 12 }
   return numbers(order, { { 4, kind }, length }) .. body .. numbers(order, { length })
end

local function option(order, code, value)
   return numbers(order, { { 2, code }, { 2, #value } }) .. padded(value)
end

local function section(order)
   return block(order, 0x0a0d0d0a, numbers(order, { { 4, 0x1a2b3c4d }, { 2, 1 }, { 2, 0 }, { 8, -1 } }))
end

local function interface(order, link, options)
   return block(order, 1, numbers(order, { { 2, link }, { 2, 0 }, { 4, 0 } }) .. (options or ""))
end

-- A frame, a number of ticks after a second of the year 1970 that fits 32 bits.
local function packet(order, of, ticks, octets, options)
   return block(order, 6, numbers(order, {
      { 4, of }, { 4, math.floor(ticks / 2 ^ 32) }, { 4, ticks % 2 ^ 32 }, { 4, #octets }, { 4, #octets },
   }) .. padded(octets) .. (options or ""))
end

local function written(text)
   local path = scratch.path()
   scratch.write(path, text)
   return path
end

local function facts(text, o)
   o = o or {}
   o.file, o.verify, o.rate = written(text), "west", "1kfps"
   local result, found = replays.run(o)
   assert.is_true(result.verified.whole)
   return found, result
end

describe("a file of frames with their FCS", function()
   teardown(scratch.remove)

   local frames = { { frame(1, 100) }, { frame(2, 100) } }
   local said = ETHERNET + 2 * 2 ^ 28 + 2 ^ 26 -- 2 words of 16 bits

   it("is replayed without it, where the pcap says so", function()
      assert.equal(2 * 100, facts(pcap(frames, said)).octets)
      assert.equal(2, facts(pcap(frames, said)).fcs_removed)
      assert.equal(2 * 104, facts(pcap(frames, said), { fcs = "keep" }).octets)
      assert.equal(2 * 104, facts(pcap(frames, ETHERNET)).octets)
      assert.equal(2 * 100, facts(pcap(frames, ETHERNET), { fcs = "strip" }).octets)
   end)

   it("is replayed without it, where the pcapng says so of an interface or a frame", function()
      local found = facts(section "<" .. interface("<", ETHERNET, option("<", 13, "\4"))
         .. interface("<", ETHERNET)
         .. packet("<", 0, 1e15, frame(1, 100)) .. packet("<", 1, 1e15, frame(2, 100))
         .. packet("<", 1, 1e15, frame(3, 100), option("<", 2, numbers("<", { { 4, 4 * 32 } }))))
      assert.equal(2, found.fcs_removed)
      assert.equal(100 + 104 + 100, found.octets)
   end)

   it("is not sent where it is all that there is", function()
      local text = pcap({ { frame(1, 100) }, { ("."):rep(17) } }, ETHERNET)
      assert.equal(1, facts(text, { fcs = "strip" }).too_short)
   end)
end)

describe("a file of odd frames", function()
   teardown(scratch.remove)

   it("is refused with the reasons, by their number", function()
      local function refused(frames)
         return replays.refused { file = written(pcap(frames, ETHERNET)) }
      end
      assert.matches("no frame in it$", refused {})
      assert.matches("no frame in it that could be sent: 2 too large$", refused {
         { frame(1, 1600) }, { frame(2, 1600) },
      })
      assert.matches("no frame in it that could be sent: 2 too large, 1 shorter than 14 bytes, 2 with more bytes in the file than they had$", refused {
         { frame(1, 1600) }, { frame(2, 1600) }, { "0123456789" },
         { frame(3, 100), 84 }, { frame(4, 100), 84 },
      })
   end)

   it("has the others sent, and these counted", function()
      local found, result = facts(pcap({
         { frame(1, 1600) }, { "0123456789" }, { frame(3, 100), 84 }, { frame(4, 100) },
         { frame(5, 60), 100 },
      }, ETHERNET))
      assert.same({ 1, 1, 1, 1 }, { found.oversize, found.too_short, found.wrong_length, found.truncated })
      assert.equal(2, result.frames)
   end)
end)

describe("a pcapng", function()
   teardown(scratch.remove)

   it("may have an interface of another kind, as long as no frame is of it", function()
      local head = section "<" .. interface("<", ETHERNET) .. interface("<", RAW)
      assert.equal(1, facts(head .. packet("<", 0, 1e15, frame(1, 100))).frames)
      assert.matches("frame 2 is of RAW; expected frames of Ethernet", replays.refused {
         file = written(head .. packet("<", 0, 1e15, frame(1, 100)) .. packet("<", 1, 1e15, frame(2, 100))),
      })
   end)

   it("may have sections of both byte orders, and any resolution of its times", function()
      local found, result = facts(section "<" .. interface("<", ETHERNET)
         .. packet("<", 0, 1e15, frame(1, 100)) .. packet("<", 0, 1e15 + 1000, frame(2, 100))
         .. section ">" .. interface(">", ETHERNET, option(">", 9, "\9"))
         .. packet(">", 0, 1e18 + 3e6, frame(3, 100))
         .. section "<" .. interface("<", ETHERNET, option("<", 9, "\138") .. option("<", 14, numbers("<", {
            { 8, 1e9 - 1 } })))
         .. packet("<", 0, 1024 + 8, frame(4, 100)))
      assert.equal(4, result.frames)
      assert.equal(8 / 1024 * 1e9, found.duration_ns)
      assert.equal(0, found.times_back)
   end)

   it("may have simple packets without a time, and blocks of kinds unknown", function()
      local found = facts(section "<" .. interface("<", ETHERNET) .. packet("<", 0, 1e15, frame(1, 100))
         .. block("<", 5, "statistics") .. block("<", 3, numbers("<", { { 4, 100 } }) .. frame(2, 100))
         .. block("<", 0x80000bad, "secret") .. packet("<", 0, 1e15 + 7, frame(3, 100)))
      assert.equal(3, found.frames)
      assert.equal(7000, found.duration_ns)
   end)

   it("is refused where it is broken, wherever it is cut", function()
      local whole = section "<" .. interface("<", ETHERNET) .. packet("<", 0, 1e15, frame(1, 62))
         .. packet("<", 0, 1e15, frame(2, 62))
      for _, cut in ipairs { 1, 5, 40, 100 } do
         assert.matches("broken after frame [01]: the file ends within a block",
            replays.refused { file = written(whole:sub(1, -1 - cut)) })
      end
      assert.matches("broken after frame 2: a frame of an interface that is not described",
         replays.refused { file = written(whole .. packet("<", 3, 1e15, frame(3, 62))) })
      assert.matches("a block with a length that cannot be",
         replays.refused { file = written(section "<" .. "\6\0\0\0\255\255\255\127") })
      assert.matches("a section without a byte order",
         replays.refused { file = written("\10\13\13\10" .. ("\0"):rep(24)) })
   end)
end)

describe("networks that move", function()
   teardown(scratch.remove)

   it("are counted by address, and frames without one, too", function()
      local arp = ("\255"):rep(6) .. "\2\0\0\0\0\1\8\6\0\1\8\0\6\4\0\1\2\0\0\0\0\1\10\1\2\3"
         .. ("\0"):rep(6) .. "\10\1\2\4"
      local found = facts(pcap({ { arp }, { frame(1, 100) } }, ETHERNET), {
         rewrite = { networks = { "10.1.0.0/16=198.18.0.0/16", "10.2.0.0/16=198.19.0.0/16" } },
      })
      assert.equal(1, found.unmoved)
      assert.same({
         { network = "10.1.0.0/16=198.18.0.0/16", addresses = 2 },
         { network = "10.2.0.0/16=198.19.0.0/16", addresses = 0 },
      }, found.networks)
      assert.same({ "1 frame without an address that moves",
         "no address of 10.2.0.0/16=198.19.0.0/16 is in the capture" }, remarks.of(found, 1522))
   end)
end)
