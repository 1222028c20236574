-- SPDX-License-Identifier: BSD-3-Clause

--- Speed of the hot paths beside dpdk-testpmd's, for tools/bench.
--
-- Each work is measured by turns with its peers (turns.lua). Frames are of 64 bytes. Cycles are ticks of the
-- time stamp counter that the lcore needs for a frame, all it does included.
--
--    framegauge script main.lua [--json FILE] [--runs N] [NAME...]
local cjson = require "cjson"
local describe = require("machine").describe
local tester = require "tester"
local turns = require "turns"

local WORKS = {
   "tx", "fields1", "fields4", "fields8", "imix", "streams100", "streams1000", "streams10000", "rates100",
   "rates10000", "wire", "wire100", "wire1000", "wire10000", "measured", "forward", "rx", "rr", "crr", "cc",
   "http", "http_memif", "crr_memif", "https", "tls_crr", "http2", "dns", "quic",
   "tls_stream", "kernel_frames", "kernel_tcp",
}

local folder = arg[0]:match("^(.*)/[^/]*$") or "."

local function fail(message)
   io.stderr:write("tools/bench: ", message, "\n")
   os.exit(2)
end

local function parse(arguments)
   local options, known, i = { runs = 5, names = {} }, {}, 1
   for _, name in ipairs(WORKS) do
      known[name] = true
   end
   while i <= #arguments do
      local argument = arguments[i]
      if argument == "--json" or argument == "--runs" then
         i = i + 1
         options[argument:sub(3)] = arguments[i] or fail(argument .. " needs a value")
      elseif known[argument] then
         table.insert(options.names, argument)
      else
         fail(("%q is none of %s"):format(argument, table.concat(WORKS, ", ")))
      end
      i = i + 1
   end
   options.runs = tonumber(options.runs)
   if not options.runs or options.runs < 1 or options.runs % 1 ~= 0 then
      fail("--runs needs a whole number above 0")
   end
   if #options.names == 0 then
      options.names = WORKS
   end
   return options
end

local HEAD = { "", "M/s", "cycles", "beside", "M/s", "cycles", "ratio" }
local FORMAT = "%-13s %9s %8s   %-24s %9s %8s %7s\n"

local function text(format, value)
   return value and format:format(value) or "-"
end

local function print_row(row, hz)
   local function cycles(rate)
      return text("%.1f", rate and hz > 0 and row.unit ~= "bits" and hz / rate)
   end
   io.stdout:write(FORMAT:format(row.name, text("%.2f", row.fps / 1e6), cycles(row.fps), row.peer,
      text("%.2f", row.peer_fps and row.peer_fps / 1e6), cycles(row.peer_fps),
      text("%.2f", row.peer_fps and row.fps / row.peer_fps)))
   io.stdout:flush()
end

-- One entry for each figure: frames per second, and cycles per frame.
local function entries(rows, hz)
   local list = {}
   local function add(row, name, unit, value, peer_value)
      table.insert(list, {
         name = name, value = value, unit = unit, peer = row.peer, peer_value = peer_value or cjson.null,
         ratio = peer_value and value / peer_value or cjson.null,
      })
   end
   for _, row in ipairs(rows) do
      add(row, row.name, row.unit .. "/s", row.fps, row.peer_fps)
      if hz > 0 and row.unit ~= "bits" then
         add(row, row.name .. ".cycles", "cycles/" .. row.unit:sub(1, -2), hz / row.fps,
            row.peer_fps and hz / row.peer_fps)
      end
   end
   return list
end

local options = parse(arg)
local out = options.json and (io.open(options.json, "w") or fail("cannot write " .. options.json))
local all = {}
local ok, why = turns.with_machine(folder, function(machine)
   if not machine.peers then
      io.stderr:write("tools/bench: dpdk-testpmd is missing, so nothing stands beside our figures; ",
         "on Debian: apt install dpdk-dev\n")
   end
   io.stdout:write(describe(machine.worker))
   for _, name in ipairs(options.names) do
      io.stdout:write(("%-13s %s\n"):format(name, turns.definition(name).what))
   end
   io.stdout:write("\n", FORMAT:format(unpack(HEAD)))
   for _, name in ipairs(options.names) do
      for _, row in ipairs(turns.run(name, machine, options.runs)) do
         table.insert(all, row)
         print_row(row, tester.tsc_hz())
      end
   end
end)
if not ok then
   fail(why)
end
if out then
   out:write(cjson.encode(entries(all, tester.tsc_hz())), "\n")
   out:close()
end
