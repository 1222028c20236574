-- SPDX-License-Identifier: BSD-3-Clause

--- Requests with strange values in some places, the same ones every time.
local json = require "framegauge.text.json"

local M = {}

--- A generator of numbers below another one, the same every time.
function M.draws(seed)
   local state = seed
   return function(below)
      state = (state * 16807) % 2147483647
      return state % below
   end
end

-- All places in a value, in an order of its own: list of { table, key }.
local function places_in(value, list)
   local keys = {}
   for key in pairs(value) do
      keys[#keys + 1] = key
   end
   table.sort(keys, function(a, b)
      return tostring(a) < tostring(b)
   end)
   for _, key in ipairs(keys) do
      list[#list + 1] = { value, key }
      if type(value[key]) == "table" then
         places_in(value[key], list)
      end
   end
   return list
end

local STRANGE = {
   function() return -1 end, function() return 1e300 end, function() return 0.5 end, function() return "" end,
   function() return ("x"):rep(300) end, function() return {} end, function() return { {} } end,
   function() return true end, function() return json.null end, function() return 4294967296 end,
   function() return { a = 1 } end, function() return "\0\n\255" end, function() return 0 end,
   function() return 65536 end, function() return { 1, "x", {} } end,
}

--- Put strange values into one to three places of a value.
function M.some(value, draw)
   for _ = 0, draw(3) do
      local places = places_in(value, {})
      local place = places[draw(#places) + 1]
      place[1][place[2]] = STRANGE[draw(#STRANGE) + 1]()
   end
end

return M
