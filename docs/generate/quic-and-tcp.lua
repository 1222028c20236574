-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/explanation/quic-and-tcp.md:
-- build/app/framegauge script docs/generate/quic-and-tcp.lua > docs/explanation/quic-and-tcp.md
--
-- It runs the plans of the campaign transports, on the virtual wire, where the figures of the same libraries
-- are the same each time. tests/lua/transports_page_spec.lua writes the page again and compares.
local json = require "framegauge.text.json"
local units = require "framegauge.text.units"
local uv = require "luv"

local ROOT = arg[0]:match "^(.-)[^/]*$" .. "../../"
local run_plan = dofile(ROOT .. "docs/generate/run.lua")
local BIG = { "l4.quic.window=16MiB", "l4.quic.stream_window=16MiB", "l4.tcp.receive_buffer=16MiB",
   "l4.tcp.send_buffer=16MiB" }

-- Rows of a plan of configs/, by path: list of { TCP_STREAM =, TLS_STREAM =, QUIC_STREAM = }.
local function run(name, sets)
   local folder = assert(uv.fs_mkdtemp "/tmp/framegauge-docs-XXXXXX")
   local result = run_plan(("%sconfigs/l4-transports-%s.yaml"):format(ROOT, name), sets, folder .. "/run")
   os.execute(("rm -r '%s'"):format(folder))
   local paths = {}
   for _, row in ipairs(result.results.l4) do
      assert(row.validity == "valid", row.test)
      paths[row.transport.path] = paths[row.transport.path] or { path = row.parameters.path }
      paths[row.transport.path][row.test] = row
   end
   return paths
end

local function write(...)
   io.write(string.format(...))
end

local function mega(bps)
   return ("%.2f"):format(bps / 1e6)
end

