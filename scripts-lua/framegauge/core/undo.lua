-- SPDX-License-Identifier: BSD-3-Clause

--- What this process changes on the host, and how it is put back.
--
-- Before a change a step is written to the journal of the process, a file in the runtime folder: a line of
-- JSON that says what was there before. The code that made the change undoes the step as soon as it can. What
-- is left when the process ends is undone then, whether it succeeded, failed or was interrupted
-- (cli/main.lua). A process that is killed leaves its journal, from which `framegauge doctor` tells what is
-- left and puts it back.
--
-- A journal is locked as long as its process lives, and the kernel takes the lock back however the process
-- ends. So a process with a reused number is not mistaken for the one that wrote it. The name of the file has
-- the number and the start time of the process, so that one of two never writes into the other's. Changes do
-- not survive a boot: a journal of an earlier one is removed.
local json = require "cjson.safe"
local kinds = require "framegauge.core.undo_kinds"
local lock = require "framegauge.core.lock"
local namespace = require "framegauge.core.namespace"
local paths = require "framegauge.core.paths"
local shell = require "framegauge.core.shell"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local ENVIRONMENT = 4
local ENDING = ".undo"

local own -- the journal of this process: path, fd, steps (list), left (how many are to be undone)

local function first_line(path)
   local file = io.open(path)
   local text = file and file:read "*a"
   if file then
      file:close()
   end
   return text
end

local function boot()
   return (first_line "/proc/sys/kernel/random/boot_id" or ""):match "%S+"
end

-- In clock ticks since boot: two processes with one number have different ones.
local function start_time()
   return (first_line "/proc/self/stat" or ""):match(".*%) " .. ("%S+ "):rep(19) .. "(%S+)") or "0"
end

