-- SPDX-License-Identifier: BSD-3-Clause

-- What a report shows is what result.json has: every cell of its CSV files, and of the tables on the page and
-- on the terminal. A number that is shown is read back and held against the figure, to the digits that are
-- shown.
local files = require "framegauge.report.files"
local fixture = require "fixture"
local registry = require "framegauge.plan.registry"
local rows_of = require "framegauge.text.rows"
local scratch = require "scratch"
local show = require "framegauge.text.show"
local small_runs = require "small_runs"

local results = require "framegauge.report.result"

-- The figure by the unit it is shown in.
local SCALES = { ["µs"] = 1e-3, us = 1e-3, ms = 1e-6, ["Mbit/s"] = 1e-6 }

-- The same where the unit that suits stands behind the figure; times are nanoseconds.
local SUFFIXES = {
   ["bit/s"] = 1, ["kbit/s"] = 1e-3, ["Mbit/s"] = 1e-6, ["Gbit/s"] = 1e-9, ns = 1, us = 1e-3, ["µs"] = 1e-3,
   ms = 1e-6,
   s = 1e-9, ["%"] = 100,
}

local function scale_of(column)
   local unit, path = column[2]:match "[^ ,]+$" or "", column.path
   unit = unit:find "^µ?u?s$" and unit or column[2]:match "^µs" or column[2]:match "^ms" or unit
   if path:find "_mbps$" then
      return 1
   elseif path:find "_ns$" then
      return SCALES[unit] or 1
   elseif path:find "_bps$" then
      return SCALES["Mbit/s"]
   end
   return column[2]:find "%%" and path:find "_ratio$" and 100 or path:find "share$" and 100 or 1
end

-- A cell says nothing else than a value: true; false and why not.
local function agrees(text, value, column)
   text = text:gsub("^at least ", ""):gsub("^at most ", ""):gsub("^[<>]=", "")
   if value == nil then
      return text == "-" or text == "–" or text == "none found" or text == "0" or text == ""
   elseif type(value) ~= "number" then
      local word = type(value) == "boolean" and (value and "yes" or "no") or tostring(value)
      return text:gsub(" → ", "->") == word or type(value) == "table" or text == "both"
         or column.kind == "key" and text == show.words(word)
         or column.kind == "limit" and text == (word == "maximum" and "not reached" or word:gsub("_", " "))
   end
   local digits, suffix = text:match "^(%-?[%d,]+%.?%d*) ?(.*)$"
   local scale = suffix == "" and scale_of(column) or SUFFIXES[suffix]
   if not digits or not scale then
      return false
   end
   local decimals = #(digits:match "%.(%d*)$" or "")
   local shown = tonumber((digits:gsub(",", "")))
   local expected = value * scale
   -- counts are rounded down: a figure is never made better than it is
   return math.abs(shown - expected) <= 0.5 * 10 ^ -decimals + 1e-9 * math.abs(expected)
      or decimals == 0 and shown == math.floor(expected)
      or math.abs(shown - expected) <= 1e-5 * math.abs(expected) -- six digits
end

