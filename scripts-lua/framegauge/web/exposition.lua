-- SPDX-License-Identifier: BSD-3-Clause

--- The two text formats that Prometheus reads: OpenMetrics 1.0, and its own 0.0.4.
--
-- They differ in the names of counters, in kinds of metrics that 0.0.4 does not have, in exemplars and in the
-- last line.
local M = {}

M.OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
M.PLAIN = "text/plain; version=0.0.4; charset=utf-8"

-- Kinds of OpenMetrics that are gauges in 0.0.4, and what is behind the name of their samples in both.
local OTHER = { info = "gauge", stateset = "gauge" }
local SUFFIX = { counter = "_total", info = "_info" }

local ESCAPES = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }

local function label_text(labels)
   local names, list = {}, {}
   for name in pairs(labels) do
      names[#names + 1] = name
   end
   table.sort(names)
   for i, name in ipairs(names) do
      list[i] = ('%s="%s"'):format(name, tostring(labels[name]):gsub('[\\"\n]', ESCAPES))
   end
   return list[1] and "{" .. table.concat(list, ",") .. "}" or ""
end

local function number(n)
   n = tonumber(n)
   if n == math.huge then
      return "+Inf"
   end
   local short = ("%.15g"):format(n)
   return tonumber(short) == n and short or ("%.17g"):format(n)
end

--- Which format a client wants.
-- @param accept  the header Accept of its request, or nil
-- @return whether it is OpenMetrics
function M.wants_openmetrics(accept)
   return (accept or ""):find("application/openmetrics-text", 1, true) ~= nil
end

local Writer = {}
Writer.__index = Writer

function Writer:line(...)
   self.lines[#self.lines + 1] = string.format(...)
end

--- Begin a family of metrics; add() and histogram() give it samples.
-- @param kind  counter, gauge, histogram, info or stateset
-- @param name  without _total and _info
function Writer:family(kind, name, help)
   self.kind, self.name = kind, name
   local shown = self.openmetrics and name or name .. (SUFFIX[kind] or "")
   self:line("# TYPE %s %s", shown, self.openmetrics and kind or OTHER[kind] or kind)
   self:line("# HELP %s %s", shown, help)
end

--- A sample; without a value nothing is written.
-- @param exemplar  { labels =, value = } or nil; 0.0.4 has none
function Writer:add(labels, value, exemplar)
   if value then
      local tail = exemplar and self.openmetrics
         and (" # %s %s"):format(label_text(exemplar.labels), number(exemplar.value)) or ""
      self:line("%s%s%s %s%s", self.name, SUFFIX[self.kind] or "", label_text(labels), number(value), tail)
   end
end

--- A histogram.
-- @param bounds  ascending
-- @param counts  of each bound, how many do not exceed it
function Writer:histogram(labels, bounds, counts, all, sum)
   local copy = {}
   for name, value in pairs(labels) do
      copy[name] = value
   end
   for i = 1, #bounds + 1 do
      copy.le = i <= #bounds and ("%.9g"):format(bounds[i]) or "+Inf"
      if self.openmetrics and copy.le:match "^%d+$" then
         copy.le = copy.le .. ".0"
      end
      self:line("%s_bucket%s %s", self.name, label_text(copy), number(counts[i] or all))
   end
   self:line("%s_count%s %s", self.name, label_text(labels), number(all))
   self:line("%s_sum%s %s", self.name, label_text(labels), number(sum))
end

--- The whole text.
function Writer:text()
   return table.concat(self.lines, "\n") .. (self.openmetrics and "\n# EOF\n" or "\n")
end

--- A text to be written.
function M.writer(openmetrics)
   return setmetatable({ openmetrics = openmetrics, lines = {} }, Writer)
end

return M
