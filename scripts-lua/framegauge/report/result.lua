-- SPDX-License-Identifier: BSD-3-Clause

--- The result of a run as one value, and as the text of result.json and trials.jsonl.
--
-- Its rows are the method's (framegauge.methods.<name>.result) and the ones here. The plan and the device
-- alone decide its content: dates, machine and paths are in run.json, so that two runs in the wire's own time
-- give the same bytes.
local criteria = require "framegauge.methods.common.criteria"
local json = require "framegauge.text.json"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial.result"
local verdict = require "framegauge.text.verdict"

local M = {}

M.SCHEMA_VERSION = 1

local list, record = rows.list, rows.record

local GENERATOR = record("generator", "the program that made the result", {
   { "name", "text", "framegauge" }, { "version", "text", "its version" }, { "dpdk", "text", "version of DPDK" },
   { "luajit", "text", "version of LuaJIT" },
})

local CONFORMANCE = record("conformance", "whether the plan keeps to the procedure of its standard", {
   { "standard", "text", "the standard" }, { "conforms", "boolean", "whether the plan keeps to all of it" },
   { "notes", list "text", "where it does not: short trials or waits, few repetitions, loss tolerated ..." },
})

local CALIBRATION = record("calibration", "what is known of the tester itself", {
   { "state", trial.CALIBRATION, "whether there is a calibration that may be used" },
   { "date", "text", "when it was made", null = true }, { "reasons", list "text", "why it is stale" },
   { "beyond", record("beyond", "loads of the plan beyond what the tester carries", {
      { "trials", "ordinal", "how many trials asked for more" },
      { "load_max_ratio", "positive", "the maximum load over that which the tester carries" },
      { "trial", "ordinal", "in which trial" },
   }), "where a load of the plan is more than the tester carries", optional = true },
   { "frame_sizes", list(record("calibrated_size", "what the tester does with frames of one size", {
      { "frame_size", "ordinal", "bytes with FCS" },
      { "load_fps", "positive", "load that the tester carries", null = true },
      { "latency_min_ns", "signed", "minimum latency of the tester", null = true },
      { "latency_mean_ns", "signed", "its mean, at a tenth of that load", null = true },
   })), "what the run takes from it" },
})

-- A module as it was when the port was opened.
local MODULE = record("module", "a pluggable optical module or cable (SFF-8472)", {
   { "type", "text", "kind of module" },
   { "media", "text", "what it sends on, such as `10GBASE-SR`; empty: unknown" },
   { "vendor", "text", "its vendor" }, { "part", "text", "part number" },
   { "serial", "text", "serial number" },
   { "temperature_c", "signed", "degrees Celsius, where it monitors itself", optional = true },
   { "tx_power_mw", "number", "power sent, mW, where it monitors itself", optional = true },
   { "rx_power_mw", "number", "power received, mW, the same", optional = true },
})

local PCIE = record("pcie", "the PCI Express link of a card", {
   { "lanes", "integer", "lanes in use" }, { "gts", "number", "GT/s of each" },
   { "lanes_max", "integer", "lanes that the card has" }, { "gts_max", "number", "GT/s that it can" },
   { "gbps", "number", "what the link carries each way, Gbit/s, in packets of 128 bytes" },
})

local function module_text(port)
   local module = port.module
   return module and ("%s %s, %s %s"):format(module.type, module.media, module.vendor, module.part)
end

local function pcie_text(port)
   return port.pcie and ("x%d at %g GT/s"):format(port.pcie.lanes, port.pcie.gts)
end

local PORT = record("port", "a port as it was opened", {
   { "name", "text", "its name in the plan", col = "Port", at = "html" },
   { "device", "text", "its device", col = "Device", at = "html" },
   { "driver", "text", "its driver", col = "Driver", at = "html" },
   { "mode", "text", "how it works", optional = true, col = "Mode", at = "html" },
   { "line_rate", "number", "bit/s", optional = true, col = "Line rate", as = "bits1", at = "html" },
   { "duplex", { "full", "half" }, "of the link of a card", optional = true, col = "Duplex", as = "plain",
      hidden = true, at = "html" },
   { "mac", "text", "MAC address", optional = true, col = "MAC address", at = "html" },
   { "module", MODULE, "the module in its cage", optional = true, apart = true },
   { of = module_text, col = "Module", as = "plain", hidden = true, at = "html" },
   { "pcie", PCIE, "its PCI Express link", optional = true, apart = true },
   { of = pcie_text, col = "PCIe", as = "plain", hidden = true, at = "html" },
   { "numa", "integer", "NUMA node; -1 on a machine without", optional = true },
   { of = function(port) return port.numa and port.numa >= 0 and port.numa or nil end, col = "NUMA",
      unit = "node",
      as = "number", hidden = true, at = "html" },
   { "queues", "integer", "where there are several", optional = true },
   { "notes", list "text", "what is special about it", optional = true },
})
PORT.open = true

