-- SPDX-License-Identifier: BSD-3-Clause

--- The network emulator and the reflector in a plan: their keys and what must hold between them, in the
-- notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local api = require "framegauge.core.api"
local ffi = require "ffi"
local paths = require "framegauge.plan.paths"
local shared = require "framegauge.plan.shared_rows"
local ways = require "framegauge.plan.ways"

local C = api.C

local one_way = keys.named {
   { "delay", "time", "of every frame, in addition to the time in the queue", default = "0s", max = "100s" },
   { "rate", "bits", "bits per second of frames with FCS; frames beyond it are queued",
     min = "1kbps", max = "800Gbps", default_help = "no limit" },
   { "burst", "size", "rate: size of its token bucket, bytes", default = "1518", min = "64", max = "1GiB" },
   { "queue", "size", "rate: size of its queue, bytes; frames beyond it are dropped",
     default = "64KiB", max = "1GiB" },
   { "room", "integer", "frames in flight at most; further frames are dropped",
     min = "64", max = "1000000",
     default_help = "frames of 512 bytes that arrive during the longest delay, at the line rate or at 1 Gb/s where it is unknown" },
   paths.rows,
}

local emulate = keys.group("emulate", "a network emulator between the first port and the second, the third and the fourth, and so on: what happens to frames in each direction (framegauge emulate)", {
   shared.seed("1", "seed of its random numbers"),
   shared.max_frame("1518", "the longest frame that is forwarded; a kernel interface has its MTU"),
   one_way,
   keys.group("reverse", "different values for frames from the second port to the first, from the fourth to the third, and so on", ways.inherited(one_way), { optional = true }),
})

local reflect = keys.group("reflect", "a reflector: test frames are sent back through the port that received them, with source and destination swapped (MAC, IP, ports) (framegauge reflect)", {
   { "mode", { "signature", "stamp", "twamp_light", "y1731" }, "which frames are returned. signature: test frames; stamp (RFC 8762) and twamp_light (RFC 5357, appendix I): the probes of routers and other testers, unauthenticated; y1731: loopback, delay, loss and synthetic loss messages (LBM, DMM, LMM, SLM), and the frames of a service that a test loss sends",
     default = "signature" },
   shared.port("862", "stamp and twamp_light: UDP port of the reflector"),
   { "stateful", "boolean", "stamp and twamp_light: replies have the reflector's own number, by which the sender can tell on which way a packet was lost",
     default = "true" },
   { "level", "integer", "y1731: MEG level", default = "4", min = "0", max = "7" },
   { "mep", "integer", "y1731: id of the reflector's MEP, in SLR", default = "2", min = "1", max = "8190" },
   { "filter", "string", "reflect these frames instead, in the language of pcap-filter(7)",
     longest = 10000, default_help = "frames with the signature of a test frame" },
   { "restamp", "boolean", "write the reflector's own time into the signature, so that the tester measures only the way back; for a tester on the same machine, with the same clock",
     default = "false" },
   shared.max_frame("1518", "the longest frame that is reflected; a kernel interface has its MTU"),
})

local function test_frames_only(values, found)
   local o = values.reflect
   for _, key in ipairs(o.mode ~= "signature" and { "filter", "restamp" } or {}) do
      if o[key] then
         found:add("reflect." .. key, ("it is for test frames, and reflect.mode is %s"):format(o.mode),
            "reflect.mode: signature")
      end
   end
end

-- Timestamps are of UTC, and what a PTP hardware clock shows may be TAI.
local function clock_is_utc(values, found)
   if values.reflect.mode ~= "signature" and values.clock.source == "phc" then
      found:add("clock.source", "timestamps of OAM are of UTC, and a PTP hardware clock shows another time",
         "auto, chrony or kernel")
   end
end

local function filter_is_one(values, found)
   local filter, err = values.reflect.filter, api.error()
   if filter and C.fg_filter_check(filter, "", err) ~= 0 then
      api.raise_refused(err)
      found:add("reflect.filter", ffi.string(err.message), "a filter such as udp port 7, see pcap-filter(7)")
   end
end

return {
   emulate = {
      name = "emulate", row = emulate, service = true, one_queue = true,
      rules = { paths.both "emulate" },
      shape = function(group)
         ways.shape(group, one_way)
      end,
   },
   reflect = {
      name = "reflect", row = reflect, service = true, alone = true, one_queue = true,
      rules = { filter_is_one, test_frames_only, clock_is_utc },
   },
}
