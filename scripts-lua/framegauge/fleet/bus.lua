-- SPDX-License-Identifier: BSD-3-Clause

--- Messages between the testers of a fleet: subjects, handlers, requests with answers.
--
-- A bus routes messages itself, over any number of links that carry JSON lines (core/connection.lua): one
-- process with a bus is a fleet without a broker. A message is { subject =, body =, reply = }. A link
-- announces the subjects that its side wants by { want = pattern }, and before it ends the reason by { ends =
-- reason }. Subjects are words with dots between; in a pattern * is any word, and > at the end all that
-- follow. A link may be framegauge-bridge, which relays to NATS and back.
--
-- A message is delivered at most once, and is lost where no link wants it: a sender that needs certainty
-- repeats it, and a receiver ignores repetitions.
local connection = require "framegauge.core.connection"
local job = require "framegauge.core.job"
local uv = require "luv"

local M = {}

local Bus = {}
Bus.__index = Bus

local LONGEST = 32 * 1024 * 1024 -- bytes of a line
local PATIENCE = 5 -- seconds for an answer

--- A bus without links.
-- @param o.carries  pattern of the messages that go from one link to another; default: none
-- @param o.longest  bytes of a message, at most
function M.new(o)
   o = o or {}
   return setmetatable({
      links = {}, handlers = {}, wanted = {}, asked = {}, count = 0, carries = o.carries,
      longest = o.longest or LONGEST,
      counts = { received = 0, sent = 0, refused = 0 },
      inbox = "_INBOX." .. uv.random(16):gsub(".", function(c) return ("%02x"):format(c:byte()) end),
   }, Bus)
end

-- Subscribe to answers. A side that sends no requests needs no permission for them on a broker.
function Bus:hear_answers()
   self.hears_answers = true
   self:serve(self.inbox .. ".*", function(body, subject)
      local wake = self.asked[subject]
      if wake then
         wake(body)
      end
   end)
end

--- Whether a subject fits a pattern.
function M.fits(pattern, subject)
   local words = subject:gmatch "[^.]+"
   for wanted in pattern:gmatch "[^.]+" do
      local word = words()
      if not word or wanted ~= ">" and wanted ~= "*" and wanted ~= word then
         return false
      elseif wanted == ">" then
         return true
      end
   end
   return words() == nil
end

-- The words of a pattern before its first wildcard: the key by which it is found among the patterns of a
-- thousand links.
local function head_of(pattern)
   return pattern:match "^(.-)%.?[*>]" or pattern
end

-- Add the links that want a subject and have registered under a head.
local function add_wanting(self, head, subject, found)
   for _, one in ipairs(self.wanted[head] or {}) do
      if not found[one.link] and M.fits(one.pattern, subject) then
         found[one.link] = true
      end
   end
end

-- The links that want a subject, as a set.
local function wanting(self, subject)
   local found = {}
   add_wanting(self, "", subject, found)
   for stop in subject:gmatch "()%." do
      add_wanting(self, subject:sub(1, stop - 1), subject, found)
   end
   add_wanting(self, subject, subject, found)
   return found
end

local function is_message(object)
   return type(object.subject) == "string" and (object.reply == nil or type(object.reply) == "string")
end

function Bus:send(link, object)
   self.counts.sent = self.counts.sent + 1
   link.handle:write(connection.line(object))
end

-- Hand a message to our handlers and to the links that want it.
function Bus:route(message, origin)
   for _, handler in ipairs(self.handlers) do
      if M.fits(handler.pattern, message.subject) then
         handler.fn(message.body, message.subject, message.reply and function(body)
            self:publish(message.reply, body)
         end, origin)
      end
   end
   if origin and not (self.carries and M.fits(self.carries, message.subject)) then
      return
   end
   for link in pairs(wanting(self, message.subject)) do
      if link ~= origin then
         self:send(link, message)
      end
   end
end

