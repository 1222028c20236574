-- SPDX-License-Identifier: BSD-3-Clause

--- Does a device pass recorded traffic as it is? A capture is replayed, what arrives is compared and kept.
--
--    framegauge script scripts-lua/examples/replay-loss-check.lua
--    framegauge script scripts-lua/examples/replay-loss-check.lua PLAN.yaml site.pcapng back.pcapng
--
-- Without arguments it makes a capture of its own and replays it, three times over and twice as fast, through
-- the reference device, which is told to lose every hundredth frame: the script checks that exactly these are
-- found missing.
local Tester = require "framegauge.tester"
local capture = require "framegauge.capture"
local pcap = require "framegauge.pcap"
local plan = require "framegauge.plan"
local replay = require "framegauge.replay"

local PLAN = [[
test: rfc2544
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {rate: 1Gbps, loss_every: 100, time: free}
]]
local FRAMES, LOOPS, LOST = 10000, 3, 300

-- A capture of frames of many sizes, 50 microseconds apart.
local function record(path)
   local file = assert(pcap.create(path))
   for i = 1, FRAMES do
      local text = ("frame %d"):format(i)
      local filling = (" "):rep(60 + i * 31 % 1400 - #text)
      file:add("\2\0\0\0\0\2\2\0\0\0\0\1\x88\xb5" .. text .. filling, i * 50000)
   end
   assert(file:close())
end

local own = not arg[1]
local loaded, errors
if own then
   loaded, errors = plan.load_text(PLAN, "built-in plan", {})
else
   loaded, errors = plan.load(arg[1], {})
end
local tester = assert(Tester.open(assert(loaded, errors and tostring(errors[1])), { max_frame = 1522 }))
local sent, back = arg[2] or os.tmpname(), arg[3] or os.tmpname()
if own then
   record(sent)
end

local kept = capture.start(tester, { port = tester.ports[2].name, file = back, filter = "not arp" })
local site = replay.open(tester, {
   port = tester.ports[1].name, verify = tester.ports[2].name, file = sent, speed = "2x", loops = LOOPS,
})
local result = site:run()
local v, counts = result.verified, kept:stop()
site:close()
tester:close()

print(("sent %d, arrived %d, lost %d, out of order %d, twice %d, changed or unsolicited %d"):format(v.sent,
   v.same, v.lost, v.reordered, v.duplicates, v.unsolicited))
print(("behind the schedule: median %d ns, at most %d ns"):format(result.behind.p50_ns, result.behind.max_ns))
print(("captured %d, dropped %d"):format(counts.written, counts.dropped))
if own then
   os.remove(sent)
   os.remove(back)
   if v.lost ~= LOST or v.reordered + v.duplicates + v.unsolicited > 0 or counts.written ~= v.same then
      error(("the device lost %d frames, and %d were found missing"):format(LOST, v.lost))
   end
end
