-- SPDX-License-Identifier: BSD-3-Clause

--- Rows of what is measured of a stream only where a plan asks for it (framegauge.text.rows).
local rows = require "framegauge.text.rows"

local list = rows.list

return rows.record("measured", "further figures of a stream; a figure that is not defined is left out", {
   { "duplicated", "count", "frames that came more than once (RFC 5560)" },
   { "loss_burst_lengths", list "count", "bursts of loss by length: of 1 frame, 2 to 3, 4 to 7 and so on; "
      .. "the 16th of 32768 and more", optional = true },
   { "loss_burst_distances", list "count", "sequence numbers from the end of a burst to the "
      .. "next one (RFC 3357)", optional = true },
   { "loss_burst_mean_frames", "number", "mean length of a burst of loss", optional = true,
      n = "loss_bursts" },
   { "outage_max_ns", "number", "longest time between two arrivals less the mean interval of departures. "
      .. "Where frames were lost there, also the time before the first arrival or after the last: no gap "
      .. "between two arrivals, so `gap_max_ns` may be far less", col = "Outage", unit = "ms, longest",
      as = "ms", at = "order amiss" },
   { "outage_max_begin_ns", "number", "the arrival before it, from the start of traffic", optional = true,
      col = "it began", unit = "at, ms", as = "ms", at = "amiss" },
   { "outage_by_loss_ns", "number", "lost frames times the mean interval", optional = true },
   { "reordered_ratio", "number", "`reordered` / `rx` (RFC 4737, 3.3)", optional = true, col = "Reordered",
      at = "order", n = "rx" },
   { "reordering_extent_max_frames", "number", "frames that came between a late one and the first that "
      .. "should have come after it (RFC 4737, 4.2.1)", optional = true, col = "Extent", unit = "at most",
      at = "order" },
   { "reordering_extent_mean_frames", "number", "its mean", optional = true },
   { "reordering_extent_unknown_frames", "number", "late frames with an unknown extent, because they came "
      .. "later than the tester remembers: the true maximum may be greater", optional = true },
   { "reordering_late_max_ns", "number", "the same in time (4.2.2)", optional = true, col = "Late by",
      unit = "µs, at most", at = "order" },
   { "reordering_offset_max_frames", "number", "frames that had to be kept for a late one (4.2.3, there in "
      .. "octets)", optional = true },
   { "reordering_offset_mean_frames", "number", "its mean", optional = true },
   { "reordering_run_mean_frames", "number", "arrivals in order between late ones (4.5)", optional = true },
   { "reordering_run_squares", "number", "sum of their squares", optional = true },
   { "reordering_gap_min_frames", "number", "arrivals from one cause of reordering to the next (4.4)",
      optional = true },
   { "reordering_gap_mean_frames", "number", "its mean", optional = true },
   { "reordering_gap_max_frames", "number", "its maximum", optional = true },
   { "reordering_gap_mean_ns", "number", "its mean in time", optional = true },
   { "n_reordered", list "count", "frames that were n-reordered, n = 1 to 16 (5); TCP takes n = 3 for a "
      .. "loss", optional = true },
   { "pdv_mean_ns", "number", "delay less the least delay (RFC 5481), mean", optional = true, n = "rx" },
   { "pdv_p999_ns", "number", "its 99.9th percentile", optional = true, col = "PDV p99.9", at = "variation",
      n = "rx" },
   { "pdv_max_ns", "number", "its maximum", optional = true, col = "PDV max", at = "variation" },
   { "pdv_enough_for_p999", "boolean", "whether 10,000 frames and more stand behind the percentile",
      optional = true },
   { "ipdv_count", "count", "pairs of frames sent one after the other that both came (RFC 3393)",
      optional = true },
   { "ipdv_unknown", "count", "further pairs with one delay no longer remembered: minimum, maximum "
      .. "and percentiles are without them", optional = true, col = "IPDV unknown", unit = "pairs",
      at = "variation", better = false },
   { "ipdv_min_ns", "signed", "second delay less first, least", optional = true },
   { "ipdv_p001_ns", "signed", "its 0.1th percentile", optional = true, col = "IPDV p0.1", at = "variation",
      n = "ipdv_count" },
   { "ipdv_p50_ns", "signed", "its median", optional = true, n = "ipdv_count" },
   { "ipdv_mean_ns", "signed", "its mean", optional = true, n = "ipdv_count" },
   { "ipdv_p999_ns", "signed", "its 99.9th percentile", optional = true, col = "p99.9", at = "variation",
      n = "ipdv_count" },
   { "ipdv_max_ns", "signed", "its maximum", optional = true },
   { "ipdv_mean_magnitude_ns", "signed", "mean of its absolute value", optional = true, col = "mean",
      unit = "µs, magnitude", at = "variation", n = "ipdv_count" },
   { "jitter_ns", "number", "interarrival jitter (RFC 3550, 6.4.1) after the last frame", optional = true,
      col = "Jitter", unit = "µs, at the end", at = "variation", n = "rx" },
   { "jitter_max_ns", "number", "the same at its highest", optional = true, col = "at most",
      at = "variation", n = "rx" },
   { "corrupted", "count", "frames whose bytes between headers and signature were not as they were sent",
      optional = true, col = "Changed", unit = "frames", at = "order amiss" },
   { "byte_errors", "count", "how many of these bytes were wrong", optional = true, col = "", unit = "bytes",
      at = "order" },
   { "bit_errors", "count", "how many of these bits were wrong", optional = true, col = "", unit = "bits",
      at = "order" },
   { "bit_error_ratio", "number", "their share of all bits that were compared", optional = true },
   { "misdirected", rows.map "ordinal", "frames that arrived on other ports, by port", optional = true },
})
