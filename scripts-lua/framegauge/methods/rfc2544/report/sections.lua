-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544's tests on the page: of each the figure to remember, its meaning in words, and its charts. The
-- tables follow from the result rows.
local core = require "framegauge.core.tables"
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local lines = require "framegauge.report.chart.lines"
local mixes = require "framegauge.core.mixes"
local notes = require "framegauge.report.notes"
local show = require "framegauge.text.show"
local tables = require "framegauge.report.html.tables"
local units = require "framegauge.text.units"

-- Each: headline(rows) -> { label, figure, unit, remark, row = } or nil; text(first row) -> a paragraph;
-- charts(rows).
local M = {}

local count, stream, subject = formatters.count, formatters.stream, formatters.subject
local at_least = format.at_least
local SIZES = { of = "frame_size", label = "frame size, bytes (with FCS)", scale = "values" }

local function us(ns)
   return format.decimal(ns / 1e3, 2)
end

-- A chart for each direction.
local function by_direction(rows, draw)
   return core.map(formatters.grouped(rows, stream), function(group, i)
      return draw(group.rows, i, group.name == "both" and "both directions" or group.name)
   end)
end

-- Of the smallest frame size the row that is worst by a figure, and a remark that names it among several.
-- @param side    which way is better
-- @param remark  what else is to be said
local function worst(rows, key, side, remark)
   local of_size = formatters.grouped(formatters.by_size(rows), "frame_size")[1].rows
   local row = formatters.worst(of_size, key, side)
   local name = #of_size > 1 and "the worst: " .. stream(row) or nil
   remark = remark(row)
   return row, remark and name and remark .. "; " .. name or remark or name
end

-- What a point at a frame size says: "64 bytes: 1,234 frames/s".
local function at_size(form, write)
   return function(row, y)
      return (("%s: " .. form):format(mixes.text(row.frame_size), write(y)))
   end
end

-- --- throughput

M.throughput = {}

-- Rows of one goal, where a search has several.
local function of_first_goal(rows)
   return core.map(rows, function(row) return row.goal == rows[1].goal and row or nil end)
end

function M.throughput.headline(rows)
   local row, remark = worst(of_first_goal(rows), "throughput_fps", ">=", function(row)
      return row.throughput_percent and ("%.2f %% of the line, %s Mbit/s layer 2"):format(
         row.throughput_percent, show.KINDS.mbps[1](row.throughput_l2_mbps))
   end)
   return { "Throughput at " .. mixes.text(row.frame_size),
      formatters.tile(row, "throughput_fps", function(fps) return at_least(row, count(fps)) end),
      row.throughput_fps and "frames/s" or "", remark, row = row }
end

