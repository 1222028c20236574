-- SPDX-License-Identifier: BSD-3-Clause

-- The journal of what a process changes on the host: written before, undone however it ends, and readable by
-- another process when it was killed.
local json = require "cjson.safe"
local paths = require "framegauge.core.paths"
local scratch = require "scratch"
local undo = require "framegauge.core.undo"
local uv = require "luv"

local function journals()
   local list, scan = {}, uv.fs_scandir(paths.runtime())
   for name in uv.fs_scandir_next, scan do
      list[#list + 1] = name:match "%.undo$" and name or nil
   end
   return list
end

-- A step that undoes a change by a command, which writes a mark.
local function step_of(group, path, mark)
   return group:step("command", {
      argv = { "sh", "-c", ("echo %s >>'%s'"):format(mark, path) }, folder = "/", undoes = "a change",
   })
end

-- What another process says of the journals here.
local function doctor(options)
   return scratch.shell(("'%s' doctor %s 2>&1"):format(uv.exepath(), options or ""))
end

-- As a process that was killed leaves it.
local function leave(name, lines)
   local path = paths.runtime() .. "/" .. name
   local boot = scratch.read "/proc/sys/kernel/random/boot_id":match "%S+"
   local head = json.encode { pid = uv.os_getpid(), boot = lines.boot or boot, command = "framegauge run x" }
   scratch.write(path, head .. "\n" .. table.concat(lines, "\n"))
   return path
end

describe("the journal of changes", function()
   teardown(scratch.remove)

   it("is there as long as a step is left, and its steps are undone the last one first", function()
      local path, group = scratch.path(), undo.group()
      local first = step_of(group, path, "first")
      assert.equal(1, #journals())
      assert.equal(first, step_of(group, path, "first")) -- the same once is enough
      step_of(group, path, "second")
      step_of(group, path, "third"):forget()
      group:undo()
      assert.equal("second\nfirst\n", scratch.read(path))
      assert.same({}, journals())
      group:undo()
      assert.equal("second\nfirst\n", scratch.read(path))
   end)

   it("keeps a step that cannot be undone", function()
      local group = undo.group()
      local step = group:step("command", { argv = { "false" }, folder = "/", undoes = "a change" })
      local done, why = step:undo()
      assert.is_nil(done)
      assert.matches("false failed with status 1", why)
      assert.equal(1, #journals())
      step:forget()
      assert.same({}, journals())
   end)

   it("is left alone while its process lives", function()
      local path, group = scratch.path(), undo.group()
      step_of(group, path, "once")
      assert.falsy(doctor():find("left behind", 1, true))
      doctor "--restore"
      assert.is_nil(uv.fs_stat(path))
      assert.matches(uv.os_getpid() .. "  at work  framegauge script .*  a change is not undone by sh %-c 'echo once .*  its end", doctor "--changes")
      group:undo()
      assert.not_matches(uv.os_getpid() .. "  at work", doctor "--changes", 1, true) -- others may be
      assert.equal("once\n", scratch.read(path))
   end)

   -- the number of the process belongs to a live one: this one
   it("is of a process that was killed, also where another one has its number now", function()
      local path = scratch.path()
      local step = json.encode { step = 1, kind = "command", about = {
         argv = { "sh", "-c", ("echo back >'%s'"):format(path) }, folder = "/", undoes = "a change",
         namespace = require("framegauge.core.namespace").own(),
      } }
      local left = leave("host-1-2.undo", { step, '{"step":2,"kind":"interf' })
      local said = doctor()
      assert.matches("by 'framegauge run x', which was killed: a change is not undone by sh", said, 1, true)
      assert.matches("framegauge doctor --restore", said, 1, true)
      assert.is_nil(uv.fs_stat(path))
      assert.matches("killed +framegauge run x +a change is not undone by .* framegauge doctor %-%-restore", doctor "--changes")
      local _, status = doctor "--restore"
      assert.equal(0, status)
      assert.equal("back\n", scratch.read(path))
      assert.is_nil(uv.fs_stat(left))
   end)

   it("is not read where somebody else could have written it", function()
      local path = scratch.path()
      local step = json.encode { step = 1, kind = "command", about = {
         argv = { "sh", "-c", ("echo bad >'%s'"):format(path) }, folder = "/", undoes = "a change",
         namespace = require("framegauge.core.namespace").own(),
      } }
      local left = leave("host-1-6.undo", { step .. "\n" })
      uv.fs_chmod(paths.runtime(), tonumber("770", 8))
      local said = doctor "--restore" .. doctor()
      local folder, why = paths.runtime() -- nor is anything written there
      assert.is_nil(folder)
      assert.matches("must belong to this user alone", why, 1, true)
      uv.fs_chmod(left:match "^(.*)/", tonumber("700", 8))
      assert.falsy(said:find("a change", 1, true))
      assert.is_nil(uv.fs_stat(path))
      assert.matches("a change", doctor(), 1, true)
      uv.fs_unlink(left)
   end)

   it("is void after a boot, and without a step", function()
      local step = json.encode { step = 1, kind = "command", about = { argv = { "false" }, undoes = "x",
         namespace = require("framegauge.core.namespace").own() } }
      leave("host-1-3.undo", { boot = "another", step .. "\n" })
      leave("host-1-4.undo", { step .. "\n", '{"done":1}\n' })
      leave("host-1-5.undo", { "nonsense\n" })
      assert.falsy(doctor():find("left behind", 1, true))
      assert.same({}, journals())
   end)

   it("finds an interface that was renamed, and leaves another one with its name alone", function()
      local _, none = scratch.shell "unshare -n ip link add ua type veth peer name ub 2>/dev/null"
      if none ~= 0 then
         return pending "needs root and iproute2, for interfaces in a network namespace"
      end
      local left = leave("host-1-7.undo", { json.encode { step = 1, kind = "interface", about = {
         interface = "ua", index = "INDEX", promiscuous = false, namespace = "SPACE",
      } } .. "\n" })
      local said = scratch.shell(([[unshare -n sh -c "
         ip link add ua type veth peer name ub
         index=\$(ip -o link show ua | cut -d: -f1)
         sed -i s/.INDEX./\$index/\;s/.SPACE./\$(readlink /proc/self/ns/net | tr -dc 0-9)/ '%s'
         ip link set ua promisc on name uc
         ip link set ub promisc on name ua
         '%s' doctor --restore 2>&1 >/dev/null
         ip -o link | grep -c ,PROMISC
         ip -o link show uc | grep -c ,PROMISC"]]):format(left, uv.exepath()))
      assert.equal("1\n0\n", said:match "%d\n%d\n$")
      assert.is_nil(uv.fs_stat(left))
   end)

   it("names a socket that nobody listens on any more", function()
      local path, group = scratch.path(), undo.group()
      local pipe = uv.new_pipe()
      assert(pipe:bind(path))
      pipe:listen(1, function() end)
      local step = group:step("socket", { path = path, folder = "/" })
      local kinds = require "framegauge.core.undo_kinds"
      assert.same({}, kinds.left(step)) -- in use
      scratch.shell(("cp -a '%s' '%s.left'"):format(path, path))
      pipe:close()
      local left = kinds.left { kind = "socket", about = {
         path = path .. ".left", namespace = step.about.namespace,
      } }
      assert.matches("is left", left[1].text)
      assert.is_truthy(left[1].undo())
      assert.is_nil(uv.fs_stat(path .. ".left"))
      group:undo()
   end)
end)
