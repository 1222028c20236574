-- SPDX-License-Identifier: BSD-3-Clause

--- How a flow over a LAG is spread: its frames leave in turn over those ports of the LAG that frames may be
-- distributed over, each with the header values of its number in the flow. Each port sends the cycle of sizes
-- from its beginning.
--
-- A LAG (services.otg.lags) stands where a flow has its port: `members` are its ports, `now` those in use.
local tables = require "framegauge.core.tables"

local M = {}

-- The ports that a flow leaves over now.
local function ports_of(stream)
   return stream.tx.members and stream.tx.now or { stream.tx }
end

--- How many ports a flow may leave over at once.
function M.most(stream)
   return stream.tx.members and #stream.tx.members or 1
end

--- The load of one of n streams that take turns.
function M.share(load, i, n)
   if n == 1 then
      return load
   end
   local share = tables.copy(load)
   share.fps = load.fps / n
   share.frames = load.frames and math.ceil((load.frames - i + 1) / n)
   return share
end

--- What each port sends of a flow, from a frame of it on.
-- @return list of { port =, load =, first =, of = how many, fields = or nil, phase = or nil }
-- (framegauge.tester.live)
function M.parts(stream, load, first)
   local ports = ports_of(stream)
   local n = math.min(#ports, load.frames or math.huge)
   return tables.map({ unpack(ports, 1, n) }, function(port, i)
      local part = { port = port, load = M.share(load, i, n), first = first, of = n }
      if n > 1 then
         part.first, part.fields, part.phase = 0, { first = first + i - 1, every = n }, (i - 1) / n
      end
      return part
   end)
end

--- The same parts of a flow, from where they are: each has frames of its own left.
-- @param load  of all of them
-- @param sent  frames that each has sent
function M.continued(parts, load, sent)
   return tables.map(parts, function(before, i)
      local part, share = tables.copy(before), tables.copy(load)
      share.fps, share.frames = load.fps / part.of, part.load.frames and part.load.frames - sent[i]
      part.load, part.first = share, part.first + sent[i]
      return (share.frames or 1) > 0 and part or nil
   end)
end

--- May a flow leave over a port?
function M.sends_from(stream, port)
   return stream.tx == port or tables.contains(stream.tx.members or {}, port)
end

--- Look which ports of LAGs are in use now.
function M.refresh(flows)
   local seen = {}
   for _, flow in ipairs(flows) do
      local lag = flow.stream.tx
      if lag.members and not seen[lag] then
         seen[lag] = true
         lag:refresh()
      end
   end
end

--- Should a flow that runs leave over other ports than it does?
function M.has_moved(flow)
   return flow.slots ~= nil and flow.stream.tx.members ~= nil and flow.slots.over ~= flow.stream.tx.now
end

--- What a flow has of the line of each of its ports, bits per second at layer 1: list of { port =, bps = }.
function M.shares(stream)
   local ports = stream.tx.members and (stream.tx.now[1] and stream.tx.now or stream.tx.members)
      or { stream.tx }
   return tables.map(ports, function(port)
      return { port = port, bps = stream.l1_bps / #ports }
   end)
end

return M
