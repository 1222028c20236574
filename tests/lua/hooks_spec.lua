-- SPDX-License-Identifier: BSD-3-Clause
local hooks = require "framegauge.run.hooks"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local scratch = require "scratch"
local uv = require "luv"

-- Tell the hooks of a result. @return the lines that are said
local function tell(named, result)
   local folder, said, list = scratch.path(), {}, {}
   scratch.shell(("mkdir '%s'"):format(folder))
   for name, hook in pairs(named) do
      hook.name, hook.on, hook.timeout = name, hook.on or { "end" }, hook.timeout or 10
      list[#list + 1] = hook
   end
   local plan = { name = "lab", test = "rfc2544", hooks = list, device_under_test = { firmware = "2.0" } }
   result.interrupted = result.interrupted or false
   job.run(hooks.tell, plan, result, folder, function(text) said[#said + 1] = text end)
   table.sort(said)
   return table.concat(said)
end

local function touch(path)
   return { "touch", path }
end

-- An HTTP server that answers once; what it was asked is in the list that it returns.
local function server(status)
   local asked, tcp = {}, uv.new_tcp()
   tcp:bind("127.0.0.1", 0)
   tcp:listen(1, function()
      local peer, text = uv.new_tcp(), ""
      tcp:accept(peer)
      peer:read_start(function(_, piece)
         text = text .. (piece or "")
         local length, body = text:match "Content%-Length: (%d+)\r\n.-\r\n\r\n(.*)$"
         if length and #body == tonumber(length) and not asked[1] then
            asked[1], asked[2] = text:match "^[^\r]*", json.decode(body)
            peer:write(("HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n"):format(status), function()
               peer:close()
               tcp:close()
            end)
         end
      end)
   end)
   return asked, ("http://127.0.0.1:%d/runs?by=us"):format(tcp:getsockname().port)
end

describe("hooks of a plan", function()
   teardown(scratch.remove)

   it("get the message of the run", function()
      local path = scratch.path()
      assert.equal("", tell({ one = { command = { "sh", "-c", ("cat > '%s'"):format(path) } } },
         { validity = "valid", outcome = "pass" }))
      local message = json.decode(scratch.read(path))
      assert.same({ "lab", "rfc2544", "valid", "pass", false, "2.0" }, { message.plan, message.test,
         message.validity, message.outcome, message.interrupted, message.firmware })
      assert.equal("/", message.folder:sub(1, 1))
      local asked, address = server "204 No Content"
      assert.equal("", tell({ one = { webhook = address } }, { validity = "invalid" }))
      assert.equal("POST /runs?by=us HTTP/1.1", asked[1])
      assert.equal("invalid", asked[2].validity)
   end)

   it("are for the events that they name", function()
      local function called(on, result)
         local path = scratch.path()
         assert.equal("", tell({ one = { on = on, command = touch(path) } }, result))
         return uv.fs_stat(path) ~= nil
      end
      local passed = { validity = "valid", outcome = "pass" }
      assert.is_true(called({ "end" }, passed))
      assert.is_true(called({ "fail", "pass" }, passed))
      assert.is_false(called({ "fail", "tester-limited", "invalid", "interrupted", "regression" }, passed))
      assert.is_true(called({ "fail" }, { validity = "tester-limited", outcome = "fail" }))
      assert.is_true(called({ "tester-limited" }, { validity = "tester-limited" }))
      assert.is_true(called({ "interrupted" }, { validity = "valid", interrupted = true }))
   end)

   it("are reported when they fail, one by one", function()
      local _, address = server "500 Internal Server Error"
      local said = tell({
         a = { command = { "false" } }, b = { command = { "/nonexistent" } },
         c = { command = { "sleep", "60" }, timeout = 0.1 }, d = { webhook = address },
         e = { webhook = "http://127.0.0.1:1/" }, f = { command = { "sh", "-c", "kill -9 $$" } },
      }, { validity = "valid" })
      assert.equal([[
Hook a: it failed with status 1
Hook b: it cannot be run: ENOENT: no such file or directory
Hook c: it took longer than 0.1 s
Hook d: it answered with status 500
Hook e: it cannot be reached: ECONNREFUSED
Hook f: it was ended by signal 9
]], said)
   end)

   it("are checked with the plan, and are no part of the result", function()
      local function check(hook)
         local path = scratch.path() .. ".yaml"
         scratch.write(path, "ports: {a: {device: wire0}, b: {device: wire1}}\ntest: rfc2544\n"
            .. "hooks: {x: " .. hook .. "}\n")
         return (scratch.shell(("'%s' check '%s' 2>&1"):format(uv.exepath(), path)))
      end
      assert.matches("hooks%.x: command and webhook.*one of both", check "{on: fail}")
      assert.matches("hooks%.x: command and webhook.*one of both", check "{command: a, webhook: 'http://a'}")
      assert.matches("hooks%.x%.webhook: this is no address of http", check "{webhook: 'https://a'}")
      assert.matches("hooks%.x%.on.*never.*regression", check "{on: never, command: a}")
      local published = require("framegauge.report.result").published_plan { hooks = { {} }, name = "a" }
      assert.same({ name = "a" }, published)
   end)

   it("learn of a regression", function()
      local root, plan = scratch.path(), scratch.path() .. ".yaml"
      scratch.write(plan, [[
name: lab
ports: {a: {device: wire0}, b: {device: wire1}}
test: rfc2544
rfc2544: {frame_sizes: [1518]}
hooks: {x: {on: regression, command: [tee, ]] .. root .. [[/told]}}
]])
      local command = "'%s' run '%s' --quick --out '%s/%s' --set reference_device.capacity=%s >/dev/null 2>&1"
      for i, capacity in ipairs { "60kfps", "60kfps", "60kfps", "50kfps" } do
         assert.is_nil(uv.fs_stat(root .. "/told"))
         assert.equal(0, select(2, scratch.shell(command:format(uv.exepath(), plan, root, i, capacity))))
      end
      local told = json.decode(scratch.read(root .. "/told")).regressions
      assert.same({ 1, "throughput_fps" }, { #told, told[1].figure })
      assert.near(-100 / 6, told[1].change_percent, 0.5)
   end)
end)
