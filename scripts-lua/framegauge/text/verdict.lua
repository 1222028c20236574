-- SPDX-License-Identifier: BSD-3-Clause

--- The two questions about every figure, and all that follows from their answers.
--
-- Validity: is it the device's? `valid` it is; `tester-limited` the tester could not do more and the device
-- may; `invalid` there is no figure; `not-applicable` the test has no answer here, which counts neither for
-- nor against anything. Outcome: did the device reach what was asked of it? `pass`, `fail`, or none where
-- nothing was asked or the figure is not the device's. Here alone stand their order, their colours, how those
-- of several rows are put together, and what a row is as a test case.
local format = require "framegauge.text.format"
local rows = require "framegauge.text.rows"
local uncertainty = require "framegauge.text.uncertainty"

local M = {}

M.VALIDITY = { "valid", "tester-limited", "invalid", "not-applicable" }
M.OUTCOME = { "pass", "fail" }

--- Rows of every figure that has both, for its record; trials have no outcome.
M.OF_TRIAL = {
   { "validity", { unpack(M.VALIDITY, 1, 3) }, "whether its counts say something of the device" },
   { "reasons", rows.list "text", "why it is not `valid`, in sentences" },
}
M.ROWS = {
   { "validity", M.VALIDITY, "whether the figures are the device's" },
   { "outcome", M.OUTCOME, "whether the device reached what was asked; null where nothing was", null = true },
   { "reasons", rows.list "text", "why it is not `valid` or not a `pass`, in sentences" },
   { "uncertainty", rows.map(uncertainty.RECORD), "how far from its figures the truth may be, by their keys; a figure that nothing is known of is not there", optional = true },
   { col = "Verdict", as = "validity", at = "terminal summary html",
      of = function(row) return M.word(row) end },
}

local ORDER = { ["not-applicable"] = 0, valid = 1, ["tester-limited"] = 2, invalid = 3 }

--- The worse of two validities.
function M.worse(one, other)
   return ORDER[one] >= ORDER[other] and one or other
end

--- Validity and outcome of several rows together. One that fails fails all; what was not judged says nothing.
-- @return the worst validity, `valid` of none; "fail", "pass" or nil
function M.worst(list, none)
   local validity, outcome = none or "valid", nil
   for _, row in ipairs(list) do
      validity = M.worse(validity, row.validity)
      outcome = (row.outcome == "fail" or outcome == "fail") and "fail" or row.outcome or outcome
   end
   return validity, outcome
end

--- Validity and reasons of several trials together, each reason once.
function M.merge(records)
   local reasons, seen = {}, {}
   for _, record in ipairs(records) do
      for _, reason in ipairs(record.reasons) do
         if not seen[reason] then
            seen[reason], reasons[#reasons + 1] = true, reason
         end
      end
   end
   return (M.worst(records)), reasons
end

-- What ended a search that did not find the device's limit.
local SEARCHES = { tester = "tester-limited", invalid = "invalid", max_trials = "invalid",
   time_limit = "invalid" }

--- Validity of what a search found. @param limited_by  what ended it (framegauge.search)
function M.of_search(limited_by)
   return SEARCHES[limited_by] or "valid"
end

--- Both in one word, for a person.
-- @param row  or a result
function M.word(row)
   return row.interrupted and "incomplete" or row.validity == "valid" and row.outcome or row.validity
end

local LOOK = {
   valid = "good", pass = "good", met = "good", fail = "bad", invalid = "bad", ["not met"] = "bad",
   better = "good", worse = "bad", changed = "warning", same = "idle", ["not judged"] = "idle",
   ["not-applicable"] = "idle", incomplete = "warning", ["tester-limited"] = "warning", ["not decided"] = "warning",
}

--- How a word looks: good, warning, bad or idle.
function M.look(word)
   return LOOK[word]
end

--- Why a trial is invalid by the link of a port; nil where it is not.
-- @param port  its counts: link_changes as looks at the link saw them, link_faults as the card counted them;
--              link_down = 1 if there was none at the end of the trial, removed = 1 if the device was gone,
--              intercepted = 1 if another process could take what arrived
-- @param may_change  true: the test is about a link that goes down
function M.link_reason(port, may_change)
   if port.intercepted == 1 then
      return ("%s: another program takes frames from the interface by XDP, or has detached the port's program"):format(port.name)
   elseif may_change then
      return nil
   elseif port.removed == 1 then
      return ("%s: the card or interface was removed"):format(port.name)
   elseif port.link_down == 1 then
      return ("the peer of %s is gone: the link was down at the end of the trial"):format(port.name)
   elseif (port.link_changes or 0) > 0 then
      return ("%s: the link changed %s during the trial"):format(port.name,
         format.plural(port.link_changes, "time"))
   elseif (port.link_faults or 0) > 0 then
      return ("%s: the card counted %s of its link during the trial"):format(port.name,
         format.plural(port.link_faults, "fault"))
   end
end

--- How many frames a port of the tester lost, which the device never had or had sent on already, and the
-- sentences that say so.
function M.dropped(port)
   local missed, unsent = port.rx_missed + port.rx_no_mbuf, port.tx_errors
   local reasons = {
      missed > 0 and ("%s: the tester dropped %s that arrived"):format(port.name, format.plural(missed, "frame")) or nil,
   }
   reasons[#reasons + 1] = unsent > 0 and ("%s: the port failed to send %s"):format(port.name, format.plural(unsent,
      "frame")) or nil
   return missed + unsent, reasons
