-- SPDX-License-Identifier: BSD-3-Clause

--- The page of tools/founding: runs the plan of each method, and writes DIR/index.html with a table of each
-- and a link to its report. framegauge script tools/founding.lua DIR
local h = require "framegauge.text.xml"
local html = require "framegauge.report.html"
local html_tables = require "framegauge.report.html.tables"
local json = require "framegauge.text.json"
local result_rows = require "framegauge.methods.l4.result"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local ROOT = arg[0]:match "^(.-)[^/]*$" .. "../"
local OUT = assert(arg[1], "a folder for the results")
local run_plan = dofile(ROOT .. "docs/generate/run.lua")

-- { title, plan of configs/, keys with other values than there }
local METHODS = {
   { "Battery of TCP and UDP tests", "l4-battery-reference" },
   { "Buffers and messages", "l4-buffer-sweep-reference" },
   { "MTU: streams of TCP and UDP", "l4-mtu-sweep-reference" },
   { "MTU: flood ping", "l4-ping-reference" },
   { "MTU: files by FTP and HTTP", "l4-files-reference" },
   { "Clients", "l4-clients-reference" },
   { "Ramp of clients", "l4-ramp-reference" },
   { "Policer", "l4-policer-reference" },
   { "UDP at 10 Gbit/s", "l4-battery-reference", "l4.tests=[UDP_STREAM]", "reference_device.rate=10Gbps",
      "l4.duration=200ms", "l4.omit=50ms" },
   { "QUIC and TCP on an access line", "l4-transports-thesis" },
   { "Pages, 20 ms", "l4-page-reference" },
   { "Pages, 20 ms, 1 % of frames lost", "l4-page-reference", "reference_device.loss_random=1%" },
   { "Pages, 200 ms", "l4-page-reference", "reference_device.latency=100ms" },
}

-- Run one. @return the folder's name, its result, the command that makes it
local function run(i, method)
   local plan, sets = ("configs/%s.yaml"):format(method[2]), { unpack(method, 3) }
   local folder = ("%02d-%s"):format(i, (method[2]:gsub("^l4%-", ""):gsub("%-reference$", "")))
   local words = { "framegauge run " .. plan }
   for n, set in ipairs(sets) do
      words[1 + n] = ("--set '%s'"):format(set):gsub("'([%w/.=%-]+)'", "%1")
   end
   return folder, run_plan(ROOT .. plan, sets, OUT .. "/" .. folder), table.concat(words, " ")
end

local function nothing(value)
   return value ~= json.null and value or nil
end

-- Of rows that count responses with a body: what these carry.
local function payload(row)
   local body = row.parameters.http and row.test == "HTTP" and row.parameters.http.body
   return body and row.transactions_per_s * body * 8 / 1e6
end

local COLUMNS = {
   { "Test", "", result_rows.name, left = true },
   { "Measured", "", function(row) return (result_rows.in_words(row, (result_rows.figure(row)))) end },
   { "Payload", "Mbit/s", function(row)
      return payload(row) and ("%.1f"):format(payload(row))
   end, hidden = true },
   { "Possible", "", function(row) return result_rows.in_words(row, (result_rows.most(row))) end, hidden = true },
   { "Limit", "", function(row) return select(2, result_rows.most(row)) end, hidden = true, left = true },
   { "Share", "%", function(row)
      return nothing(row.theoretical_percent) and ("%.2f"):format(row.theoretical_percent)
   end, hidden = true },
   { "Mean", "ms", function(row)
      return nothing(row.transaction) and ("%.3f"):format(row.transaction.mean_ns / 1e6)
   end, hidden = true },
   { "p99", "ms", function(row)
      return nothing(row.transaction) and ("%.3f"):format(row.transaction.p99_ns / 1e6)
   end, hidden = true },
   { "Page load", "median, ms", function(row)
      return row.page and nothing(row.page.load) and ("%.1f"):format(row.page.load.p50_ns / 1e6)
   end, hidden = true },
   { "Verdict", "", function(row) return row.validity end, left = true },
}

-- The columns in which a row has something.
local function columns_of(rows)
   local list = {}
   for _, column in ipairs(COLUMNS) do
      list[#list + 1] = (not column.hidden or tables.any(rows, column[3])) and column or nil
   end
   return list
end

local parts, bad = {}, 0
for i, method in ipairs(METHODS) do
   local began = uv.hrtime()
   local folder, result, command = run(i, method)
   local rows = result.results.l4
   for _, row in ipairs(rows) do
      bad = bad + (row.validity == "valid" and 0 or 1)
      row.theoretical = nothing(row.theoretical)
   end
   parts[#parts + 1] = { h.h2 { method[1] }, h.p { h.code { command }, " (",
      h.a { href = folder .. "/report.html", "report" }, ")" },
      html_tables.build { caption = result.plan.description, class = "wrapped", rows = rows,
         columns = columns_of(rows) } }
   io.write(("%-34s %3d rows  %4.1f s\n"):format(method[1], #rows, (uv.hrtime() - began) / 1e9))
end
local file = assert(io.open(OUT .. "/index.html", "w"))
file:write(html.simple("Founding methods", { h.p { "Client and server are both the tester's, the device is the reference device on the virtual wire, so that the truth is known." }, parts }))
file:close()
io.write(("\n%s/index.html\n"):format(OUT))
os.exit(bad == 0 and 0 or 3)
