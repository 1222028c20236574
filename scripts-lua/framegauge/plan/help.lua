-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a plan as documentation: `framegauge help plan` and docs/reference/plan.md, from its rows.
local columns = require("framegauge.text.columns").described
local registry = require "framegauge.plan.registry"
local rows = require "framegauge.plan.rows"
local schema = require "framegauge.plan.schema"
local tables = require "framegauge.core.tables"
local types = require "framegauge.plan.types"

local M = {}

local INTRODUCTION = [[
A plan is a YAML file: which ports, which test, which parameters. This is a whole one:

    ports:
      east: {device: wire0}
      west: {device: wire1}
    test: rfc2544

Every key can also be given on the command line, as in `--set rfc2544.throughput.trial=10s` or
`--set rfc2544.frame_sizes=[64,1518]`. Values carry their unit; only sizes, counts and 0 go without.
`framegauge check PLAN.yaml` reports all errors of a plan and sends nothing.
]]

local DEVICES = {
   { "wire0, wire1", "the two ends of a wire inside the process, with the reference device between" },
   { "kernel:IF", "a network interface of the kernel, through AF_XDP where it works, else AF_PACKET; append `,af_xdp` or `,af_packet` to insist on one; an 802.1ad tag (0x88a8) is received as 802.1Q through AF_PACKET, but as it is through AF_XDP and `,offload`; `,offload` has the interface cut and join TCP segments, for tests of TCP at its full speed" },
   { "memif:PATH", "shared memory with another program; append `,server` to listen instead of joining; `,id=N` is the interface's number (default 0)" },
   { "pcap:IN,OUT", "files: the port receives the frames of IN and writes sent frames to OUT; one of the two may be left out" },
   { "0000:03:00.0", "a network card by its PCI address, bound to a driver for user space" },
   { "vdev:STRING", "any virtual device of DPDK, as its --vdev takes it" },
}

