-- SPDX-License-Identifier: BSD-3-Clause

--- Active OAM: the sessions in one table.
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local notes = require "framegauge.report.notes"
local result_rows = require "framegauge.methods.oam.result"
local tables = require "framegauge.report.html.tables"
local units = require "framegauge.text.units"

local M = {}

M.NAME = "Active OAM"

local function rows_of(result)
   return result.results.oam or {}
end

function M.notes(result, add)
   local o, said = result.plan.oam, {}
   add(("%s, %s apart; a reply that takes longer than %s is lost."):format(format.plural(o.count, "probe"),
      units.format_time(o.interval), units.format_time(o.drain)))
   add "The round trip is without the time in the reflector, where it tells that."
   for _, row in ipairs(rows_of(result)) do
      local disorder = notes.disorder_of(row.duplicates, row.reordered)
      add(disorder[1] and ("%s, %s: of the replies %s; a probe counts as answered once."):format(
         row.test:gsub("_", " "), row.direction, table.concat(disorder, ", ")) or nil)
      if row.one_way ~= "measured" and not said[row.one_way] then
         said[row.one_way] = true
         add(("%s: no one-way delay: %s."):format(row.test:gsub("_", " "), row.one_way))
      end
   end
end

function M.sections(result)
   return { { "Sessions", nil, tables.of { result_rows.ROW, "html", rows_of(result), caption = "Sessions",
      below = tables.reasons } } }
end

-- Frames of the service lost in the test `loss`, both ways; nil without that test.
local function service_lost(row)
   local service = row.service
   return service and (service.forward_lost or 0) + (service.backward_lost or 0)
end

--- Headline figures: the longest round trip and the greatest loss of a session.
function M.tiles(result)
   local lossy = formatters.worst(rows_of(result), "loss_ratio", "<=")
   local slowest = formatters.largest(rows_of(result), function(row)
      return row.round_trip and row.round_trip.p50_ns
   end)
   local list = { slowest and { "Round trip", format.nanoseconds(slowest.round_trip.p50_ns), "",
      "median, " .. slowest.direction, row = slowest } or nil }
   list[#list + 1] = lossy and { "Lost", format.count(lossy.lost), "probes",
      ("of %s, %s"):format(format.count(lossy.sent), lossy.direction), row = lossy } or nil
   local of_service = formatters.largest(rows_of(result), service_lost)
   list[#list + 1] = of_service and { "Service", format.count(service_lost(of_service)), "frames lost",
      "by the counters of both ends, " .. of_service.direction, row = of_service } or nil
   return list
end

function M.evidence(result)
   local drops, refused = 0, 0
   for _, trial in ipairs(result.trials) do
      drops, refused = drops + trial.tester_drops, refused + trial.refused
   end
   return h.p { ("Over all trials: %s dropped by the tester's ports, %s a port did not take a frame at once. A session in which that happened is marked."):format(format.plural(drops, "frame"),
      format.plural(refused, "time")) }
end

local function column(heading, unit, key)
   return { heading, unit, function(trial) return format.count(trial[key]) end }
end

M.trial_columns = {
   column("Trial", "", "trial"), { "Session", "", function(trial) return trial.title end, left = true },
   { "Length", "s", function(trial) return ("%.3g"):format(trial.duration_s) end },
   column("Sent", "probes", "sent"), column("Received", "replies", "received"),
   column("Dropped", "by the tester", "tester_drops"), column("Refused", "times", "refused"),
   { "Verdict", "", function(trial) return formatters.verdict(trial.validity) end, left = true },
}

return M
