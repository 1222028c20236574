-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge capture`: a file of what a port receives.
local plain = require "framegauge.text.plain"
local tester_counts = require "framegauge.tester.counts"
local captures = require "framegauge.tester.capture"
local failure = require "framegauge.core.failure"
local ffi = require "ffi"
local format = require "framegauge.text.format"
local job = require "framegauge.core.job"
local link_watch = require "framegauge.tester.link_watch"
local load_plan = require "framegauge.cli.load_plan"
local parse = require "framegauge.cli.parse"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local ENDLESS = 0xffffffffffffffffULL -- FG_ENDLESS
local SUCCESS, BAD_INPUT, NOT_THE_DEVICES, ENVIRONMENT = 0, 2, 3, 4

-- The options of the command, and the arguments of a capture that they set.
local OPTIONS = {
   port = "port", out = "file", filter = "filter", trigger = "trigger", before = "before", after = "after",
   slice = "slice", frames = "frames",
   ["file-size"] = "file_size", files = "files", buffer = "buffer",
}

--- Read the option --max-frame.
-- @return bytes with FCS
function M.max_frame(command, options)
   local text = options["max-frame"] or "1522"
   local size = units.parse_size(text)
   if not size or size < 64 or size > 16128 then
      parse.usage_error(command, "%s: --max-frame '%s' is not a size from 64 to 16128", command, text)
   end
   return size
end

-- Shows the counts once a second, and what has become of the links.
local function ticker(capture, links)
   local began, seconds = uv.hrtime(), 0
   return function()
      if (uv.hrtime() - began) / 1e9 >= seconds + 1 then
         seconds = seconds + 1
         print(("%6d s  %s"):format(seconds, captures.in_words(capture:counts())))
         for _, sentence in ipairs(links:look()) do
            print(("%6d s  %s"):format(seconds, sentence))
         end
         io.stdout:flush()
      end
   end
end

-- Capture until the time or the number is reached, the port is no longer there, or Ctrl-C.
local function listen(tester, capture, links, seconds, frames)
   local tick = ticker(capture, links)
   tester:start(ffi.new("struct fg_trial_config", {
      traffic_ns = seconds and math.floor(seconds * 1e9 + 0.5) or ENDLESS,
   }))
   job.until_interrupted(tester.await, tester, function()
      tick()
      return links.removed or frames and capture:counts().written >= frames
   end)
end

--- What is missing in a capture because of the tester: a sentence, or nil.
-- @param port  what the port counted
function M.loss(counts, port)
   local lost = {}
   if counts.dropped > 0 then
      lost[1] = ("%s dropped because the file was written too slowly (use a filter, a slice or a larger buffer)"):format(format.plural(counts.dropped, "frame"))
   end
   local missed = (port.rx_missed or 0) + (port.rx_no_mbuf or 0)
   if missed > 0 then
      lost[#lost + 1] = ("%s dropped by the port"):format(format.plural(missed, "frame"))
   end
   return lost[1] and table.concat(lost, "; ") or nil
end

local function capture_on(tester, o, seconds)
   local capture = captures.start(tester, o)
   print(("%s: frames that %s receives"):format(plain.text(o.file), o.port))
   io.stdout:flush()
   local port = tester:port_index(o.port)
   local links = link_watch.start({ tester.plan.ports[port] }, { tester.handles[port] })
   local ok, why = pcall(listen, tester, capture, links, seconds, tonumber(o.frames))
   local counts, problem = capture:stop()
   if not ok or problem then
      error(why or problem, 0)
   end
   print(("%s: %s"):format(plain.text(o.file), captures.in_words(counts)))
   local lost = links:problem()
   if lost then
      user_error.raise(nil, ENVIRONMENT, "capture: the capture is incomplete: %s", lost)
   end
   local loss = M.loss(counts, tester_counts.ports(tester.engine, tester.ports)[port])
   if loss then
      io.stderr:write("framegauge: capture: the capture is incomplete: ", loss, "\n")
   end
   return loss and NOT_THE_DEVICES or SUCCESS
end

--- Open the ports of a plan for frames of any kind, call a function, close them.
function M.with_tester(plan, max_frame, fn, ...)
   local tester, err = require("framegauge.tester").open(plan, { max_frame = max_frame, unasked = true })
   if not tester then
      error(err, 0)
   end
   return failure.finally(function()
      tester:close()
   end, fn, tester, ...)
end

function M.main(arguments, options, eal)
   local o, max_frame = {}, M.max_frame("capture", options)
   local seconds = parse.duration("capture", options)
   for option, key in pairs(OPTIONS) do
      o[key] = options[option]
   end
   if o.trigger == "loss" then
      parse.usage_error("capture", "capture: --trigger loss: no frames are sent that could be lost; expected a filter, or 'run' with a plan that has such a capture")
   end
   for _, option in ipairs { "port", "out" } do
      if not options[option] then
         parse.usage_error("capture", "capture: --%s is missing", option)
      end
   end
   local plan = load_plan(arguments[1], { set = options.set, ports_only = true }, eal)
   local device = plan.reference_device or plan.reference_switch
   if device and device.time == "free" and not (seconds or o.frames) then
      user_error.raise("capture", BAD_INPUT,
         "capture: %s has time: free, so --duration or --frames must be given", arguments[1])
   end
   return job.run(M.with_tester, plan, max_frame, capture_on, o, seconds)
end

return M
