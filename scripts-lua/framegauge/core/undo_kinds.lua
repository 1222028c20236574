-- SPDX-License-Identifier: BSD-3-Clause

--- The kinds of steps by which a change of the host is undone (framegauge.core.undo).
--
-- A kind has problem(about), which says what is left of the change, or nil where nothing is, and undo(about),
-- which puts back what was before and returns true, or nil and why it could not.
local api = require "framegauge.core.api"
local command = require "framegauge.core.command"
local driver = require "framegauge.core.pci_driver"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local namespace = require "framegauge.core.namespace"
local uv = require "luv"

local C = api.C
local ENODEV, EBUSY = 19, 16
local COMMAND_PATIENCE_MS = 30000

local PARTS = {
   { key = "xdp", part = C.FG_INTERFACE_XDP, [true] = "an XDP program is attached to %s" },
   { key = "promiscuous", part = C.FG_INTERFACE_PROMISCUOUS, [true] = "%s is promiscuous",
     [false] = "%s is not promiscuous any more" },
   { key = "up", part = C.FG_INTERFACE_UP, [true] = "%s is up", [false] = "%s is down" },
}

-- Of an interface: what is not as it was; none where it is there no more, or another one has its name.
local function differences(about)
   local state, list = ffi.new "struct fg_interface_state", {}
   if C.fg_interface_state(about.interface, state) ~= 0 or state.index ~= about.index then
      return list
   end
   for _, row in ipairs(PARTS) do
      local before = about[row.key]
      if before ~= nil and before ~= state[row.key] and row[state[row.key]] then
         list[#list + 1] = {
            part = row.part, before = before, text = row[state[row.key]]:format(about.interface),
         }
      end
   end
   return list
end

local M = {}

--- The state of a kernel interface. About it: interface =, index =, and what is about to be changed, as it
-- is before: up =, promiscuous =, xdp =.
M.interface = {}

function M.interface.problem(about)
   local texts = {}
   for i, one in ipairs(differences(about)) do
      texts[i] = one.text
   end
   return texts[1] and table.concat(texts, ", ")
end

function M.interface.undo(about)
   for _, one in ipairs(differences(about)) do
      local ret = C.fg_interface_set(about.interface, one.part, one.before)
      if ret == -EBUSY then
         return nil, "the program is at work"
      elseif ret ~= 0 and ret ~= -ENODEV then
         return nil, uv.translate_sys_error(ret) or "the kernel refuses it"
      end
   end
   return true
end

--- A command that undoes another one. About it: argv = list, folder = where it is run, undoes = words.
M.command = {}

function M.command.problem(about)
   return ("%s is not undone by %s"):format(about.undoes, table.concat(about.argv, " "))
end

function M.command.undo(about)
   return job.run(function()
      local done, text, why
      command.run(about.argv, function(...)
         done, text, why = true, ...
      end, COMMAND_PATIENCE_MS, nil, about.folder)
      local broken
      while not done do -- a Ctrl-C that comes meanwhile waits until this has been done
         local ok, err = pcall(job.sleep, 0.01)
         broken = not ok and err or broken
      end
      if broken then
         job.current():fail(broken) -- its next wait raises it: this step is undone
      end
      return text ~= nil or nil, why
   end)
end

--- A Unix socket that is listened on. About it: path =, folder = of this process, for a relative path.
M.socket = {}

local function path_of(about)
   return about.path:sub(1, 1) == "/" and about.path or about.folder .. "/" .. about.path
end

local function is_listened_on(path)
   for line in io.lines "/proc/net/unix" do
      if line:sub(-#path - 1) == " " .. path then
         return true
      end
   end
   return false
end

function M.socket.problem(about)
   local stat = uv.fs_lstat(path_of(about))
   return stat and stat.type == "socket" and not is_listened_on(about.path)
      and ("the socket %s is left"):format(path_of(about)) or nil
end

function M.socket.undo(about)
   local ok, why = true, nil
   if M.socket.problem(about) then
      ok, why = uv.fs_unlink(path_of(about))
   end
   return ok, why
end

-- All but the drivers are of the network namespace in which the change was made.
for _, kind in pairs { M.interface, M.command, M.socket } do
   local problem, undo = kind.problem, kind.undo
   function kind.problem(about)
      local prefix = namespace.prefix(about.namespace)
      if prefix == "" then
         return problem(about)
      end
      return prefix and ("what was changed in another network namespace (%s) is left"):format(
         about.interface or about.path or about.undoes)
   end
   function kind.undo(about)
      local prefix = namespace.prefix(about.namespace)
      if prefix == "" then
         return undo(about)
      elseif prefix then
         return nil, ("%sframegauge doctor --restore"):format(prefix)
      end
      return true -- it is gone with its namespace
   end
end

--- The driver of a card. About it: card =, driver =, override = as they are before.
M.driver = driver

return M
