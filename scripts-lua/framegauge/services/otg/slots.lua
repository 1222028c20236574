-- SPDX-License-Identifier: BSD-3-Clause

--- The streams of a flow in the trial that runs: one for each port that sends it, and one more for each
-- further port that receives it; and what they count.
--
-- Of a flow they are a list of numbers of streams, with `senders`: those that send, `places`: the ports they
-- send from, and `measured`: for each port that receives the flow those that count there.
local spread = require "framegauge.services.otg.spread"
local tables = require "framegauge.core.tables"

local M = {}

local FEW, SPARES, MAX_STREAMS = 64, 64, 16000 -- few are measured in most detail

M.NOTHING = {
   tx = 0, tx_bytes = 0, rx = 0, rx_bytes = 0, delay_sum = 0, delay_min = math.huge, delay_max = 0,
   first = 0, last = 0,
}

local NOT_HERE = { rx = 0, rx_bytes = 0, delay_sum = 0, delay_min = math.huge, delay_max = 0, first = 0,
   last = 0 }

-- What two streams have received together.
local function sum_received(a, b)
   local both = { value = a.value }
   if a.values or b.values then
      both.values = tables.copy(a.values or {})
      for key, one in pairs(b.values or {}) do
         both.values[key] = both.values[key] and sum_received(both.values[key], one) or one
      end
   end
   for _, key in ipairs { "rx", "rx_bytes", "delay_sum" } do
      both[key] = a[key] + b[key]
   end
   both.delay_min, both.delay_max = math.min(a.delay_min, b.delay_min), math.max(a.delay_max, b.delay_max)
   both.first = a.first > 0 and b.first > 0 and math.min(a.first, b.first) or a.first + b.first
   both.last = math.max(a.last, b.last)
   return both
end

-- What ports have sent together, by name.
local function sum_sent(a, b)
   local both = {}
   for _, one in ipairs { a, b } do
      for name, counts in pairs(one) do
         local there = both[name] or { tx = 0, tx_bytes = 0 }
         both[name] = { tx = there.tx + counts.tx, tx_bytes = there.tx_bytes + counts.tx_bytes }
      end
   end
   return both
end

--- Counts of two streams together.
function M.sum(a, b)
   local both = sum_received(a, b)
   both.sent = (a.sent or b.sent) and sum_sent(a.sent or {}, b.sent or {})
   both.tx, both.tx_bytes = a.tx + b.tx, a.tx_bytes + b.tx_bytes
   if a.ports or b.ports then
      both.ports = {}
      for k = 1, #(a.ports or b.ports) do
         both.ports[k] = sum_received(a.ports and a.ports[k] or NOT_HERE, b.ports and b.ports[k] or NOT_HERE)
      end
   end
   return both
end

local function received_with(one, value)
   return {
      value = value, rx = tonumber(one.frames), rx_bytes = tonumber(one.octets),
      delay_sum = tonumber(one.delay_sum_ns), delay_min = tonumber(one.delay_min_ns),
      delay_max = tonumber(one.delay_max_ns), first = tonumber(one.first_arrival_ns),
      last = tonumber(one.last_arrival_ns),
   }
end

-- What a stream has received with each value of its tags, by the value; with those that are too many as
-- `other`, without a value.
local function received_by_values(live, slot)
   local out, found, n, other = {}, live:values(slot)
   for i = 0, n - 1 do
      out[tostring(found[i].value)] = received_with(found[i], found[i].value)
   end
   out.other = other.frames > 0 and received_with(other) or nil
   return out
end

-- What a stream has received.
local function received(one)
   local any = one.rx_frames > 0
   return {
      rx = tonumber(one.rx_frames + one.duplicates), rx_bytes = tonumber(one.rx_octets),
      delay_sum = tonumber(one.delay_sum_ns), delay_min = any and tonumber(one.delay_min_ns) or math.huge,
      delay_max = any and tonumber(one.delay_max_ns) or 0,
      first = any and tonumber(one.first_arrival_ns) or 0, last = any and tonumber(one.last_arrival_ns) or 0,
   }
end

