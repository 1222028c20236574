-- SPDX-License-Identifier: BSD-3-Clause

--- The figures of a record: what criteria can name and what two runs are compared by.
--
-- A figure is a number of a record or of an object in it (framegauge.text.rows). Its key says its unit and,
-- for the usual quantities, which way is better; the row says it where the key does not:
--
--    better      ">=" or "<=": more or less is better; "either": devices differ in it, and neither is better;
--                false: not a figure of the device but a setting or evidence
--    criterion   a further name in criteria; false: no criterion may name it. Where neither side is better,
--                criteria may limit both sides, if the row has this name
--    resolution  how far two figures of unknown uncertainty may differ and still count as equal:
--                function(line, value) or a number, in the unit of the key
--    main        two runs are compared by it, though neither the terminal nor the summary shows it
--    coverage    the figure is itself a bound, with this confidence
local loads = require "framegauge.traffic.loads"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

--- Sides on which a figure may be better.
M.MORE, M.LESS, M.EITHER = ">=", "<=", "either"

-- Keys of settings and of evidence: patterns.
local NO_FIGURE = {
   "^frame_size$", "trials?$", "^iterations$", "^repetitions?$", "^round$", "_?ports$", "^receivers$",
   "^senders$", "^tunnels$", "^groups", "^connections$", "^shift$", "^dscp$", "^egresses$", "^ingresses$",
   "^target$", "^tx", "^sent", "^frames$", "^rx", "_s$", "offered_", "^intended", "^theoretical", "^ideal",
   "^mol_fps$", "^upper", "^lower", "_predicted_", "resolution", "error_ns$", "error_bound", "^limit_",
   "^step_", "^load", "^rate_", "^overload", "^relief", "^tau_", "^bound_", "^evidence", "tester", "count$",
   "oload", "^burden_", "coverage$", "^sampling", "^line_fps$", "^expired$", "_begin_ns$", "samples$",
   "^limits_", "^setting_", "^burst_fps$", "^burst_group$", "^burst_cycles$", "tolerance", "clock_",
   "lag_max", "poll_gap", "reordering_gap", "reordering_run", "^window_bps$", "bottleneck",
}

-- Which way is better, by the key: for counts and shares by what is counted, for times and rates by the unit.
local BETTER = {
   { M.LESS, { "loss", "lost", "duplicat", "reorder", "failures", "timeouts$", "retransm", "wrong_", "slips",
      "misdirected", "unavailable", "flood", "corrupted", "unsolicited", "over_limit", "not_converged",
      "stddev", "^rsd_", "^pv_", "errors$", "error_ratio$", "_ns$" } },
   { M.MORE, { "_fps$", "_mbps$", "bps$", "_per_s$", "throughput", "efficiency", "availability", "fairness",
      "^received_percent$", "^goodput", "^achieved" } },
}

-- Properties of a unit at the end of a key: the rest of the key is a further name; how a criterion writes the
-- value; and the factor from the parser's unit to the key's.
local function load(text)
   local rate, message = units.parse_rate(text)
   return rate and function(line)
      return loads.of_rate(rate, line.frame_size, line.theoretical_fps or line.line_fps)
   end, message
end

local UNITS = {
   { "_per_s", tonumber, 1 }, { "_ns", units.parse_time, 1e9 }, { "_s", units.parse_time, 1 },
   { "_fps", load, 1 }, { "_mbps", units.parse_bits, 1e-6 }, { "_bps", units.parse_bits, 1 },
   { "_percent", units.parse_ratio, 100 }, { "_ratio", units.parse_ratio, 1 },
   { "_ppm", units.parse_ratio, 1e6 }, { "_bytes", units.parse_size, 1 },
   { "_octets", units.parse_size, 1 }, { "_frames", tonumber, 1 },
}

local function has_any(key, patterns)
   return tables.any(patterns, function(pattern) return key:find(pattern) end)
end

local function better_of(row, key)
   if row.better ~= nil then
      return row.better
   elseif key:find "_per_s$" then
      return M.MORE
   elseif has_any(key, NO_FIGURE) then
      return false
   end
   for _, one in ipairs(BETTER) do
      if has_any(key, one[2]) then
         return one[1]
      end
   end
end

