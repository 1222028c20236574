-- SPDX-License-Identifier: BSD-3-Clause

--- A bound on one figure of a row, as `--expect` has it: `goodput>=900Mbps`.
local M = {}

--- Read one.
-- @param figures  by name: { how its value is read, ">=" or "<=", on which side of it the figure must be,
--                 function(row): the figure, nil where the row has none }
-- @return function(value): whether it reaches the bound, nil does not; the figure's function; its side. Or
-- nil and a message
function M.read(figures, key, sign, text)
   local figure = figures[key]
   if not figure then
      return nil, ("there is no figure '%s'"):format(key)
   end
   local read, side, take = unpack(figure)
   local wanted, message = read(text)
   if not wanted then
      return nil, message
   elseif sign ~= side then
      return nil, ("%s is a criterion with %s"):format(key, side)
   end
   return function(value)
      return value ~= nil and (side == ">=" and value >= wanted or side == "<=" and value <= wanted)
   end, take, side
end

--- Read one on rows whose verdict is valid or says why not. A figure that cannot be called the device's
-- decides nothing unless it reaches the value: then the device did, whatever the tester could not do beyond.
-- @return function(row): true; false: the device fell short; nil: the row does not say. Or nil and a message
function M.parse(figures, key, sign, text)
   local reaches, take, side = M.read(figures, key, sign, text)
   if not reaches then
      return nil, take
   end
   return function(row)
      local value = take(row)
      local met = reaches(value)
      if value ~= nil and row.validity == "valid" then
         return met
      end
      return met and side == ">=" or nil
   end
end

--- Read a plain number.
function M.number(text)
   local value = tonumber(text)
   if not value then
      return nil, ("'%s' is no number"):format(text)
   end
   return value
end

return M