-- The settings of --quick, by test.
local function quick()
   local out = { "`--quick` marks the report as not conforming. It sets, and a run names the keys of its plan that it replaces, for a test of\n\n" }
   for _, method in ipairs(registry.ALL) do
      if method.quick then
         local settings = tables.map(method.quick, function(text)
            return text:gsub("^[^.]*%.", ""):gsub("=", " ")
         end)
         out[#out + 1] = ("- %s: %s\n"):format(method.name, table.concat(settings, ", "))
      end
   end
   return table.concat(out)
end

local function default_of(row)
   if row.required then
      return "must be given"
   elseif row.default_help then
      return row.default_help
   elseif type(row.default) == "table" then
      return table.concat(row.default, ", ")
   end
   return row.default
end

local function range_of(row)
   return schema.range(row.of or row)
end

-- Sections in the order of the plan: { path =, help =, fields = the rows of single values and lists }.
local function sections()
   local list = {}
   local function visit(row, path)
      local section = { path = path, help = row.help, fields = {} }
      list[#list + 1] = section
      for _, field in ipairs(row.fields) do
         local below = path == "" and field.key or path .. "." .. field.key
         if field.type == "group" then
            visit(field, below)
         elseif field.type == "map" then
            visit({ help = field.help, fields = field.of.fields }, below .. ".NAME")
         else
            section.fields[#section.fields + 1] = field
            if field.type == "list" and field.of.type == "group" then
               visit(field.of, below .. "[]")
            end
         end
      end
   end
   visit(rows, "")
   return list
end

--- Every key by its path, such as "rfc2544.throughput.trial", in the order of the plan; without those below
-- names of the user's choice.
function M.keys()
   local list = {}
   for _, section in ipairs(sections()) do
      if not section.path:find "[%[A-Z]" then
         for _, row in ipairs(section.fields) do
            list[#list + 1] = section.path == "" and row.key or section.path .. "." .. row.key
         end
      end
   end
   return list
end

-- A key and its meaning, with its allowed values.
local function line_of(row)
   local facts = { types.label(row), range_of(row) or nil }
   facts[#facts + 1] = row.required and "must be given" or "default: " .. default_of(row)
   return { row.key, ("%s [%s]"):format(row.help, table.concat(facts, "; ")) }
end

--- Everything about plans, for a page of any kind.
-- @return { introduction =, legend, devices = lists of { name, meaning }, quick =, sections = list of
-- { path = "" for the top, help =, lines = list of { key, meaning } } }
function M.contents()
   local contents = { introduction = INTRODUCTION, legend = types.legend, devices = DEVICES, quick = quick() }
   contents.sections = tables.map(sections(), function(section)
      return { path = section.path, help = section.help, lines = tables.map(section.fields, line_of) }
   end)
   return contents
end

local function section_text(section)
   local head = section.path == "" and "\nAt the top:\n" or ("\n%s: %s\n"):format(section.path, section.help)
   return head .. columns(tables.map(section.fields, line_of))
end

--- The text of `framegauge help plan`.
function M.text()
   local is = M.contents()
   local out = { is.introduction, "\nValues:\n", columns(is.legend), "\nDevices:\n", columns(is.devices) }
   for _, section in ipairs(sections()) do
      out[#out + 1] = section_text(section)
   end
   out[#out + 1] = "\n" .. is.quick
   return (table.concat(out):gsub("`", ""))
end

--- The row of a key, such as "rfc2544.throughput.trial"; nil where a plan has no such key.
function M.row(key)
   for _, section in ipairs(sections()) do
      for _, row in ipairs(section.fields) do
         if (section.path == "" and row.key or section.path .. "." .. row.key) == key then
            return row
         end
      end
   end
end

--- The help of a key or of a group, such as "rfc2544.throughput" or "streams.NAME"; nil where a plan has none.
function M.meaning(path)
   local is = M.row(path) or tables.find(sections(), "path", path)
   return is and is.help
end

--- The words that a key takes: of "rfc2544.throughput.search" binary, tst009, mlr. Empty for other values.
function M.values(key)
   local row = M.row(key) or {}
   local of = row.of or row
   return of.values or of.type == "boolean" and { "true", "false" } or {}
end

-- Keys whose meaning has a word, such as a value that they take.
local function with_word(word)
   local keys, pattern = {}, "%f[%w_]" .. word:gsub("%p", "%%%0") .. "%f[^%w_]"
   for _, section in ipairs(sections()) do
      for _, row in ipairs(section.fields) do
         local text = line_of(row)[2]
         if text:find(pattern) then
            keys[#keys + 1] = { section.path == "" and row.key or section.path .. "." .. row.key, text }
         end
      end
   end
   return keys
end

--- The help for a name in a plan: a group with all below it, such as "rfc2544" or "rfc2544.throughput"; every
-- key and group of that name, such as "trial" or "throughput"; else every key whose meaning has that word,
-- such as "imix".
-- @return text; nil when a plan has no such key
function M.about(name)
   local groups, keys = {}, {}
   for _, section in ipairs(sections()) do
      local path = section.path
      if path == name or path:sub(1, #name + 1) == name .. "." or path:sub(1, #name + 2) == name .. "[]"
         or path:sub(-#name - 1) == "." .. name then
         groups[#groups + 1] = section_text(section)
      end
      for _, row in ipairs(section.fields) do
         local key = path == "" and row.key or path .. "." .. row.key
         if key == name or row.key == name then
            keys[#keys + 1] = { key, line_of(row)[2] }
         end
      end
   end
   keys = (keys[1] or groups[1]) and keys or with_word(name)
   local text = (keys[1] and columns(keys) or "") .. table.concat(groups)
   return text ~= "" and text:gsub("^\n", ""):gsub("`", "") or nil
end

--- The words that `framegauge help` and completion know of plans: every path and every key.
function M.words()
   local list = M.keys()
   for _, section in ipairs(sections()) do
      list[#list + 1] = section.path ~= "" and section.path or nil
      for _, row in ipairs(section.fields) do
         list[#list + 1] = row.key
      end
   end
   return list
end

local function markdown_table(head, lines)
   local out = { "| " .. table.concat(head, " | ") .. " |", "|" .. ("---|"):rep(#head) }
   for _, line in ipairs(lines) do
      out[#out + 1] = "| " .. table.concat(line, " | ") .. " |"
   end
   return table.concat(out, "\n") .. "\n"
end

local function marked(list)
   return tables.map(list, function(line) return { "`" .. line[1] .. "`", line[2] } end)
end

--- The text of docs/reference/plan.md.
function M.markdown()
   local out = {
      "# Plans\n\n", INTRODUCTION, "\n## Values\n\n", markdown_table({ "", "written as" }, types.legend),
      "\n## Devices\n\n", markdown_table({ "`device`", "meaning" }, marked(DEVICES)),
   }
   for _, section in ipairs(sections()) do
      local lines = {}
      for i, row in ipairs(section.fields) do
         local key = "`" .. row.key .. "`"
         lines[i] = { key, row.help, types.label(row), range_of(row) or "", default_of(row) }
      end
      out[#out + 1] = section.path == "" and "\n## At the top\n\n"
         or ("\n## `%s`\n\n%s\n\n"):format(section.path, section.help:gsub("^%l", string.upper))
      out[#out + 1] = markdown_table({ "key", "meaning", "takes", "range", "default" }, lines)
   end
   out[#out + 1] = "\n" .. quick() .. "\nThis page is generated from scripts-lua/framegauge/plan/rows.lua:\n"
      .. "`build/app/framegauge script docs/generate/plan.lua > docs/reference/plan.md`.\n"
   return table.concat(out)
end

return M
