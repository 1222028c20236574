-- SPDX-License-Identifier: BSD-3-Clause

--- Instructions of a frame or a transaction, by kind of traffic and by stage, as callgrind counts them.
--
-- Times on a shared machine say little about a change of a few percent; the number of instructions is the
-- same every time. It covers the lcore's loop alone, and the difference of two trials, one twice as long
-- as the other, so that nothing of the start is in it. Which stage an instruction belongs to, its source file
-- says, inlined or not.
--
-- The counts belong to a compiler and a DPDK. With others than the baseline's each kind has some room,
-- and less beside the plain one.
--
--    framegauge script instructions.lua           show them
--    framegauge script instructions.lua --check   compare with the baseline, as lines of TAP
--    framegauge script instructions.lua --update  make them the baseline
local child = require "child"
local cjson = require "cjson"
local count = require "count"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local uv = require "luv"

ffi.cdef "const char *rte_version(void);"

local FRAMES = 2560
local LOOP = "run_wire" -- what an lcore does in a trial
local RUNS = 3 -- of the loop for each kind: looking for neighbours, then the two trials
local TOLERANCE = 0.03
local ALIEN_TOLERANCE, ALIEN_BESIDE_PLAIN = 0.30, 0.15
local SECONDS = 570 -- no aim, but an end to what hangs

-- Stages, each by patterns of its source files; the first that fits. What fits none is the rest.
local STAGES = {
   { "TCP", "/lib/tcp/", "/lib/engine/endpoint_port", "/lib/net/checksum" },
   { "fields", "/vary" }, { "signature", "/fg_signature%.h", "byteswap%.h", "emmintrin%.h" },
   { "pace", "/lib/pace/" }, { "buffers", "rte_mempool", "rte_mbuf", "/fg_burst%.h", "rte_memcpy" },
   { "send", "/lib/tx/" }, { "receive", "/lib/rx/" },
   { "tracker", "/sequence", "/fg_sequence", "/order" }, { "histogram", "histogram" },
   { "more", "variation", "payload", "series" },
   { "wire", "/lib/wire/", "/lib/device/", "/lib/switch/", "/lib/path/", "/lib/net/" },
}

local folder = arg[0]:match("^(.*)/[^/]*$") or "."
local BASELINE = folder .. "/instructions.json"

local function fail(status, ...)
   io.stderr:write("tools/bench instructions: ", ...)
   io.stderr:write("\n")
   os.exit(status)
end

local function read_file(path)
   local file = io.open(path)
   local text = file and file:read("*a")
   if file then
      file:close()
   end
   return text
end

-- What built this program, as far as it decides on the number of instructions. Compilers leave their name.
local function toolchain()
   local program = read_file(uv.exepath())
   local compiler = program:match("GCC: %b() [%d.]+") or program:match("clang version [%d.]+") or "?"
   return ("%s, %s, %s"):format(compiler, ffi.string(ffi.C.rte_version()), jit.arch)
end

local function stage_of(file)
   for _, stage in ipairs(STAGES) do
      for i = 2, #stage do
         if file:find(stage[i]) then
            return stage[1]
         end
      end
   end
   return "rest"
end

-- Callgrind names a file once, with a number, and then says the number.
local function named(names, text)
   local id, name = text:match("^(%(%d+%))%s*(.*)$")
   if name ~= "" then
      names[id] = name
   end
   return names[id]
end

-- Instructions by stage in one of callgrind's files, and all of them.
local function read_counts(path)
   local stages, names, total, stage, inclusive = {}, {}, 0, "rest", false
   for line in io.lines(path) do
      local key, value = line:match("^(%a+)=(.*)$")
      if key == "fl" or key == "fi" or key == "fe" then
         stage = stage_of(named(names, value))
      elseif key == "cfi" or key == "cfl" then
         named(names, value)
      elseif key == "calls" then
         inclusive = true -- the next line is what the callee took
      elseif line:find("^[%d+*-]") then
         local cost = not inclusive and tonumber(line:match("^%S+ (%d+)")) or 0
         stages[stage], total, inclusive = (stages[stage] or 0) + cost, total + cost, false
      end
   end
   return stages, total
end

-- Instructions of a frame or a transaction between a trial and one that is twice as long.
local function difference(path, kind)
   local first = (kind - 1) * RUNS
   local short, shorter = read_counts(("%s.%d"):format(path, first + 2))
   local long, longer = read_counts(("%s.%d"):format(path, first + 3))
   local of_frame = {}
   for stage, instructions in pairs(long) do
      of_frame[stage] = (instructions - (short[stage] or 0)) / FRAMES
   end
   return of_frame, (longer - shorter) / FRAMES
end

