-- SPDX-License-Identifier: BSD-3-Clause

--- Tab completion.
--
-- At the beginning of a line: commands and names. Behind a command: values of its arguments (ports, streams,
-- jobs, keys of plans with their values, topics). In Lua: names and fields. Fields are read without calling
-- functions: only from tables, and from metatables whose __index is a table.
local environment = require "framegauge.console.environment"
local evaluate = require "framegauge.console.evaluate"
local methods = require "framegauge.methods"
local tables = require "framegauge.core.tables"

local M = {}

local MOST = 200

local function add(list, seen, word, prefix)
   if type(word) == "string" and not seen[word] and word:sub(1, #prefix) == prefix then
      seen[word], list[#list + 1] = true, word
   end
end

local function starting_with(words, prefix)
   local list, seen = {}, {}
   for _, word in ipairs(words) do
      add(list, seen, word, prefix)
   end
   table.sort(list)
   return list
end

local function raw_field(value, name)
   for _ = 1, 10 do
      if type(value) ~= "table" then
         return nil
      end
      local field = rawget(value, name)
      if field ~= nil then
         return field
      end
      local meta = debug.getmetatable(value)
      value = type(meta) == "table" and rawget(meta, "__index") or nil
   end
end

local function first_value(session, name)
   local known = getmetatable(session.env).known
   local value = rawget(session.env, name)
   if value == nil then
      value = known[name]
   end
   if value == nil and environment.MODULES[name] then
      value = require(environment.MODULES[name])
   end
   return value == nil and rawget(getmetatable(session.env).base, name) or value
end

-- Fields of the table a.b that begin with c, for "a.b.c".
local function fields(session, path, prefix)
   local value
   for name in path:gmatch "[%a_][%w_]*" do
      if value == nil then
         value = first_value(session, name)
      else
         value = raw_field(value, name)
      end
      if value == nil then
         return {}
      end
   end
   local list, seen = {}, {}
   for _ = 1, 10 do
      if type(value) ~= "table" then
         break
      end
      for name in next, value do
         add(list, seen, name, prefix)
      end
      local meta = debug.getmetatable(value)
      value = type(meta) == "table" and rawget(meta, "__index") or nil
   end
   table.sort(list)
   return list
end

-- Values of the argument at the cursor.
local function of_command(session, row, rest)
   local prefix = rest:match "%S*$"
   local path, begun = prefix:match "^([%w_.]+)=(.*)$"
   if path and row.group then
      return starting_with(require("framegauge.plan.help").values(row.group(rest) .. path), begun), begun
   end
   local words, position, flags = {}, 0, {}
   for _ in rest:sub(1, #rest - #prefix):gmatch "%S+" do
      position = position + 1
   end
   local at = 0
   for _, argument in ipairs(row.arguments) do
      if argument.flag or argument.named then
         flags[#flags + 1] = argument.name .. (argument.named and "=" or "")
      elseif at <= position then
         at = at + 1
         if at == position + 1 or argument.rest then
            local kind = M.kinds[argument.complete]
            words = kind and kind(session, rest) or argument.words or {}
         end
      end
   end
   local keys = tables.map(row.keys and row.keys(session, rest) or {}, function(key)
      return key .. "="
   end)
   return starting_with(tables.joined(words, flags, keys), prefix), prefix
end

local function names(objects)
   return tables.map(objects, function(object)
      return tostring(object.name or object.id)
   end)
end

--- Kinds of values: kind = function(session, text behind the command) -> list of words.
M.kinds = {
   port = function(session)
      return names(session.control.plan.ports)
   end,
   stream = function(session)
      return names(session.control.traffic.list)
   end,
   target = function(session)
      return tables.joined(names(session.control.plan.ports), names(session.control.traffic.list), { "all" })
   end,
   job = function(session)
      return names(session.control.tasks.list)
   end,
   topic = function(session)
      return require("framegauge.console.topics").names(session.commands)
   end,
   captured = function(session)
      return tables.joined(M.kinds.port(session), { "stop" })
   end,
   port_to_stop = function(session, rest)
      return rest:find "^%s*stop%s" and M.kinds.port(session) or {}
   end,
   stoppable = function(session)
      return tables.joined(M.kinds.target(session), M.kinds.job(session))
   end,
   test = methods.names,
}

-- Longest beginning that all words share.
local function common(words)
   local prefix = words[1] or ""
   for _, word in ipairs(words) do
      while word:sub(1, #prefix) ~= prefix do
         prefix = prefix:sub(1, -2)
      end
   end
   return prefix
end

local function candidates(session, before)
   local row, rest = evaluate.command_of(session.rows, before)
   if row and rest ~= "" then
      return of_command(session, row, rest)
   end
   local path, prefix = before:match "([%a_][%w_%.]*)[%.:]([%w_]*)$"
   if path then
      return fields(session, path, prefix), prefix
   end
   prefix = before:match "[%a_][%w_]*$" or ""
   local words = environment.names(session.env, session.rows)
   if before:find "^%s*[%w_]*$" and prefix == "" then
      words = tables.keys(session.rows)
   end
   return starting_with(words, prefix), prefix
end

--- Complete the text before the cursor.
-- @return text to insert there, and the list of candidates where there are several
function M.at(session, before)
   local list, prefix = candidates(session, before)
   if #list == 1 then
      local rest = list[1]:sub(#prefix + 1)
      local is_word = not list[1]:find "=$" and evaluate.command_of(session.rows, before .. rest)
      return rest .. (is_word and " " or ""), {}
   end
   local insert = common(list):sub(#prefix + 1)
   for i = MOST + 1, #list do
      list[i] = nil
   end
   return insert, insert == "" and list or {}
end

--- Words in columns.
-- @param width  of the terminal
function M.columns(words, width)
   local widest = 0
   for _, word in ipairs(words) do
      widest = math.max(widest, #word + 2)
   end
   local each = math.max(1, math.floor(width / math.max(1, widest)))
   local rows, lines = math.ceil(#words / each), {}
   for r = 1, rows do
      local parts = {}
      for c = 0, each - 1 do
         local word = words[r + c * rows]
         parts[#parts + 1] = word and word .. (" "):rep(widest - #word) or nil
      end
      lines[r] = table.concat(parts):gsub("%s+$", "")
   end
   return table.concat(lines, "\r\n") .. "\r\n"
end

return M