local function command_line()
   local words = {}
   for word in (first_line "/proc/self/cmdline" or ""):gmatch "([^%z]*)%z" do
      words[#words + 1] = words[1] and word or word:match "[^/]*$"
   end
   return shell.command(words)
end

local function append(journal, object)
   local line = assert(json.encode(object)) .. "\n"
   local written, why = uv.fs_write(journal.fd, line)
   if written ~= #line then
      user_error.raise("run", ENVIRONMENT, "cannot write %s: %s", journal.path, why or "no room")
   end
end

-- Another process may take a journal for one that was left, between its beginning and its lock.
local function create(path)
   while true do
      local fd, why = uv.fs_open(path, "ax", tonumber("600", 8))
      if not fd then
         return nil, why
      end
      lock.take(fd)
      if uv.fs_fstat(fd).nlink > 0 then
         return fd
      end
      uv.fs_close(fd)
   end
end

local function begin()
   local folder, why = paths.journals()
   local path = folder and ("%s/host-%d-%s%s"):format(folder, uv.os_getpid(), start_time(), ENDING)
   local fd
   if path then
      fd, why = create(path)
   end
   if not fd then
      user_error.raise("run", ENVIRONMENT, "what is changed on the host cannot be written down: %s; set XDG_RUNTIME_DIR to a folder of this user", why)
   end
   local journal = { path = path, fd = fd, steps = {}, left = 0 }
   append(journal, { pid = uv.os_getpid(), boot = boot(), command = command_line() })
   return journal
end

local function close(journal)
   uv.fs_unlink(journal.path)
   uv.fs_close(journal.fd)
end

-- What is left of a step's change: a sentence, or nil.
local function problem_of(step)
   local texts = tables.field(kinds.left(step), "text")
   return texts[1] and table.concat(texts, ", ")
end

local function put_back(step)
   for _, one in ipairs(kinds.left(step)) do
      local undone, why = one.undo()
      if not undone then
         return nil, why
      end
   end
   return true
end

local Step = {}
Step.__index = Step

--- It is undone: by somebody else, or because the change was not made.
function Step:forget()
   if self.done then
      return
   end
   self.done, own.left = true, own.left - 1
   if own.left == 0 then
      close(own)
      own = nil
   else
      append(own, { done = self.number })
   end
end

--- Put back what was before the change. @return true, or nil and why it could not be
function Step:undo()
   if self.done then
      return true
   end
   local undone, why = put_back(self)
   if undone then
      self:forget()
   end
   return undone, why
end

local Group = {}
Group.__index = Group

--- Steps that are undone together.
function M.group()
   return setmetatable({ steps = {} }, Group)
end

--- Write down what is about to be changed; the same once is enough. Raises where it cannot be written.
-- @param kind   of framegauge.core.undo_kinds
-- @param about  what that kind wants to know
-- @return the step: undo(), forget()
function Group:step(kind, about)
   about.namespace = namespace.own()
   local text = json.encode(about)
   for _, step in ipairs(self.steps) do
      if not step.done and step.kind == kind and step.text == text then
         return step
      end
   end
   own = own or begin()
   local step = setmetatable({ number = #own.steps + 1, kind = kind, about = about, text = text }, Step)
   append(own, { step = step.number, kind = kind, about = about })
   own.steps[step.number], own.left = step, own.left + 1
   table.insert(self.steps, step)
   return step
end

local function undo_all(steps)
   for i = #steps, 1, -1 do
      local step = steps[i]
      local undone, why = step:undo()
      if not undone then
         io.stderr:write(("framegauge: %s: %s; to try again: framegauge doctor --restore\n"):format(
            problem_of(step) or "cannot be put back", why))
      end
   end
end

--- Undo all of them, the last one first. What cannot be put back is told, and stays in the journal.
function Group:undo()
   undo_all(self.steps)
   self.steps = {}
end

--- All of them are undone already.
function Group:forget()
   for _, step in ipairs(self.steps) do
      step:forget()
   end
   self.steps = {}
end

--- Undo all that is left, at the end of the process.
function M.finish()
   if own then
      undo_all(own.steps)
   end
end

-- @return the first line of a journal, and its steps that are not undone, the last one first; nothing where
-- it is not of this boot
local function read(text)
   local head, steps = {}, {}
   for line in text:gmatch "([^\n]*)\n" do -- a torn last line belongs to a change that was not made
      local object = json.decode(line)
      if type(object) ~= "table" then
         return {}, {}
      elseif object.step then
         table.insert(steps, 1, object)
      elseif object.done then
         steps = tables.map(steps, function(step) return step.step ~= object.done and step or nil end)
      else
         head = object
      end
   end
   return head, head.boot == boot() and steps or {}
end

-- A journal with what is changed at present; locked, where its process lives no more. Such a journal without
-- a change is removed, and nil.
local function open_journal(path)
   local fd = uv.fs_open(path, "r+", 0)
   if not fd then
      return nil
   end
   local lives = not lock.try(fd)
   local head, all = read(uv.fs_read(fd, uv.fs_fstat(fd).size, 0) or "")
   local journal = { path = path, fd = fd, lives = lives, steps = {}, command = head.command, pid = head.pid }
   for _, step in ipairs(all) do
      step.problem = problem_of(step)
      journal.steps[#journal.steps + 1] = step.problem and step or nil
   end
   journal.interfaces = tables.map(all, function(step) return step.about.interface end)
   if not lives and not journal.steps[1] then
      close(journal)
      return nil
   end
   return journal
end

--- Call a function for each journal of this user, of processes that live and of those that were killed.
-- @param fn  function({ command =, pid =, lives = whether its process does, steps = list of { problem = a
--            sentence }, interfaces = names })
function M.each(fn)
   local journals, seen = {}, {}
   for _, folder in ipairs(paths.runtimes()) do
      local stat = paths.private(folder) and uv.fs_stat(folder) -- commands of others are not run
      local id = stat and stat.dev .. ":" .. stat.ino -- two of the paths may be one folder
      local scan = id and not seen[id] and uv.fs_scandir(folder)
      seen[id or ""] = true
      for name in scan and uv.fs_scandir_next or function() end, scan do
         journals[#journals + 1] = name:sub(-#ENDING) == ENDING and open_journal(folder .. "/" .. name) or nil
      end
   end
   for _, journal in ipairs(journals) do
      fn(journal)
      uv.fs_close(journal.fd)
   end
end

--- Those that a killed process has left. @param fn  as in each(); gets the set of interfaces in use as well
function M.each_left(fn)
   local busy = {}
   M.each(function(journal)
      for _, interface in ipairs(journal.lives and journal.interfaces or {}) do
         busy[interface] = true
      end
   end)
   M.each(function(journal)
      if not journal.lives then
         fn(journal, busy)
      end
   end)
end

--- Put back what killed processes have left.
-- @param say  function(sentence)
-- @return whether all is put back
function M.restore(say)
   local good = true
   M.each_left(function(journal, busy)
      local all = true
      for _, step in ipairs(journal.steps) do
         local undone, why = nil, "a tester at work uses it"
         if not busy[step.about.interface] then
            undone, why = put_back(step)
         end
         say(("%s: %s"):format(step.problem, undone and "put back" or why))
         all = all and undone
      end
      if all then
         uv.fs_unlink(journal.path)
      end
      good = good and all
   end)
   return good
end

return M
