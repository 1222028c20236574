-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge attach`: the terminal's side of a session at a tester that runs already.
local console = require "framegauge.console"
local job = require "framegauge.job"
local paths = require "framegauge.console.paths"
local protocol = require "framegauge.console.protocol"
local refusal = require "framegauge.refusal"
local uv = require "luv"

local M = {}

local SUCCESS, FAILED, ENVIRONMENT, INTERRUPTED = 0, 1, 4, 130
local COMPLETION_MS = 1000

local Attachment = {}
Attachment.__index = Attachment

-- The one socket in the runtime folder that somebody listens on.
local function only_socket()
   local folder, err = paths.runtime()
   local found, scan = {}, folder and uv.fs_scandir(folder) or nil
   while scan do
      local name = uv.fs_scandir_next(scan)
      if not name then
         break
      end
      found[#found + 1] = name:find "%.sock$" and folder .. "/" .. name or nil
   end
   table.sort(found)
   return found, err or folder
end

local function connect(path)
   local handle, result = uv.new_pipe(), nil
   handle:connect(path, function(err)
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

-- Connect to the socket that was named, or to the only one that answers.
local function find(path)
   if path then
      local fits, wrong = paths.is_for_socket(path)
      if not fits then
         refusal.raise("attach", 2, "%s", wrong)
      end
      local handle, err = connect(path)
      return handle or refusal.raise("attach", ENVIRONMENT, "nobody listens on %s (%s)", path, err)
   end
   local found, folder = only_socket()
   local answering = {}
   for _, candidate in ipairs(found) do
      local handle = connect(candidate)
      answering[#answering + 1] = handle and { candidate, handle } or nil
   end
   if #answering == 1 then
      return answering[1][2]
   end
   local names = {}
   for i, one in ipairs(answering) do
      names[i] = one[1]
      one[2]:close()
   end
   if #names > 1 then
      refusal.raise("attach", 2, "several testers run, choose one: framegauge attach %s",
         table.concat(names, " or "))
   end
   refusal.raise("attach", ENVIRONMENT,
      "no tester of yours runs (looked in %s); 'framegauge serve PLAN.yaml' starts one", folder)
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

function take.status(self, object)
   if self.terminal then
      self.terminal:show_status(object.status or nil)
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
   self.err("the tester let this session go: " .. object.bye .. "\n")
end

function Attachment:send(object)
   if not self.ended then
      self.handle:write(protocol.line(object))
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
      self:send { interrupt = true }
   end })
   if self.terminal then
      self.terminal:end_screen()
      self.terminal:show_status(nil)
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

function Attachment:listen()
   local reader = protocol.reader(function(object)
      for key, act in pairs(take) do
         if object[key] ~= nil then
            act(self, object)
         end
      end
   end)
   self.handle:read_start(function(err, piece)
      if err or not piece or not reader:feed(piece) then
         self.ended = true
         if self.terminal and self.outcome ~= "quit" then
            self.terminal:hang_up()
         end
      end
   end)
end

local function writer(file)
   return function(text)
      file:write(text)
      file:flush()
   end
end

--- The command.
-- @param arguments  the socket, or nothing
-- @return exit status
function M.main(arguments, options)
   job.ignore_broken_pipes()
   local handle = find(arguments[1])
   local input, terminal = console.open_input()
   local self = setmetatable({
      handle = handle, terminal = terminal, failures = 0, out = writer(io.stdout), err = writer(io.stderr),
   }, Attachment)
   local columns, rows
   if terminal then
      self.out = function(text)
         terminal:write(text)
      end
      self.err = self.out
      columns, rows = terminal:size()
   end
   self:listen()
   self:send {
      hello = protocol.VERSION, columns = columns, rows = rows, utf8 = terminal and terminal.utf8,
      read_only = options["read-only"] or nil,
   }
   local how = console.converse(input, function(text)
      return self:execute(text)
   end, function(before)
      return self:complete(before)
   end, function()
      return not terminal
   end, function(message)
      self.failures = self.failures + 1
      self.err("error: " .. message .. "\n")
   end)
   handle:close()
   if terminal then
      terminal:close()
      return SUCCESS
   end
   return how == "interrupted" and INTERRUPTED or self.failures > 0 and FAILED or SUCCESS
end

return M
