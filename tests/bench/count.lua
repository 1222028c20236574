-- SPDX-License-Identifier: BSD-3-Clause

--- Traffic of each kind whose instructions instructions.lua counts: on the wire, whose time runs free, so
-- that all that happens is the same every time. A kind is sent twice, the second time twice as long.
--
-- Of TCP it is transactions, all of them by connections opened at once, or opened as often.
--
--    framegauge script count.lua FRAMES
local l4 = require "l4"
local shapes = require "shapes"

local WIRE = [[
ports:
  east: {device: wire0, ipv4: 198.18.1.2/24}
  west: {device: wire1, ipv4: 198.19.1.2/24}
reference_device: {rate: 10Gbps, buffer: 512, latency: 20us, time: free}
host: {huge_pages: never} # valgrind has no room for them where there are any
]]
local FPS = 3e6 -- what a line of 10 Gb/s carries of any mix

local M = {}

--- The kinds, in the order in which they are sent.
M.KINDS = {
   { "plain", shapes.plain },
   { "everything measured", shapes.plain, measured = true },
   { "1 field", shapes.vary(1) },
   { "4 fields", shapes.vary(4) },
   { "8 fields", shapes.vary(8) },
   { "imix", shapes.imix },
   { "100 streams", shapes.streams(100) },
   { "100 rates", shapes.mixed(100) },
   { "TCP request", tcp = "TCP_RR" },
   { "TCP connection", tcp = "TCP_CC", short = true },
   { "HTTP request", tcp = "HTTP" },
   { "HTTP connection", tcp = "HTTP", short = true },
}

if arg and arg[0]:find("count%.lua$") then
   -- valgrind translates anew what LuaJIT compiles, and forgets it each time a page of it changes
   jit.off()
   local frames = tonumber(arg[1])
   for _, kind in ipairs(M.KINDS) do
      if kind.tcp then
         l4.count({ main = 0, worker = 1 }, kind.tcp, frames, kind.short)
      else
         local bench = shapes.open({ main = 0, worker = 1 }, WIRE, kind[2], FPS)
         shapes.send(bench, frames / FPS, kind.measured)
         shapes.send(bench, 2 * frames / FPS, kind.measured)
         bench:close()
      end
   end
end

return M