local function tabled(head, lines)
   local out = { "| " .. table.concat(head, " | ") .. " |", "|" .. ("---:|"):rep(#head) }
   for i, line in ipairs(lines) do
      out[2 + i] = "| " .. table.concat(line, " | ") .. " |"
   end
   write("%s\n\n", table.concat(out, "\n"))
end

local function ratio(path, key)
   local t = path.QUIC_STREAM.transport
   local half = t[key .. "_confidence"]
   return ("%.3f"):format(t[key]) .. (half ~= json.null and (" ± %.3f"):format(half) or "")
end

local function round_trip(path)
   return units.format_time(path.path.delay_s)
end

-- --- the preset, and beside it windows that are never full

local small, big = run("thesis", {}), run("thesis", BIG)

write([[
# QUIC beside TCP

A thesis that compared QUIC with TCP on an access line of 20 Mb/s down and 2 Mb/s up found QUIC about 5 %% slower. Its program, mvfst's
`tperf`, offers windows of 64 KiB and uses NewReno. The plan [l4-transports-thesis.yaml](../../configs/l4-transports-thesis.yaml) makes such a
case on the reference device, with datagrams of 1252 bytes and several round trips. This page shows where the difference comes from.
The campaign is described in [campaigns](../how-to/tcp-campaigns.md#transports-beside-each-other).

The figures are of the virtual wire, with %s and %s. TCP, TLS over TCP and QUIC go over the same path one
after the other; cryptography takes no time there, so nothing here is about the cost of a processor. The goodput is in Mb/s of payload.

## With windows of 64 KiB

]], small[1].QUIC_STREAM.quic.library, small[1].TLS_STREAM.tls.library:match "^%S+ %S+")

local lines = {}
for i, path in ipairs(small) do
   local quic = path.QUIC_STREAM
   lines[i] = {
      round_trip(path), mega(path.TCP_STREAM.goodput_bps), mega(path.TLS_STREAM.goodput_bps),
      mega(quic.goodput_bps), mega(path.TCP_STREAM.transport.window_bps), ratio(path, "tcp_ratio"),
      ratio(path, "tls_ratio"),
   }
end
tabled({ "Round trip", "TCP", "TLS over TCP", "QUIC", "A window each round trip", "QUIC / TCP", "QUIC / TLS" },
   lines)

-- Round trip, ms, at which a window or a part of it is as much as headers leave of the path.
local function reach(row, parts)
   local t = row.transport
   return 1e3 * t.window_bps * row.parameters.path.delay_s / parts / t.theoretical_bps
end

local at_10 = small[1]
local headers = at_10.QUIC_STREAM.transport.theoretical_bps / at_10.TCP_STREAM.transport.theoretical_bps
write([[
**Headers.** A full frame of TCP carries %.2f %% of its bits as payload, one of QUIC with 1252 bytes %.2f %%: their ratio is
%.3f. As long as the path is the limit, that is nearly all of the difference: %s was measured at %s. So headers explain about %.0f %% of the
5 %%, and no more.

**Window.** TCP says with each acknowledgement how much room there is, so that at most one window is under way and each round trip brings
one. QUIC (RFC 9000, 4.2) leaves it to the receiver when to send MAX_DATA and MAX_STREAM_DATA; libngtcp2 sends them when half of the window was
used. The sender then has between a half and a whole window to go on with, and where acknowledgements come evenly each round trip brings
only half a window: at %s QUIC had %s Mb/s, and half a window each round trip is %s. Here this is less than the path carries from a
round trip of %.1f ms on; of TCP, whose whole window comes, from %.1f ms on. Between the two the difference follows from the round trip
alone: %s at %s, %s at %s, and %s at %s. So a program with such windows finds QUIC 2 %% slower, or 5 %%, or 30 %%, by
where its server stands. Which of them the thesis' round trip was is not known here, nor was mvfst's own rule for MAX_DATA measured.

]], 100 * at_10.TCP_STREAM.transport.theoretical_bps / 20e6,
   100 * at_10.QUIC_STREAM.transport.theoretical_bps / 20e6, headers, ratio(at_10, "tcp_ratio"), round_trip(at_10),
   100 * (1 - headers), round_trip(small[4]), mega(small[4].QUIC_STREAM.goodput_bps),
   mega(small[4].QUIC_STREAM.transport.window_bps / 2), reach(small[4].QUIC_STREAM, 2), reach(small[4].TCP_STREAM, 1),
   ratio(small[2], "tcp_ratio"), round_trip(small[2]), ratio(small[3], "tcp_ratio"), round_trip(small[3]),
   ratio(small[4], "tcp_ratio"), round_trip(small[4]))

-- No frame back has more bytes than this; of TCP one has 70 with its FCS.
local MOST_BACK = 100
local function back(row, payload)
   return row.goodput_bps / 8 / payload * row.transport.back_frames_ratio * MOST_BACK * 8
end

write([[
**The way back.** The receiver of TCP sent %.2f frames for each of the sender's, the receiver of QUIC %.2f: one acknowledgement for two packets each.
Even if each had %d bytes they were %s and %s Mb/s of the 2 Mb/s that there are. The way back limits neither.

## With windows of 16 MiB

`--set l4.quic.window=16MiB --set l4.quic.stream_window=16MiB`, and both buffers of TCP the same: the defaults of QUIC here.

]], at_10.TCP_STREAM.transport.back_frames_ratio, at_10.QUIC_STREAM.transport.back_frames_ratio, MOST_BACK,
   mega(back(at_10.TCP_STREAM, 1448)), mega(back(at_10.QUIC_STREAM, 1252 - 34)))

lines = {}
for i, path in ipairs(big) do
   lines[i] = {
      round_trip(path), mega(path.TCP_STREAM.goodput_bps), mega(path.TLS_STREAM.goodput_bps),
      mega(path.QUIC_STREAM.goodput_bps), ratio(path, "tcp_ratio"), ratio(path, "tls_ratio"),
      tostring(path.TCP_STREAM.transport.retransmitted_bytes),
      tostring(path.QUIC_STREAM.transport.retransmitted_bytes),
   }
end
tabled({ "Round trip", "TCP", "TLS over TCP", "QUIC", "QUIC / TCP", "QUIC / TLS", "TCP sent again, bytes",
   "QUIC sent again, bytes" }, lines)

write([[
The difference comes from the headers, but for the beginning, which takes longer at 50 ms. Where bytes were sent again, the queue of
100 frames had overflowed in the beginning.

]])

-- --- headers alone, on a line

write [[
## Headers on a line

On a line of 1 Gb/s, preambles and gaps included, at an MTU of 1500 over IPv4:

]]
lines = {}
for i, datagram in ipairs { 1452, 1252 } do
   local path = run("reference", { "reference_device.rate=1Gbps", "l4.transports.delays=[1ms]",
      "l4.transports.losses=[0%]", "l4.transports.queues=[2000]", "l4.repetitions=1", "l4.omit=400ms",
      "l4.duration=600ms", "l4.quic.max_datagram=" .. datagram })[1]
   local function both(test)
      return ("%.4f, measured %.4f"):format(path[test].transport.theoretical_bps / 1e9,
         path[test].goodput_bps / 1e9)
   end
   lines[i] = { tostring(datagram), both "TCP_STREAM", both "TLS_STREAM", both "QUIC_STREAM",
      ("%.3f"):format(path.QUIC_STREAM.transport.theoretical_bps / path.TLS_STREAM.transport.theoretical_bps),
      ratio(path, "tls_ratio") }
end
tabled({ "Bytes of a datagram", "TCP: share of the line", "TLS over TCP", "QUIC", "QUIC / TLS by headers",
   "measured" }, lines)

-- --- losses

write [[
## With losses

On 100 Mb/s, frames lost at random, the same ones by number for all three, five repetitions of 20 s with draws of their own.
*Theory* is the mean of a congestion control with a loss in each 1/p packets: of Reno by Mathis, of CUBIC by RFC 9438, 5, for TCP.

]]
lines = {}
for _, cc in ipairs { { "Reno", "newreno", "reno" }, { "CUBIC", "cubic", "cubic" } } do
   local paths = run("reference", { "l4.duration=30s", "l4.omit=10s", "l4.repetitions=5",
      "l4.transports.delays=[10ms, 50ms]", "l4.transports.losses=[1%]", "l4.tcp.congestion=" .. cc[2],
      "l4.quic.congestion=" .. cc[3] })
   for _, path in ipairs(paths) do
      lines[#lines + 1] = { cc[1], round_trip(path), ("%g %%"):format(100 * path.path.loss_ratio),
         mega(path.TCP_STREAM.transport.loss_bps), mega(path.TCP_STREAM.goodput_bps),
         mega(path.TLS_STREAM.goodput_bps), mega(path.QUIC_STREAM.goodput_bps), ratio(path, "tls_ratio") }
   end
end
tabled({ "", "Round trip", "Lost", "Theory", "TCP", "TLS over TCP", "QUIC", "QUIC / TLS" }, lines)

write [[
QUIC's congestion control is libngtcp2's, TCP's is [ours](tcp.md). The ratio is another with CUBIC than with Reno on the same paths and with
the same losses, so that part of it at least is a difference of these two programs, not of the protocols. Which part the protocols have
(packet numbers that do not repeat, acknowledgements with more ranges) these figures do not say. In real time, `tools/compare-quic` has programs of others beside them:
gtlsserver and gtlsclient, and Linux's TCP under a server of Python's and curl, on the same path through `framegauge emulate`.
]]
