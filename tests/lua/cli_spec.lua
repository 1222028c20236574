-- SPDX-License-Identifier: BSD-3-Clause

-- The program as its user meets it: every test starts it anew.
local job = require "framegauge.core.job"
local new_plan = require "framegauge.cli.new_plan"
local plan = require "framegauge.plan"
local registry = require "framegauge.plan.registry"
local rows = require "framegauge.plan.rows"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local uv = require "luv"
local yaml = require "framegauge.yaml"

local folder

-- Write a file into the test's folder. @return its path
local function file(name, text)
   local path = folder .. "/" .. name
   for slash in path:gmatch(".()/") do
      uv.fs_mkdir(path:sub(1, slash - 1), 493) -- rwxr-xr-x
   end
   local handle = assert(io.open(path, "w"))
   handle:write(text)
   handle:close()
   return path
end

local function collect(into)
   local pipe = uv.new_pipe()
   return pipe, function()
      pipe:read_start(function(_, text)
         into.text = into.text .. (text or "")
         into.ended = not text
         into.seen(into.text)
      end)
   end
end

-- Run the program. signals: list of seconds after its first output at which it gets a SIGINT.
-- @return exit status, stdout, stderr
local function framegauge(args, signals)
   local out, err = { text = "" }, { text = "", seen = function() end }
   local first_output
   out.seen = function()
      if first_output then
         first_output()
      end
   end
   local out_pipe, read_out = collect(out)
   local err_pipe, read_err = collect(err)
   local exited = {}
   local options = { args = args, stdio = { nil, out_pipe, err_pipe } }
   local process = uv.spawn(uv.exepath(), options, function(status)
      exited.status = status
      if exited.wake then
         exited.wake()
      end
   end)
   if signals then
      job.wait(function(wake)
         first_output = wake
         read_out()
      end)
      read_err()
      for _, seconds in ipairs(signals) do
         job.sleep(seconds)
         process:kill("sigint")
      end
   else
      read_out()
      read_err()
   end
   job.wait(function(wake)
      exited.wake = wake
      if exited.status then
         wake()
      end
   end)
   while not (out.ended and err.ended) do -- what is left in the pipes
      job.sleep(0.001)
   end
   for _, handle in ipairs { process, out_pipe, err_pipe } do
      handle:close()
   end
   return exited.status, out.text, err.text
end

