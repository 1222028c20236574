-- SPDX-License-Identifier: BSD-3-Clause

--- report.html: the result as one hands it to somebody else.
--
-- One file that needs nothing: no script, no font, no picture from elsewhere. It follows from result.json and
-- run.json alone (framegauge.report.files), so that any of them can be rendered again. First what was found,
-- then how, then why it may be believed, and at the end everything.
local configuration = require "framegauge.report.html.configuration"
local evidence = require "framegauge.report.html.evidence"
local h = require "framegauge.report.html.element"
local heading = require "framegauge.report.html.heading"
local latency = require "framegauge.report.html.latency"
local style = require "framegauge.report.html.style"
local summary = require "framegauge.report.html.summary"
local tables = require "framegauge.report.html.tables"
local tests = require "framegauge.report.html.tests"
local trials = require "framegauge.report.html.trials"
local units = require "framegauge.units"

local M = {}

local function section(title, reference, body, class)
   return { h.section { class = class, h.h2 { title, reference and h.small { reference } }, body }, "\n" }
end

local function has_rows(result, name)
   local rows = result.results[name]
   return rows and #rows > 0
end

local function test_sections(result)
   local out = {}
   for _, test in ipairs(tests) do
      if has_rows(result, test.name) then
         local rows = result.results[test.name]
         out[#out + 1] = section(test.title, test.reference, test.body(rows, result))
      end
      if test.name == "throughput" and not has_rows(result, "latency") then
         local rows = latency.of_throughput(result.results.throughput)
         out[#out + 1] = #rows > 0
            and section("Latency at the throughput", nil, latency.at_throughput(rows, result)) or nil
      end
   end
   return out
end

local function conformance(result)
   local items = {}
   for i, note in ipairs(result.conformance.notes) do
      items[i] = h.li { note }
   end
   if #items > 0 then
      return { h.p { "The run departs from the procedure of RFC 2544 in these points:" }, h.ul { items } }
   end
   return h.p { "The run kept to the procedure of RFC 2544." }
end

local PORTS = {
   { "Port", "", function(port) return port.name end, left = true },
   { "Device", "", function(port) return port.device end, left = true },
   { "Driver", "", function(port) return port.driver end, left = true },
   { "Mode", "", function(port) return port.mode end, left = true },
   { "Line rate", "", function(port) return port.line_rate and units.format_bits(port.line_rate, 1) end },
   { "MAC address", "", function(port) return port.mac end, left = true },
   { "NUMA", "node", optional = true, function(port)
      return port.numa and port.numa >= 0 and port.numa
   end },
}

local function port_notes(port)
   return port.notes and #port.notes > 0 and table.concat(port.notes, "; ") or nil
end

local function ports(result)
   return tables.build {
      caption = "The tester's ports", columns = PORTS, rows = result.ports, below = port_notes,
   }
end

local function software(result, moment)
   local by = result.generator
   return tables.facts {
      { "Framegauge", by.version }, { "DPDK", by.dpdk }, { "LuaJIT", by.luajit },
      { "Kernel", moment.kernel },
      { "Processor", moment.cpu and ("%s, %s CPUs"):format(moment.cpu, tostring(moment.cpus)) },
      { "Command", moment.command_line and h.code { table.concat(moment.command_line, " ") }, full = true },
   }
end

-- Nothing from elsewhere, no scripts: not even if a name in a plan were markup.
local POLICY = "default-src 'none'; style-src 'unsafe-inline'"

local function head(result)
   return h.head {
      h.meta { charset = "utf-8" },
      h.meta { ["http-equiv"] = "Content-Security-Policy", content = POLICY },
      h.meta { name = "viewport", content = "width=device-width, initial-scale=1" },
      h.meta { name = "generator", content = "Framegauge " .. tostring(result.generator.version) },
      h.title { heading.title(result) },
      h.style { h.raw(style) },
   }
end

--- The text of report.html.
-- @param result  result.json, read, without nulls
-- @param moment  run.json, read, without nulls; empty when there is none
function M.page(result, moment)
   local body = h.body {
      heading.build(result, moment), "\n",
      h.main {
         section("Summary", nil, summary.build(result)),
         test_sections(result),
         section("Why these figures can be trusted", nil, evidence.body(result)),
         section("Conformance", nil, conformance(result)),
         section("Ports and software", nil, { ports(result), software(result, moment) }),
         section("Configuration", nil, configuration.build(result.plan)),
         #result.trials > 0 and section("Every trial", nil, trials.body(result.trials), "wide"),
      },
      h.footer { "Made by Framegauge from result.json, which holds these figures unrounded." },
   }
   return "<!DOCTYPE html>\n" .. h.render(h.html { lang = "en", head(result), "\n", body }) .. "\n"
end

return M
