-- SPDX-License-Identifier: BSD-3-Clause

--- The protocols of lib/frame, as Lua sees them: the tables by which frames are built, read and explained.
local api = require "framegauge.core.api"
local ffi = require "ffi"

local C = api.C
local M = {}

local kinds = {
   [tonumber(C.FG_KIND_NUMBER)] = "number", [tonumber(C.FG_KIND_HEX)] = "hex",
   [tonumber(C.FG_KIND_FLAGS)] = "flags", [tonumber(C.FG_KIND_MAC)] = "mac",
   [tonumber(C.FG_KIND_IPV4)] = "ipv4", [tonumber(C.FG_KIND_IPV6)] = "ipv6",
   [tonumber(C.FG_KIND_OCTETS)] = "octets",
}

local function text(pointer)
   return pointer ~= nil and ffi.string(pointer) or nil
end

-- Rows of a C array that ends with a row without a name.
local function rows(array, name, convert)
   local list, i = {}, 0
   while array ~= nil and array[i][name] ~= nil do
      list[i + 1] = convert(array[i])
      i = i + 1
   end
   return list
end

local function value_name(row)
   return { name = ffi.string(row.name), value = tonumber(row.value) }
end

local function field(row)
   return {
      name = ffi.string(row.name), width = row.width, kind = kinds[tonumber(row.kind)], c = row,
      preset = tonumber(row.preset), help = text(row.help), computed = row.computed,
      names = row.names ~= nil and rows(row.names, "name", value_name) or nil, when = text(row.when),
   }
end

local function place(row)
   return { space = ffi.string(row.space), first = tonumber(row.first), last = tonumber(row.last) }
end

local function protocol(row)
   local made = {
      name = ffi.string(row.name), title = ffi.string(row.title), fields = rows(row.fields, "name", field),
      main = text(row.main), places = rows(row.places, "space", place), space = text(row.space), c = row,
      option_space = text(row.option_space), option = row.option, network = row.network,
      reserved_mac = tonumber(row.reserved_mac), field = {},
   }
   for _, one in ipairs(made.fields) do
      made.field[one.name] = one
   end
   return made
end

--- All of them, in the order of lib/frame/meson.build: name, title, fields (a list of name, width in bits,
-- kind, preset, help, computed, names, when), field (the same by name), main, places, space, option_space,
-- option, network, reserved_mac; `c` is the struct fg_protocol.
M.list = {}

--- The same by name.
M.by_name = {}

local i = 0
while C.fg_protocol_at(i) ~= nil do
   local made = protocol(C.fg_protocol_at(i))
   M.list[i + 1], M.by_name[made.name] = made, made
   i = i + 1
end

--- The name of an option among its protocol's: "mss" of tcp_mss.
function M.short_name(option)
   return option:match "^[^_]+_(.*)$"
end

--- The options that a protocol can have.
-- @return list of their short names; by these names the protocols
function M.options_of(owner)
   local names = {}
   for _, one in ipairs(M.list) do
      for _, where in ipairs(one.option and one.places or {}) do
         if where.space == owner.option_space and where.last == 0 then
            names[#names + 1] = M.short_name(one.name)
            names[names[#names]] = one
         end
      end
   end
   return names
end

return M