--- What a trial has counted of them.
-- @param sampled  of tester/live.lua
-- @param live     that it is of
-- @return counts; `ports` is what each port has received, where the flow is told apart by these, `sent` what
-- each port of a LAG has sent, by name
function M.read(sampled, slots, live)
   local raw, ports, by_name = nil, slots.by_port and {} or nil, slots.is_shared and {} or nil
   for k, list in ipairs(slots.measured) do
      local there
      for _, slot in ipairs(list) do
         local one = received(sampled[slot - 1])
         one.values = slots.has_tags and received_by_values(live, slot) or nil
         there = there and sum_received(there, one) or one
      end
      there = there or NOT_HERE
      if ports then
         ports[k] = there
      end
      raw = raw and sum_received(raw, there) or tables.copy(there)
   end
   raw = raw or tables.copy(NOT_HERE)
   raw.tx, raw.tx_bytes, raw.ports, raw.sent = 0, 0, ports, by_name
   for i, slot in ipairs(slots.senders) do
      local one = sampled[slot - 1]
      local tx, bytes = tonumber(one.tx_frames), tonumber(one.tx_octets)
      raw.tx, raw.tx_bytes = raw.tx + tx, raw.tx_bytes + bytes
      if by_name then
         by_name[slots.places[i].name] = { tx = tx, tx_bytes = bytes }
      end
   end
   return raw
end

--- What each port has sent of a flow, by name.
function M.sent(counts, stream)
   return counts.sent or { [stream.tx.name] = counts }
end

-- Where its frames are measured, which have no signature where nobody asks for metrics.
local function measured_at(stream)
   return stream.metrics.enable and stream.rx or {}
end

--- What a flow has sent stays counted for its ports when it is started again.
-- @param carried  by name of a port, which is added to
function M.carry(carried, counts, stream)
   for name, one in pairs(M.sent(counts, stream)) do
      local before = carried[name] or { tx = 0, tx_bytes = 0 }
      carried[name] = { tx = before.tx + one.tx, tx_bytes = before.tx_bytes + one.tx_bytes }
   end
end

--- How many streams a flow needs.
function M.count(flow)
   return spread.most(flow.stream) * math.max(1, #measured_at(flow.stream))
end

-- The streams of one port that sends.
local function add_sender(slots, flow, part, add, o)
   local stream = flow.stream
   local rx = measured_at(stream)
   local sender
   for k = 1, math.max(1, #rx) do
      local slot = add {
         name = flow.name, from = part.port.place, to = (rx[k] or part.port).place,
         cycle = stream.cycle, template = function(size) return stream.templates[size] end,
         loads = { part.load }, running = k == 1 and o.running, copies_of = sender, first = part.first,
         fields = part.fields, phase = part.phase, values = rx[k] and stream.tags and stream.tags.fields,
      }
      slots[#slots + 1], sender = slot, sender or slot
      if rx[k] then
         slots.measured[k] = slots.measured[k] or {}
         table.insert(slots.measured[k], slot)
      end
   end
   table.insert(slots.senders, sender)
   table.insert(slots.places, part.port)
end

--- Make those streams.
-- @param add  function(stream) -> its number
-- @param o    { load =, first = number of the first frame, parts = (services.otg.spread; default: as the
--             flow is spread now), running = }
function M.make(flow, add, o)
   local stream = flow.stream
   local slots = { senders = {}, places = {}, measured = {}, is_shared = stream.tx.members ~= nil,
      over = stream.tx.now }
   for k = 1, #measured_at(stream) do
      slots.measured[k] = {}
   end
   slots.parts = o.parts or spread.parts(stream, o.load, o.first or 0)
   for _, part in ipairs(slots.parts) do
      add_sender(slots, flow, part, add, o)
   end
   local tags = stream.metrics.predefined_metric_tags
   slots.by_port, slots.has_tags = tags ~= nil and tags.rx_name, stream.tags ~= nil
   return slots
end

--- How many streams may be added to a trial that begins with n, of all flows that there are.
function M.spares(flows, n)
   local others = -n
   for _, flow in ipairs(flows) do
      others = others + M.count(flow)
   end
   local all = n + others
   return math.min(others + (all <= FEW * 3 / 4 and FEW - all or SPARES), MAX_STREAMS - n)
end

return M