local function unescaped(text)
   text = text:gsub("<svg.-</svg>", ""):gsub("<sup>.-</sup>", ""):gsub("<[^>]*>", "")
   return (text:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"'):gsub("&#39;", "'"):gsub("&amp;", "&"))
end

-- Put the next part of a table behind it, without the columns that name the rows again.
local function join(whole, part)
   local names = 0
   while part.heading[names + 1] == whole.heading[names + 1] do
      names = names + 1
   end
   local function add(to, from)
      for i = names + 1, #from do
         to[#to + 1] = from[i]
      end
   end
   add(whole.heading, part.heading)
   for i, cells in ipairs(part) do
      add(whole[i], cells)
   end
end

-- Tables of the page: list of { heading = "Throughput|frames/s ...", rows of cells }.
local function tables_of_page(page)
   local list = {}
   for text in page:gmatch "<table[^>]*>(.-)</table>" do
      local one = { heading = {}, caption = text:match "<caption>(.-)</caption>",
         part = tonumber(text:match "%((%d+) of %d+%)</caption>") }
      for cell in (text:match "<thead>(.-)</thead>" or ""):gmatch "<t[hd][^>]*>(.-)</t[hd]>" do
         table.insert(one.heading, unescaped((cell:gsub('<span class="unit">', "|"))))
      end
      for row in (text:match "<tbody>(.-)</tbody>" or ""):gmatch '<tr( ?[^>]*>.-)</tr>' do
         local cells = {}
         for cell in row:gmatch "<t[hd][^>]*>(.-)</t[hd]>" do
            cells[#cells + 1] = unescaped(cell)
         end
         one[#one + 1] = not row:find '^ class="below"' and cells or nil
      end
      if one.part and one.part > 1 then
         join(list[#list], one)
      else
         list[#list + 1] = one
      end
   end
   return list
end

-- The characters of a line from one place to another.
local function slice(line, from, to)
   local starts = {}
   for at in line:gmatch "()[^\128-\191]" do
      starts[#starts + 1] = at
   end
   return line:sub(starts[from] or #line + 1, (starts[to + 1] or #line + 1) - 1):match "^%s*(.-)%s*$"
end

-- The tables of a terminal: below two lines of headings a rule has the width of every column.
local function tables_of_terminal(text)
   local list, lines, one, places = {}, {}, nil, nil
   for line in text:gmatch "([^\n]*)\n" do
      lines[#lines + 1] = line
      if line:find "^%-[- ]+$" then
         one, places = { title = lines[#lines - 2], heading = {} }, {}
         list[#list + 1] = one
         for from, to in line:gmatch "()%-+()" do
            places[#places + 1] = { from, to - 1 }
            local parts = {}
            for i = #lines - 2, #lines - 1 do
               parts[#parts + 1] = slice(lines[i], from, to - 1)
            end
            table.insert(one.heading, parts[2] ~= "" and parts[1] .. "|" .. parts[2] or parts[1])
         end
      elseif line == "" then
         one = nil
      elseif one then
         local cells = {}
         for i, place in ipairs(places) do
            cells[i] = slice(line, place[1], i < #places and place[2] or #line)
         end
         one[#one + 1] = cells
      end
   end
   return list
end

local function heading_of(columns, plain)
   local list = {}
   for i, column in ipairs(columns) do
      local text = column[2] ~= "" and column[1] .. "|" .. column[2] or column[1]
      list[i] = plain and text:gsub("µ", "u"):gsub("…", "...") or text
   end
   return table.concat(list, "\n")
end

-- What tells lines apart: a table is of these lines if it has these as they have them.
local IDENTITY = { direction = true, stream = true, frame_size = true, trial = true, test = true }

local function is_of(one, columns, lines)
   for i, line in ipairs(lines) do
      for k, column in ipairs(columns) do
         if IDENTITY[column.path] and not agrees(one[i][k], line[column.path], column) then
            return false
         end
      end
   end
   return true
end

-- Cells that say something else than the lines of a result; and how many were compared.
local function wrong_cells(shown, columns, lines, plain, wrong)
   local compared = 0
   for _, one in ipairs(shown) do
      if table.concat(one.heading, "\n") == heading_of(columns, plain) and #one == #lines
         and is_of(one, columns, lines) then
         for i, line in ipairs(lines) do
            for k, column in ipairs(columns) do
               local value = column.path and rows_of.value(line, column.path)
               compared = compared + (column.path and 1 or 0)
               if column.path and not agrees(one[i][k], value, column) then
                  wrong[#wrong + 1] = ("%s: '%s' is shown for %s"):format(column.path, one[i][k],
                     tostring(value))
               end
            end
         end
         return compared
      end
   end
   return compared
end

-- Tables of these lines whose test is named neither in a column nor in the caption.
local function nameless(shown, columns, one, lines, wrong)
   for _, each in ipairs(shown) do
      if table.concat(each.heading, "\n") == heading_of(columns, false) and #each == #lines
         and not (each.caption or ""):find(one.title, 1, true) then
         wrong[#wrong + 1] = ("'%s' does not name its test"):format(tostring(each.caption))
      end
   end
end

-- The check of a matrix of a terminal: its title names a figure, and each cell is about two ports.
local FIGURES = {
   ["Throughput, % of the line"] = "throughput_percent", ["Loss, %"] = "loss_ratio",
   ["Mean delay, µs"] = "latency.mean_ns",
}
local function wrong_in_matrix(one, lines, wrong)
   local path, compared = one.heading[1]:find "from \\ to" and FIGURES[one.title], 0
   for _, cells in ipairs(path and one or {}) do
      for k = 2, #cells do
         local to = one.heading[k]:match "[^|]*$"
         for _, line in ipairs(lines) do
            if line.from == cells[1] and line.to == to then
               local column = { "", one.title, path = path }
               compared = compared + 1
               if not agrees(cells[k], rows_of.value(line, path), column) then
                  wrong[#wrong + 1] = ("%s: '%s' is shown for %s"):format(path, cells[k], line.direction)
               end
            end
         end
      end
   end
   return compared
end

local function fields_of(line)
   local list = {}
   for quoted, plain in (line .. ","):gmatch '("?)(.-)%1,' do
      list[#list + 1] = quoted and plain
   end
   return list
end

local function wrong_csv(text, figures, lines, lead, wrong)
   local header, number = nil, 0
   for line in text:gmatch "[^\n]+" do
      local cells = fields_of(line)
      header = header or cells
      local of = number > 0 and lines[number]
      for i, figure in ipairs(of and figures or {}) do
         local value, cell = rows_of.value(of, figure[1]), cells[i + lead]
         local text_of = type(value) == "table" and table.concat(value, "; ") or tostring(value)
         if value == nil and cell ~= "" or type(value) == "number" and tonumber(cell) ~= value
            or value ~= nil and type(value) ~= "number" and not text_of:find '[",]' and cell ~= text_of then
            wrong[#wrong + 1] = ("%s.csv: '%s' for %s"):format(header[i + lead], tostring(cell), text_of)
         end
      end
      number = number + 1
   end
   return number - 1
end

-- All lines of a table, and the lines of each direction, as they may stand by themselves.
local function groups_of(lines)
   local list, by_direction = { lines }, {}
   for _, line in ipairs(lines) do
      local direction = tostring(line.direction)
      if not by_direction[direction] then
         by_direction[direction] = {}
         list[#list + 1] = by_direction[direction]
      end
      table.insert(by_direction[direction], line)
   end
   return #list > 2 and list or { lines }
end

-- The names of tables that the rows of a record have.
local function places(record, set)
   for _, row in ipairs(record.rows) do
      for name in (row.at or ""):gmatch "%S+" do
         set[name] = true
      end
      if type(row[2]) == "table" and row[2].kind == "record" then
         places(row[2], set)
      end
   end
   return set
end

-- Hold the tables and the CSV files of a run against its result.
-- @return what is wrong, and how many cells of the page and of the terminal were compared
local function compare(folder, terminal)
   local result = files.read(scratch.read(folder .. "/result.json"))
   local page, wrong, compared = scratch.read(folder .. "/report.html"), {}, { page = 0, terminal = 0 }
   local on_page, on_terminal = tables_of_page(page), tables_of_terminal(terminal)
   for _, one in ipairs(results.tables(result.plan.test, result.results)) do
      for name in pairs(places(one.record, { ["html performance"] = true })) do
         for _, lines in ipairs(groups_of(one.lines)) do
            local columns = show.columns(one.record, name, lines)
            compared.page = compared.page + wrong_cells(on_page, columns, lines, false, wrong)
            if columns[1].path == "test" then -- left out where the caption names it
               local others = { unpack(columns, 2) }
               compared.page = compared.page + wrong_cells(on_page, others, lines, false, wrong)
               nameless(on_page, others, one, lines, wrong)
            end
            compared.terminal = compared.terminal + wrong_cells(on_terminal, columns, lines, true, wrong)
         end
      end
      for _, shown in ipairs(on_terminal) do
         compared.terminal = compared.terminal + wrong_in_matrix(shown, one.lines, wrong)
      end
      if not one.inner and #one.lines > 0 then
         local csv = scratch.read(("%s/%s.csv"):format(folder, one.name))
         assert.equal(#one.lines, wrong_csv(csv, rows_of.flat(one.record, one.lines), one.lines,
            #(one.lead or {}), wrong))
      end
   end
   return wrong, compared
end

describe("a report of", function()
   teardown(scratch.remove)

   it("one pattern at two frame sizes names it in every table", function()
      local wrong = compare(fixture.run("rfc2889", "--quick --set rfc2889.tests=[many_to_one] --set 'rfc2889.frame_sizes=[512, 1518]' --set reference_switch.rate=100Mbps"))
      assert.same({}, wrong)
   end)

   for _, method in ipairs(registry.ALL) do
      local name = method.name
      local _ = method.service or it(name .. " shows in every cell what result.json has", function()
         local folder, terminal, status = fixture.run(small_runs.of(name))
         assert.equal(0, status, terminal)
         local wrong, compared = compare(folder, terminal)
         assert.equal("", table.concat(wrong, "\n", 1, math.min(#wrong, 20)))
         assert.is_true(compared.page > 0 and compared.terminal > 0, compared.page .. ", "
            .. compared.terminal)
      end)

      local _ = method.service or it(name .. " names tests in words", function()
         local page = scratch.read((fixture.run(small_runs.of(name))) .. "/report.html")
         page = page:gsub("<section><h2>Configuration.-</section>", "")
         for cell in page:gmatch "<t[hd][^>]*>(%l+_[%l_]+)</t" do
            error(cell .. " is in a table")
         end
      end)
   end
end)
