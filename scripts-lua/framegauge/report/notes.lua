-- SPDX-License-Identifier: BSD-3-Clause

--- Notes that qualify the figures of a result, in sentences: the tester's own share in a latency,
-- frames that arrived in another form than they were sent, background traffic, captures, and why a row is not
-- valid.
local format = require "framegauge.text.format"
local mixes = require "framegauge.core.mixes"
local plain = require "framegauge.text.plain"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

local count, plural = format.count, format.plural

local MAX = 10 -- directions and streams that are listed, each

local CALIBRATION = {
   current = "Calibrated on %s: figures called corrected are less the tester's own least latency.",
   stale = "The calibration of %s is stale, so the tester's own latency is in these figures: %s.",
   missing = "Not calibrated: the tester's own latency is in these figures (see 'framegauge help calibrate').",
   ["not-needed"] = "No calibration is needed: in the wire's time the tester has no latency of its own.",
}

--- The tester's own share in a latency, for the reader.
-- @param calibration  of a result; nil where the result has none
function M.calibration(calibration)
   if not calibration then
      return "The tester's own latency is not known."
   end
   return CALIBRATION[calibration.state]:format(tostring(calibration.date):sub(1, 10),
      table.concat(calibration.reasons, "; "))
end

--- One sentence; nil where no trial asked for more than the tester carries.
-- @param calibration  of a result
function M.beyond(calibration)
   local beyond = calibration and calibration.beyond
   local text = "%s asked for more than the tester carries by its calibration, up to %s times (trial %d)."
   return beyond and text:format(plural(beyond.trials, "trial"), format.decimal(beyond.load_max_ratio, 2),
      beyond.trial)
      or nil
end

--- Which bits a latency is measured between, what stamped the frames, and the error of a timestamp.
-- @param of  " of 64 bytes" where other sizes have another definition; or nil
function M.latency(latency, of)
   return latency and ("Latency%s: %s, timestamps by %s, error at most %s."):format(of or "",
      latency.definition, latency.source, format.nanoseconds(latency.error_bound_ns))
end

