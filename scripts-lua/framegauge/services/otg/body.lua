-- SPDX-License-Identifier: BSD-3-Clause

--- The body of a request: JSON, or YAML where it does not begin as an object of JSON does.
--
-- Scripts keep configurations in YAML, too, and some send them as they are. Plain text that JSON would take
-- for a number, true, false or null is that; everything else is text, also 00 and 198.18.0.1.
local json = require "framegauge.text.json"
local tables = require "framegauge.core.tables"
local yaml = require "framegauge.yaml"

local M = {}

local WORDS = { [""] = json.null, ["~"] = json.null, null = json.null, ["true"] = true, ["false"] = false }

local function plain(text)
   local word = WORDS[text]
   if word ~= nil then
      return word
   end
   local is_number = text:find "^-?%d+%.?%d*[eE]?[-+]?%d*$" and not text:find "^-?0%d"
   return is_number and tonumber(text) or text
end

local function value_of(node)
   if node.kind == "scalar" then
      return node.quoted and node.value or plain(node.value)
   elseif node.kind == "list" then
      return tables.map(node.items, value_of)
   end
   local object = {}
   for _, entry in ipairs(node.entries) do
      object[entry.key] = value_of(entry.value)
   end
   return object
end

local function decode_yaml(text)
   local root, err = yaml.parse(text, "body")
   if not root then
      return nil, ("the body is no JSON, and no YAML: line %d, column %d: %s"):format(err.line, err.column,
         err.message)
   end
   return root.kind ~= "list" and value_of(root) or nil
end

local function decode_json(text)
   local ok, value = pcall(json.decode, text)
   return ok and value or nil, not ok and "the body is no JSON: " .. tostring(value) or nil
end

--- Decode a body.
-- @return a table, as framegauge.text.json decodes it; or nil and what is wrong
function M.decode(text)
   local value, wrong = (text:find "^%s*{" and decode_json or decode_yaml)(text)
   if type(value) ~= "table" then
      return nil, wrong or "the body is no object"
   end
   return value
end

return M
