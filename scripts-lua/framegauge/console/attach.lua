-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge attach`: the terminal's side of a session at a running tester.
local connection = require "framegauge.core.connection"
local console = require "framegauge.console"
local job = require "framegauge.core.job"
local paths = require "framegauge.core.paths"
local protocol = require "framegauge.console.protocol"
local shell = require "framegauge.core.shell"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local ENVIRONMENT = 4
local COMPLETION_MS = 1000

local Attachment = {}
Attachment.__index = Attachment

local function connect(path)
   local result
   local handle = connection.connect({ path = path }, function(err)
      result = { err }
   end)
   job.turn(function()
      return result ~= nil
   end)
   if result[1] then
      handle:close()
      return nil, result[1]
   end
   return handle
end

-- The sockets in the runtime folder that a tester listens on.
-- @return list of { path, handle }, and the folder
local function answering()
   local folder, err = paths.runtime()
   local list, scan = {}, folder and uv.fs_scandir(folder) or nil
   for name in scan and uv.fs_scandir_next or function() end, scan do
      local path = folder .. "/" .. name
      local handle = name:find "%.sock$" and connect(path)
      list[#list + 1] = handle and { path, handle } or nil
   end
   table.sort(list, function(a, b)
      return a[1] < b[1]
   end)
   return list, err or folder
end

-- Connect to the socket that was named, or to the only one that answers.
local function find(path)
   if path then
      local problem = connection.path_problem(path)
      if problem then
         user_error.raise("attach", 2, "%s", problem)
      end
      local handle, err = connect(path)
      return handle or user_error.raise("attach", ENVIRONMENT, "no tester listens on %s (%s)", path, err)
   end
   local found, folder = answering()
   if #found == 1 then
      return found[1][2]
   end
   for _, one in ipairs(found) do
      one[2]:close()
   end
   if #found > 1 then
      user_error.raise("attach", 2, "several testers are running; choose one: framegauge attach %s",
         table.concat(tables.map(tables.field(found, 1), shell.word), " or "))
   end
   user_error.raise("attach", ENVIRONMENT,
      "no tester is running (searched %s); 'framegauge serve PLAN.yaml' starts one", folder)
end

local take = {}

function take.welcome(self, object)
   self.out(self.terminal and object.welcome or "")
end

function take.out(self, object)
   self.out(object.out)
end

function take.err(self, object)
   self.err(object.err)
end

function take.progress(self, object)
   if self.terminal then
      self.terminal:show_progress(object.progress or nil)
   end
end

function take.screen(self, object)
   local terminal = self.terminal
   if terminal and object.screen and not terminal.screen then
      terminal:begin_screen(function(key)
         local columns, rows = terminal:size()
         self:send { columns = columns, rows = rows }
         self:send { key = key }
      end)
   end
   if terminal and object.screen then
      terminal:show_screen(object.screen)
   elseif terminal then
      terminal:end_screen()
   end
end

function take.done(self, object)
   self.outcome = object.done
end

function take.completion(self, object)
   self.completed = { object.completion, object.candidates }
end

function take.bye(self, object)
   self.err("disconnected by the tester: " .. object.bye .. "\n")
end

function Attachment:send(object)
   if not self.ended then
      self.handle:write(connection.line(object))
   end
end

-- Wait for an answer. @return whether it came
function Attachment:await(done, interrupt)
   return job.turn(function()
      return done() or self.ended
   end, interrupt) and not self.ended
end

function Attachment:execute(text)
   self.outcome = nil
   self:send { line = text }
   local came = self:await(function()
      return self.outcome
   end, { interrupt = function()
      if job.terminated then
         self.err "ended without an answer of the tester\n"
         self.ended = true
      end
      self:send { interrupt = true }
   end })
   if self.terminal then
      self.terminal:end_screen()
      self.terminal:show_progress(nil)
   end
   local outcome = came and self.outcome or self.outcome == "quit" and "quit" or "lost"
   self.failures = self.failures + ((outcome == "failed" or outcome == "lost") and 1 or 0)
   return outcome == "lost" and "quit" or outcome
end

function Attachment:complete(before)
   local late
   self.completed = nil
   self:send { complete = before }
   local timer = uv.new_timer()
   timer:start(COMPLETION_MS, 0, function()
      late = true
   end)
   self:await(function()
      return self.completed or late
   end)
   timer:close()
   return unpack(self.completed or { "", {} })
end

--- Show an error of this side.
function Attachment:complain(message)
   self.failures = self.failures + 1
   self.err("error: " .. message .. "\n")
end

function Attachment:listen()
   connection.read(self.handle, function(object)
      for key, act in pairs(take) do
         if object[key] ~= nil then
            act(self, object)
         end
      end
   end, function()
      self.ended = true
      if self.terminal and self.outcome ~= "quit" then
         self.terminal:hang_up()
      end
   end)
end

--- The command.
-- @param arguments  the socket, or nothing
-- @return exit status
function M.main(arguments, options)
   job.ignore_broken_pipes()
   local handle = find(arguments[1])
   local input, terminal = console.open_input()
   local out, err = console.outputs(terminal)
   local self = setmetatable({
      handle = handle, terminal = terminal, failures = 0, out = out, err = err,
   }, Attachment)
   local columns, rows
   if terminal then
      columns, rows = terminal:size()
   end
   self:listen()
   self:send {
      hello = protocol.VERSION, columns = columns, rows = rows, utf8 = terminal and terminal.utf8,
      read_only = options["read-only"] or nil,
   }
   return console.converse(self, input, terminal, function()
      handle:close()
   end)
end

return M
