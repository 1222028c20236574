-- SPDX-License-Identifier: BSD-3-Clause

--- Speed of the hot paths beside that of dpdk-testpmd, for tools/bench.
--
-- Each work is measured by turns, Framegauge, peer, Framegauge, peer ..., so that what disturbs the machine
-- disturbs both, and the medians are compared. Frames are of 64 bytes. Cycles are those of the time stamp
-- counter that the lcore needs for a frame, all it does included.
--
--    framegauge script main.lua [--json FILE] [--runs N] [NAME...]
local cjson = require "cjson"
local shaped = require "work_shapes"
local tester = require "tester"
local testpmd = require "testpmd"
local uv = require "luv"

local WORKS = {
   "tx", "fields1", "fields4", "fields8", "imix", "streams100", "streams1000", "streams10000", "rates100",
   "wire", "wire10000", "measured", "forward", "rx", "rr", "crr", "cc", "http", "http_memif", "crr_memif",
}
local SECONDS = 1 -- of each measurement

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

local function definition(name)
   return shaped[name] or require("work_" .. name)
end

-- CPUs this process may use.
local function allowed_cpus()
   local cpus = {}
   for line in io.lines("/proc/self/status") do
      for first, last in (line:match("^Cpus_allowed_list:%s*(.*)") or ""):gmatch("(%d+)%-?(%d*)") do
         for cpu = tonumber(first), tonumber(last) or tonumber(first) do
            table.insert(cpus, cpu)
         end
      end
   end
   return cpus
end

-- Who runs where: the main threads, which sleep, share a core with whatever needs a third.
local function place()
   local cpus = allowed_cpus()
   if #cpus < 2 then
      fail("needs two CPUs: what is measured, and what it works with, must have one each")
   end
   return {
      main = cpus[1], worker = cpus[2], other = cpus[3] or cpus[1],
      peers = testpmd.found(), seconds = SECONDS, folder = folder,
   }
end

local function median(list)
   table.sort(list)
   local middle = (#list + 1) / 2
   return (list[math.floor(middle)] + list[math.ceil(middle)]) / 2
end

local function turn(contender, samples)
   if contender.measure then
      table.insert(samples, contender.measure())
   end
end

-- @return the medians: ours, and a list of {name=, fps=} of the peers
local function measure(work, runs)
   local contenders = { { measure = work.ours } }
   for _, peer in ipairs(work.peers) do
      table.insert(contenders, peer)
   end
   local samples = {}
   for i = 1, #contenders do
      samples[i] = {}
   end
   for _ = 1, runs do
      for i, contender in ipairs(contenders) do
         turn(contender, samples[i])
      end
   end
   local peers = {}
   for i = 2, #contenders do
      peers[i - 1] = {
         name = contenders[i].name,
         fps = contenders[i].constant or (#samples[i] > 0 and median(samples[i]) or nil),
      }
   end
   return median(samples[1]), peers
end

local function run_work(name, machine, runs)
   local work, why = definition(name).start(machine)
   if not work then
      io.stderr:write(("tools/bench: %s is left out: %s\n"):format(name, why))
      return {}
   end
   local ok, fps, peers = pcall(measure, work, runs)
   work.close()
   if not ok then
      error(fps, 0)
   end
   local rows = {}
   for i, peer in ipairs(peers) do
      rows[i] = {
         name = name, fps = fps, peer = peer.name, peer_fps = peer.fps,
         unit = definition(name).unit or "frames",
      }
   end
   return rows
end

local HEAD = { "", "M/s", "cycles", "beside", "M/s", "cycles", "ratio" }
local FORMAT = "%-12s %9s %8s   %-24s %9s %8s %7s\n"

local function text(format, value)
   return value and format:format(value) or "-"
end

local function print_row(row, hz)
   io.stdout:write(FORMAT:format(row.name, text("%.2f", row.fps / 1e6), text("%.1f", hz / row.fps), row.peer,
      text("%.2f", row.peer_fps and row.peer_fps / 1e6), text("%.1f", row.peer_fps and hz / row.peer_fps),
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
      add(row, row.name .. ".cycles", "cycles/" .. row.unit:sub(1, -2), hz / row.fps,
         row.peer_fps and hz / row.peer_fps)
   end
   return list
end

-- A folder for sockets, for as long as fn runs.
local function with_scratch(machine, fn)
   machine.scratch = assert(uv.fs_mkdtemp("/tmp/framegauge-bench-XXXXXX"))
   local ok, err = pcall(fn)
   for name in uv.fs_scandir_next, uv.fs_scandir(machine.scratch) do
      uv.fs_unlink(machine.scratch .. "/" .. name)
   end
   uv.fs_rmdir(machine.scratch)
   if not ok then
      error(err, 0)
   end
end

local options = parse(arg)
local machine = place()
if not machine.peers then
   io.stderr:write("tools/bench: dpdk-testpmd is missing, so nothing stands beside our figures; ",
      "on Debian: apt install dpdk-dev\n")
end
local out = options.json and (io.open(options.json, "w") or fail("cannot write " .. options.json))
local all = {}
for _, name in ipairs(options.names) do
   io.stdout:write(("%-12s %s\n"):format(name, definition(name).what))
end
io.stdout:write("\n", FORMAT:format(unpack(HEAD)))
with_scratch(machine, function()
   for _, name in ipairs(options.names) do
      for _, row in ipairs(run_work(name, machine, options.runs)) do
         table.insert(all, row)
         print_row(row, tester.tsc_hz())
      end
   end
end)
if out then
   out:write(cjson.encode(entries(all, tester.tsc_hz())), "\n")
   out:close()
end
