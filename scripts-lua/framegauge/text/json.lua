-- SPDX-License-Identifier: BSD-3-Clause

--- JSON that is the same to the byte whenever the values are the same.
--
-- lua-cjson reads well but writes the keys of an object in the order of the hash, so writing is done here:
-- keys in the order the caller declares, the others sorted behind them; whole numbers without point or
-- exponent; other numbers with the fewest digits that read back as the same double. An empty table is an
-- empty list unless marked as an object. Integers of 64 bits keep all their digits, and bytes that are no
-- text (addresses in the frames of a plan) become text in hex.
local cjson = require "cjson"
local ffi = require "ffi"
local tables = require "framegauge.core.tables"

local M = {}

--- Stands for JSON's null, in and out: an absent key and a known absence differ.
M.null = cjson.null

local PLAIN = { is_object = true }
local ranked = setmetatable({}, { __mode = "k" }) -- metatables by their ranks

--- Mark a table as an object even when it is empty.
-- @param rank  place of its keys, by key; without one they are sorted
-- @return the table
function M.object(t, rank)
   if rank and not ranked[rank] then
      ranked[rank] = { is_object = true, rank = rank }
   end
   return setmetatable(t, rank and ranked[rank] or PLAIN)
end

--- Read JSON text. Raises on bad input.
M.decode = cjson.decode

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

local INT64, UINT64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"

-- Is it UTF-8? Leading bytes say how many follow.
local function is_text(text)
   if not text:find "[\128-\255]" then -- nearly all of it
      return true
   end
   local rest = text:gsub("[\194-\223][\128-\191]", ""):gsub("[\224-\239][\128-\191][\128-\191]", "")
      :gsub("[\240-\244][\128-\191][\128-\191][\128-\191]", "")
   return not rest:find "[\128-\255]"
end

--- Whether JSON can carry a text as it is.
M.is_text = is_text

local function quote(text)
   if not text:find '[%c"\\\127-\255]' then -- nearly all of it
      return '"' .. text .. '"'
   elseif not is_text(text) then
      return '"0x' .. text:gsub(".", function(c)
         return string.format("%02x", c:byte())
      end) .. '"'
   end
   return '"' .. text:gsub('[%c"\\\127]', function(c)
      return ESCAPES[c] or string.format("\\u%04x", c:byte())
   end) .. '"'
end

-- Keys and most texts come more than once.
local function quoted(text, style)
   local known = style.quoted[text]
   if not known then
      known = quote(text)
      style.quoted[text] = known
   end
   return known
end

local function number(value)
   assert(value == value and math.abs(value) ~= math.huge, "JSON has no infinity and no NaN")
   if value % 1 == 0 and math.abs(value) < 2 ^ 53 then
      return value == 0 and "0" or string.format("%.0f", value) -- JSON need not know of -0
   end
   for digits = 15, 17 do
      local text = string.format("%." .. digits .. "g", value)
      if tonumber(text) == value then
         return text
      end
   end
end

local function is_list(t)
   local meta = getmetatable(t)
   return t[1] ~= nil or (next(t) == nil and not (meta and meta.is_object))
end

-- Whether these are the keys of an object with as many.
local function are_keys_of(t, keys)
   for _, key in ipairs(keys) do
      if t[key] == nil then
         return false
      end
   end
   return true
end

local function keys_by_rank(t, rank)
   local keys = tables.keys(t)
   if next(rank) then
      table.sort(keys, function(a, b)
         local ra, rb = rank[a] or math.huge, rank[b] or math.huge
         if ra ~= rb then
            return ra < rb
         end
         return a < b
      end)
   end
   return keys
end

-- The keys of an object in their order. Most objects of a list have the keys of the one before: their order
-- is kept in the style, by their number.
local function sorted_keys(t, style)
   local n, meta = 0, getmetatable(t)
   local rank = meta and meta.rank or style.rank
   for key in pairs(t) do
      assert(type(key) == "string", "JSON objects need text for keys")
      n = n + 1
   end
   local known = style.known[n]
   if known and known.rank == rank and are_keys_of(t, known) then
      return known
   end
   known = keys_by_rank(t, rank)
   known.rank, style.known[n] = rank, known
   return known
end

-- Anything but a table.
local function write_plain(value, style)
   local kind = type(value)
   if kind == "string" then
      return quoted(value, style)
   elseif kind == "number" then
      return number(value)
   elseif kind == "boolean" then
      return tostring(value)
   elseif kind == "cdata" and (ffi.istype(INT64, value) or ffi.istype(UINT64, value)) then
      return (tostring(value):gsub("U?LL$", ""))
   elseif value == M.null then
      return "null"
   end
   error("JSON has no " .. kind)
end

-- All in one line: pieces are added to a list of n. Joined once, at the end.
-- @return how many there are now
local function add_pieces(list, n, value, style)
   if type(value) ~= "table" then
      list[n + 1] = write_plain(value, style)
      return n + 1
   elseif is_list(value) then
      for i, item in ipairs(value) do
         list[n + 1] = i == 1 and "[" or ","
         n = add_pieces(list, n + 1, item, style)
      end
      list[n + 1] = value[1] == nil and "[]" or "]"
      return n + 1
   end
   local keys = sorted_keys(value, style)
   for i, key in ipairs(keys) do
      list[n + 1], list[n + 2], list[n + 3] = i == 1 and "{" or ",", quoted(key, style), ":"
      n = add_pieces(list, n + 3, value[key], style)
   end
   list[n + 1] = keys[1] and "}" or "{}"
   return n + 1
end

local write

local function join(parts, open, close, indent)
   if #parts == 0 then
      return open .. close
   elseif #parts == 1 and not parts[1]:find "[\n{]" then
      return open .. parts[1] .. close
   end
   local inner = indent .. "  "
   return open .. "\n" .. inner .. table.concat(parts, ",\n" .. inner) .. "\n" .. indent .. close
end

local function write_list(t, style, indent)
   local parts, flat = {}, true
   for i, item in ipairs(t) do
      parts[i] = write(item, style, indent .. "  ")
      flat = flat and type(item) ~= "table"
   end
   if flat and #table.concat(parts, ", ") < 100 then
      return "[" .. table.concat(parts, ", ") .. "]"
   end
   return join(parts, "[", "]", indent)
end

local function write_object(t, style, indent)
   local parts = tables.map(sorted_keys(t, style), function(key)
      return quoted(key, style) .. ": " .. write(t[key], style, indent .. "  ")
   end)
   return join(parts, "{", "}", indent)
end

-- Indented over many lines.
function write(value, style, indent)
   if type(value) ~= "table" then
      return write_plain(value, style)
   end
   return (is_list(value) and write_list or write_object)(value, style, indent)
end

--- Write a value as JSON text.
-- @param value     tables, texts (UTF-8), numbers, booleans, null
-- @param o.order   list of keys that come first in any object, in this order
-- @param o.pretty  indented over many lines; else all in one
function M.encode(value, o)
   local rank = {}
   for i, key in ipairs(o and o.order or {}) do
      rank[key] = i
   end
   local style = { rank = rank, known = {}, quoted = {} }
   if o and o.pretty then
      return write(value, style, "")
   end
   local pieces = {}
   add_pieces(pieces, 0, value, style)
   return table.concat(pieces)
end

return M