describe("the program", function()
   before_each(function()
      folder = assert(uv.fs_mkdtemp("/tmp/framegauge cli XXXXXX"))
   end)
   after_each(function()
      os.execute(("rm -rf '%s'"):format(folder))
   end)

   it("tells its version and those of what it stands on", function()
      local status, out = framegauge { "--version" }
      assert.equal(0, status)
      assert.matches("^framegauge %d+%.%d+%.%d+\nDPDK %d.*\nLuaJIT 2%.1", out)
   end)

   it("has a page for itself, every command and every topic", function()
      local _, overview = framegauge { "--help" }
      for _, name in ipairs { "run", "check", "script", "theory", "doctor", "help" } do
         local status, page = framegauge { "help", name }
         assert.equal(0, status)
         assert.matches("^usage: framegauge " .. name, page)
         assert.equal(page, select(2, framegauge { name, "--help" }))
         assert.matches("\n  " .. name .. " ", overview)
      end
      for _, topic in ipairs { "plan", "exit" } do
         assert.equal(0, (framegauge { "help", topic }))
         assert.matches("\n  help " .. topic .. " ", overview)
      end
   end)

   it("helps with a group of keys, and with a key by its path or by its name", function()
      local _, group = framegauge { "help", "rfc2544.throughput" }
      assert.matches("^rfc2544.throughput: [^\n]*\n  search  ", group)
      local _, key = framegauge { "help", "rfc2544.throughput.search" }
      assert.matches("^  rfc2544.throughput.search  how .*;%s+default: binary%]\n$", key)
      local _, keys = framegauge { "help", "vlan" }
      assert.matches("\n  y1564.services.NAME.vlan  ", keys)
      assert.equal(keys, select(2, framegauge { "help", "plan", "vlan" }))
      assert.matches("\nrfc2544.throughput: ", (select(2, framegauge { "help", "throughput" })))
      assert.matches("\n  rfc2544.frame_sizes ", (select(2, framegauge { "help", "imix" })))
      local status, out, err = framegauge { "help", "vlann" }
      assert.same({ 2, "" }, { status, out })
      assert.matches("no help on 'vlann'; did you mean 'vlan'%?\n", err)
   end)

   it("writes a plan to begin with for every test, and over no file", function()
      for _, method in ipairs(registry.ALL) do
         local path = folder .. "/" .. method.name .. ".yaml"
         if not method.service then
            local status, out, err = framegauge { "init", method.name, "--out", path }
            assert.same({ 0, "" }, { status, err })
            assert.matches("Wrote " .. path, out, 1, true)
            assert.equal(method.name, plan.load(path).test)
         end
      end
      local path = folder .. "/own.yaml"
      framegauge { "init", "y1564", "--device", "memif:/a", "--device", "memif:/b,id=1", "--out", path }
      local text = assert(io.open(path)):read "*a"
      assert.matches('east: {device: "memif:/a"}\n  west: {device: "memif:/b,id=1"}', text, 1, true)
      assert.is_nil(text:find "reference")
      local function refused(pattern, ...)
         local status, _, err = framegauge { "init", ... }
         assert.equal(2, status)
         assert.matches(pattern, err)
      end
      refused("own.yaml exists; ", "rfc2544", "--out", path)
      refused("no plan for 'rfc2545'; did you mean 'rfc2544'", "rfc2545")
      refused("has 8 ports; expected", "rfc2889", "--device", "memif:/a", "--out", path .. "2")
      refused("TEST is missing; tests are rfc2544, ", "--out", path .. "2")
   end)

   it("names the next commands as it was called, in a shell's words", function()
      local program = folder .. "/user's $tester"
      local path = folder .. "/my plan.yaml"
      assert(uv.fs_symlink(uv.exepath(), program))
      local out = scratch.shell(("\"%s\" init traffic --out '%s'"):format(program:gsub("%$", "\\$"), path))
      local check, run = out:match "Next: (.-); (.-)\n"
      local _, status = scratch.shell(check)
      assert.equal(0, status, check)
      assert.equal(check:gsub(" check ", " run ") .. " --quick", run)
   end)

   -- Every key that begins a line, with its row; a key of the user's choice has none.
   local function each_key(row, node, lines, visit)
      local flow = node.kind ~= "map" or lines[node.line]:sub(node.column, node.column) == "{"
      for _, entry in ipairs(flow and {} or node.entries) do
         local field = row.type == "map" and row.of or tables.find(row.fields or {}, "key", entry.key)
         if field then
            visit(row.type ~= "map" and field, entry.line)
            each_key(field, entry.value, lines, visit)
         end
      end
   end

   it("writes every reference plan with a comment on each key where it is first", function()
      local names = scratch.shell(("cd '%sconfigs' && ls *-reference.yaml"):format(scratch.PROJECT))
      for name in names:gmatch "([%w-]+)%-reference.yaml" do
         local text = new_plan.text(name, {})
         local _, problems = plan.load_text(text, name, {})
         assert.is_nil(problems)
         local lines, seen = {}, {}
         for line in text:gmatch "([^\n]*)\n" do
            lines[#lines + 1] = line
         end
         each_key(rows, yaml.parse(text, name), lines, function(field, number)
            assert.is_truthy(not field or seen[field] or lines[number]:find "#"
               or lines[number - 1]:find "^%s*#", ("%s: %s"):format(name, lines[number]))
            seen[field] = true
         end)
      end
   end)

   it("names the help of the command that was called", function()
      file("framegauge/cli/theory.lua", "return { main = function() require('framegauge.core.user_error').raise('run', 2, 'no') end }")
      assert.same({ 2, "", "framegauge: no\nSee 'framegauge theory --help'.\n" },
         { framegauge { "--lua-path", folder, "theory" } })
   end)

   it("completes itself in a shell, and has a manual page, from the same table", function()
      local commands = require "framegauge.cli.commands"
      local _, bash = framegauge { "completion", "bash" }
      local path = file("completion.bash", bash)
      file("my plan.yaml", "")
      assert.equal("--quick\ntheory\n1: my plan.yaml\n", (scratch.shell(([[cd '%s'; bash -c 'source completion.bash
         COMP_WORDS=(framegauge run --qu); COMP_CWORD=2; _framegauge; echo ${COMPREPLY[@]}
         COMP_WORDS=(framegauge theo); COMP_CWORD=1; _framegauge; echo ${COMPREPLY[@]}
         COMP_WORDS=(framegauge run my); COMP_CWORD=2; _framegauge; echo ${#COMPREPLY[@]}: ${COMPREPLY[@]}']])
         :format(folder))))
      local words = scratch.shell(([[bash -c 'source "$0"
         reply() {
            COMP_WORDS=(framegauge run p.yaml --set "$@"); COMP_CWORD=$((3 + $#))
            _framegauge "$program"; echo ${COMPREPLY[@]}
         }
         program=$1 key=rfc2544.throughput.search
         reply ${key%%arch}; reply $key =; reply $key = ts' '%s' '%s']]):format(path, uv.exepath()))
      assert.equal("rfc2544.throughput.search= rfc2544.throughput.search_trial=\nbinary tst009 mlr\ntst009\n", words)
      local _, zsh = framegauge { "completion", "zsh" }
      local _, man = framegauge { "completion", "man" }
      for _, command in ipairs(commands) do
         assert.truthy(bash:find("\t" .. command.name .. ") ", 1, true), command.name)
         assert.truthy(zsh:find("'" .. command.name .. ":", 1, true), command.name)
         assert.truthy(man:find(".SS " .. command.name .. "\n", 1, true), command.name)
      end
      assert.equal(2, (framegauge { "completion", "fish" }))
   end)

   it("lists the exit statuses", function()
      local _, page = framegauge { "help", "exit" }
      for _, status in ipairs { 0, 1, 2, 3, 4, 70, 130 } do
         assert.matches("\n%s+" .. status .. "  ", page)
      end
   end)

   it("names the nearest command, topic or option, and exits 2", function()
      local function refused(pattern, ...)
         local status, out, err = framegauge { ... }
         assert.equal(2, status)
         assert.equal("", out)
         assert.matches(pattern, err)
      end
      refused("unknown command 'rnu'; did you mean 'run'%?", "rnu")
      refused("unknown command 'xyzzy'\n", "xyzzy")
      refused("unknown option '%-%-quikc'; did you mean '%-%-quick'%?", "run", "plan.yaml", "--quikc")
      refused("no help on 'exti'; did you mean 'exit'%?", "help", "exti")
      refused("unknown option '%-x'", "doctor", "-x")
      refused("PLAN.yaml is missing", "run")
      refused("'b.yaml' is one argument too many", "check", "a.yaml", "b.yaml")
      refused("%-%-out needs a value: %-%-out DIR", "run", "a.yaml", "--out")
      refused("%-%-out is given twice", "run", "a.yaml", "--out=a", "--out", "b")
      refused("%-%-quick takes no value", "run", "a.yaml", "--quick=yes")
      refused("usage: framegauge COMMAND")
   end)

   it("calls an error of its own by that name, with the stack, and exits 70", function()
      file("framegauge/cli/theory.lua", "return { main = function() local x = nil; return x.y end }")
      local status, _, err = framegauge { "--lua-path", folder, "theory" }
      assert.equal(70, status)
      assert.matches("^framegauge: internal error: .*theory.lua:1: .*\nstack traceback:\n", err)
   end)

   it("logs all there is only when told to", function()
      local path = file("logs.lua", [[
         local ffi = require "ffi"
         require "framegauge.core.api"
         ffi.cdef "void fg_log(int level, const char *format, ...);"
         ffi.C.fg_log(1, "a warning")
         ffi.C.fg_log(3, "a detail")
      ]])
      local warning = "framegauge: warning: a warning\n"
      assert.equal(warning, select(3, framegauge { "script", path }))
      assert.equal(warning .. "framegauge: a detail\n", select(3, framegauge { "--verbose", "script", path }))
   end)

   it("takes its Lua from a folder only when told to", function()
      assert.equal(2, (framegauge { "--lua-path", folder .. "/none", "theory" }))
      file("framegauge/cli/theory.lua", "return { main = function() print 'mine' return 0 end }")
      assert.same({ 0, "mine\n", "" }, { framegauge { "--lua-path", folder, "theory" } })
   end)
end)

describe("a capture", function()
   it("is incomplete by each count of frames that the tester lost", function()
      local loss = require("framegauge.cli.capture").loss
      assert.is_nil(loss({ dropped = 0 }, { rx_missed = 0, rx_no_mbuf = 0 }))
      assert.matches("^1 frame dropped because", loss({ dropped = 1 }, {}))
      assert.equal("5 frames dropped by the port", loss({ dropped = 0 }, { rx_missed = 2, rx_no_mbuf = 3 }))
   end)
end)

describe("a script", function()
   before_each(function()
      folder = assert(uv.fs_mkdtemp("/tmp/framegauge cli XXXXXX"))
   end)
   after_each(function()
      os.execute(("rm -rf '%s'"):format(folder))
   end)

   it("gets its arguments as they are, and its number becomes the exit status", function()
      local path = file("arguments.lua", "print(arg[0], #arg, ...) return 9")
      local status, out = framegauge { "script", path, "--quick", "--", "-x" }
      assert.equal(9, status)
      assert.equal(path .. "\t3\t--quick\t--\t-x\n", out)
   end)

   it("may wait, call the C side and require what lies beside it", function()
      file("beside.lua", "return 'beside'")
      local path = file("waits.lua", [[
         local api = require "framegauge.core.api"
         require("framegauge.core.job").sleep(0.001)
         print(require "beside", api.C.fg_protocol_find("arp") ~= nil)
      ]])
      assert.same({ 0, "beside\ttrue\n", "" }, { framegauge { "script", path } })
   end)

   it("that raises an error exits 1 and is told its own line", function()
      local path = file("raises.lua", "local x = 1\nerror('too bad')")
      local status, _, err = framegauge { "script", path }
      assert.equal(1, status)
      assert.equal("framegauge: " .. path .. ":2: too bad\n", err)
      path = file("raises_below.lua", "local job = require 'framegauge.core.job'\n\njob.sleep('soon')")
      err = select(3, framegauge { "script", path })
      assert.truthy(err:find("called at " .. path .. ":3", 1, true), err)
      path = file("syntax.lua", "local = 1")
      status, _, err = framegauge { "script", path }
      assert.equal(1, status)
      assert.truthy(err:find(path .. ":1:", 1, true), err)
   end)

   it("may not read or make globals", function()
      local status, _, err = framegauge { "script", file("reads.lua", "\nprint(undefined)") }
      assert.equal(1, status)
      assert.matches("reads.lua:2: global 'undefined' is not defined", err)
      status, _, err = framegauge { "script", file("makes.lua", "counter = 1") }
      assert.equal(1, status)
      assert.matches("makes.lua:1: global 'counter' is not declared", err)
   end)

   it("that is not there is bad usage", function()
      local status, _, err = framegauge { "script", folder .. "/none.lua" }
      assert.equal(2, status)
      assert.matches("cannot read the script: .*none.lua", err)
   end)

   it("stops at Ctrl-C with what it has", function()
      local path = file("long.lua", [[
         local job = require "framegauge.core.job"
         print "ready"
         io.stdout:flush()
         local ok, err = pcall(job.sleep, 60)
         print("kept", ok)
         error(err, 0)
      ]])
      local status, out, err = framegauge({ "script", path }, { 0 })
      assert.equal(130, status)
      assert.equal("ready\nkept\tfalse\n", out)
      assert.equal("framegauge: interrupted\n", err)
   end)

   it("that does not stop is stopped by the second Ctrl-C", function()
      local path = file("endless.lua", "print 'ready' io.stdout:flush() while true do end")
      assert.equal(130, (framegauge({ "script", path }, { 0, 0.05 })))
   end)
end)
