-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge report DIR`: everything in a result folder that follows from result.json, made again.
local Folder = require "framegauge.report.folder"
local bars = require "framegauge.report.bars"
local files = require "framegauge.report.files"
local paint = require "framegauge.report.paint"
local refusal = require "framegauge.refusal"
local result = require "framegauge.report.result"
local text = require "framegauge.report.text"
local uv = require "luv"

local M = {}

local SUCCESS, BAD_USAGE, ENVIRONMENT = 0, 2, 4

local function refuse(status, message)
   refusal.raise("report", status, "%s", message)
end

local function read(path)
   local file, message = io.open(path, "rb")
   local content = file and file:read "*a"
   if file then
      file:close()
   end
   return content, message
end

local function read_result(path)
   local content, message = read(path)
   if not content then
      refuse(BAD_USAGE, "no result to render: " .. (message or path .. " cannot be read"))
   end
   local ok, value = pcall(files.read, content)
   if not ok or type(value) ~= "table" or not value.schema_version then
      refuse(BAD_USAGE, path .. " is not the result of a run")
   elseif value.schema_version ~= result.SCHEMA_VERSION then
      refuse(BAD_USAGE, ("%s has version %s of its schema, this program reads version %d"):format(path,
         tostring(value.schema_version), result.SCHEMA_VERSION))
   end
   return value
end

-- run.json tells when and where; a folder without it, or with half of it, has a report all the same.
local function read_moment(path)
   local content = read(path)
   local ok, value = pcall(files.read, content or "{}")
   return ok and type(value) == "table" and value or {}
end

--- Render a result folder again.
-- @param arguments  the folder
-- @return exit status
function M.main(arguments)
   local path = arguments[1]
   local value = read_result(path .. "/result.json")
   local done, message = pcall(function()
      local folder = Folder.open(path)
      for _, file in ipairs(files.render(value, read_moment(path .. "/run.json"))) do
         folder:write(file[1], file[2])
      end
   end)
   if not done then
      refuse(ENVIRONMENT, "cannot write to " .. path .. ": " .. tostring(message))
   end
   local coloured = uv.guess_handle(1) == "tty"
   io.stdout:write(text.render(value, paint.new(coloured), bars.wanted()), "\n", path, "\n")
   return SUCCESS
end

return M
