-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a plan about who measures, for the head of reports.
local keys = require "framegauge.plan.keys"
local base64 = require "framegauge.core.base64"
local named_file = require "framegauge.core.named_file"

local M = {}

local LARGEST = 128 * 1024 -- bytes of a logo: result.json holds it, as text

M.row = keys.group("lab", "who measures, for the report", {
   { "name", "string", "the laboratory", longest = 200, default_help = "none" },
   { "operator", "string", "the person", longest = 200, default_help = "none" },
   { "logo", "string", "a picture for the head of the report: a PNG, JPEG or SVG file of at most 128 KiB, which becomes part of result.json",
     longest = 4096, does = "reads the file", default_help = "none" },
}, { optional = true })

-- Allowed text before the first element of a document: white space, the prolog, comments, the type with or
-- without an internal subset.
local BEFORE = { "^[%s\239\187\191]+", "^<%?.-%?>", "^<!%-%-.-%-%->", "^<!DOCTYPE[^%[>]*%[.-%]%s*>",
   "^<!DOCTYPE[^%[>]*>" }

-- The end of a prolog, a comment or a doctype at a place, or nil.
local function end_of(text, from)
   for _, pattern in ipairs(BEFORE) do
      local _, last = text:find(pattern, from)
      if last then
         return last
      end
   end
end

-- Is <svg the first element?
local function is_svg(text)
   local from, last = 1, 0
   while last do
      from, last = last + 1, end_of(text, last + 1)
   end
   return text:find("^<svg[%s/>]", from) ~= nil
end

-- The media type of a picture by its first bytes, or nil.
local function media_type(picture)
   return picture:find "^\137PNG\r\n\26\n" and "image/png" or picture:find "^\255\216\255" and "image/jpeg"
      or is_svg(picture) and "image/svg+xml" or nil
end

-- Read the logo into lab.image, as a page takes it.
local function has_a_logo(values, found)
   local lab = values.lab
   if not lab or not lab.logo then
      return
   end
   local picture, why = nil, named_file.problem(lab.logo)
   if not why then
      picture, why = named_file.read(lab.logo, LARGEST + 1)
   end
   local kind = picture and #picture <= LARGEST and media_type(picture)
   if kind then
      lab.image = ("data:%s;base64,%s"):format(kind, base64(picture))
      return
   end
   found:add("lab.logo", not picture and why
      or lab.logo .. (#picture > LARGEST and " is too large" or " is no picture"),
      "a PNG, JPEG or SVG file of at most 128 KiB")
end

M.rules = { has_a_logo }

return M