local function unit_of(key)
   for _, one in ipairs(UNITS) do
      if key:sub(-#one[1]) == one[1] then
         return one, key:sub(1, -#one[1] - 1)
      end
   end
   return { "", tonumber, 1 }, key
end

-- A share of the figure, but at least the tester's resolution.
local function share(of, least)
   return function(line, value)
      return math.max(of * math.abs(value), least and least(line) or 0)
   end
end

local function stamps(line)
   local latency = type(line.latency) == "table" and line.latency or line
   return type(latency.error_bound_ns) == "number" and latency.error_bound_ns or 0
end

-- Chance: three times the standard deviation of a count.
local function chance(_, value)
   return 1 + 3 * math.sqrt(math.abs(value))
end

local function lost_share(line, value)
   local tx = type(line.tx) == "number" and line.tx or 0
   return tx > 0 and chance(nil, value * tx) / tx or 0.1 * value
end

-- How far apart two figures of unknown uncertainty may be, by their units.
local RESOLUTION = {
   _ns = share(0.1, stamps), _s = share(0.1), _fps = share(0.05), _mbps = share(0.05), _bps = share(0.05),
   _per_s = share(0.05), _percent = share(0.05), _ratio = lost_share, _ppm = share(0.1),
   _bytes = share(0.05), _octets = share(0.05), _frames = share(0.05),
}

-- For a share near 100 % the missing part counts: 99.99 % and 91 % are not alike.
local function near_whole(_, value)
   return 0.05 * math.min(math.abs(value), math.abs(100 - value)) + 0.05
end

local function resolution_of(row, unit, better)
   local own = row.resolution
   if type(own) == "number" then
      return function() return own end
   elseif not own and unit[1] == "_percent" and better == M.MORE then
      return near_whole
   end
   return own or RESOLUTION[unit[1]] or better == M.LESS and chance or share(0.05)
end

local function is_number(row)
   local t = row[2]
   local known = type(t) == "string" and rows.TYPES[t].type
   return t == nil or known == "number" or known == "integer"
end

-- A number that needs no unit, where the row allows that.
local function parser(row, parse)
   return row.plain and function(text)
      local value, message = tonumber(text), nil
      if not value then
         value, message = parse(text)
      end
      return value, message
   end or parse
end

local function figure_of(row, path, optional)
   local key = rows.flat_key(row.of and row.criterion or path)
   local unit, name = unit_of(key)
   local better = better_of(row, key)
   local names = { [key] = true, [name] = true }
   if row.criterion then
      names[row.criterion] = true
   end
   return {
      row = row, optional = optional or row.optional, path = not row.of and path or nil, key = key,
      name = name, better = better, names = names,
      of = row.of or function(line) return rows.value(line, path) end, unit = unit[1],
      parse = parser(row, unit[2]), scale = unit[3], resolution = resolution_of(row, unit, better),
   }
end

local function each(record, prefix, visit, optional)
   for _, row in ipairs(record.rows) do
      local t = row[2]
      if type(t) == "table" and t.kind == "record" then
         if not row.apart and row[1] ~= "uncertainty" then
            each(t, prefix .. row[1] .. ".", visit, optional or row.optional)
         end
      elseif is_number(row) and (row[1] or row.criterion) then
         visit(row, prefix .. (row[1] or row.criterion), optional)
      end
   end
end

-- A row for one path inside an object says more of the figure than the object's own row.
local function both(column, typed)
   return setmetatable({}, { __index = function(_, key)
      local value = column[key]
      if value == nil then
         value = typed[key]
      end
      return value
   end })
end

local function read(record)
   local list, places = {}, {}
   each(record, "", function(row, path, optional)
      local place = places[path] or #list + 1
      local other = list[place] and list[place].row
      optional = optional or list[place] and list[place].optional
      places[path] = place
      list[place] = figure_of(not other and row or row[2] and both(other, row) or both(row, other), path,
         optional)
   end)
   return list
end

local known = setmetatable({}, { __mode = "k" })

--- Everything in a record that is a number, settings and evidence too.
-- @return list of { row =, path =, key = flat, name = the key without its unit, names = set of those in
-- criteria, better =, optional = whether a line may be without it, of = function(line, plan): its value,
-- parse = function(text): a value as a criterion has it, a number, or a function(line) that tells it for the
-- line, or nil and a message, scale = how much of the key's unit one of that is, unit = how the key ends,
-- resolution = function(line, value) }
function M.all(record)
   if not known[record] then
      known[record] = read(record)
   end
   return known[record]
end

--- Is it a figure of the device, which may be better, worse or different?
function M.is_device(figure)
   return figure.better ~= nil and figure.better ~= false
end

--- Figures that a criterion may name.
function M.criteria(record)
   return tables.map(M.all(record), function(figure)
      local asked = figure.better == M.MORE or figure.better == M.LESS
         or figure.better == M.EITHER and figure.row.criterion
      return asked and figure.row.criterion ~= false and figure or nil
   end)
end

--- Which bits a latency is measured between, as its row or the object around it says: LIFO, FIFO or FILO; nil
-- for other figures.
-- Latencies of different definitions are different figures, so their difference is no change of the device.
function M.definition(figure, line)
   local object = (figure.path or ""):match "^(.*%.)[^.]+$"
   if not figure.key:find "latency" and not figure.key:find "net_mean_ns$" then
      return nil
   end
   local text = object and rows.value(line, object .. "definition") or rows.value(line, "definition")
   return text and (text:match "%((%u+)%)$" or text:upper())
end

-- The extremes of a single run are chance.
local function stands_first(figure)
   local at = figure.row.at or ""
   return figure.row.criterion or figure.row.main
      or (at:find "terminal" or at:find "summary") and not has_any(figure.key, { "_m[ai][xn]_", "stddev" })
end

--- Figures by which two runs are compared: all of known uncertainty, and the main ones of the others. A
-- figure in several units is compared once.
function M.compared(record)
   local list, best = {}, {}
   for _, figure in ipairs(M.all(record)) do
      local row, stem = figure.row, figure.name:gsub("_l%d$", ""):gsub("^lost$", "loss")
      local main = row.uncertainty or stands_first(figure)
      if main and figure.path and not row.coverage and M.is_device(figure) then
         local earlier = best[stem]
         if not earlier or row.uncertainty and not list[earlier].row.uncertainty then
            best[stem] = earlier or #list + 1
            list[best[stem]] = figure
         elseif row.uncertainty then
            list[#list + 1] = figure
         end
      end
   end
   return list
end

return M
