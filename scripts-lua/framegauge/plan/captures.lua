-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of captures, in the notation of plan/keys.lua; what they mean: framegauge.tester.capture.
local keys = require "framegauge.plan.keys"
local api = require "framegauge.core.api"
local ffi = require "ffi"

local M = {}

local FILTER = "a filter such as udp port 7, see pcap-filter(7)"

local of_port = keys.group(nil, nil, {
   { "file", "string", "where to: pcapng if it is called so, else pcap",
     longest = 4096, required = true, does = "writes the file" },
   { "filter", "string", "which frames, in the language of pcap-filter(7)",
     longest = 10000, default_help = "all frames" },
   { "trigger", "string", "`loss`, or a filter: only the frames around a loss of a stream, or around a frame that matches the filter; in pcapng a comment marks the frame",
     longest = 10000, default_help = "none: all from the start" },
   { "before", "integer", "trigger: frames kept before that one, at most half a buffer of them",
     min = "0", max = "1000000", default = "0" },
   { "after", "integer", "trigger: frames kept from that one on; then the next is waited for",
     min = "1", max = "1000000000", default_help = "all" },
   { "slice", "size", "bytes kept of each frame", min = "1", default_help = "all" },
   { "frames", "integer", "keep no more than this number",
     min = "1", max = "1000000000000", default_help = "no end" },
   { "file_size", "size", "begin another file after this many bytes: FILE.0, FILE.1, ...",
     min = "1", default_help = "one file" },
   { "files", "integer", "with file_size: keep only this many files, the latest",
     min = "1", max = "1000000", default_help = "all" },
   { "buffer", "size", "between the port and the disk; what finds no room in it is dropped and counted",
     min = "4096", max = "64GiB", default = "64MiB" },
})

M.row = { "capture", "map", "what ports receive in all trials of the test, kept in files; by name of the port. The report has the number of captured frames with the evidence",
   of = of_port, name = "port", most = 16, default_help = "none",
   names = { longest = 31, match = "^%w[%w_-]*$", expected = "the name of a port" },
   expected = "captures by port, such as west: {file: west.pcapng}" }

local function check_filter(found, key, text)
   local err = api.error()
   if text and api.C.fg_filter_check(text, "", err) ~= 0 then
      api.raise_refused(err)
      found:add(key, ffi.string(err.message), FILTER)
   end
end

local function are_possible(values, found)
   local known = {}
   for _, port in ipairs(values.ports) do
      known[port.name or ""] = true
   end
   for _, one in ipairs(values.capture or {}) do
      local key = "capture." .. one.port
      if not known[one.port] then
         found:add(key, "there is no such port", "one of the names in ports")
      end
      check_filter(found, key .. ".filter", one.filter)
      check_filter(found, key .. ".trigger", one.trigger ~= "loss" and one.trigger or nil)
      for _, name in ipairs(one.trigger and {} or { "before", "after" }) do
         if found:given(key .. "." .. name) then
            found:add(key .. "." .. name, "there is no trigger", "trigger in addition")
         end
      end
      if one.files and not one.file_size then
         found:add(key .. ".files", "there is only one file", "file_size in addition")
      end
   end
end

M.rules = { are_possible }

return M
