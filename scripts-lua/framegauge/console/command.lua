-- SPDX-License-Identifier: BSD-3-Clause

--- A command of the console: one row gives its parsing, help and completion, and a Lua function.
--
--    rate east 40%                       as words
--    rate("east", "40%")                 the same in Lua
--    rate {target = "east", rate = "40%"}
--
-- A row: { name, summary, help }, arguments (may be nil), run(session, o) -> value to be shown, examples. An
-- argument: { name, help }; flag (a word that is given or not), named (only as name=value), rest (takes all
-- further words, a list), optional, complete (its kind of values, console/complete.lua). A row with `keys`
-- takes any further named words, in o.keys; keys(session, words) lists the known ones, and group(words) is
-- what stands before them in a plan: "" or "rfc2544.". A row with `looks`
-- changes nothing: read-only sessions have it too.
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local words = require "framegauge.console.tokenizer"

local M = {}

local function refuse(row, ...)
   user_error.raise(row.name, 2, "%s: %s", row.name, string.format(...))
end

local function find(row, name)
   return tables.find(row.arguments, "name", name)
end

local function set_named(row, o, name, value)
   local argument = find(row, name)
   if argument then
      o[name] = argument.rest and type(value) ~= "table" and { value } or value
   elseif row.keys then
      o.keys[name] = value
   else
      local names = tables.field(row.arguments, "name")
      refuse(row, "unknown argument '%s'%s; %s", tostring(name), suggest.hint(tostring(name), names),
         names[1] and "the arguments are " .. table.concat(names, ", ") or "it takes no arguments")
   end
end

-- The next argument that takes a word without a name.
local function next_argument(row, o)
   for _, argument in ipairs(row.arguments) do
      if not argument.flag and not argument.named and (o[argument.name] == nil or argument.rest) then
         return argument
      end
   end
end

local function set_positional(row, o, value)
   local flag = type(value) == "string" and find(row, value)
   if flag and flag.flag then
      o[value] = true
      return
   end
   local argument = next_argument(row, o)
   if not argument then
      refuse(row, "'%s' is one argument too many: %s", tostring(value), M.synopsis(row))
   elseif argument.rest then
      o[argument.name] = o[argument.name] or {}
      table.insert(o[argument.name], value)
   else
      o[argument.name] = value
   end
end

local function check_required(row, o)
   for _, argument in ipairs(row.arguments) do
      if not (argument.optional or argument.flag or argument.named) and o[argument.name] == nil then
         refuse(row, "%s is missing: %s", argument.name:upper(), M.synopsis(row))
      end
   end
   return o
end

--- "rate TARGET RATE"
-- @param brief  whether named arguments and keys are only hinted at: "test METHOD [quick] [background] ..."
function M.synopsis(row, brief)
   local parts, hint = { row.name }, false
   for _, argument in ipairs(row.arguments) do
      hint = hint or brief and argument.named
      local text = argument.flag and argument.name or argument.name:upper()
      text = argument.rest and text .. "..." or argument.named and argument.name .. "=" .. text or text
      local can_be_left = argument.optional or argument.flag or argument.named
      text = can_be_left and "[" .. text .. "]" or text
      parts[#parts + 1] = not (brief and argument.named) and text or nil
   end
   if hint then
      parts[#parts + 1] = "..."
   elseif row.keys then
      parts[#parts + 1] = "[KEY=VALUE...]"
   end
   return table.concat(parts, " ")
end

--- Arguments of a call in Lua. If the last one is a table without a metatable, it holds named arguments.
-- @return o as run() takes it. Raises an error on wrong arguments.
function M.of_call(row, ...)
   local o, n = { keys = row.keys and {} or nil }, select("#", ...)
   local given = { ... }
   local last = given[n]
   local named = type(last) == "table" and not getmetatable(last) and last or nil
   for i = 1, named and n - 1 or n do
      set_positional(row, o, given[i])
   end
   for i, value in ipairs(named or {}) do
      set_positional(row, o, value, i)
   end
   for name, value in pairs(named or {}) do
      if type(name) ~= "number" then
         set_named(row, o, name, value)
      end
   end
   return check_required(row, o)
end

--- Arguments of a line of words.
function M.of_words(row, text)
   local list, wrong = words.split(text)
   if not list then
      refuse(row, "%s", wrong)
   end
   local o = { keys = row.keys and {} or nil }
   for _, word in ipairs(list) do
      if word.name and (row.keys or find(row, word.name)) then
         set_named(row, o, word.name, word.value)
      else
         set_positional(row, o, word.text)
      end
   end
   return check_required(row, o)
end

local ROW, SESSION = {}, {} -- keys that completion does not show

local Command = {}

function Command:__call(...)
   return self[ROW].run(self[SESSION], M.of_call(self[ROW], ...))
end

function Command:__tostring()
   return ("%s: %s"):format(M.synopsis(self[ROW]), self[ROW].summary)
end

--- The row as a function for a session.
-- @param members  further functions it has as fields, by name; or nil
function M.callable(row, session, members)
   local object = setmetatable({ [ROW] = row, [SESSION] = session }, Command)
   for name, member in pairs(members or {}) do
      object[name] = member
   end
   return object
end

return M
