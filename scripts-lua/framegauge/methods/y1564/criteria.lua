-- SPDX-License-Identifier: BSD-3-Clause

--- Holding figures against what was agreed. Every check gives nil, or the name of the criterion that failed
-- and a sentence that says by how much.
local format = require "framegauge.text.format"
local units = require "framegauge.text.units"

local M = {}

local ns = format.nanoseconds

local function bits(bps)
   return format.decimal(bps / 1e6, 3) .. " Mbit/s"
end

local function share(ratio)
   return ratio > 0 and ratio < 1e-4 and ("%.3g"):format(ratio) or units.format_ratio(ratio)
end

--- A list of what failed.
function M.verdict()
   return { failed = {}, reasons = {} }
end

local function add(v, criterion, ...)
   v.failed[#v.failed + 1], v.reasons[#v.reasons + 1] = criterion, string.format(...)
end

function M.loss(v, row, sac)
   if row.loss_ratio > sac.flr then
      add(v, "FLR", "FLR %s is above %s (%s of %s lost)", share(row.loss_ratio), share(sac.flr),
         format.count(row.judged_lost), format.plural(row.judged_tx, "frame"))
   end
end

--- Delay and its variation.
-- @param statistic  of the delay: "mean" or "max"
function M.delay(v, row, sac, statistic)
   if not sac.delays then
      return
   elseif not row.ftd then
      add(v, "FTD", "no frame arrived whose delay could be taken")
      return
   end
   local ftd = row.ftd[statistic .. "_ns"]
   if ftd > sac.ftd * 1e9 then
      add(v, "FTD", "FTD (%s) %s is above %s", statistic, ns(ftd), units.format_time(sac.ftd))
   end
   if row.fdv_ns > sac.fdv * 1e9 then
      add(v, "FDV", "FDV %s is above %s", ns(row.fdv_ns), units.format_time(sac.fdv))
   end
end

--- Whether a load conforms: loss, delay and variation within what was agreed.
function M.conforms(v, row, sac, statistic)
   M.loss(v, row, sac)
   M.delay(v, row, sac, statistic)
end

--- Whether at least a share arrived.
function M.rate_at_least(v, row, least)
   if row.received_ir_bps < least * (1 - 1e-9) then
      add(v, "IR", "received IR %s is below %s: the committed rate is not kept", bits(row.received_ir_bps),
         bits(least))
   end
end

--- Whether no more than a rate arrived.
function M.rate_at_most(v, row, most)
   if row.received_ir_bps > most * (1 + 1e-9) then
      add(v, "IR", "received IR %s is above %s: the policer is missing or set too high",
         bits(row.received_ir_bps), bits(most))
   end
end

--- Whether the service was available for a share of the time.
function M.available(v, percent, sac)
   if percent < sac.avail * 100 then
      add(v, "AVAIL", "AVAIL %.3f %% is below %s", percent, units.format_ratio(sac.avail))
   end
end

--- A policer drops excess frames; a shaper delays them.
function M.not_shaped(v, row, sac, statistic)
   local late = M.verdict()
   M.delay(late, row, sac, statistic)
   for i, criterion in ipairs(late.failed) do
      add(v, criterion, "%s: what should have been dropped was kept waiting (shaping)", late.reasons[i])
   end
end

--- The least share of frames within the guarantee that must arrive, in burst tests.
function M.sure_share(flr)
   return 0.99 * (1 - flr)
end

--- Whether the groups of frames between the bursts, at the agreed rate, arrive: only then what a burst loses
-- tells the size of the bucket.
-- @param burst  of a row
function M.keeps_rate(burst, flr)
   return burst.group_lost <= (1 - M.sure_share(flr)) * burst.group * burst.cycles
end

function M.rate_too_low(v, burst)
   add(v, "IR",
      "rate too low: %s of %s between the bursts were lost, so the size of the bucket is not known",
      format.count(burst.group_lost), format.plural(burst.group * burst.cycles, "frame"))
end

--- Whether enough frames of the bursts and the groups between them arrived.
function M.frames_at_least(v, received, least, what)
   if received < least then
      add(v, "burst", "%s of at least %s %s arrived: the bucket is smaller than agreed",
         format.count(received), format.plural(math.ceil(least), "frame"), what)
   end
end

--- Whether a burst that the bucket cannot hold lost frames.
function M.burst_is_policed(v, lost)
   if lost == 0 then
      add(v, "burst", "a burst that the bucket cannot hold passed whole: nothing polices it, or it is shaped")
   end
end

--- Whether the bucket can be as large as agreed.
-- @param inferred  { min_bytes =, max_bytes = }
function M.bucket_is_agreed(v, inferred, agreed)
   if inferred.max_bytes < agreed then
      add(v, "burst", "the bucket holds %s to %s bytes instead of %s",
         format.count(inferred.min_bytes), format.count(inferred.max_bytes), format.count(agreed))
   end
end

return M
