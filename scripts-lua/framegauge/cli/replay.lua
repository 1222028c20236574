-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge replay`: send the frames of a capture file, and report what the other port received.
local capture = require "framegauge.cli.capture"
local captures = require "framegauge.tester.capture"
local differences = require "framegauge.tester.replay.differences"
local failure = require "framegauge.core.failure"
local format = require "framegauge.text.format"
local job = require "framegauge.core.job"
local named_file = require "framegauge.core.named_file"
local load_plan = require "framegauge.cli.load_plan"
local pace = require "framegauge.tester.replay.pace"
local parse = require "framegauge.cli.parse"
local plain = require "framegauge.text.plain"
local remarks = require "framegauge.tester.replay.remarks"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"
local verdict = require "framegauge.text.verdict"
local uv = require "luv"

local M = {}

local SUCCESS, DIFFERS, BAD_INPUT, NOT_THE_DEVICES = 0, 1, 2, 3
local count, plural = format.count, format.plural

local function nanoseconds(ns)
   return units.format_time(ns / 1e9)
end

local function say(label, ...)
   print(("%-12s%s"):format(label, string.format(...)))
end

-- Frames and bits of layer 2 per second; nil: they came all at once.
local function rates(fps, bps)
   return fps and ("%s, %s"):format(units.format_frame_rate(fps), units.format_bits(bps, 2)) or "at once"
end

-- Prints what was sent, every second. There are no rates on a wire, which has a time of its own.
local function ticker(replay, tester)
   local now = uv.hrtime() / 1e9
   local before = { seconds = now, frames = 0, octets = 0 }
   local passed = 0
   return function()
      now = uv.hrtime() / 1e9
      if now - before.seconds < 1 then
         return
      end
      passed = passed + 1
      local counts = replay:counts()
      local line = ("%6d s  %s sent"):format(passed, plural(counts.frames, "frame"))
      if not tester.wires then
         local seconds = now - before.seconds
         line = ("%s (%s)"):format(line, rates((counts.frames - before.frames) / seconds,
            8 * (counts.octets - before.octets) / seconds))
      end
      if counts.verified then
         line = ("%s, %s arrived as sent"):format(line, count(counts.verified.same))
      end
      print(line)
      io.stdout:flush()
      before = { seconds = now, frames = counts.frames, octets = counts.octets }
   end
end

local function say_file(replay, options, from, to)
   local facts = replay.facts
   say("file", "%s: %s, %s, recorded in %s%s", plain.text(options.file), plural(facts.frames, "frame"),
      units.format_size(facts.octets), nanoseconds(facts.duration_ns),
      facts.streams and "; read while it is sent" or "; in memory")
   for _, remark in ipairs(remarks.of(facts, replay.tester.max_frame)) do
      say("", "%s", remark)
   end
   say("replay", "%s -> %s, %s%s", from, to, replay.words,
      replay.loops ~= 1 and (replay.loops == 0 and ", repeatedly" or (", %d times"):format(replay.loops))
      or "")
   io.stdout:flush()
end

-- Peak memory of this process, bytes; nil where the system does not report it.
local function most_memory()
   local kib = (named_file.read "/proc/self/status" or ""):match "VmHWM:%s*(%d+) kB"
   return kib and tonumber(kib) * 1024
end

-- What was sent. @return what was wrong with it, or nil
local function say_sent(result, replay)
   local seconds, behind = (result.last_ns - result.first_ns) / 1e9, result.behind
   say("sent", "%s, %s in %s (%s)", plural(result.frames, "frame"), units.format_size(result.octets),
      units.format_time(seconds), rates(pace.rates(result, seconds)))
   say("timing", "behind the schedule: median %s, 99 %% %s, 99.9 %% %s, maximum %s",
      nanoseconds(behind.p50_ns), nanoseconds(behind.p99_ns), nanoseconds(behind.p999_ns),
      nanoseconds(behind.max_ns))
   say("", "%s the port was full, %s no buffer was free, %s the file was late",
      plural(result.refused, "time"), plural(result.no_mbuf, "time"), plural(result.starved, "time"))
   if not result.done and not replay.duration then
      return "some frames were not sent"
   elseif result.slips > 0 then
      return ("the schedule slipped %s, by %s in all"):format(plural(result.slips, "time"),
         nanoseconds(result.slipped_ns))
   end
end

local function say_received(port)
   local missed = port.rx_missed + port.rx_no_mbuf
   say("received", "%s on %s%s%s", plural(port.unsolicited + port.misdirected, "frame"), port.name,
      port.rx_errors > 0 and (", %s with errors"):format(count(port.rx_errors)) or "",
      missed > 0 and (", %s LOST BY THE TESTER"):format(count(missed)) or "")
end

local function say_verified(v)
   say("verify", "%s", differences.verdict(v))
   if v.talk > 0 then
      say("", "and %s of neighbours (ARP and the like), which do not count", plural(v.talk, "frame"))
   end
end

local function status_of(problems, v)
   for _, problem in ipairs(problems) do
      io.stderr:write("framegauge: replay: ", problem, "\n")
   end
   if problems[1] or (v and v.unchecked > 0) then
      return NOT_THE_DEVICES
   end
   return v and not v.whole and DIFFERS or SUCCESS
end

local function run(replay, tester, kept, to)
   local tick, problems = ticker(replay, tester), {}
   local ok, result = pcall(replay.run, replay, { look = tick })
   if not ok then
      if job.is_interrupt(result) then
         say_sent(replay:counts(), replay)
      end
      error(result, 0)
   end
   local function note(problem)
      problems[#problems + 1] = problem
   end
   note(say_sent(result, replay))
   say_received(result.ports[to])
   for _, port in ipairs(result.ports) do
      note(verdict.link_reason(port))
      for _, reason in ipairs(select(2, verdict.dropped(port))) do
         note(reason)
      end
   end
   if kept then
      local counts, broken = kept:stop()
      say("captured", "%s: %s", plain.text(kept.file), captures.in_words(counts))
      note(broken and tostring(broken) or capture.loss(counts, {}))
   end
   if result.verified then
      say_verified(result.verified)
   end
   local memory = most_memory()
   if memory then
      say("memory", "%s at the peak", units.format_size(memory))
   end
   return status_of(problems, result.verified)
end

-- The port at the other end of the path: the other one of the pair.
local function other_end(i)
   return i % 2 == 1 and i + 1 or i - 1
end

local function replay_on(tester, o, options)
   local from, message = tester:port_index(o.port or tester.ports[1].name)
   if not from then
      user_error.raise("replay", BAD_INPUT, "replay: %s", message)
   end
   local to = other_end(from)
   local name = tester.ports[to].name
   o.verify = options.verify and name or nil
   local kept = options.capture
      and captures.start(tester, { port = name, file = options.capture })
   return failure.finally(function()
      if kept then
         kept:stop()
      end
   end, function()
      local replay = require("framegauge.tester.replay").open(tester, o)
      say_file(replay, o, tester.ports[from].name, name)
      return failure.finally(function()
         replay:close()
      end, run, replay, tester, kept, to)
   end)
end

local function rewrite_of(options)
   return {
      source_mac = options["rewrite-source-mac"], destination_mac = options["rewrite-destination-mac"],
      vlan = options["rewrite-vlan"], networks = options["rewrite-network"],
   }
end

function M.main(arguments, options, eal)
   local max_frame = capture.max_frame("replay", options)
   local o = {
      file = arguments[2], port = options.port, speed = options.speed, rate = options.rate,
      loops = options.loops, duration = parse.duration("replay", options),
      memory = options.memory, fcs = options.fcs, rewrite = rewrite_of(options),
   }
   local plan = load_plan(arguments[1], { set = options.set, ports_only = true }, eal)
   local problem = named_file.problem(o.file) -- at once, and not when all ports are open
   if problem then
      parse.usage_error("replay", "replay: %s", problem)
   end
   return job.run(capture.with_tester, plan, max_frame, replay_on, o, options)
end

return M
