-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge capture`: a port that listens, and a file of what it hears.
local bench_counts = require "framegauge.bench.counts"
local ffi = require "ffi"
local format = require "framegauge.report.format"
local job = require "framegauge.job"
local parse = require "framegauge.cli.parse"
local refusal = require "framegauge.refusal"
local units = require "framegauge.units"
local uv = require "luv"

local M = {}

local ENDLESS = 0xffffffffffffffffULL -- FG_ENDLESS
local SUCCESS, BAD_INPUT, NOT_THE_DEVICES = 0, 2, 3
local count = format.count

-- What a capture can be told on the command line: its option and its argument.
local OPTIONS = {
   port = "port", out = "file", filter = "filter", trigger = "trigger", before = "before", after = "after",
   slice = "slice", frames = "frames",
   ["file-size"] = "file_size", files = "files", buffer = "buffer",
}

--- Read the option --max-frame.
-- @return octets with FCS
function M.max_frame(command, options)
   local text = options["max-frame"] or "1522"
   local size = units.parse_size(text)
   if not size or size < 64 or size > 16128 then
      parse.usage_error(command, "%s: --max-frame '%s' is no size from 64 to 16128", command, text)
   end
   return size
end

--- Read the option --duration. @return seconds, or nil
function M.duration(command, options)
   local seconds, wrong = options.duration, nil
   if seconds then
      seconds, wrong = units.parse_time(options.duration)
   end
   if wrong or seconds == 0 then
      parse.usage_error(command, "%s: --duration %s; expected %s", command, wrong or "0", units.expected.time)
   end
   return seconds
end

--- What was captured, in words; what was not is said in capitals.
function M.in_words(counts)
   return ("%s seen, %s written%s%s%s"):format(format.plural(counts.seen, "frame"), count(counts.written),
      counts.filtered > 0 and (", %s not wanted"):format(count(counts.filtered)) or "",
      counts.triggers > 0 and (", %s"):format(format.plural(counts.triggers, "trigger")) or "",
      counts.dropped > 0 and (", %s DROPPED"):format(count(counts.dropped)) or "")
end

-- Shows the counts once a second.
local function ticker(capture)
   local began, seconds = uv.hrtime(), 0
   return function()
      if (uv.hrtime() - began) / 1e9 >= seconds + 1 then
         seconds = seconds + 1
         print(("%6d s  %s"):format(seconds, M.in_words(capture:counts())))
         io.stdout:flush()
      end
   end
end

-- Listen until the time or the number is over, or Ctrl-C.
local function listen(bench, capture, seconds, frames)
   local tick = ticker(capture)
   bench:start(ffi.new("struct fg_trial_config", {
      traffic_ns = seconds and math.floor(seconds * 1e9 + 0.5) or ENDLESS,
   }))
   local ok, why = pcall(bench.await, bench, function()
      tick()
      return frames and capture:counts().written >= frames
   end)
   if not ok and not (type(why) == "table" and why.interrupted) then
      error(why, 0)
   end
end

--- What the tester itself lost of what should have been captured: a sentence, or nil.
-- @param port  what the port counted
function M.loss(counts, port)
   local lost = {}
   if counts.dropped > 0 then
      lost[1] = ("%s dropped, since the file was written too slowly (a filter, a slice or a larger buffer "
         .. "helps)"):format(format.plural(counts.dropped, "frame"))
   end
   local missed = (port.rx_missed or 0) + (port.rx_no_mbuf or 0)
   if missed > 0 then
      lost[#lost + 1] = ("%s lost at the port"):format(format.plural(missed, "frame"))
   end
   return lost[1] and table.concat(lost, "; ") or nil
end

local function capture_on(bench, o, seconds)
   local capture = require("framegauge.capture").start(bench, o)
   print(("%s: what %s receives"):format(o.file, o.port))
   io.stdout:flush()
   local ok, why = pcall(listen, bench, capture, seconds, tonumber(o.frames))
   local counts, failure = capture:stop()
   if not ok or failure then
      error(why or failure, 0)
   end
   print(("%s: %s"):format(o.file, M.in_words(counts)))
   local loss = M.loss(counts, bench_counts.ports(bench.engine, bench.ports)[bench:port_index(o.port)])
   if loss then
      io.stderr:write("framegauge: capture: the capture is not complete: ", loss, "\n")
   end
   return loss and NOT_THE_DEVICES or SUCCESS
end

--- Open the ports of a plan for frames of any kind, do something, close them.
function M.with_bench(plan, max_frame, fn, ...)
   local bench, err = require("framegauge.bench").open(plan, { max_frame = max_frame, unasked = true })
   if not bench then
      error(err, 0)
   end
   local result = { pcall(fn, bench, ...) }
   bench:close()
   if not result[1] then
      error(result[2], 0)
   end
   return result[2]
end

--- The command.
function M.main(arguments, options, eal)
   local o, max_frame = {}, M.max_frame("capture", options)
   local seconds = M.duration("capture", options)
   for option, key in pairs(OPTIONS) do
      o[key] = options[option]
   end
   if o.trigger == "loss" then
      parse.usage_error("capture", "capture: --trigger loss: nothing is sent here that could be lost; "
         .. "expected a filter; or 'run' a plan with such a capture")
   end
   for _, option in ipairs { "port", "out" } do
      if not options[option] then
         parse.usage_error("capture", "capture: --%s is missing", option)
      end
   end
   local plan = require("framegauge.cli.plan").load(arguments[1], options, eal)
   if not plan then
      return BAD_INPUT
   elseif plan.reference_device and plan.reference_device.time == "free" and not (seconds or o.frames) then
      refusal.raise("capture", BAD_INPUT,
         "capture: the time of %s runs free, so --duration or --frames is missing", arguments[1])
   end
   return job.run(M.with_bench, plan, max_frame, capture_on, o, seconds)
end

return M
