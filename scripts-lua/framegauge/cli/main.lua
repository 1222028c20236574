-- SPDX-License-Identifier: BSD-3-Clause

--- The program: from its arguments to its exit status.
require "framegauge.core.strict"
require "framegauge.core.api"

local commands = require "framegauge.cli.commands"
local failure = require "framegauge.core.failure"
local help = require "framegauge.cli.help"
local native = require "framegauge.core.native"
local parse = require "framegauge.cli.parse"
local plain = require "framegauge.text.plain"
local script_api = require "framegauge.cli.script_api"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local topics = require "framegauge.cli.topics"

local M = {}

-- What scripts may build on has a name of its own, wherever its module is.
for _, module in ipairs(script_api.MODULES) do
   local name = "framegauge." .. module[1]
   package.preload[name] = name ~= module[2] and function()
      return require(module[2])
   end or nil
end
for name, module in pairs(script_api.NAMES) do
   package.preload["framegauge." .. name] = function()
      return require(module)
   end
end

local ENVIRONMENT = 4

local function print_version()
   local build = require "framegauge.build"
   print("framegauge " .. build.version)
   print(build.dpdk)
   print(build.luajit)
   return 0
end

local function dispatch(args, program)
   local name = args[1]
   if name == "--help" or name == "-h" then
      return topics.main({ args[2] }, nil, nil, nil, commands)
   elseif name == "--version" then
      return print_version()
   elseif not name then
      io.stderr:write(topics.first_page(commands))
      return 2
   end
   local command = tables.find(commands, "name", name)
   if not command then
      local kind = name:sub(1, 1) == "-" and "option" or "command"
      parse.usage_error(nil, "unknown %s '%s'%s", kind, name, suggest.hint(name, topics.names(commands)))
   end
   local arguments, options, eal = parse.arguments(command, { unpack(args, 2) })
   if options.help then
      io.write(help.command(command))
      return 0
   end
   if not command.without_modules then
      native.check()
   end
   return require(command.module)[command.call or "main"](arguments, options, eal, name, commands, program)
end

-- Print an error object that has an exit status. Modules do not know which command called them.
local function explain(err, name)
   io.stdout:flush()
   io.stderr:write(err.is_whole and "" or "framegauge: ", plain.text(tostring(err)), "\n")
   if err.status == 2 and not err.is_whole then
      local command = err.command and tables.find(commands, "name", name) and name or err.command
      io.stderr:write("See 'framegauge ", command and command .. " --help" or "help", "'.\n")
   end
   return err.status
end

-- What libuv, LuaJIT and cjson say when the system refuses memory, descriptors or room on a disk.
local REFUSED = { "not enough memory", "Memory allocation error", "ENOMEM: ", "EMFILE: ", "ENFILE: ",
   "ENOSPC: ", "EDQUOT: ", "EROFS: " }

local function is_refused(err)
   return tables.any(REFUSED, function(words) return tostring(err):find(words, 1, true) end)
end

--- Called by the program.
-- @param args  list: the program as it was called, and the command line's arguments
function M.main(args)
   local program = table.remove(args, 1)
   local ok, result = xpcall(dispatch, failure.keep_stack, args, program)
   local undo = package.loaded["framegauge.core.undo"]
   if type(undo) == "table" then
      undo.finish()
   end
   local job = package.loaded["framegauge.core.job"]
   if type(job) == "table" then -- of a module that could not be loaded, a mark is there
      job.shut_down()
   end
   if ok then
      return result
   elseif type(result) == "table" and result.status then
      return explain(result, args[1])
   elseif is_refused(result) then
      local words = plain.text(tostring(result)):match "[^\n]*"
      io.stderr:write("framegauge: refused by the system: ", words, "\n")
      return ENVIRONMENT
   end
   error(result, 0) -- an error of the program: it leaves with the stack of the place where it was raised
end

return M