-- @return a list of { name =, total =, stages = }
local function measure(scratch)
   local out = scratch .. "/counts"
   local run = child.spawn("valgrind", {
      "--tool=callgrind", "--callgrind-out-file=" .. out, "--toggle-collect=" .. LOOP,
      "--dump-after=" .. LOOP,
      uv.exepath(), "script", folder .. "/count.lua", tostring(FRAMES),
   })
   local deadline = uv.hrtime() + SECONDS * 1e9
   while not run.exited and uv.hrtime() < deadline do
      job.sleep(0.02)
   end
   local ended, words = run.exited, run:last_words()
   run:close()
   if not ended or not uv.fs_stat(out .. "." .. RUNS * #count.KINDS) then
      error("callgrind has not counted everything; the last it said:\n" .. words, 0)
   end
   local list = {}
   for i, kind in ipairs(count.KINDS) do
      local stages, total = difference(out, i)
      list[i] = { name = kind[1], total = total, stages = stages }
   end
   return list
end

local function show(list, prefix)
   local head = { ("%-20s %7s"):format("instructions of one", "all") }
   for _, stage in ipairs(STAGES) do
      head[#head + 1] = ("%9s"):format(stage[1])
   end
   print(prefix .. table.concat(head, " ") .. "      rest")
   for _, row in ipairs(list) do
      local line = { ("%-20s %7.1f"):format(row.name, row.total) }
      for _, stage in ipairs(STAGES) do
         line[#line + 1] = ("%9.1f"):format(row.stages[stage[1]] or 0)
      end
      print(prefix .. table.concat(line, " ") .. (" %9.1f"):format(row.stages.rest or 0))
   end
end

-- @param share  what a kind needs, as a multiple of the baseline's number. @return what is wrong, or nil
local function excess(share, tolerance, beside)
   if share > 1 + tolerance then
      return ("%+.1f %%%s, more than %.0f %%"):format((share - 1) * 100, beside or "", tolerance * 100)
   end
end

-- Prints a result for each kind. @return how many need more than the baseline says, or are not in it
local function compare(list, baseline, built_with)
   local alien, more = baseline.toolchain ~= built_with, 0
   local tolerance = alien and ALIEN_TOLERANCE or TOLERANCE
   local plain = list[1].total / (baseline.instructions[list[1].name] or list[1].total)
   if alien then
      print(("# built with %s and not %s: to %.0f %%, and beside the plain one to %.0f %%"):format(
         built_with, baseline.toolchain, tolerance * 100, ALIEN_BESIDE_PLAIN * 100))
   end
   for _, row in ipairs(list) do
      local was = baseline.instructions[row.name]
      local share = was and row.total / was
      local wrong = not was and "not in it; tools/bench instructions --update" or excess(share, tolerance)
         or alien and excess(share / plain, ALIEN_BESIDE_PLAIN, " beside the plain one")
      local lower = share and share < 1 - tolerance and not alien
         and "; keep it with tools/bench instructions --update"
      more = more + (wrong and 1 or 0)
      print(("%s - %s: %.1f instructions, the baseline has %.1f%s"):format(wrong and "not ok" or "ok",
         row.name, row.total, was or 0, wrong and ": " .. wrong or lower or ""))
   end
   print("1.." .. #list)
   return more
end

local function update(list, built_with)
   local lines = {}
   for i, row in ipairs(list) do
      lines[i] = ('    %s: %.1f'):format(cjson.encode(row.name), row.total)
   end
   local file = assert(io.open(BASELINE, "w"))
   file:write(('{\n  "toolchain": %s,\n  "instructions": {\n%s\n  }\n}\n'):format(cjson.encode(built_with),
      table.concat(lines, ",\n")))
   file:close()
end

local function found(program)
   for path in (os.getenv("PATH") or ""):gmatch("[^:]+") do
      if uv.fs_access(path .. "/" .. program, "X") then
         return true
      end
   end
   return false
end

if not found("valgrind") then
   print("1..0 # SKIP valgrind is missing; on Debian: apt install valgrind")
   os.exit(0)
end
local scratch = assert(uv.fs_mkdtemp("/tmp/framegauge-count-XXXXXX"))
local ok, list = pcall(measure, scratch)
for name in uv.fs_scandir_next, uv.fs_scandir(scratch) do
   uv.fs_unlink(scratch .. "/" .. name)
end
uv.fs_rmdir(scratch)
if not ok then
   fail(2, tostring(list))
end
show(list, arg[1] == "--check" and "# " or "")
local built_with = toolchain()
if arg[1] == "--update" then
   update(list, built_with)
elseif arg[1] == "--check" then
   local baseline = cjson.decode((assert(read_file(BASELINE), BASELINE .. " is missing")))
   os.exit(compare(list, baseline, built_with) == 0 and 0 or 1)
end
