-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of a replay: a row for each repetition (framegauge.text.rows).
local rows = require "framegauge.text.rows"
local trial = require "framegauge.trial.result"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

local SETTING = record("replay_setting", "how a capture was sent", {
   { "pace", "text", "at which times" }, { "loops", "count", "how often" },
   { "rewrite", record("rewrite", "fields that were rewritten", {
      { "source_mac", "text", "source MAC address", optional = true },
      { "destination_mac", "text", "destination MAC address", optional = true },
      { "vlan", "text", "VLAN", optional = true }, { "networks", list "text", "networks of IP",
         optional = true },
   }), "fields that were rewritten" },
})

local function behind(key, help, col, at)
   return { key, "count", help, col = col, as = "us3", at = at, n = key:find "^p" and "frames" or nil }
end

local BEHIND = record("behind", "time behind the schedule that a share of the frames kept to", {
   behind("min_ns", "the least"), behind("p01_ns", "1 % of them"), behind("p10_ns", "10 %"), behind("p25_ns",
      "25 %"),
   behind("p50_ns", "half of them", "Late by p50", "terminal timing"), behind("p75_ns", "75 %"),
   behind("p90_ns", "90 %", "p90", "timing"),
   behind("p99_ns", "99 %", "p99", "terminal timing"), behind("p999_ns", "99.9 %", "p99.9", "timing"),
   behind("p9999_ns", "99.99 %"), behind("max_ns", "all of them", "max", "terminal timing"),
})

local VERIFIED = record("verified", "what arrived, compared frame by frame; see captures.md", {
   { "whole", "boolean", "whether all arrived, once, in order and as they were sent" },
   { "same", "count", "frames that arrived as they were sent", col = "Same", unit = "frames", at = "html",
      better = ">=" },
   { "lost", "integer", "frames that did not arrive", col = "Lost", at = "terminal html" },
   { "reordered", "count", "frames out of order (RFC 4737)", col = "Reordered", at = "terminal html" },
   { "duplicates", "count", "further copies", col = "Duplicated", at = "terminal html" },
   { "unsolicited", "count", "frames not sent like this", col = "Changed or foreign", at = "terminal html" },
   { "talk", "count", "frames by which neighbours find each other, ARP and the like", col = "ARP and ND",
      unit = "frames", at = "html", better = false },
   { "unchecked", "count", "frames the comparison fell behind of" },
})

M.ROW = record("replay", "What became of a capture in one replay", {
   { "direction", "text", "which way", col = "Direction", at = "terminal html" },
   { "trial", "ordinal", "number of its trial", col = "Trial", at = "html timing" },
   { "duration_s", "number", "from the first departure to the last", col = "Sent in", as = "seconds3",
      at = "terminal timing" },
   { "recorded_s", "number", "the same in the capture", col = "Recorded", as = "seconds3", at = "timing" },
   { "frames", "count", "frames sent", col = "Sent", unit = "frames", at = "terminal html" },
   { "bytes", "count", "their bytes" },
   { "sent_fps", "number", "rate from the first departure to the last, of all frames but the last; null of a single frame", null = true },
   { "sent_l1_mbps", "number", "rate of the same frames with preamble and gap", null = true },
   { "received", "count", "frames that arrived" },
   { "verified", VERIFIED, "what arrived, compared frame by frame; null where nothing was compared",
      null = true },
   { "behind", BEHIND, "time behind the schedule that a share of the frames kept to" },
   { "slips", "count", "how often the schedule slipped", col = "Slips", unit = "times", at = "timing" },
   { "slipped_ns", "count", "by how much in all", col = "Slipped", at = "timing" },
   { "oversize", "count", "frames of the capture that were dropped: larger than max_frame",
      col = "Too large", unit = "frames", at = "timing", better = false },
   { "too_short", "count", "dropped, too: shorter than 14 bytes" },
   { "wrong_length", "count", "dropped, too: the capture holds more bytes of them than they had" },
   { "fcs_removed", "count", "frames whose FCS in the capture was not sent; the port sends its own" },
   { "truncated", "count", "frames that the capture has in part", col = "Cut off", unit = "frames",
      at = "timing", better = false },
   { "unmoved", "count", "frames of the capture in which no address moved to another network" },
   { "times_back", "count", "frames of the capture whose time is before the time of one ahead of them" },
   { "times_anew", "count", "frames whose time goes back by 128 ms or more: a clock was set, or another recording begins" },
   { "recorded_gap_max_ns", "count", "longest time of the capture without a frame", better = false },
   { "remarks", list "text", "what is odd about the capture, in words" },
   { "streamed", "boolean", "whether the file was read while it was sent" },
   { "setting", SETTING, "how it was sent" },
}, verdict.ROWS)

local SENT = record("replay_sent", "what was sent, and how the port took it", {
   { "frames", "count", "frames" }, { "octets", "count", "their bytes" },
   { "last_octets", "count", "bytes of the last one" },
   { "oversize", "count", "frames too long for the port, left out" },
   { "truncated", "count", "frames that the capture has in part, left out" },
   { "refused", "count", "how often the port was full for a moment" },
   { "no_mbuf", "count", "how often no buffer was free" },
   { "starved", "count", "how often the file was behind" },
   { "slips", "count", "how often the schedule slipped" }, { "slipped_ns", "count", "by how much in all" },
   { "span_ns", "count", "from the first departure to the last" },
})

M.TRIAL = record("replay_trial", "one replay, also one line of trials.jsonl", trial.HEAD_WITHOUT_SIZE,
   verdict.OF_TRIAL, {
   { "setting", SETTING, "how it was sent" }, { "sent", SENT, "what was sent, and how the port took it" },
   { "behind", BEHIND, "time behind the schedule" }, { "verified", VERIFIED, "what arrived",
      optional = true },
   { "received", "count", "frames that arrived" }, { "rx_errors", "count", "frames that arrived damaged" },
   { "tester_drops", "count", "frames that the tester's ports lost" }, trial.CARDS,
})

M.TABLES = { {
   name = "replay", title = "Replay", record = M.ROW, rows = function(results) return results.replay
      or {} end,
   case = function(row, i) return ("replay %d, %s"):format(i, row.direction) end,
   passes = "every frame arrived, unchanged, once and in order",
} }

M.RESULTS = record("replay_results", "results of a replay", {
   { "replay", list(M.ROW), "a row for each repetition", optional = true },
})

return M
