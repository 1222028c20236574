-- SPDX-License-Identifier: BSD-3-Clause

--- The kinds of steps by which a change of the host is undone (framegauge.core.undo).
--
-- A kind is a function(about) -> list of what is left of the change: text = what, undo = function() that puts
-- back what was before and returns true, or nil and why it could not.
local Machine = require "framegauge.core.machine"
local api = require "framegauge.core.api"
local command = require "framegauge.core.command"
local driver = require "framegauge.core.pci_driver"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local namespace = require "framegauge.core.namespace"
local shell = require "framegauge.core.shell"
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

ffi.cdef "char *if_indextoname(unsigned int index, char *name);" -- luv's counts from another number

local function name_of(index)
   local text = ffi.new "char[16]"
   return ffi.C.if_indextoname(index, text) ~= nil and ffi.string(text) or nil
end

local KINDS = {}

-- The state of a kernel interface. About it: interface =, index =, and what is about to be changed, as it is
-- before: up =, promiscuous =, xdp =. It may have another name now, and another one may have its name.
function KINDS.interface(about)
   local state, list = ffi.new "struct fg_interface_state", {}
   local name = name_of(about.index)
   local is_there = name and C.fg_interface_state(name, state) == 0
   for _, row in ipairs(is_there and PARTS or {}) do
      local before, text = about[row.key], row[state[row.key]]
      list[#list + 1] = text and before ~= nil and before ~= state[row.key] and {
         text = text:format(name),
         undo = function()
            local ret = C.fg_interface_set(name, row.part, before)
            return ret == 0 or ret == -ENODEV or nil, ret == -EBUSY and "the program is at work"
               or uv.translate_sys_error(ret) or "the kernel refuses it"
         end,
      } or nil
   end
   return list
end

local function run_command(about)
   local done, text, why, broken
   command.run(about.argv, function(...)
      done, text, why = true, ...
   end, COMMAND_PATIENCE_MS, nil, about.folder)
   while not done do -- a Ctrl-C that comes meanwhile waits until this has been done
      local ok, err = pcall(job.sleep, 0.01)
      broken = not ok and err or broken
   end
   if broken then
      job.current():fail(broken) -- its next wait raises it: this step is undone
   end
   return text ~= nil or nil, why
end

-- A command that undoes another one. About it: argv = list, folder = where it is run, undoes = words.
function KINDS.command(about)
   return { {
      text = ("%s is not undone by %s"):format(about.undoes, shell.command(about.argv)),
      undo = function()
         return job.run(run_command, about)
      end,
   } }
end

local function is_listened_on(path)
   for line in io.lines "/proc/net/unix" do
      if line:sub(-#path - 1) == " " .. path then
         return true
      end
   end
   return false
end

-- A Unix socket that is listened on. About it: path =, folder = of this process, for a relative path.
function KINDS.socket(about)
   local path = about.path:sub(1, 1) == "/" and about.path or about.folder .. "/" .. about.path
   local stat = uv.fs_lstat(path)
   if not stat or stat.type ~= "socket" or is_listened_on(about.path) then
      return {}
   end
   return { {
      text = ("the socket %s is left"):format(path),
      undo = function()
         return uv.fs_unlink(path)
      end,
   } }
end

-- The driver of a card. About it: as pci_driver.state() says it is before. Nothing is left of one that is
-- there no more.
function KINDS.driver(about)
   local machine = Machine.at(about.root)
   local now = driver.state(machine, about.card)
   if now.driver == about.driver and now.override == about.override or not now.override then
      return {}
   end
   return { {
      text = ("%s has the driver %s, it had %s"):format(about.card, now.driver or "none",
         about.driver or "none"),
      undo = function()
         local has, why = driver.change(machine, about.card, about.override or "")
         return has == about.driver or nil, why or "it has the driver " .. (has or "none")
      end,
   } }
end

local M = {}

--- What is left of a change. All but drivers are of the network namespace in which the change was made, and
-- gone with it.
-- @param step  kind =, about = what that kind wants to know
-- @return list of { text =, undo = }
function M.left(step)
   local kind, about = step.kind, step.about
   local prefix = kind == "driver" and "" or namespace.prefix(about.namespace)
   if prefix == "" then
      return KINDS[kind] and KINDS[kind](about) or {}
   end
   return { prefix and {
      text = ("what was changed in another network namespace (%s) is left"):format(
         about.interface or about.path or about.undoes),
      undo = function()
         return nil, ("%sframegauge doctor --restore"):format(prefix)
      end,
   } }
end

return M