--- The record of a result.
-- @param results  the rows of `results`, as a method has them
-- @param trials   what its trials are
function M.record(results, trials)
   return record("result", "result.json", {
      { "schema_version", { M.SCHEMA_VERSION }, "version of this schema" }, { "generator", GENERATOR,
         "program and versions" },
      { "validity", { unpack(verdict.VALIDITY, 1, 3) }, "the worst validity of all rows" },
      { "outcome", verdict.OUTCOME, "`fail` where a row failed or a criterion is not met, `pass` where something was asked and all of it reached, else null: also where a criterion is not decided",
         null = true },
      { "interrupted", "boolean", "whether the run ended before its plan did" },
      { "conformance", CONFORMANCE, "whether the plan keeps to its standard; null where the method has none",
         null = true },
      { "calibration", CALIBRATION, "what is known of the tester itself" },
      { "expectations", list(record("expectation", "a criterion: of the plan, or an `--expect`", {
         { "text", "text", "as it was given" },
         { "met", "boolean", "whether it was met; null when that is not decided", null = true },
         { "limit", "text", "what was asked for", optional = true },
         { "row", "text", "the row that decided: the worst row that the criterion is about",
            optional = true },
         { "figure", "text", "what that row has", optional = true },
         { "reason", "text", "why it is not decided", optional = true },
      })), "one object for each criterion" },
      { "results", results, "for each test that was made a list of rows" },
      { "ports", list(PORT, { least = 1 }), "the ports as they were opened" },
      { "plan", "object", "the plan as it was run, every default filled in, in base units; see `framegauge help plan`" },
      { "trials", list(trials), "every trial in the order they were made, invalid ones too" },
   })
end

M.PORT, M.CALIBRATION = PORT, CALIBRATION

--- The method's declaration of its results.
-- @param test  name of the method
function M.of(test)
   return require("framegauge.methods." .. test .. ".result")
end

--- Tables of a result, including empty ones: the method's tables, with `lines`.
function M.tables(test, results)
   return tables.map(M.of(test).TABLES, function(one)
      return setmetatable({ lines = one.rows(results) }, { __index = one })
   end)
end

-- The plan as result.json has it: the task, without the places it was read from.
function M.published_plan(plan)
   local copy = tables.copy(plan)
   copy.file, copy.source, copy.tester_limits, copy.fitted = nil, nil, nil, nil
   copy.hooks = nil -- addresses of message receivers may be secret
   return copy
end

-- Criteria are rows, too, that pass or fail.
local function judged(o)
   local all = {}
   for _, one in ipairs(M.tables(o.plan.test, o.results)) do
      tables.append(all, one.lines)
   end
   for _, expectation in ipairs(o.expectations) do
      local outcome
      if expectation.met ~= nil then
         outcome = expectation.met and "pass" or "fail"
      end
      all[#all + 1] = { validity = "valid", outcome = outcome }
   end
   return all
end

--- Put together what a run found.
-- @param o.plan, o.ports, o.trials, o.generator  as they are
-- @param o.results       rows by test: { throughput = {...}, latency = {...} }
-- @param o.expectations  of criteria (framegauge.methods.common.criteria)
-- @param o.calibration   framegauge.run.calibration's find
-- @param o.conformance   of the method, or nil
-- @param o.interrupted   whether the run ended before its plan did
function M.new(o)
   local result = {
      schema_version = M.SCHEMA_VERSION, generator = o.generator, interrupted = o.interrupted,
      conformance = o.conformance, calibration = o.calibration, expectations = o.expectations,
      results = o.results, ports = o.ports, plan = o.plan, trials = o.trials,
   }
   result.validity, result.outcome = verdict.worst(judged(o))
   if result.outcome == "pass" and not criteria.are_decided(o.expectations) then
      result.outcome = nil
   end
   return result
end

--- One line of trials.jsonl, without its end of line.
-- @param test  name of the method
function M.trial_line(trial_record, test)
   return json.encode(rows.published(trial_record, M.of(test).TRIAL))
end

--- What is wrong with a line of trials.jsonl that was read; nil when nothing is.
function M.wrong_trial(trial_record, test)
   return rows.wrong(trial_record, M.of(test).TRIAL)
end

--- What is wrong with a result that was read, with its nulls; nil when nothing is.
function M.wrong(result)
   local method = M.of(result.plan.test)
   return rows.wrong(result, M.record(method.RESULTS, method.TRIAL))
end

--- The text of result.json.
function M.text(result)
   local method = M.of(result.plan.test)
   local copy = setmetatable({ plan = M.published_plan(result.plan) }, { __index = result })
   for key, value in pairs(result) do
      copy[key] = copy[key] == nil and value or copy[key]
   end
   return json.encode(rows.published(copy, M.record(method.RESULTS, method.TRIAL)), { pretty = true }) .. "\n"
end

return M
