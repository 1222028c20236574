-- SPDX-License-Identifier: BSD-3-Clause

--- The campaign `balance`: how a device spreads many flows over its paths. The first port sends flows of
-- datagrams to one address, and every other port is the end of a path to it. A server on each of these ports
-- counts the frames of each flow that arrived by its path, and their order.
--
-- The flows have slightly different rates. If all sent in step, a device that takes its paths in turn for
-- each packet would give a flow the same path each time.
local records = require "framegauge.tester.l4.record"
local settings = require "framegauge.methods.l4.settings"
local stats = require "framegauge.trial.stats"
local trial = require "framegauge.tester.l4.trial"

local M = {}

local FIRST_PORT = 20000 -- source port of a flow
local SPREAD = 0.1 -- between the slowest flow and the fastest
local RATE = 10000 -- datagrams a second of all flows, where the plan does not say
local MOSTLY = 0.9 -- of the flows

local function address_of(plan)
   return plan.l4.balance.address or plan.ports[2][settings.versions(plan)[1]]
end

--- From the client to the balanced address.
function M.direction(plan)
   return plan.ports[1].name .. "->" .. address_of(plan)
end

-- The sending end and the receiving end of flow number i.
local function ends_of(plan, tester, o, i)
   local n = o.balance.flows
   local rate = o.datagram_rate / n * (1 - SPREAD / 2 + SPREAD * (i - 0.5) / n)
   local own = settings.copy(o, { connections = 1, datagram_rate = rate, port = o.port + i - 1 })
   local client = settings.apps(plan, tester, "UDP_STREAM", own, 1)
   client.remote, client.port_first, client.port_last = address_of(plan), FIRST_PORT + i, FIRST_PORT + i
   return client, setmetatable({ server = true, address = client.remote, addresses = 1 },
      { __index = client })
end

local function sides_of(plan, tester, o)
   local sides = { { port = 1, apps = {} } }
   for port = 2, #plan.ports do
      sides[port] = { port = port, apps = {} }
   end
   for i = 1, o.balance.flows do
      local client, server = ends_of(plan, tester, o, i)
      sides[1].apps[i] = client
      for port = 2, #plan.ports do
         sides[port].apps[i] = server
      end
   end
   return sides
end

-- For each flow only the counts of this campaign.
local function flows_of(side)
   local list = {}
   for i, app in ipairs(side.apps) do
      list[i] = {
         sent = app.total.datagrams_out, received = app.total.datagrams_in, reordered = app.reordered,
         duplicates = app.duplicates,
      }
   end
   return list
end

local function measure(plan, tester, o, ask)
   local sides, engine = trial.run(tester, {
      sides = sides_of(plan, tester, o), seconds = o.duration, drain = o.drain,
      learning_wait = o.learning_wait,
      settle = o.settle, mtu = o.mtu, seed = o.seed,
   })
   local received = 0
   for i, side in ipairs(sides) do
      side.role, side.flows = plan.ports[i].name, flows_of(side)
      received = received + (i > 1 and stats.sum(side.flows, "received") or 0)
   end
   local record = records.of(ask, tester, sides, engine, received == 0)
   for i, side in ipairs(sides) do
      record.sides[i].flows, record.sides[i].apps = side.flows, { side.apps[1] }
   end
   return record
end

-- The number of paths that a flow was seen on.
local function paths_taken(record, flow)
   local n = 0
   for i = 2, #record.sides do
      n = n + (record.sides[i].flows[flow].received > 0 and 1 or 0)
   end
   return n
end

local function in_words(used, split, flows)
   if used <= 1 then
      return "one path"
   elseif split == 0 then
      return "per flow"
   end
   return split >= MOSTLY * flows and "per packet" or "mixed"
end

local function paths_of(record, total)
   local list, used = {}, 0
   for i = 2, #record.sides do
      local side = record.sides[i]
      local received, flows = stats.sum(side.flows, "received"), 0
      for _, flow in ipairs(side.flows) do
         flows = flows + (flow.received > 0 and 1 or 0)
      end
      list[i - 1] = {
         port = side.role, received = received, share = total > 0 and received / total or 0, flows = flows,
         reordered = stats.sum(side.flows, "reordered"), duplicates = stats.sum(side.flows, "duplicates"),
      }
      used = used + (received > 0 and 1 or 0)
   end
   return list, used
end

local function row_of(plan, o, record)
   local flows, total, split = o.balance.flows, 0, 0
   for i = 2, #record.sides do
      total = total + stats.sum(record.sides[i].flows, "received")
   end
   for i = 1, flows do
      split = split + (paths_taken(record, i) > 1 and 1 or 0)
   end
   local paths, used = paths_of(record, total)
   local sent = stats.sum(record.sides[1].flows, "sent")
   return {
      test = "UDP_STREAM", case = "balance", direction = M.direction(plan),
      parameters = settings.parameters("UDP_STREAM", o), figures = {}, trials = { record.trial },
      received_bps = total * o.datagram * 8 / o.duration, sent_bps = sent * o.datagram * 8 / o.duration,
      datagrams = sent, lost = sent - total, loss_ratio = sent > 0 and (sent - total) / sent or 0,
      flows = flows, flows_split = split,
      spreading = in_words(used, split, flows), paths = paths, reordered = stats.sum(paths, "reordered"),
      duplicates = stats.sum(paths, "duplicates"), validity = record.validity, reasons = record.reasons,
      failures = { refused = 0, no_answer = 0, reset = 0, lost = 0, aborted = 0, expired = 0,
         bad_response = 0 },
      retransmitted_segments = 0, fast_retransmits = 0, timeouts = 0, syn_retransmits = 0, known_ports = 0,
      wrong_bytes = 0, busy_polls = 0,
   }
end

--- Make it.
-- @return its row of results.l4 (docs/reference/results.md)
function M.run(plan, tester, session)
   local o = settings.of(plan)
   o.datagram_rate = o.datagram_rate or RATE
   local record = session:trial {
      test = "l4.UDP_STREAM", phase = "measure", seconds = o.duration,
      direction = M.direction(plan),
      setting = settings.parameters("UDP_STREAM", o), title = "balance",
      make = function(ask)
         return measure(plan, tester, o, ask)
      end,
      outcome = function(made)
         return row_of(plan, o, made).spreading
      end,
   }
   return row_of(plan, o, record)
end

return M