end

-- What a card and the tester disagree about; the card counts at its MAC and at its queues, we count what its
-- driver took and gave.
local function unaccounted(port, lost, add)
   local card = port.card
   local n, of = format.plural(math.abs(card.tx_unaccounted), "frame"), format.count(card.tx)
   if card.tx_unaccounted < 0 then
      add("%s: %s of %s that were handed to the card it never counted as sent", port.name, n, of)
   elseif card.tx_unaccounted > 0 then
      add("%s: the card sent %s more than the %s that were handed to it", port.name, n, of)
   end
   n = format.plural(math.abs(card.rx_unaccounted), "frame")
   if card.rx_unaccounted > 0 then
      add("%s: the card received %s that never came out of it and that it does not count as missed",
         port.name, n)
   elseif card.rx_unaccounted < 0 then
      add("%s: %s came out of the card that it never counted as received", port.name, n)
   end
   local swallowed = card.card_rx_total - card.card_rx - card.rx_missed - card.rx_errors
   if lost and swallowed > 0 then
      add("%s: %s arrived at the card, reached no queue, and count neither as missed nor as damaged",
         port.name, format.plural(swallowed, "frame"))
   end
end

--- Why a trial is invalid by the counters of the cards: what is lost there is no loss of the device, and what
-- is counted twice is no frame. A link that went away explains any difference.
-- @param ports  their counts, with `card` where the counters of a card are exact
-- @param lost   whether frames were lost
-- @return list of sentences
function M.card_reasons(ports, lost)
   local reasons = {}
   for _, port in ipairs(ports) do
      if M.link_reason(port) then
         return {}
      elseif port.card then
         unaccounted(port, lost, function(...)
            reasons[#reasons + 1] = string.format(...)
         end)
      end
   end
   return reasons
end

--- Give a record its validity and its reasons.
-- @param invalid  list of sentences: why its counts mean nothing
-- @param limited  list of sentences: where the tester fell short
-- @return the record
function M.settle(record, invalid, limited)
   record.validity = #invalid > 0 and "invalid" or #limited > 0 and "tester-limited" or "valid"
   record.reasons = {}
   for _, list in ipairs { invalid, limited } do
      for _, reason in ipairs(list) do
         table.insert(record.reasons, reason)
      end
   end
   return record
end

--- What a row is as a test case, besides its name (framegauge.report.junit).
-- @return a table, empty when all is well
function M.case(row)
   local why = table.concat(row.reasons or {}, "; ")
   if row.validity == "not-applicable" then
      return { skipped = why }
   elseif row.validity ~= "valid" then
      return { error = row.validity .. ": " .. why, type = row.validity }
   elseif row.outcome == "fail" then
      return { failure = why, type = "criterion" }
   end
   return {}
end

return M
