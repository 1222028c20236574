-- SPDX-License-Identifier: BSD-3-Clause

--- Every file of a result folder that follows from result.json.
--
-- A run and `framegauge report` both call this with the text of result.json, so that a second rendering gives
-- the same bytes.
local html = require "framegauge.report.html"
local json = require "framegauge.text.json"
local jtl = require "framegauge.report.jtl"
local junit = require "framegauge.report.junit"
local moments = require "framegauge.report.moment"
local plain = require "framegauge.text.plain"
local tables = require "framegauge.core.tables"
local uv = require "luv"
local views = require "framegauge.report.view"

local M = {}

--- A value as it was read, without its nulls: null and absent are the same when rendered.
function M.without_nulls(value)
   if type(value) ~= "table" then
      return value
   end
   for key, item in pairs(value) do
      if item == json.null then
         value[key] = nil
      else
         M.without_nulls(item)
      end
   end
   return value
end

--- A result as it was read, in the form that the renderers need: without nulls, and without control
-- characters, which a terminal would obey.
function M.prepared(value)
   return plain.value(M.without_nulls(value))
end

--- Read the text of result.json or run.json in that form.
function M.read(text)
   return M.prepared(json.decode(text))
end

--- Date and place of a run from run.json; empty where the file is absent or damaged.
function M.moment(folder)
   return plain.value(M.without_nulls(moments.read(folder) or {}))
end

--- The folders of results that a folder holds, sorted.
function M.runs(folder)
   local list, entries = {}, uv.fs_scandir(folder)
   for name in entries and uv.fs_scandir_next or function() end, entries do
      local path = folder .. "/" .. name
      list[#list + 1] = uv.fs_stat(path .. "/result.json") and path or nil
   end
   table.sort(list)
   return list
end

--- The text of summary.html, which is written on request.
function M.summary(result, moment)
   return html.summary(result, moment)
end

--- Render.
-- @param result  result.json, read
-- @param moment  run.json, read; empty without the file
-- @return list of { name, text }
function M.render(result, moment)
   local list = {
      { "junit.xml", junit.text(result, moment) }, { "result.jtl", jtl.text(result, moment) },
      { "report.html", html.page(result, moment) },
   }
   for _, more in ipairs { views.csv(result), views.of(result.plan.test).files(result, moment) } do
      tables.append(list, more)
   end
   return list
end

return M
