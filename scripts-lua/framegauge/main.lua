-- SPDX-License-Identifier: BSD-3-Clause

--- The program: from its arguments to its exit status.
require "framegauge.strict"
require "framegauge.api"

local commands = require "framegauge.cli.commands"
local exit = require "framegauge.cli.exit"
local help = require "framegauge.cli.help"
local native = require "framegauge.native"
local nearest = require "framegauge.nearest"
local parse = require "framegauge.cli.parse"

local M = {}

local ENVIRONMENT = 4

local function find(rows, name)
   for _, row in ipairs(rows) do
      if row.name == name then
         return row
      end
   end
end

local function names(...)
   local list = {}
   for _, rows in ipairs { ... } do
      for _, row in ipairs(rows) do
         list[#list + 1] = row.name
      end
   end
   return list
end

local function exit_page()
   local rows = {}
   for i, row in ipairs(exit) do
      rows[i] = { ("%3d"):format(row[1]), row[2] }
   end
   return "Exit statuses:\n\n" .. help.columns(rows)
end

local topics = {
   {
      name = "plan", summary = "every key of a plan, with its unit, range and default",
      page = function()
         return require("framegauge.plan.help").text()
      end,
   },
   {
      name = "protocols", summary = "what frames can be made of; 'help protocols NAME': the fields of one",
      page = function(name)
         return require("framegauge.cli.protocols").page(name)
      end,
   },
   { name = "exit", summary = "the exit statuses", page = exit_page },
}

--- The help command.
-- @param arguments  a topic and what of it, or nothing
function M.help(arguments)
   local name = arguments[1]
   if not name then
      io.write(help.overview(commands, topics))
      return 0
   end
   local command, topic = find(commands, name), find(topics, name)
   if not command and not topic then
      parse.usage_error(nil, "no help on '%s'%s", name, nearest.hint(name, names(commands, topics)))
   end
   io.write(command and help.command(command) or topic.page(arguments[2]))
   return 0
end

local function print_version()
   local build = require "framegauge.build"
   print("framegauge " .. build.version)
   print(build.dpdk)
   print(build.luajit)
   return 0
end

local function dispatch(args)
   local name = args[1]
   if name == "--help" or name == "-h" then
      return M.help { args[2] }
   elseif name == "--version" then
      return print_version()
   elseif not name then
      io.stderr:write(help.overview(commands, topics))
      return 2
   end
   local command = find(commands, name)
   if not command then
      local kind = name:sub(1, 1) == "-" and "option" or "command"
      parse.usage_error(nil, "unknown %s '%s'%s", kind, name, nearest.hint(name, names(commands)))
   end
   local arguments, options, eal = parse.arguments(command, { unpack(args, 2) })
   if options.help then
      io.write(help.command(command))
      return 0
   end
   if not command.without_modules then
      native.check()
   end
   return command.run(arguments, options, eal)
end

-- What an error object that knows its exit status has to say.
local function explain(err)
   io.stdout:flush()
   io.stderr:write("framegauge: ", tostring(err), "\n")
   if err.status == 2 then
      io.stderr:write("See 'framegauge ", err.command and err.command .. " --help" or "help", "'.\n")
   end
   return err.status
end

-- What libuv and LuaJIT say when the system refuses memory, descriptors or room on a disk.
local REFUSED = { "not enough memory", "ENOMEM: ", "EMFILE: ", "ENFILE: ", "ENOSPC: ", "EDQUOT: ", "EROFS: " }

local function is_refused(err)
   for _, words in ipairs(REFUSED) do
      if tostring(err):find(words, 1, true) then
         return true
      end
   end
   return false
end

-- Errors without an exit status are ours: they leave with the stack of the place they were raised at.
local function keep_stack(err)
   if type(err) == "string" then
      return setmetatable({ message = err, traceback = debug.traceback("", 2):sub(2) }, {
         __tostring = function(self)
            return self.message
         end,
      })
   end
   return err
end

--- Called by the program.
-- @param args  list of the command line's arguments, without the program's name
-- @return exit status
function M.main(args)
   local ok, result = xpcall(dispatch, keep_stack, args)
   local job = package.loaded["framegauge.job"]
   if type(job) == "table" then -- of a module that could not be loaded, a mark is there
      job.shut_down()
   end
   if ok then
      return result
   elseif type(result) == "table" and result.status then
      return explain(result)
   elseif is_refused(result) then
      io.stderr:write("framegauge: refused by the system: ", tostring(result):match "[^\n]*", "\n")
      return ENVIRONMENT
   end
   error(result, 0)
end

return M
