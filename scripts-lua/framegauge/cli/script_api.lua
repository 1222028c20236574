-- SPDX-License-Identifier: BSD-3-Clause

--- Pages about modules, from the comments in their sources: `help units` in the console, docs/reference/api.
--
-- What stands in a comment of three dashes before a function or a value is public: its text, @param and
-- @return lines, and @usage lines; a function without a usage is not documented. A usage is Lua that runs as
-- it stands and may go on over lines. It knows the modules by their names, but framegauge.tester as `Tester`;
-- an open tester on two ports of the reference device, east and west, as `tester`; a capture of 100 frames as
-- `recorded`; and a place for a file as `path`. Behind "-->" is what it gives. The tests run every one.
local source = require "framegauge.source"

local M = {}

--- Modules that have a page, in the order they are listed: { name, module }. Scripts require framegauge.NAME.
M.MODULES = {
   { "capture", "framegauge.tester.capture" },
   { "control", "framegauge.control" },
   { "frame", "framegauge.traffic.frame" }, { "hosts", "framegauge.tester.hosts" },
   { "job", "framegauge.core.job" },
   { "l4", "framegauge.methods.l4.script" },
   { "lacp", "framegauge.tester.lacp" },
   { "line", "framegauge.core.ethernet" }, { "link", "framegauge.tester.link" },
   { "lldp", "framegauge.tester.lldp" },
   { "method", "framegauge.run.script" }, { "plan", "framegauge.plan" }, { "port", "framegauge.tester.port" },
   { "pcap", "framegauge.text.pcap" }, { "replay", "framegauge.tester.replay" },
   { "report", "framegauge.report" },
   { "rfc2544", "framegauge.methods.rfc2544.script" },
   { "search", "framegauge.search" }, { "stats", "framegauge.trial.stats" },
   { "stream", "framegauge.trial.stream" },
   { "stream_config", "framegauge.traffic.stream_config" }, { "tester", "framegauge.tester" },
   { "trial", "framegauge.trial" },
   { "units", "framegauge.text.units" },
}

--- Modules without a page that scripts require as framegauge.NAME, too.
M.NAMES = {
   ["otg.client"] = "framegauge.services.otg.client", ["otg.server"] = "framegauge.services.otg.service",
}

-- What a line of code declares: a function with its arguments, or a value. The table M and a class of the
-- module's own name are the module; any other class stands by its own.
local function declared(line, name)
   local owner, mark, field, arguments = line:match "^function ([%a_][%w_]*)([.:])([%w_]+)(%b())"
   if not owner then
      owner, field = line:match "^([%a_][%w_]*)%.([%w_]+) ="
      mark = "."
   end
   if not owner or field:find "^_" then
      return nil
   end
   local title = owner == "M" and name or owner:lower()
   return title .. mark .. field .. (arguments or ""), arguments ~= nil
end

local function new_entry()
   return { text = {}, notes = {}, usages = {} }
end

-- One line of a comment, without its dashes.
local function add_line(entry, line)
   local tag, rest = line:match "^@(%w+)%s*(.*)$"
   if tag == "usage" then
      entry.usages[#entry.usages + 1] = rest
      entry.into = entry.usages
   elseif tag then
      rest = tag == "return" and "returns " .. rest or rest:gsub("^([%w_.]+)%s+", "%1: ")
      entry.notes[#entry.notes + 1] = rest
      entry.into = entry.notes
   elseif entry.into == entry.notes and entry.notes[1] then
      entry.notes[#entry.notes] = entry.notes[#entry.notes] .. " " .. line:gsub("^%s+", "")
   elseif entry.into == entry.usages and entry.usages[1] then
      entry.usages[#entry.usages] = entry.usages[#entry.usages] .. "\n" .. line
   else
      local text, behind = line:match "^(.-)%s*@return (.*)$"
      entry.text[#entry.text + 1] = text or line
      if behind then
         add_line(entry, "@return " .. behind)
      end
   end
end

--- What a source says about itself.
-- @param text  the source
-- @param name  of the module
-- @return { intro = lines, entries = list of { title =, is_function =, text = lines, notes = lines, usages =
--         lines } }
function M.read(text, name)
   local page, entry, plain = { intro = nil, entries = {}, bare = {} }, nil, false
   for line in (text .. "\n"):gmatch "([^\n]*)\n" do
      local first, more = line:match "^%-%-%-%s?(.*)$", line:match "^%-%-%s?(.*)$"
      if first then
         entry = new_entry()
         add_line(entry, first)
      elseif more and entry then
         add_line(entry, more)
      else
         local title, is_function = declared(line, name)
         if title and entry then
            entry.title, entry.is_function = title, is_function
            page.entries[#page.entries + 1] = entry
         elseif title and is_function and not plain then
            page.bare[#page.bare + 1] = title
         elseif entry and not page.intro then
            page.intro = entry.text
         end
         entry, plain = nil, more ~= nil
      end
   end
   return page
end

--- The page of a module by its name.
-- @return as read() gives it, or nil when there is no such module
function M.of(name)
   for _, module in ipairs(M.MODULES) do
      if module[1] == name then
         return M.read(source.read(module[2]), name)
      end
   end
end

--- As text, for a terminal.
function M.text(name)
   local page = M.of(name)
   local out = { ("require \"%s\"\n\n"):format("framegauge." .. name), table.concat(page.intro, "\n"), "\n" }
   for _, entry in ipairs(page.entries) do
      out[#out + 1] = "\n" .. entry.title .. "\n"
      for _, list in ipairs { entry.text, entry.notes, entry.usages } do
         for _, line in ipairs(list) do
            local shown = list == entry.usages and "   > " .. line:gsub("\n", "\n        ") or line
            out[#out + 1] = "   " .. shown .. "\n"
         end
      end
   end
   return table.concat(out)
end

--- As Markdown, for docs/reference/api.
function M.markdown(name)
   local page = M.of(name)
   local out = { ("# framegauge.%s\n\n%s\n"):format(name, table.concat(page.intro, "\n")) }
   for _, entry in ipairs(page.entries) do
      out[#out + 1] = ("\n## `%s`\n\n%s\n"):format(entry.title, table.concat(entry.text, "\n"))
      if entry.notes[1] then
         out[#out + 1] = "\n- " .. table.concat(entry.notes, "\n- ") .. "\n"
      end
      if entry.usages[1] then
         out[#out + 1] = "\n```lua\n" .. table.concat(entry.usages, "\n") .. "\n```\n"
      end
   end
   out[#out + 1] = "\nThis page is generated from the source: `build/app/framegauge script docs/generate/api.lua`.\n"
   return table.concat(out)
end

return M
