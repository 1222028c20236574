-- SPDX-License-Identifier: BSD-3-Clause

--- Arguments of one command, read by the row that describes it (framegauge.cli.commands).
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"

local M = {}

--- Raise a mistake in the command line: the program says it, points to the help and exits 2.
-- @param command  name of the command whose help answers it, or nil
-- @param ...      string.format arguments
function M.usage_error(command, ...)
   user_error.raise(command, 2, ...)
end

local function option_names(command)
   local names = { "--help" }
   for _, option in ipairs(command.options) do
      names[#names + 1] = "--" .. option.name
   end
   return names
end

local function find_option(command, name)
   return tables.find(command.options, "name", name) or M.usage_error(command.name,
      "%s: unknown option '--%s'%s", command.name, name, suggest.hint("--" .. name, option_names(command)))
end

-- Stores the option at args[i]; returns the index of the last argument it took.
local function take_option(command, args, i, values)
   local name, value = args[i]:match("^%-%-([^=]*)=?(.*)$")
   local attached = args[i]:find("=", 1, true)
   local option = find_option(command, name)
   if not option.value then
      if attached then
         M.usage_error(command.name, "%s: --%s takes no value", command.name, name)
      end
      values[name] = true
      return i
   end
   if not attached then
      i = i + 1
      value = args[i]
   end
   if not value or value == "" then
      M.usage_error(command.name, "%s: --%s needs a value: --%s %s", command.name, name, name, option.value)
   end
   if option.many then
      table.insert(values[name], value)
      while option.rest and args[i + 1] and args[i + 1]:sub(1, 1) ~= "-" do
         i = i + 1
         table.insert(values[name], args[i])
      end
   elseif values[name] then
      M.usage_error(command.name, "%s: --%s is given twice", command.name, name)
   else
      values[name] = value
   end
   return i
end

local function check_count(command, positional)
   for i, argument in ipairs(command.arguments) do
      if not positional[i] and not argument.optional then
         M.usage_error(command.name, "%s: %s is missing", command.name, argument.name)
      end
   end
   local last = command.arguments[#command.arguments]
   if #positional > #command.arguments and not (last and last.rest) then
      M.usage_error(command.name, "%s: '%s' is one argument too many", command.name,
         positional[#command.arguments + 1])
   end
end

--- Read the option --duration. @return seconds, or nil
function M.duration(command, options)
   local seconds, wrong = options.duration, nil
   if seconds then
      seconds, wrong = units.parse_time(options.duration)
   end
   if wrong or seconds == 0 then
      M.usage_error(command, "%s: --duration: %s; expected %s", command, wrong or "0", units.expected.time)
   end
   return seconds
end

--- Read the arguments of a command.
-- @param command  its row
-- @param args     list of arguments behind the command's name
-- @return positional arguments (a list), options by name (lists for those that may be repeated), and the
-- arguments behind "--" for a command that takes them. Raises a usage error. "--help" is always known.
function M.arguments(command, args)
   local positional, values, behind = {}, {}, {}
   for _, option in ipairs(command.options) do
      if option.many then
         values[option.name] = {}
      end
   end
   local i = 1
   while i <= #args do
      local argument = args[i]
      if command.verbatim and #positional > 0 then
         positional[#positional + 1] = argument
      elseif argument == "--help" or argument == "-h" then
         values.help = true
         return positional, values, behind
      elseif argument == "--" then
         for j = i + 1, #args do
            table.insert(command.takes_eal and behind or positional, args[j])
         end
         break
      elseif argument:sub(1, 2) == "--" then
         i = take_option(command, args, i, values)
      elseif argument:sub(1, 1) == "-" and argument ~= "-" then
         M.usage_error(command.name, "%s: unknown option '%s'; options begin with two dashes", command.name,
            argument)
      else
         positional[#positional + 1] = argument
      end
      i = i + 1
   end
   check_count(command, positional)
   return positional, values, behind
end

return M
