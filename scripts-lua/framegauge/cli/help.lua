-- SPDX-License-Identifier: BSD-3-Clause

--- Help texts, made from the rows that also drive the parsing.
local M = {}

local WIDTH = 92
local WIDEST_NAME = 44

-- Two columns: names padded to the widest, texts wrapped beside them, or below a name that is too wide.
-- @param width  of both; default: that of the help on the command line
local function columns(rows, width)
   local widest, most = 0, width or WIDTH
   for _, row in ipairs(rows) do
      widest = #row[1] <= math.min(WIDEST_NAME, most / 2) and math.max(widest, #row[1]) or widest
   end
   local lines = {}
   for _, row in ipairs(rows) do
      local line = ("  %-" .. widest .. "s "):format(row[1])
      if #row[1] > widest then
         lines[#lines + 1] = "  " .. row[1]
         line = (" "):rep(widest + 3)
      end
      for word in row[2]:gmatch("%S+") do
         if #line + #word >= most then
            lines[#lines + 1] = line
            line = (" "):rep(widest + 3)
         end
         line = line .. " " .. word
      end
      lines[#lines + 1] = line
   end
   return table.concat(lines, "\n") .. "\n"
end

--- "run PLAN.yaml [--quick] [--set PATH=VALUE]..."
function M.synopsis(command)
   local parts = { command.name }
   for _, argument in ipairs(command.arguments) do
      local text = argument.rest and argument.name .. "..." or argument.name
      parts[#parts + 1] = argument.optional and "[" .. text .. "]" or text
   end
   for _, option in ipairs(command.options) do
      local text = "[--" .. option.name .. (option.value and " " .. option.value or "") .. "]"
      parts[#parts + 1] = option.many and text .. "..." or text
   end
   if command.takes_eal then
      parts[#parts + 1] = "[-- EAL...]"
   end
   return table.concat(parts, " ")
end

--- The page of one command.
function M.command(command)
   local text = { "usage: framegauge ", M.synopsis(command), "\n\n", command.help, "\n" }
   local rows = {}
   for _, argument in ipairs(command.arguments) do
      rows[#rows + 1] = { argument.name, argument.help }
   end
   for _, option in ipairs(command.options) do
      rows[#rows + 1] = { "--" .. option.name .. (option.value and " " .. option.value or ""), option.help }
   end
   if command.takes_eal then
      rows[#rows + 1] = { "-- EAL...", "everything behind the two dashes goes to DPDK's EAL as it is" }
   end
   if #rows > 0 then
      text[#text + 1] = "\n" .. columns(rows)
   end
   if command.examples then
      text[#text + 1] = "\nExamples:\n"
      for _, example in ipairs(command.examples) do
         text[#text + 1] = "  framegauge " .. example .. "\n"
      end
   end
   return table.concat(text)
end

--- The first page.
-- @param commands  rows of the command table
-- @param topics    rows of the further topics: name, summary
function M.overview(commands, topics)
   local command_rows, topic_rows = {}, {}
   for i, command in ipairs(commands) do
      command_rows[i] = { command.name, command.summary }
   end
   for i, topic in ipairs(topics) do
      topic_rows[i] = { "help " .. topic.name, topic.summary }
   end
   return table.concat {
      "Framegauge measures what a network device can carry, and proves that the tester was not the limit.\n",
      "\nusage: framegauge COMMAND [ARGUMENT...]\n",
      "\nCommands:\n", columns(command_rows),
      "\nMore:\n", columns(topic_rows),
      "\n", columns {
         { "COMMAND --help", "the arguments of one command" },
         { "--version", "versions of Framegauge and of what it stands on" },
         { "--verbose COMMAND...", "say all that the libraries and DPDK log" },
         { "--lua-path DIR COMMAND...", "prefer the Lua modules in DIR/framegauge (or: FRAMEGAUGE_LUA=DIR)" },
      },
   }
end

--- Two columns of names and texts, as all pages use them.
M.columns = columns

return M
