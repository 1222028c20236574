-- SPDX-License-Identifier: BSD-3-Clause

--- The tests of TCP and UDP: one row for each, in the files beside this one. What the method, its keys, rules
-- and reports know of a single test follows from its row:
--
--    name        of the test in a plan, and of its kind in lib/apps
--    help        what it measures, a phrase
--    figure      key of its figure in a row of results
--    count(client, server)  what the figure is a rate of, and the result whose time it is of (default: the
--                transactions of the client)
--    theory(rate, ip, o, client)  the most that a line allows; client() makes the client's application
--    receiver    of payload that goes one way: the side that receives it, 1 the client, 2 the server
--    udp         it uses datagrams
--    short       its connections come and go
--    campaigns   those that it can be part of, beside battery and clients
--    peers       kinds of hosts that can play its server
--    datagrams   keys of sizes that must fit into a datagram
--    requests(o) requests on a connection; 0: no limit
--    parameters  keys of its own in the parameters of a row, beside those of TCP: list of { key, key of o }
--    fill(client, o, remote)      what its client is told beside what all are
--    group       its own rows in the group l4 of a plan, or nil
--    check(values, found)         a rule of its own for that group, or nil
--
-- A test is added by a file here and a word in FILES; its C side is in lib/apps.
local FILES = { "stream", "rr", "http", "udp" }

local M = {}

local list, by_name = {}, {}
for _, file in ipairs(FILES) do
   for _, kind in ipairs(require("framegauge.methods.l4.kinds." .. file)) do
      list[#list + 1], by_name[kind.name] = kind, kind
   end
end

--- All rows, in order.
M.LIST = list

--- The row of a test.
-- @usage kinds.of("TCP_RR").figure --> transactions_per_s
function M.of(name)
   return by_name[name]
end

--- Names of the tests for which a function is true, in order; of all without it.
function M.names(is_one)
   local names = {}
   for _, kind in ipairs(list) do
      names[#names + 1] = (not is_one or is_one(kind)) and kind.name or nil
   end
   return names
end

return M
