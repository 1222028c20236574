-- SPDX-License-Identifier: BSD-3-Clause

--- Pages from HAR files (HTTP Archive 1.2), which browsers save: the objects, their sizes, and for each the
-- object it waited for.
local format = require "framegauge.text.format"
local json = require "framegauge.text.json"
local named_file = require "framegauge.core.named_file"

local M = {}

M.LONGEST_NAME = 60

local function table_at(t, ...)
   for _, key in ipairs { ... } do
      t = type(t) == "table" and t[key] or nil
   end
   return t
end

local function number_at(...)
   local value = table_at(...)
   return type(value) == "number" and value or nil
end

-- Seconds of "2026-11-20T12:34:56.789+01:00"; nil: not a time.
local function moment(text)
   local date, rest = tostring(text):match "^(%d+%-%d+%-%d+T%d+:%d+:%d+)(.*)$"
   local fraction, zone = (rest or ""):match "^(%.?%d*)(.*)$"
   local sign, hours, minutes = (zone or ""):match "^([+-])(%d%d):?(%d%d)$"
   local seconds = date and format.epoch(date .. "Z")
   if not seconds or not (zone == "Z" or zone == "" or sign) then
      return nil
   end
   local ahead = sign and tonumber(sign .. "1") * (hours * 3600 + minutes * 60) or 0
   return seconds + (tonumber("0" .. fraction) or 0) - ahead
end

-- The last part of a URL's path.
local function name_of(url)
   local path = url:gsub("^%a+://", ""):gsub("[?#].*$", "")
   local name = (path:match "([^/]+)/*$" or path):gsub("[%c\128-\255]", "_")
   return name ~= "" and name:sub(1, M.LONGEST_NAME) or "/"
end

local SIZES = { { "bodySize" }, { "_transferSize" }, { "content", "size" } }

-- Bytes of the body as transferred. Where a browser does not give them (Chromium with HTTP/2 and HTTP/3),
-- with the head; else the unpacked size.
local function size_of(entry)
   for _, path in ipairs(SIZES) do
      local size = number_at(entry, "response", unpack(path))
      if size and size >= 0 and size % 1 == 0 then
         return size
      end
   end
end

-- The URL that caused a request, by the browser's initiator; nil where it is not given.
local function initiator_of(entry)
   local url = table_at(entry, "_initiator", "url")
      or table_at(entry, "_initiator", "stack", "callFrames", 1, "url")
   return type(url) == "string" and url or nil
end

-- @return the object, false for a transfer without HTTP, or nil and what is wrong
local function object_of(entry)
   local url, start = table_at(entry, "request", "url"), moment(table_at(entry, "startedDateTime"))
   local took = number_at(entry, "time")
   if type(url) ~= "string" then
      return nil, "no request.url"
   elseif not url:match "^https?://" or type(table_at(entry, "_fromCache")) == "string"
      or (number_at(entry, "response", "status") or 0) == 0 then
      return false
   elseif not start or not took or took < 0 then
      return nil, "no startedDateTime and time"
   elseif not size_of(entry) then
      return nil, "neither response.bodySize nor response.content.size"
   end
   return {
      url = url, name = name_of(url), size = size_of(entry), start = start, over = start + took / 1000,
      initiator = initiator_of(entry),
   }
end

-- What object number i waited for: the browser's initiator; else the last of the objects that had ended
-- before it began; else the document.
local function waited_for(list, i)
   local object, last = list[i], nil
   for k = i - 1, 1, -1 do
      if object.initiator and list[k].url == object.initiator then
         return k
      end
   end
   for k = 1, i - 1 do
      if list[k].over <= object.start and (not last or list[k].over > list[last].over) then
         last = k
      end
   end
   return last or 1
end

-- @return the entries of the first page up to the page's load event, where the file gives one
local function entries_of(log)
   local entries, list, first = log.entries, {}, nil
   for i, entry in ipairs(entries) do
      local object, fault = object_of(entry)
      if fault then
         return nil, ("entry %d: %s"):format(i, fault)
      elseif object and (not first or table_at(entry, "pageref") == first) then
         first = first or table_at(entry, "pageref") or false
         object.number = i
         list[#list + 1] = object
      end
   end
   table.sort(list, function(a, b)
      return a.start < b.start or a.start == b.start and a.number < b.number
   end)
   local loaded = number_at(log, "pages", 1, "pageTimings", "onLoad") or -1
   while #list > 1 and loaded >= 0 and list[#list].start > list[1].start + loaded / 1000 do
      list[#list] = nil
   end
   return list
end

-- Times of a file are milliseconds; a time of day needs more digits than a double has.
local function whole_us(seconds)
   return math.floor(seconds * 1e6 + 0.5) / 1e6
end

--- Read a page.
-- @return list of { name =, size =, after = number of the object that it waited for, 0: none, think = seconds
-- that it waited then }; or nil and what is wrong with the file
function M.read(path)
   local problem = named_file.problem(path) -- it is read again for the trials and for their figures
   if problem then
      return nil, problem
   end
   local text = named_file.read(path) or ""
   local ok, value = pcall(json.decode, text)
   local log = ok and table_at(value, "log")
   if not log or type(log.entries) ~= "table" then
      return nil, path .. " is no HAR file: " .. (ok and "no log.entries" or "no JSON")
   end
   local list, fault = entries_of(log)
   if not list or not list[1] then
      return nil, path .. ": " .. (fault or "nothing in it came by HTTP")
   end
   local objects = { { name = list[1].name, size = list[1].size, after = 0, think = 0 } }
   for i = 2, #list do
      local after = waited_for(list, i)
      objects[i] = {
         name = list[i].name, size = list[i].size, after = after,
         think = whole_us(math.max(0, list[i].start - list[after].over)),
      }
   end
   return objects
end

return M