-- At how many frame sizes all rows fill the line. What was not measured may fill it or not.
function M.throughput.second(rows)
   local sizes = formatters.grouped(formatters.by_size(of_first_goal(rows)), "frame_size")
   local full, measured = {}, 0
   for _, size in ipairs(sizes) do
      local row = formatters.worst(size.rows, "throughput_percent", ">=")
      measured = measured + ((row.throughput_percent or row.validity == "valid") and 1 or 0)
      full[#full + 1] = row.throughput_percent and row.throughput_percent >= 99.95 and size.name or nil
   end
   return rows[1].theoretical_fps and {
      "Line rate reached at", measured > 0 and ("%d of %d"):format(#full, measured) or "not measured",
      measured == 0 and "" or measured == 1 and "size" or "sizes",
      measured > 0 and (full[1] and "shortest: " .. mixes.text(full[1]) or "at no frame size") or nil,
   }
end

function M.throughput.text(row)
   local tolerance = row.loss_tolerance_ratio > 0
      and ("lost no more than %g %% of the frames"):format(row.loss_tolerance_ratio * 100) or "lost no frame"
   return ("The highest load at which the device %s in a trial of %g s.%s"):format(tolerance, row.trial_s,
      row.direction == "both" and " Both directions were loaded alike and at once; rates are rates of one direction." or "")
end

function M.throughput.charts(rows)
   return lines.draw {
      id = "throughput", title = "Throughput against frame size", rows = rows,
      description = "Frames per second the device forwarded without loss, and the most the line can carry, for each size.",
      caption = "Throughput and the theoretical maximum of the line against frame size.",
      x = SIZES, y = { label = "frames per second, each direction", scale = "fitting" },
      group = function(row) return row.goal or stream(row) end,
      lines = {
         { y = "theoretical_fps", name = "theoretical maximum of the line", class = "theory", plain = true,
            once = true },
         { y = "throughput_fps", name = function(name)
            return name == "both" and "measured, both directions at once" or name
         end },
      },
      say = at_size("%s frames/s", count),
   }
end

-- --- latency

local SPREAD = {
   { y = "max_ns", name = "maximum" }, { y = "p999_ns", name = "99.9 %" }, { y = "p99_ns", name = "99 %" },
   { y = "p50_ns", name = "median" }, { y = "min_ns", name = "minimum" },
}

-- Where all frames take as long as one another to within this share, five lines would lie on one.
local SAME = 0.005

local function are_same(rows, key)
   for _, row in ipairs(rows) do
      if row[key].max_ns - row[key].min_ns > SAME * row[key].max_ns then
         return false
      end
   end
   return true
end

local function spread_chart(key, where)
   return function(rows, number, direction)
      local same, each = are_same(rows, key), {}
      local function figure(name)
         return function(row) return row[key][name] / 1e3 end
      end
      for i, line in ipairs(same and { { y = "mean_ns", name = "mean" } } or SPREAD) do
         each[i] = { y = figure(line.y), name = line.name }
      end
      return lines.draw {
         id = "latency" .. number, title = "Latency against frame size", rows = rows,
         description = "Minimum, median, 99th and 99.9th percentile and maximum latency for each frame size.",
         x = SIZES, y = { label = "latency, µs", scale = "fitting" }, lines = each,
         band = not same and { figure "min_ns", figure "max_ns" } or nil,
         say = function(row, y, line) return ("%s: %s µs (%s)"):format(mixes.text(row.frame_size),
            format.decimal(y, 2), line.name) end,
         caption = ("Latency %s against frame size, %s: %s."):format(where, direction, same
            and "no frame took more than 0.5 % longer than another" or "all frames lie in the shaded band"),
      }
   end
end

--- Charts and table of a latency that rows have under a key; empty where none has it.
-- @param where  "at the throughput"
function M.spread(record, rows, key, where)
   local measured = core.map(rows, function(row) return row[key] and row or nil end)
   return #measured > 0 and {
      by_direction(measured, spread_chart(key, where)),
      tables.of { record, "latency", measured, caption = "Latency " .. where },
   }
end

--- The section of a run without a latency test of its own; nil where no trial measured one.
function M.at_throughput(record, rows, result)
   local body, first = M.spread(record, rows, "latency", "at the throughput"), nil
   for _, row in ipairs(rows) do
      first = first or row.latency
   end
   return body and {
      h.p {
         "All frames of the passing trials, at that throughput. ", notes.latency(first), " ",
         notes.calibration(result.calibration),
         rows[1].direction == "both" and " Percentiles are the larger of both directions'." or "",
      },
      body,
   }
end

M.latency = {}

function M.latency.headline(rows)
   local row, remark = worst(rows, "latency_mean_ns", "<=", function(row)
      return row.latency_mean_ns and ("mean of %s, %s"):format(
         formatters.plural(row.tagged_frames, "tagged frame"), row.definition:upper())
   end)
   return { "Latency at " .. mixes.text(row.frame_size), formatters.tile(row, "latency_mean_ns", us),
      row.latency_mean_ns and "µs" or "", remark, row = row }
end

function M.latency.text(row)
   return ("Tagged frames in streams of %g s, from %g s on, %s for each frame size. LIFO is the time from the last bit in to the first bit out, as RFC 1242 has it for devices that store and forward; FIFO from the first bit in to the first bit out."):format(row.trial_s, row.tag_after_s,
      formatters.plural(row.repetitions, "stream"))
end

-- --- frame loss

M.frame_loss = {}

local function loss(row)
   return show.KINDS.loss[1](row.loss_ratio)
end

local function by_load(rows)
   local groups = formatters.grouped(rows, "load_percent")
   table.sort(groups, function(a, b) return a.name > b.name end)
   return groups
end

function M.frame_loss.headline(rows)
   local size = formatters.grouped(formatters.by_size(rows), "frame_size")[1]
   local row = formatters.largest(by_load(size.rows)[1].rows, "loss_ratio")
   return {
      "Loss at " .. mixes.text(row.frame_size), loss(row), "%", ("at %.4g %% load"):format(row.load_percent),
      row = row,
   }
end

function M.frame_loss.text(row)
   return ("Share of the frames that did not arrive, in trials of %g s, from the highest load downwards until two loads in a row lost none; what was not tried is left out."):format(row.trial_s)
end

-- One line for each load, one column for each frame size.
local function loss_table(rows, direction)
   local by_size, loads = {}, by_load(rows)
   local columns = { { "Load", "% of line", function(group) return ("%.4g"):format(group.name) end } }
   for _, group in ipairs(loads) do
      by_size[group] = {}
      for _, row in ipairs(group.rows) do
         by_size[group][row.frame_size] = row
      end
   end
   for _, size in ipairs(formatters.sizes(rows)) do
      columns[#columns + 1] = { mixes.text(size), "% lost", function(group)
         local row = by_size[group][size]
         return row and (row.validity == "valid" and loss(row) or { loss(row), " ",
            formatters.verdict(row.validity) })
      end }
      columns[#columns + 1] = { "N", "frames sent", function(group)
         local row = by_size[group][size]
         return row and show.KINDS.count[1](row.tx)
      end }
   end
   return tables.build { caption = "Frame loss, " .. direction, columns = columns, rows = loads }
end

function M.frame_loss.charts(rows)
   return by_direction(rows, function(of, number, direction)
      return {
         lines.draw {
            id = "loss" .. number, title = "Frame loss against offered load", rows = formatters.by_size(of),
            description = "Share of the frames lost at each load, one line for each frame size.",
            caption = ("Frame loss against offered load, %s."):format(direction),
            x = { of = "load_percent", label = "offered load, % of the line", scale = "percent" },
            y = { label = "frames lost, %", scale = "percent" }, group = "frame_size",
            lines = { {
               y = function(row) return row.loss_ratio * 100 end, name = mixes.text,
            } },
            say = function(row)
               return ("%s at %.4g %% load: %s %% lost"):format(mixes.text(row.frame_size), row.load_percent,
                  loss(row))
            end,
         },
         loss_table(of, direction),
      }
   end)
end

-- --- back-to-back frames

M.back_to_back = {}

local function with_bursts(rows)
   return core.map(formatters.by_size(rows), function(row) return row.burst_mean_frames and row or nil end)
end

function M.back_to_back.headline(rows)
   if not with_bursts(rows)[1] then
      return nil
   end
   local row, remark = worst(with_bursts(rows), "burst_mean_frames", ">=", function(row)
      return "buffer time, corrected: " .. formatters.nanoseconds(row.buffer_time_corrected_ns)
   end)
   return { "Burst at " .. mixes.text(row.frame_size), at_least(row, count(row.burst_mean_frames)),
      "frames", remark, row = row }
end

function M.back_to_back.text()
   return "The longest burst at the rate of the line, from rest, without a lost frame. While a burst comes in frames leave the device too: the corrected buffer time takes these off (RFC 9004). Frame sizes at which the device carries the whole line cannot fill a buffer and have no result."
end

function M.back_to_back.charts(rows)
   return lines.draw {
      id = "bursts", title = "Longest burst without loss against frame size", height = 300,
      rows = with_bursts(rows),
      description = "Mean of the searches, with a bar from the shortest to the longest burst found.",
      caption = "Longest burst without loss: mean, minimum and maximum of all searches.",
      x = SIZES, y = { label = "burst, frames", scale = "fitting" }, group = stream,
      lines = { {
         y = "burst_mean_frames", whisker = { "burst_min_frames", "burst_max_frames" },
         name = function(direction) return direction .. ", mean" end,
      } },
      say = function(row, y) return ("%s: %s frames"):format(subject(row), format.decimal(y, 1)) end,
   }
end

-- --- times from one moment on

local function longest(label, key, write, unit)
   return function(rows)
      local row = formatters.largest(rows, key)
      return row and { label, write(row[key]), unit, "longest: " .. subject(row), row = row }
   end
end

local function timeline(key, o)
   return function(rows)
      o.rows, o.value, o.name = rows, key, subject
      o.say = function(row) return ("%s: %s"):format(subject(row), formatters.nanoseconds(row[key])) end
      return lines.bars(o)
   end
end

M.system_recovery = {
   headline = longest("Recovery after overload", "recovery_mean_ns", show.KINDS.ms[1], "ms"),
   text = function(row)
      return ("After %g s at 110 %% of the throughput, or at what the line carries if that is less, the load was halved from one frame to the next. Recovery is the time from then (A) to when the last lost frame was due (B)."):format(row.overload_s)
   end,
   charts = timeline("recovery_mean_ns", {
      id = "recovery", title = "Recovery after overload", label = "time since the load was halved",
      description = "For each frame size a bar from the moment the load was halved to the last lost frame.",
      since = { "overload", "half the load (A)" },
      caption = "From the end of the overload (A) to the last lost frame (B, the end of the bar).",
   }),
}

M.reset = {
   headline = longest("Out of service after reset", "reset_ns", function(ns) return format.decimal(ns / 1e9,
      3) end, "s"),
   text = function(row)
      return ("At the load below the device was reset after %g s (by: %s). By loss: frames lost, divided by the load, which RFC 6201 prefers; by timestamps: from the last frame before the gap to the first after it."):format(row.after_s,
         tostring(row.by))
   end,
   charts = timeline("reset_ns", {
      id = "reset", title = "Outage after the reset", label = "time out of service",
      description = "A bar from the reset to when the device forwarded again.", since = { "load", "out of service" },
      caption = "How long the device forwarded nothing.",
   }),
}

-- --- bursty traffic

M.bursty_traffic = {}

function M.bursty_traffic.headline(rows)
   local longest_burst = formatters.largest(rows, "burst_frames").burst_frames
   local row, remark = worst(core.map(rows, function(row)
      return row.burst_frames == longest_burst and row or nil
   end), "interval_ns", "<=", function(row)
      return row.interval_ns and ("shortest interval without loss, %.2f %% of the line"):format(
         row.load_mean_percent) or row.validity == "valid" and "no interval passes without loss" or nil
   end)
   return { ("Bursts of %s at %s"):format(count(row.burst_frames), mixes.text(row.frame_size)),
      formatters.tile(row, "interval_ns", us), row.interval_ns and "µs" or "", remark, row = row }
end

function M.bursty_traffic.text(row)
   return ("Bursts at the minimum gap, and the shortest interval from one to the next at which the device lost no frame. None is found where the device lost frames even of bursts %s apart: the burst is longer than what the device can hold."):format(units.format_time(row.limit_s))
end

function M.bursty_traffic.charts(rows)
   return by_direction(rows, function(of, number, direction)
      return lines.draw {
         id = "bursty" .. number, title = "Mean load of the closest bursts without loss", height = 300,
         rows = formatters.by_size(of),
         description = "Share of the line that bursts come to at their shortest interval without loss.",
         caption = ("Mean load of bursts at their shortest interval without loss, %s. A length that is missing was lost at any interval."):format(direction),
         x = SIZES, y = { label = "mean load, % of the line", scale = "percent" }, group = "burst_frames",
         lines = { {
            y = "load_mean_percent", name = function(n) return ("bursts of %s frames"):format(count(n)) end,
         } },
         say = function(row, y)
            return ("%s, bursts of %s frames: %.2f %% of the line"):format(mixes.text(row.frame_size),
               count(row.burst_frames), y)
         end,
      }
   end)
end

return M
