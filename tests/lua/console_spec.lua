-- SPDX-License-Identifier: BSD-3-Clause

-- The parts of the console that need no terminal: what a text means, what is shown, what Tab finds.
local command = require "framegauge.console.command"
local commands = require "framegauge.console.commands"
local console = require "framegauge.console"
local plans = require "framegauge.plan"
local registry = require "framegauge.plan.registry"
local scratch = require "scratch"
local Session = require "framegauge.console.session"
local settings = require "framegauge.control.settings"
local show = require "framegauge.console.show"
local Control = require "framegauge.control"
local tables = require "framegauge.core.tables"
local topics = require "framegauge.console.topics"
local uv = require "luv"
local words = require "framegauge.console.tokenizer"

local function texts(list)
   local out = {}
   for i, word in ipairs(list) do
      out[i] = word.text
   end
   return out
end

-- Ports of a session that failed are closed, too: the next one wants the same
local opened = {}
after_each(function()
   while #opened > 0 do
      table.remove(opened):close()
   end
end)

-- A session on the reference device. @return it, and what it wrote: output and errors
local function session(o)
   local written = { out = "", err = "" }
   o = o or {}
   local plan = require "framegauge.console.default_plan"
   o.control = o.control or Control.new(assert(plans.load_text(plan, "console", {
      sets = { "reference_device.time=free" },
   })))
   opened[#opened + 1] = o.control
   o.out = function(text)
      written.out = written.out .. text
   end
   o.err = function(text)
      written.err = written.err .. text
   end
   return Session.new(o), written
end

-- What a text gives: output and errors together.
local function typed(text, o)
   local one, written = session(o)
   local outcome = one:execute(text)
   return written.out .. written.err, outcome
end

describe("words", function()
   it("are separated by blanks and kept together by quotes", function()
      assert.same({ "rate", "east", "1 Gbps L1", "" }, texts(words.split [[ rate  east "1 Gbps L1" '' ]]))
      assert.same({}, words.split "  ")
      assert.same({ nil, "a quote is not closed" }, { words.split [[rate "east]] })
   end)

   it("have a name before an equals sign", function()
      local list = words.split [[a.b=5 c="x y" "d=e" =f]]
      assert.same({ "a.b", "c" }, { list[1].name, list[2].name })
      assert.equal("x y", list[2].value)
      assert.is_nil(list[3].name)
      assert.is_nil(list[4].name)
   end)
end)

describe("a command", function()
   local row = {
      name = "demo", arguments = {
         { name = "target" }, { name = "rate", optional = true }, { name = "fast", flag = true },
         { name = "out", named = true },
      },
   }

   it("takes the same arguments as words and as a call", function()
      local expected = { target = "east", rate = "40%", fast = true, out = "x" }
      assert.same(expected, command.of_words(row, " east fast 40% out=x"))
      assert.same(expected, command.of_call(row, "east", "40%", { fast = true, out = "x" }))
      assert.same(expected, command.of_call(row, { "east", "40%", "fast", out = "x" }))
      assert.same(expected, command.of_call(row, expected))
   end)

   it("runs the tests there are, which services are not", function()
      local names = tables.map(registry.ALL, function(method)
         return not method.service and method.name or nil
      end)
      assert.is_true(tables.contains(names, "rfc2544") and not tables.contains(names, "emulate"))
      assert.matches("there is no test 'relay'; did you mean 'replay'?; the tests are "
         .. table.concat(names, ", ") .. "\n", typed "test relay" .. "\n", 1, true)
      assert.equal("4 ", (session():complete "test l"))
   end)

   it("refuses what it does not know, with what it knows", function()
      local function refused(pattern, text)
         local ok, err = pcall(command.of_words, row, text)
         assert.falsy(ok)
         assert.matches(pattern, tostring(err))
      end
      refused("TARGET is missing: demo TARGET", "")
      refused("'c' is one argument too many", "a b c")
      local ok, err = pcall(command.of_call, row, { "a", rat = 1 })
      assert.falsy(ok)
      assert.matches("unknown argument 'rat'; did you mean 'rate'%?", tostring(err))
   end)

   it("has a page, as every topic has", function()
      for _, name in ipairs(topics.names(commands)) do
         assert.truthy(#topics.page(commands, name) > 40, name)
      end
      for _, one in ipairs(commands.list) do
         assert.truthy(one.summary and one.help and one.run, one.name)
         assert.truthy(topics.overview(commands):find("\n  " .. one.name, 1, true), one.name)
      end
   end)
end)

describe("the reference device of a plan", function()
   teardown(scratch.remove)

   it("keeps step with the clock where nothing else is said, and the first lines say so", function()
      local wires = "test: rfc2544\nports: {east: {device: wire0}, west: {device: wire1}}\n"
      local path = scratch.path()
      local function first(text, ...)
         scratch.write(path, wires .. text)
         local plan = console.plan(path, { set = { ... } }, {})
         return (plan.reference_device or plan.reference_switch).time, console.welcome { plan = plan }
            :match "\nThe reference (%a+) keeps step with the clock"
      end
      assert.same({ "real", "device" }, { first "" })
      assert.same({ "real", "device" }, { first("reference_device: {rate: 100Mbps}", "reference_device.seed=2") })
      assert.same({ "free", nil }, { first "reference_device: {time: free}" })
      assert.same({ "free", nil }, { first("", "reference_device.time=free") })
      assert.same({ "real", nil }, { first("", "reference_device.time=real") })
      assert.same({ "real", "switch" }, { first "reference_switch: {}" })
   end)

   it("is judged by the time that it has at the console, once all of the plan is read from a pipe", function()
      local function piped(time, options)
         local pipe = uv.pipe({}, {})
         uv.fs_write(pipe.write, "test: convergence\nconvergence: {command: [\"true\"]}\n" .. time
            .. "ports: {a: {device: wire0}, b: {device: wire1}}\n")
         uv.fs_close(pipe.write)
         local ok, plan = pcall(console.plan, "/dev/fd/" .. pipe.read, options or {}, {})
         uv.fs_close(pipe.read)
         return ok, plan
      end
      for _, options in ipairs { {}, { quick = true }, { set = { "test=rfc2544" } } } do
         local ok, plan = piped("", options)
         assert.truthy(ok, tostring(not ok and plan.message))
         local device = plan.reference_switch or plan.reference_device
         local again = assert(plans.load_text(plan.source.text, "again", plan.source.options))
         assert.same({ "real", "real" }, { device.time,
            (again.reference_switch or again.reference_device).time })
      end
      for _, device in ipairs { "reference_device", "reference_switch" } do
         local ok, err = piped(device .. ": {time: free}\n")
         assert.falsy(ok)
         assert.matches("no program can meet time that runs free", err.message, 1, true)
      end
   end)
end)

describe("settings", function()
   it("are the keys of tables, dotted, and lists as YAML has them", function()
      assert.same({
         "rfc2544.frame_sizes=[64, 1518]", "rfc2544.throughput.max=5Gbps L1", "rfc2544.throughput.trial=1s",
      }, settings.of({
         frame_sizes = { 64, 1518 }, throughput = { trial = "1s" }, ["throughput.max"] = "5Gbps L1",
      }, "rfc2544."))
      assert.same({ "frame_sizes=[64,128]", "name='a: b'" },
         settings.of({ frame_sizes = "64,128", name = "a: b" }, ""))
   end)
end)

describe("a value is shown", function()
   it("as a table where it is a list of records", function()
      assert.equal("a  b\n1  x\n-  y\n", show.text { { a = 1, b = "x" }, { b = "y" } })
   end)
   it("as keys and values where it is a record", function()
      assert.equal("name  east\nrate  1,000,000\n", show.text { name = "east", rate = 1e6 })
   end)
   it("in bounds, whatever it is", function()
      local rows, itself = {}, {}
      for i = 1, 1000 do
         rows[i] = { number = i, text = ("x"):rep(500), deep = { { { rows } } } }
      end
      itself.itself = itself
      assert.truthy(#show.text(rows) < 30000)
      assert.matches("and 800 more", show.text(rows))
      assert.truthy(show.text(itself))
      assert.equal("\\27[2J\n", show.text { { ["\27"] = "\27[2J" } }:match "\n(.*)")
   end)
end)

describe("a session", function()
   it("takes expressions, statements, and names of its own", function()
      local one, written = session()
      for _, text in ipairs {
         "x = 20", "x + 1", "=x + 2", "local y = 5", "print('a', nil, 2)", "nil", "'text'",
      } do
         assert.equal("done", one:execute(text))
      end
      assert.equal("21\n22\na\tnil\t2\ntext\n", written.out)
      assert.equal("", written.err)
      assert.is_nil(rawget(_G, "x"))
   end)

   it("asks for more of a text that is only begun", function()
      for _, text in ipairs { "for i = 1, 3 do", "x = {", "return [[", "function f()", "--[[ a" } do
         assert.equal("more", (select(2, typed(text))))
      end
      assert.equal("failed", (select(2, typed "x = = 1")))
   end)

   it("says what is wrong with a key as it was typed", function()
      assert.equal("error: streams.a.to: there is no port north; expected east, west\n", (typed "stream a to=north"))
      assert.equal("error: reference_device.latecy: unknown key; expected latency\n",
         (typed "set reference_device.latecy=3us"))
   end)

   it("says an error in one line, and its stack on request", function()
      local one, written = session()
      one:execute "local function f() error('too\\nbad') end f()"
      assert.equal("error: too; bad\n", written.err)
      one:execute "trace"
      assert.matches("stack traceback", written.out)
      assert.equal("error: 'prots' is not defined; did you mean 'ports'?\n", (typed "prots"))
      assert.matches("^error: line 2: ", (typed "\nlocal a = error('x')"))
      assert.matches("^error: ", (typed "error(setmetatable({}, {__tostring = function() error 'no' end}))"))
      assert.matches("write 'local z'", (typed "(function() z = 1 end)()"))
   end)

   it("knows a command from Lua", function()
      assert.matches("^port +device", (typed "ports"))
      assert.matches("^port +device", (typed "ports()"))
      assert.equal("2\n", (typed "#ports()"))
      assert.equal("east\n", (typed "ports()[1].name"))
      assert.matches("one argument too many", (typed "ports east"))
      local one, written = session()
      one:execute "ports = 5"
      one:execute "=ports"
      assert.equal("5\n", written.out)
   end)

   it("that may only look cannot touch", function()
      for _, text in ipairs {
         "set name=x", "test rfc2544 quick", "test.rfc2544 {}", "pause", "1 + 1", "os.exit()",
      } do
         assert.matches("this session is read%-only", (typed(text, { read_only = true })))
      end
      assert.matches("^port +device", (typed("ports", { read_only = true })))
   end)

   it("leaves at quit", function()
      assert.equal("quit", (select(2, typed "quit")))
   end)
end)

describe("Tab", function()
   local one = session()
   rawset(one.env, "mine", { field = 1, fields = { deep = 1 } })

   it("completes commands, names and fields", function()
      assert.same({ "rt", {} }, { one:complete "po" }) -- the module, or the command ports
      assert.same({ "ch ", {} }, { one:complete "wat" })
      assert.same({ "lp ", {} }, { one:complete "he" })
      assert.same({ "rmat", {} }, { one:complete "string.fo" })
      assert.same({ "field", {} }, { one:complete "x = mine." })
      assert.same({ "", { "field", "fields" } }, { one:complete "x = mine.field" })
      assert.same({ "eep", {} }, { one:complete "mine.fields.d" })
      assert.same({ "", {} }, { one:complete "nothing.like.this" })
   end)

   it("completes what a command takes: tests, keys of the plan, topics", function()
      assert.same({ "44 ", {} }, { one:complete "test rfc25" })
      assert.same({ "izes=", {} }, { one:complete "test rfc2544 frame_s" })
      assert.same({ "round ", {} }, { one:complete "test rfc2544 quick backg" })
      assert.same({ "me=", {} }, { one:complete "set reference_device.ti" })
      assert.same({ "", { "free", "real" } }, { one:complete "set reference_device.time=" })
      assert.same({ "lr ", {} }, { one:complete "test rfc2544 throughput.search=m" })
      assert.same({ "e ", {} }, { one:complete "help trac" })
   end)
end)

describe("captures", function()
   teardown(scratch.remove)

   it("are kept of what a port receives, and sent again", function()
      local one, path = session(), scratch.path() .. ".pcap"
      local o = { control = one.control }
      typed("rate all 1kfps", o)
      local begun = typed("capture west '" .. path .. "' udp", o)
      assert.equal(path .. ": frames that west receives from now on\n", begun)
      typed("start for=1s", o)
      assert.matches("west +" .. path:gsub("%p", "%%%0") .. " +%d+ +%d+ +1000 +0 +0\n", typed("capture", o))
      assert.matches(": 1,%d+ frames seen, 1,000 written", typed("capture stop", o))
      assert.equal("sent 1,000 frames, 64 kB; SAME: all 1,000 frames arrived, unchanged and in order\n",
         typed("replay east '" .. path .. "' 2x verify=west", o))
      assert.equal("sent 2,000 frames, 128 kB\n", typed("replay west '" .. path .. "' 10% loops=2", o))
   end)

   it("begin and end while streams run, and are complete from then to then", function()
      local one, path = session(), scratch.path() .. ".pcap"
      local o = { control = one.control }
      typed("start", o)
      typed("job.sleep(0.02)", o)
      assert.equal(path .. ": frames that west receives from now on\n",
         typed("capture west '" .. path .. "' udp", o))
      repeat -- a busy machine sends nothing for a while
         typed("job.sleep(0.05)", o)
      until (one.control.captures:rows()[1].written or 0) > 0
      local ended = typed("capture stop", o)
      local written = tonumber((ended:match "([%d,]+) written":gsub(",", "")))
      assert.is_true(written > 0)
      assert.equal(24 + written * (16 + 60), #scratch.read(path))
      typed("stop", o)
      assert.is_true(written < one.control.traffic.final.streams[1].rx)
   end)

   it("keep frames around what is lost", function()
      local one, path = session(), scratch.path() .. ".pcapng"
      local o = { control = one.control }
      typed("set reference_device.loss_every=100", o)
      typed("rate all 1kfps", o)
      assert.equal(path .. ": waits on west for loss\n",
         typed("capture west '" .. path .. "' trigger=loss before=3 after=2", o))
      typed("start for=1s", o)
      local ended = typed("capture stop", o)
      local written, triggers = ended:match "(%d+) written, .* (%d+) triggers"
      assert.is_true(tonumber(triggers) == 9 or tonumber(triggers) == 10)
      assert.is_true(tonumber(written) >= 5 * triggers - 1)
   end)

   it("that cannot be are refused in a line", function()
      local one, path = session(), scratch.path() .. ".pcap"
      local o = { control = one.control }
      assert.equal("error: capture: there is no port 'wset'; there is east, west\n",
         typed("capture wset x", o))
      assert.equal("error: there is no capture\n", typed("capture stop", o))
      assert.matches("^error: capture: FILE is missing: capture PORT FILE[^\n]*\n$", typed("capture west", o))
      assert.matches("^error: capture: filter: nonsense here[^\n]*\n$",
         typed("capture west '" .. path .. "' nonsense here", o))
      assert.matches("^error: replay: /none[^\n]*No such file[^\n]*\n$", typed("replay east /none.pcap", o))
      assert.matches('^error: "3 pears" is not a rate; expected a speed such as 2x[^\n]*\n$',
         typed("replay east x 3 pears", o))
      typed("capture west '" .. path .. "'", o)
      assert.equal("error: capture: port west is captured already\n", typed("capture west '" .. path .. "'", o))
   end)

   it("say what they dropped, and that they end with the ports", function()
      local one, path, heard = session(), scratch.path() .. ".pcap", ""
      local control = one.control
      typed("capture west '" .. path .. "'", { control = control })
      control:listen(function(text)
         heard = heard .. text
      end)
      local counts = control.captures.list[1].counts
      control.captures.list[1].counts = function(self)
         local all = counts(self)
         all.dropped = 7
         return all
      end
      typed("start for=1s", { control = control })
      assert.matches("capture is incomplete: .* 7 DROPPED\n", heard)
      control:close_ports()
      assert.matches("capture ended because the ports were closed: .* 7 DROPPED\n", heard)
      assert.same({}, control.captures.list)
   end)

   it("are completed", function()
      local one = session()
      local _, list = one:complete "capture "
      assert.same({ "after=", "before=", "east", "stop", "trigger=", "west" }, list)
      assert.equal("est ", (one:complete "capture stop w"))
      assert.equal("rify=", (one:complete "replay east x ve"))
   end)
end)
