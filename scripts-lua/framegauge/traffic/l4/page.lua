-- SPDX-License-Identifier: BSD-3-Clause

--- Pages of the L4 engine (lib/apps/fg_l4_page.h) from plain tables, and their results.
local api = require "framegauge.core.api"
local ffi = require "ffi"

local C = api.C
local M = {}

--- A struct fg_l4_page.
-- @param page  { objects = list of { size =, after = number, 0: none, think = seconds }, connections = }
-- @return it, and what has to be kept with it
function M.config(page)
   local objects = ffi.new("struct fg_l4_object[?]", #page.objects)
   for i, object in ipairs(page.objects) do
      objects[i - 1] = { object.size, object.after, api.nanoseconds(object.think) }
   end
   return ffi.new("struct fg_l4_page", { objects, #page.objects, page.connections }), objects
end

--- Results of the pages of application @p index of a worker.
-- @param r         struct fg_l4_page_result
-- @param times_of  function(struct fg_l4_times) -> table or nil
-- @return { loaded =, failed =, load = times or nil, spent = ns of all pages of load: { setup =, waiting =,
-- transfer =, think = }, moments = of the objects of a page }; nil: it loads none
function M.read(l4, index, r, times_of)
   if not r.used then
      return nil
   end
   local n, moments = C.fg_l4_page_moments(l4, index, nil, 0), {}
   local raw = ffi.new("struct fg_l4_moments[?]", n)
   C.fg_l4_page_moments(l4, index, raw, n)
   for i = 0, n - 1 do
      moments[i + 1] = {
         ready = tonumber(raw[i].ready), asked = tonumber(raw[i].asked),
         first_byte = tonumber(raw[i].first_octet), over = tonumber(raw[i].over),
         connection = raw[i].connection,
      }
   end
   local function spent(part)
      return tonumber(r.spent[part])
   end
   return { loaded = tonumber(r.loaded), failed = tonumber(r.failed), load = times_of(r.time),
      spent = {
         setup = spent(C.FG_L4_PAGE_SETUP), waiting = spent(C.FG_L4_PAGE_WAITING),
         transfer = spent(C.FG_L4_PAGE_TRANSFER), think = spent(C.FG_L4_PAGE_THINK),
      },
      moments = moments }
end

return M
