-- SPDX-License-Identifier: BSD-3-Clause

--- Captures: what a port of a tester receives, kept in files.
--
--    local capture = require("framegauge.capture").start(tester, {
--       port = "west", file = "west.pcapng", filter = "udp port 7", frames = 1000,
--    })
--    ... trials ...
--    local counts = capture:stop()
--
-- A capture sees all frames that the port receives between its start and its end; both may be during
-- a trial; a port has one capture at a time. On the virtual wire every frame is kept. On real ports a frame
-- is counted as dropped when the disk is too slow for it; the measurement does not wait.
local api = require "framegauge.core.api"
local arguments = require "framegauge.plan.arguments"
local ffi = require "ffi"
local format = require "framegauge.text.format"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local C = api.C
local M = {}

local Capture = {}
Capture.__index = Capture

-- The arguments of start().
local ROWS = {
   { "port", "string", required = true }, { "file", "string", required = true },
   { "filter", "string", longest = 10000 }, { "trigger", "string", longest = 10000 },
   { "before", "integer", min = 0 }, { "after", "integer", min = 1 }, { "slice", "size", min = 1 },
   { "frames", "integer", min = 1 }, { "file_size", "size", min = 1 }, { "files", "integer", min = 1 },
   { "buffer", "size", min = 4096 },
}

-- Counts as text.
function M.in_words(counts)
   local parts = {
      format.plural(counts.seen, "frame") .. " seen", format.count(counts.written) .. " written",
      counts.filtered > 0 and format.count(counts.filtered) .. " filtered out" or nil,
   }
   parts[#parts + 1] = counts.triggers > 0 and format.plural(counts.triggers, "trigger") or nil
   parts[#parts + 1] = counts.dropped > 0 and format.count(counts.dropped) .. " DROPPED" or nil
   return table.concat(parts, ", ")
end

local COUNTS = { "seen", "filtered", "dropped", "written", "octets", "triggers" }
local ON_LOSS = "loss" -- as trigger
local BAD_INPUT = 2
local EINVAL = 22

-- Offset from the engine's time to the time since 1970, ns. The wire's time has no relation to it.
local function epoch(tester)
   if tester.wires then
      return 0
   end
   local seconds, microseconds = uv.gettimeofday()
   return ffi.cast("int64_t", seconds) * 1000000000 + microseconds * 1000
      - ffi.cast("int64_t", C.fg_engine_now_ns(tester.engine))
end

-- An error of the filter is the caller's, an error of the file the machine's.
local function check(rc, err)
   local ok, why = pcall(api.check, rc, err)
   if not ok then
      local ours = why.code == EINVAL
      user_error.raise("capture", ours and BAD_INPUT or why.status, "capture: %s", tostring(why))
   end
end

--- Begin a capture.
-- @param tester       an open tester (framegauge.tester)
-- @param o.port       name of the port that receives
-- @param o.file       path; ".pcapng" at its end: that format, else pcap. Both with nanoseconds
-- @param o.filter     which frames, in the language of pcap-filter(7) (default: all)
-- @param o.trigger    the same, or "loss": frames are kept around those for which it holds, or before which
--                     others of their stream are missing (default: all from the start)
-- @param o.before     frames kept before the one that triggers, at most half a buffer of them (default: none)
-- @param o.after      frames kept from it on, until the next (default: all)
-- @param o.slice      bytes kept of each frame (default: all)
-- @param o.frames     keep no more than this number (default: no end)
-- @param o.file_size  begin another file after this many bytes: FILE.0, FILE.1 ... (default: one file)
-- @param o.files      keep this many of the latest (default: all)
-- @param o.buffer     bytes between the port and the disk (default: 64MiB)
-- @return the capture, with the methods counts, flush and stop. What is wrong raises an error with a status.
-- @usage local kept = capture.start(tester, { port = "west", file = path, filter = "udp", frames = 10 })
-- tester:trial { frame_size = 64, fps = 1000, duration = 1, directions = { "east->west" } }
-- return kept:stop().written --> 10
function M.start(tester, o)
   local values = arguments.read("capture", o, ROWS)
   local port, message = tester:port_index(values.port)
   if not port then
      user_error.raise("capture", BAD_INPUT, "capture: %s", message)
   elseif tester.taps[port] then
      user_error.raise("capture", BAD_INPUT, "capture: port %s is captured already", values.port)
   elseif values.files and not values.file_size then
      user_error.raise("capture", BAD_INPUT, "capture: files needs file_size, when to begin another one")
   elseif (values.before or values.after) and not values.trigger then
      user_error.raise("capture", BAD_INPUT, "capture: %s needs a trigger",
         values.before and "before" or "after")
   end
   local on_loss = values.trigger == ON_LOSS
   local err, out = api.error(), ffi.new("struct fg_capture *[1]")
   local config = ffi.new("struct fg_capture_config", {
      path = values.file, filter = values.filter, slice = values.slice or 0,
      trigger = not on_loss and values.trigger or nil, on_loss = on_loss, before = values.before or 0,
      after = values.after or 0,
      buffer = values.buffer or 0, file_octets = values.file_size or 0, files = values.files or 0,
      frames = values.frames or 0, epoch_ns = epoch(tester), patient = tester.wires ~= nil,
   })
   local self = setmetatable({
      tester = tester, port = port, name = values.port, file = values.file,
      texts = values, -- the C side keeps pointers into them
   }, Capture)
   check(C.fg_capture_open(config, out, err), err)
   self.handle = out[0]
   tester:tap(port, C.fg_capture_tap(self.handle))
   return self
end

--- What became of the frames so far: seen, filtered (not wanted), dropped (wanted, but the disk was too
-- slow), written, octets (of these), triggers (times the trigger has fired). Exact after flush().
-- @usage local kept = capture.start(tester, { port = "west", file = path })
-- local counts = kept:counts() kept:stop()
-- return counts.written, counts.dropped --> 0 0
function Capture:counts()
   if not self.handle then
      return self.last
   end
   local raw = ffi.new("struct fg_capture_counts")
   C.fg_capture_get_counts(self.handle, raw)
   return api.numbers(raw, COUNTS)
end

--- Wait until all is in the file; after stop() it is. Raises what went wrong in writing.
-- @usage local kept = capture.start(tester, { port = "west", file = path, filter = "udp" })
-- tester:trial { frame_size = 64, fps = 1000, duration = 1, directions = { "east->west" } }
-- kept:flush()
-- local seen = kept:counts().written kept:stop()
-- return seen --> 1000
function Capture:flush()
   local err = api.error()
   check(not self.handle and 0 or C.fg_capture_flush(self.handle, err), err)
end

--- End it. May be called twice.
-- @return the counts, and what went wrong in writing (nil: nothing)
-- @usage local kept = capture.start(tester, { port = "west", file = path }) kept:stop() kept:stop()
function Capture:stop()
   if not self.handle then
      return self.last
   end
   self.tester:tap(self.port, nil)
   local ok, why = pcall(self.flush, self)
   self.last = self:counts()
   C.fg_capture_close(self.handle)
   self.handle = nil
   return self.last, not ok and why or nil
end

return M
