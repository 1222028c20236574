-- SPDX-License-Identifier: BSD-3-Clause

--- The HTTP interface of a tester as data: a row for each route that a program may use. From these come
-- docs/reference/openapi.json and /api/v1/openapi.json; web/page.lua has a handler for each.
--
-- A name of a field that ends in ? need not be there. What a handler answers is held against its row by
-- tests/integration/web.py.
local build = require "framegauge.build"
local json = require "framegauge.text.json"
local tables = require "framegauge.core.tables"

local M = {}

local object = json.object

local TEXT, WHOLE, NUMBER, FLAG = { type = "string" }, { type = "integer" }, { type = "number" },
   { type = "boolean" }
local NUMBER_OR_NULL = { type = { "number", "null" } }
local ANY = object { type = "object" }

local function list_of(schema)
   return { type = "array", items = schema }
end

local function reference(name)
   return { ["$ref"] = "#/components/schemas/" .. name }
end

local function one_of(...)
   return { type = "string", enum = { ... } }
end

local function described(schema, text)
   local out = tables.copy(schema)
   out.description = text
   return out
end

-- Fields, and no others.
local function record(fields)
   local properties, required = object {}, {}
   for name, schema in pairs(fields) do
      local plain = name:gsub("%?$", "")
      properties[plain] = schema
      required[#required + 1] = plain == name and name or nil
   end
   table.sort(required)
   return { type = "object", properties = properties, required = required, additionalProperties = false }
end

local COUNTS = {
   tx = described(NUMBER, "frames sent"), rx = described(NUMBER, "frames received"),
   lost = described(NUMBER, "frames sent and not received: lost, or still on their way"),
   ["loss_ratio?"] = NUMBER, ["tx_fps?"] = NUMBER, ["rx_fps?"] = NUMBER,
   ["tx_bps?"] = described(NUMBER, "bit/s at layer 1; absent where no rate is known"), ["rx_bps?"] = NUMBER,
   ["min_ns?"] = NUMBER, ["mean_ns?"] = NUMBER, ["p99_ns?"] = NUMBER, ["max_ns?"] = NUMBER,
}

local function with_counts(fields)
   for name, schema in pairs(COUNTS) do
      fields[name] = schema
   end
   return fields
end

local SCHEMAS = {
   Port = record(with_counts {
      name = TEXT, device = TEXT, ["mac?"] = TEXT, ["mode?"] = TEXT,
      ["line_rate?"] = described(NUMBER, "bit/s"),
   }),
   Stream = record(with_counts {
      name = TEXT, running = FLAG, from = described(TEXT, "name of a port"), to = TEXT,
      ["rate?"] = described(TEXT, "intended load, as in a plan"),
   }),
   Job = record {
      id = WHOLE, name = TEXT, state = TEXT, line = described(TEXT, "progress in a sentence"),
      ["progress?"] = ANY, ["run?"] = described(TEXT, "name of the result folder"), trials = WHOLE,
      is_traffic = FLAG,
   },
   State = record {
      version = TEXT, ["plan?"] = TEXT, ["test?"] = TEXT, time_ms = described(WHOLE, "since 1970"),
      ["clock?"] = described(TEXT, "wire-free: the seconds of rates are seconds of the virtual wire"),
      counts = described(one_of("test", "traffic"), "of a test they are sums over its trials"),
      ports = list_of(reference "Port"), streams = list_of(reference "Stream"),
      all_streams = described(WHOLE, "how many there are; the first 500 are shown"),
      jobs = list_of(reference "Job"),
   },
   Run = record {
      run = described(TEXT, "name of the result folder"), plan = TEXT, test = TEXT, ["started?"] = TEXT,
      ["device?"] = TEXT, ["firmware?"] = TEXT, ["validity?"] = TEXT, ["outcome?"] = TEXT,
   },
   Tested = record {
      ["device?"] = TEXT, ["firmware?"] = TEXT, plan = TEXT, test = TEXT, runs = WHOLE,
      run = described(TEXT, "the last of them"), ["started?"] = TEXT, ["validity?"] = TEXT,
      ["outcome?"] = TEXT,
   },
   Agent = record {
      name = TEXT, ["problem?"] = described(TEXT, "why it does not answer"), ["draining?"] = FLAG,
      ports = list_of(record {
         port = TEXT, device = TEXT, state = TEXT, ["by?"] = described(TEXT, "who has leased it"),
         ["run?"] = TEXT, ["epoch?"] = WHOLE, ["trial?"] = WHOLE,
         ["remaining_s?"] = described(NUMBER, "of the lease"),
      }),
   },
   Clocks = record {
      agents = described(list_of(TEXT), "two names"), sources = list_of(TEXT), finding = TEXT,
      ["bound_ns?"] = described(NUMBER, "how far they may differ"),
   },
   Trial = described(ANY, "test, phase, load_fps, load_percent, and ended: trial, duration_s, validity, outcome"),
   History = record {
      plan = TEXT, method = TEXT,
      runs = list_of(record {
         number = WHOLE, folder = TEXT, ["started?"] = TEXT, ["device?"] = TEXT, ["firmware?"] = TEXT,
         ["configuration?"] = TEXT,
      }),
      series = described(list_of(ANY), "each with points: run = its number, value, low and high"),
   },
   Comparison = described(ANY, "before, after, tables, differences and worse, as framegauge compare --json"),
   Point = described(list_of(NUMBER_OR_NULL), "time in s, then bit/s sent and received of each port"),
   Action = { oneOf = {
      record { stream = one_of("start", "stop", "rate"), ["target?"] = described(TEXT, "a stream or a port"),
         ["rate?"] = { type = { "string", "number" } } },
      record { job = one_of("stop", "pause", "resume"), id = WHOLE },
      record { test = described(TEXT, "a method, such as rfc2544"), ["quick?"] = FLAG },
   } },
}

local function query(name, schema, help)
   return { name = name, ["in"] = "query", required = true, schema = schema, description = help }
end

--- Routes: key as of web/server.lua; id, summary; answer = schema, or media type of something else;
-- query; body = schema; role = who may do it, if not every viewer; open = nobody needs a token.
M.ROUTES = {
   { "GET /healthz", id = "health", summary = "The word ok", answer = "text/plain", open = true },
   { "POST /api/v1/login", id = "login", summary = "Exchange a token for a cookie, as the page does",
      body = record { token = TEXT }, answer = record { role = TEXT }, open = true },
   { "GET /api/v1/me", id = "me", summary = "Who asks, and the method of the plan",
      answer = record { role = one_of("operator", "viewer"), ["test?"] = TEXT,
         agents = described(WHOLE, "how many the plan names") } },
   { "GET /api/v1/state", id = "state", summary = "Ports, streams and jobs at this moment",
      answer = reference "State" },
   { "GET /api/v1/events", id = "events", answer = "text/event-stream",
      summary = "The state twice a second, as server-sent events" },
   { "GET /api/v1/series", id = "series", summary = "Rates of the ports over the last 15 minutes",
      answer = list_of(reference "Point") },
   { "GET /api/v1/trials", id = "trials", summary = "Trials of a job, 500 at a time",
      query = { query("job", WHOLE, "its id"), { name = "after", ["in"] = "query", schema = WHOLE,
         description = "how many are known already" } }, answer = list_of(reference "Trial") },
   { "GET /api/v1/runs", id = "runs", summary = "The last 200 runs, the newest first",
      answer = list_of(reference "Run") },
   { "GET /api/v1/devices", id = "devices", answer = list_of(reference "Tested"),
      summary = "Devices under test with the plans that were run on them, the last first" },
   { "GET /api/v1/fleet", id = "fleet", summary = "Agents of the plan, their ports and clocks",
      answer = record { time_ms = WHOLE, agents = list_of(reference "Agent"),
         clocks = list_of(reference "Clocks") } },
   { "GET /api/v1/history", id = "history",
      summary = "Figures of a plan over its runs, and where they changed",
      query = { query("plan", TEXT, "its name") }, answer = reference "History" },
   { "GET /api/v1/compare", id = "compare", summary = "Two runs side by side",
      query = { query("before", TEXT, "a run"), query("after", TEXT, "a later one") },
      answer = reference "Comparison" },
   { "GET /runs/*", id = "file", summary = "A file of a run, such as lab-20260314/report.html",
      answer = "text/html" },
   { "POST /api/v1/actions", id = "act", summary = "Start, stop or change a stream, a job or a test",
      body = reference "Action", answer = record { done = FLAG }, role = "operator" },
   { "GET /api/v1/openapi.json", id = "openapi", summary = "This description", answer = ANY },
}

local PROBLEMS = {
   ["400"] = "the request cannot be read, or names another server",
   ["401"] = "there is no token, or a wrong one",
   ["403"] = "the role may not do that, or a page of another origin asks", ["404"] = "there is no such thing",
   ["409"] = "it cannot be done now, or the name is not known", ["413"] = "the body has more than 1 MiB",
   ["415"] = "the body is not application/json", ["503"] = "as many look already as may",
}
local OF_ALL, OF_BODY = { "400", "404" }, { "403", "409", "413", "415" }

local function content(schema)
   if type(schema) == "string" then
      return { [schema] = object { schema = TEXT } }
   end
   return { ["application/json"] = { schema = schema } }
end

local function answers(row)
   local out = { ["200"] = { description = row.summary, content = content(row.answer) } }
   local codes = tables.joined(OF_ALL, row.body and OF_BODY or {},
      row.open and not row.body and {} or { "401" }, row.query and { "409" } or {},
      row.id == "events" and { "503" } or {})
   for _, code in ipairs(codes) do
      out[code] = { ["$ref"] = "#/components/responses/" .. code }
   end
   return object(out)
end

local function operation(row)
   local text = row.role and ("For the role %s."):format(row.role) or nil
   local parameters = row.query or {}
   if row[1]:find "%*$" then
      parameters = {}
      for _, name in ipairs { "run", "file" } do
         parameters[#parameters + 1] = { name = name, ["in"] = "path", required = true, schema = TEXT }
      end
   end
   return {
      operationId = row.id, summary = row.summary, description = text, responses = answers(row),
      parameters = #parameters > 0 and parameters or nil, security = row.open and {} or nil,
      requestBody = row.body and { required = true, content = content(row.body) } or nil,
   }
end

--- The whole description, OpenAPI 3.1. @return text
function M.text()
   local paths, responses = object {}, object {}
   for _, row in ipairs(M.ROUTES) do
      local method, path = row[1]:match "^(%u+) (%S+)$"
      paths[path:gsub("%*$", "{run}/{file}")] = { [method:lower()] = operation(row) }
   end
   for code, text in pairs(PROBLEMS) do
      responses[code] = { description = text, content = content "text/plain" }
   end
   return json.encode({
      openapi = "3.1.0",
      info = {
         title = "Framegauge", version = build.version,
         license = { name = "BSD-3-Clause", identifier = "BSD-3-Clause" },
         description = "What framegauge serve --web and run --web answer. Problems are a line of text.",
      },
      paths = paths, security = { { token = {} }, { cookie = {} } },
      components = { schemas = object(SCHEMAS), responses = responses, securitySchemes = {
         token = { type = "http", scheme = "bearer", description = "the token of a printed address" },
         cookie = { type = "apiKey", ["in"] = "cookie", name = "framegauge" },
      } },
   }, { pretty = true }) .. "\n"
end

return M
