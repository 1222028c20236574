-- SPDX-License-Identifier: BSD-3-Clause

--- The tests a report can show, in the order of framegauge.report.fields.
--
-- Each: name (of its rows in result.json), title, reference, summary (columns for the table at the top),
-- headline(rows) -> list of { label, figure, unit, remark }, and body(rows, result) -> the section.
return {
   require "framegauge.report.html.throughput",
   require "framegauge.report.html.latency_test",
   require "framegauge.report.html.frame_loss",
   require "framegauge.report.html.back_to_back",
   require "framegauge.report.html.system_recovery",
   require "framegauge.report.html.reset",
   require "framegauge.report.html.bursty_traffic",
}