--- The sentences of latency() for rows with a frame size, one for each definition: a list.
function M.latencies(lines)
   local groups = {}
   for _, row in ipairs(lines) do
      local latency, size = row.every_frame_latency or row.latency, mixes.text(row.frame_size)
      local group = latency and tables.find(groups, "definition", latency.definition)
      if latency and not group then
         group = { definition = latency.definition, latency = latency, sizes = {} }
         groups[#groups + 1] = group
      end
      if group and not tables.contains(group.sizes, size) then
         table.insert(group.sizes, size)
      end
   end
   return tables.map(groups, function(group)
      return M.latency(group.latency, groups[2] and " of " .. table.concat(group.sizes, ", "))
   end)
end

--- The counts of a run's capture in words (framegauge.run.captures).
-- @param fact  as run.json has it
function M.captured(fact)
   local text = ("Captured on %s in %s: %s of %s."):format(fact.port, fact.file, count(fact.written),
      plural(fact.seen, "frame"))
   if (fact.triggers or 0) > 0 then
      text = ("%s %s."):format(text, plural(fact.triggers, "trigger"))
   end
   if fact.dropped > 0 or fact.failure then
      local slow = plural(fact.dropped, "frame") .. " dropped, because the file was written too slowly"
      text = ("%s Not complete: %s."):format(text, fact.failure or slow)
   end
   return plain.text(text)
end

-- In the order of the tester's kinds.
local ALTERED = {
   { "quoted", "%s quoted in ICMP errors" }, { "fragments", "%s known by their last fragment only" },
   { "wrong_length", "%s longer or shorter than they were sent" },
   { "wrong_protocol", "%s with another protocol in IP" },
   { "wrong_payload", "%s with another payload" },
}

-- The sum of a key over all trials, by direction, in the order of their first occurrence.
local function by_direction(trials, key, add)
   local order, sums = {}, {}
   for _, trial in ipairs(trials) do
      for _, d in ipairs(trial.directions or {}) do
         if d[key] and not sums[d.direction] then
            order[#order + 1], sums[d.direction] = d.direction, {}
         end
         for name, value in pairs(d[key] or {}) do
            sums[d.direction][name] = add(sums[d.direction][name], value)
         end
      end
   end
   return { unpack(order, 1, MAX) }, sums
end

--- Frames that arrived in another form, or with other addresses; none where every frame arrived as it was
-- sent.
-- @param trials  of a result
function M.altered(trials)
   local list = {}
   local order, sums = by_direction(trials, "altered", function(sum, frames) return (sum or 0) + frames end)
   for i, direction in ipairs(order) do
      local kinds = {}
      for _, kind in ipairs(ALTERED) do
         local frames = sums[direction][kind[1]]
         kinds[#kinds + 1] = frames and kind[2]:format(plural(frames, "frame")) or nil
      end
      list[i] = ("%s: %s came back or arrived; they count as lost, not as received."):format(direction,
         table.concat(kinds, ", "))
   end
   local direct = tables.map(trials, function(trial) return not trial.tunnelled and trial or nil end)
   order, sums = by_direction(direct, "translated", function(_, text) return text end)
   for _, direction in ipairs(order) do
      local one, sides = sums[direction], {}
      sides[1] = one.source and "its source address or port arrived as " .. one.source
      sides[#sides + 1] = one.destination and "its destination as " .. one.destination
      list[#list + 1] = ("%s: translated on the way (NAT): %s%s."):format(direction, table.concat(sides, ", "),
         one.source and "; what goes back has to be sent there" or "")
   end
   return list
end

--- How many payloads were compared with what was sent (RFC 2544, section 10): a sentence, or none.
-- @param trials  of a result
function M.payload(trials)
   local checked, received = 0, 0
   for _, trial in ipairs(trials) do
      local here = trial.payload_checked or 0
      checked, received = checked + here, received + (here > 0 and trial.rx or 0)
      for _, d in ipairs(trial.directions or {}) do
         received = received + (d.altered and d.altered.wrong_payload or 0)
      end
   end
   return checked > 0 and { ("Payload: %s compared with what was sent, of %s that arrived."):format(
      plural(checked, "frame"), count(received)) } or {}
end

--- The pauses of ports by the device, a sentence for each port; none without pauses.
-- @param trials  of a result
function M.flow_control(trials)
   local order, of = {}, {}
   for _, trial in ipairs(trials) do
      for _, pause in ipairs(trial.pauses or {}) do
         local one = of[pause.port]
         if not one then
            one = { trials = 0, waited_ns = -1 }
            order[#order + 1], of[pause.port] = pause.port, one
         end
         one.trials = one.trials + 1
         if pause.waited_ns > one.waited_ns then
            one.waited_ns, one.times, one.trial = pause.waited_ns, pause.times, trial.trial
         end
      end
   end
   return tables.map(order, function(port)
      local one = of[port]
      return ("Flow control: the device paused port %s in %s; longest in trial %d: %s, and frames waited %s ms in all."):format(port, plural(one.trials, "trial"), one.trial, plural(one.times, "time"),
         format.decimal(one.waited_ns / 1e6, 1))
   end)
end

--- Copies and late arrivals in words, those that there are: a list.
function M.disorder_of(copies, late)
   return tables.joined(copies > 0 and { count(copies) .. " duplicate" } or {},
      late > 0 and { count(late) .. " out of order" } or {})
end

--- Frames that arrived more than once or out of order: no loss shows them, and RFC 2544, section 10, wants
-- them reported with the lost ones.
-- @param trials  of a result
function M.disorder(trials)
   local list, order, sums = {}, {}, {}
   for _, trial in ipairs(trials) do
      for _, d in ipairs(trial.directions or {}) do
         local copies, late = d.duplicates or 0, d.reordered or 0
         local sum = sums[d.direction]
         if not sum and copies + late > 0 then
            sum = { copies = 0, late = 0, trials = 0 }
            order[#order + 1], sums[d.direction] = d.direction, sum
         end
         if copies + late > 0 then
            sum.copies, sum.late, sum.trials = sum.copies + copies, sum.late + late, sum.trials + 1
         end
      end
   end
   for i = 1, math.min(#order, MAX) do
      local sum, parts = sums[order[i]], {}
      parts[1] = sum.copies > 0 and plural(sum.copies, "duplicate frame") or nil
      parts[#parts + 1] = sum.late > 0 and plural(sum.late, "frame") .. " out of order" or nil
      list[i] = ("%s: %s arrived in %s; they count as received once, not as lost."):format(order[i],
         table.concat(parts, " and "), plural(sum.trials, "trial"))
   end
   list[#list + 1] = #order > MAX and ("The same in %d more directions."):format(#order - MAX) or nil
   return list
end

--- Frames that the tester sent to the device during the test (modifiers management-frames and
-- routing-updates), and the results; none without such frames.
-- @param trials  of a result
function M.background(trials)
   local list, queries, replies, updates = {}, 0, 0, 0
   for _, trial in ipairs(trials) do
      local management = trial.management or { queries = 0, replies = 0 }
      queries, replies = queries + management.queries, replies + management.replies
      updates = updates + (trial.routing_updates or 0)
   end
   if queries > 0 then
      list[1] = ("Management queries: %s sent, %s answered and verified."):format(count(queries),
         count(replies))
         .. (replies == 0 and " Nothing shows that the device had this work to do: is there an SNMP agent at the gateways, with the community of rfc2544.management?" or "")
   end
   list[#list + 1] = updates > 0 and ("Routing updates: %s sent."):format(count(updates)) or nil
   return list
end

--- Why rows are not valid or did not pass, each reason once.
-- @param lines  rows
-- @param name   function(row): its name
-- @return list of { word = verdict, reason, names of its rows }
function M.grouped(lines, name)
   local groups, by_key = {}, {}
   for _, row in ipairs(lines) do
      for _, reason in ipairs(row.reasons or {}) do
         local key = verdict.word(row) .. reason
         if not by_key[key] then
            by_key[key] = { word = verdict.word(row), reason = reason, names = {} }
            groups[#groups + 1] = by_key[key]
         end
         table.insert(by_key[key].names, name(row))
      end
   end
   return groups
end

--- The same in sentences.
-- @param title  what the rows are
-- @param add    function(sentence)
function M.reasons(title, lines, name, add)
   for _, group in ipairs(M.grouped(lines, name)) do
      local names = table.concat(group.names, "; ", 1, math.min(#group.names, MAX))
      local more = #group.names > MAX and ("; and %d more"):format(#group.names - MAX) or ""
      add(("%s, %s%s: %s: %s."):format(title, names, more, group.word, group.reason))
   end
end

return M
