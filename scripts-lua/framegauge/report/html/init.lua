-- SPDX-License-Identifier: BSD-3-Clause

--- report.html: the result as a document for others.
--
-- One self-contained file: no script, no font, no external picture (a logo is part of it). It follows from
-- result.json and run.json alone (framegauge.report.files), so that it can be rendered again from any of
-- them. First the findings, then the method, then the evidence, and at the end all data.
local configuration = require "framegauge.report.html.configuration"
local evidence = require "framegauge.report.html.evidence"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local heading = require "framegauge.report.html.heading"
local shell = require "framegauge.core.shell"
local style = require "framegauge.report.html.style"
local tables = require "framegauge.report.html.tables"
local results = require "framegauge.report.result"
local trial = require "framegauge.trial.result"
local uncertainty = require "framegauge.report.uncertainty"
local units = require "framegauge.text.units"
local views = require "framegauge.report.view"

local M = {}

-- The appendix: every trial in the order they were made, including those that did not count.
-- @param columns  where they are not of frames: the columns of their table
local function every_trial(trials, columns)
   local out = {}
   for i, group in ipairs(formatters.grouped(trials, "test")) do
      local of_frames = group.rows[1].directions
      out[i] = (of_frames and tables.of or tables.build) {
         trial.TRIAL, "trials", group.rows, rows = group.rows, columns = columns,
         caption = ("%s: %s"):format(formatters.test(group.name), formatters.plural(#group.rows, "trial")),
         class = "small",
         below = tables.reasons,
      }
   end
   return out
end

local function section(title, reference, body, class)
   return { h.section { class = class, h.h2 { title, reference and h.small { reference } }, body }, "\n" }
end

local MAX_UNCERTAIN = 1000 -- lines; a browser needs minutes for the lines of thousands of streams

-- The uncertainty of the figures, and its sources.
local function uncertainties(result)
   local lines = uncertainty.lines(result)
   local more = #lines - MAX_UNCERTAIN
   return lines[1] and section("Uncertainty", "GUM (JCGM 100)", {
      h.p { uncertainty.TEXT },
      tables.build { caption = "How far from a figure the truth may be", columns = uncertainty.COLUMNS,
         rows = { unpack(lines, 1, MAX_UNCERTAIN) } },
      more > 0 and h.p { ("And %s more: result.json has them all."):format(units.format_count(more)) },
   }) or false
end

local function sections(view, result, moment)
   local out = {}
   for i, one in ipairs(view.sections(result, moment)) do
      out[i] = section(unpack(one, 1, 3))
   end
   return out
end

local function conformance(found)
   local items = {}
   for i, note in ipairs(found.notes) do
      items[i] = h.li { note }
   end
   if #items > 0 then
      return {
         h.p { ("The run departs from the procedure of %s in these points:"):format(found.standard) },
         h.ul { items },
      }
   end
   return h.p { ("The run kept to the procedure of %s."):format(found.standard) }
end

local function port_notes(port)
   return port.notes and #port.notes > 0 and table.concat(port.notes, "; ") or nil
end

local function ports(result)
   return tables.of {
      results.PORT, "html", result.ports, caption = "The tester's ports", below = port_notes,
   }
end

local function software(result, moment)
   local by = result.generator
   return tables.facts {
      { "Framegauge", by.version }, { "DPDK", by.dpdk }, { "LuaJIT", by.luajit },
      { "Kernel", moment.kernel },
      { "Processor", moment.cpu and ("%s, %s CPUs"):format(moment.cpu, tostring(moment.cpus)) },
      { "Command", moment.command_line and h.code { shell.command(moment.command_line) }, full = true },
   }
end

-- No external content and no scripts: not even if a name in a plan were markup.
local POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

local function document(title, generator, body)
   local head = h.head {
      h.meta { charset = "utf-8" },
      h.meta { ["http-equiv"] = "Content-Security-Policy", content = POLICY },
      h.meta { name = "viewport", content = "width=device-width, initial-scale=1" },
      generator and h.meta { name = "generator", content = "Framegauge " .. tostring(generator.version) },
      h.title { title },
      h.style { h.raw(style) },
   }
   return "<!DOCTYPE html>\n" .. h.render(h.html { lang = "en", head, "\n", body }) .. "\n"
end

--- A page with a title and whatever else.
-- @param body  content
function M.simple(title, body)
   return document(title, nil, h.body { h.main { h.section { h.h1 { title }, body } } })
end

--- The text of summary.html: the findings, on one page.
-- @param result, moment  as page() takes them
function M.summary(result, moment)
   return document(heading.title(result), result.generator, h.body {
      heading.build(result, moment), "\n",
      h.main { section("Summary", nil, views.of(result.plan.test).summary(result)) },
      h.footer { "Made by Framegauge. How the figures were found, and why to trust them: report.html." },
   })
end

--- The text of report.html.
-- @param result  result.json, read, without nulls
-- @param moment  run.json, read, without nulls; empty without run.json
function M.page(result, moment)
   local view = views.of(result.plan.test)
   local body = h.body {
      heading.build(result, moment), "\n",
      h.main {
         section("Summary", nil, view.summary(result)),
         sections(view, result, moment),
         uncertainties(result),
         section("Why these figures can be trusted", nil, evidence.body(result, moment, view)),
         result.conformance and section("Conformance", nil, conformance(result.conformance)),
         section("Ports and software", nil, { ports(result), software(result, moment) }),
         section("Configuration", nil, configuration.build(result.plan)),
         #result.trials > 0 and section("Every trial", nil, every_trial(result.trials, view.trial_columns),
            "wide"),
      },
      h.footer { "Made by Framegauge from result.json, which holds these figures unrounded." },
   }
   return document(heading.title(result), result.generator, body)
end

return M