function Bus:note_want(link, pattern)
   if not link.patterns[pattern] then
      local head = head_of(pattern)
      link.patterns[pattern] = true
      self.wanted[head] = self.wanted[head] or {}
      table.insert(self.wanted[head], { link = link, pattern = pattern })
      if self.wake then
         self.wake()
      end
   end
end

--- Wait until links want all of some subjects, at most for a time. Call it inside a job.
function Bus:await_wants(subjects, seconds)
   local ends = uv.hrtime() / 1e9 + seconds
   for _, subject in ipairs(subjects) do
      while not next(wanting(self, subject)) and uv.hrtime() / 1e9 < ends do
         job.rest(self, ends - uv.hrtime() / 1e9)
      end
   end
end

function Bus:forget_wants(link)
   for pattern in pairs(link.patterns) do
      local list = self.wanted[head_of(pattern)] or {}
      for i = #list, 1, -1 do
         if list[i].link == link then
            table.remove(list, i)
         end
      end
      self.wanted[head_of(pattern)] = list[1] and list or nil
   end
end

function Bus:receive(link, object)
   self.counts.received = self.counts.received + 1
   if type(object.want) == "string" then
      self:note_want(link, object.want)
   elseif type(object.ends) == "string" then
      link.ends = object.ends
   elseif is_message(object) then
      self:route(object, link)
   else
      self.counts.refused = self.counts.refused + 1
   end
end

function Bus:tell(object)
   for link in pairs(self.links) do
      self:send(link, object)
   end
end

--- Take a connected handle as a link.
-- @param lost  function(reason), called when it ends
function Bus:attach(handle, lost)
   local link = { handle = handle, patterns = {} }
   self.links[link] = true
   connection.read(handle, function(object)
      self:receive(link, object)
   end, function(reason)
      self:detach(link)
      if lost then
         lost(link.ends or reason or "it has disconnected")
      end
   end, self.longest)
   for _, handler in ipairs(self.handlers) do
      self:send(link, { want = handler.pattern })
   end
   if self.carries and self.only then -- with the second link there is something to carry
      self:send(self.only, { want = self.carries })
      self.only, self.several = nil, true
   end
   if self.several then
      self:send(link, { want = self.carries })
   elseif self.carries then
      self.only = link
   end
   return link
end

function Bus:detach(link)
   if self.links[link] then
      self.links[link] = nil
      self.only = self.only ~= link and self.only or nil
      self:forget_wants(link)
      if not link.handle:is_closing() then
         link.handle:close()
      end
   end
end

--- Call a function for every message of a pattern: fn(body, subject, answer, link); answer(body) where the
-- sender expects an answer.
function Bus:serve(pattern, fn)
   self.handlers[#self.handlers + 1] = { pattern = pattern, fn = fn }
   self:tell { want = pattern }
end

--- Send a message to all links that want it.
function Bus:publish(subject, body)
   self:route { subject = subject, body = body }
end

--- Send a message and call a function with its answer, or with nil when no answer comes in time.
function Bus:ask(subject, body, patience, done)
   if not self.hears_answers then
      self:hear_answers()
   end
   self.count = self.count + 1
   local reply, timer = ("%s.%d"):format(self.inbox, self.count), uv.new_timer()
   local function answered(answer)
      self.asked[reply] = nil
      timer:close()
      done(answer)
   end
   self.asked[reply] = answered
   timer:start(math.ceil((patience or PATIENCE) * 1000), 0, function()
      answered(nil)
   end)
   self:route { subject = subject, body = body, reply = reply }
end

--- The same inside a job. @return the answer, or nil
function Bus:request(subject, body, patience)
   return job.wait(function(wake)
      self:ask(subject, body, patience, wake)
   end)
end

--- Whether there is a link.
function Bus:alive()
   return next(self.links) ~= nil
end

function Bus:close()
   for link in pairs(self.links) do
      self:detach(link)
   end
end

return M
