-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a plan about who measures, for the head of reports.
local base64 = require "framegauge.core.base64"
local named_file = require "framegauge.core.named_file"

local M = {}

local LARGEST = 128 * 1024 -- bytes of a logo: result.json holds it, as text

M.row = {
   key = "lab", type = "group", optional = true, help = "who measures, for the report",
   fields = {
      { key = "name", type = "string", longest = 200, default_help = "none", help = "the laboratory" },
      { key = "operator", type = "string", longest = 200, default_help = "none", help = "the person" },
      { key = "logo", type = "string", longest = 4096, does = "reads the file", default_help = "none",
        help = "a picture for the head of the report: a PNG, JPEG or SVG file of at most 128 KiB, which becomes part of result.json" },
   },
}

-- The media type of a picture by its first bytes, or nil.
local function media_type(picture)
   return picture:find "^\137PNG\r\n\26\n" and "image/png" or picture:find "^\255\216\255" and "image/jpeg"
      or picture:find "^[%s\239\187\191]*<" and picture:find "<svg[%s>]" and "image/svg+xml" or nil
end

-- Read the logo into lab.image, as a page takes it.
local function has_a_logo(values, found)
   local lab = values.lab
   if not lab or not lab.logo then
      return
   end
   local picture, why = named_file.read(lab.logo, LARGEST + 1)
   local kind = picture and #picture <= LARGEST and media_type(picture)
   if kind then
      lab.image = ("data:%s;base64,%s"):format(kind, base64(picture))
      return
   end
   local problem = not picture and "cannot be read: " .. tostring(why):gsub("^.-: ", "")
      or #picture > LARGEST and "is too large" or "is no picture"
   found:add("lab.logo", lab.logo .. " " .. problem, "a PNG, JPEG or SVG file of at most 128 KiB")
end

M.rules = { has_a_logo }

return M
