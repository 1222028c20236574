-- SPDX-License-Identifier: BSD-3-Clause

-- What our client of iperf3 does on the control connection, with a peer that says what it should, and what it
-- should not.
local iperf_peer = require "iperf_peer"
local json = require "framegauge.text.json"
local messages = require "framegauge.tester.iperf3.messages"

local COOKIE, peer, text = iperf_peer.COOKIE, iperf_peer.new, iperf_peer.text

local TCP = '{"tcp":true,"parallel":1,"time":1,"len":1000}'

describe("a session of our client of iperf3", function()
   it("does what the server says", function()
      local p = peer(TCP)
      assert.equal(COOKIE .. "\0", p.said)
      p:say "\9"
      assert.equal(text(TCP), p.said:sub(38))
      p:say "\10"
      p:streams { sends = true, all = { octets = 10000 } }
      p:say "\1\2"
      assert.same({ "OPEN", "RUN" }, p.orders)
      p:wait(1)
      assert.equal("}", p.said:sub(-1))
      p.state.halted = true
      p:wait()
      assert.equal("\4", p.said:sub(-1))
      p:say "\13"
      assert.equal("}", p.said:sub(-1))
      p:say(text '{"streams":[{"id":1,"bytes":9999,"end_time":1.0,"retransmits":18446744073709551615}]}')
      p:say "\14"
      assert.equal("\16", p.said:sub(-1))
      assert.equal("done", (p:last()))
      assert.same({ "test", "result", "end" }, { p.reports[1].kind, p.reports[2].kind, p.reports[3].kind })
      assert.is_true(p.reports[1].client)
      assert.same({ 9999, 10000, true, 7 }, { p.reports[2].theirs.octets, p.reports[2].ours.octets,
         p.reports[2].sent, p.reports[2].ours.retransmits })
      assert.same({ 9999, json.null }, { p.session.peer.streams[1].bytes,
         p.session.peer.streams[1].retransmits })
   end)

   it("says why there is no test", function()
      for _, params in ipairs { TCP, '{"udp":true,"parallel":2,"time":1,"len":1000,"reverse":true}' } do
         for _, case in ipairs {
            { "\255", "refused", 121 }, { "\9\254\0\0\0\20\0\0\0\0", "refused", 20 },
            { "\9\10\11", "terminated", 0 }, { "\7", "nonsense", 0 }, { "\0", "nonsense", 0 },
            { "\9\9", "nonsense", 0 }, { "\9\10\10", "nonsense", 0 },
            { "\9\10\1", "nonsense", 0 }, -- before there are streams
            { "\10", "nonsense", 0 }, { "\2", "nonsense", 0 }, { "\9\13", "nonsense", 0 },
            { "\14", "nonsense", 0 }, { "\9\10", "gone", 0 }, { "", "gone", 0 }, { "\9\254\0", "gone", 0 },
         } do
            local p = peer(params)
            p:say(case[1])
            p:wait(0.5)
            p:gone()
            assert.same({ case[2], case[3] }, { p:last() }, json.encode(case[1]))
            local orders = table.concat(p.orders, " ")
            assert.equal(case[2] == "refused" or case[2] == "nonsense", orders:find "REFUSED" ~= nil)
            assert.matches("END", orders)
         end
      end
   end)

   it("believes no results that are none", function()
      for _, bad in ipairs { ("\0"):rep(4), "\255\255\255\255", text "{]", text '{"streams":7}', text "[]",
         text "" } do
         local p = peer(TCP)
         p:say "\9\10"
         p:streams { sends = true, all = { octets = 10000 } }
         p:say "\1\2"
         p.state.halted = true
         p:wait(1)
         p:say("\13" .. bad)
         assert.equal("nonsense", (p:last()))
         assert.equal(1, #p:of_kind "result")
      end
   end)

   it("ends with the trial", function()
      local p = peer(TCP)
      p.state.over = true
      p:wait()
      assert.equal("late", (p:last()))
      assert.same({ "END", "ABORT" }, p.orders)
      p = peer(TCP) -- the server says nothing after the test
      p:say "\9\10"
      p:streams(1)
      p:say "\1\2"
      p.state.halted, p.state.over = true, true
      p:wait(5)
      assert.is_nil((p:last()))
      p.session:close()
      assert.equal("late", p.session:take()[1].ending)
   end)

   it("survives any bytes", function()
      math.randomseed(11)
      for _ = 1, 300 do
         local p = peer(TCP)
         local good = { "\9", "\10", "\1", "\2", "\13", text '{"streams":[{"id":1}]}', "\14" }
         for i = 1, math.random(0, #good) do
            p:say(good[i])
            if i == 2 then
               p:streams { sends = true, all = { octets = 1 } }
            elseif i == 4 then
               p.state.halted = true
               p:wait()
            end
         end
         for _ = 1, 4 do
            p:say(string.char(math.random(0, 255), math.random(0, 17), math.random(0, 255)))
         end
         p:gone()
         assert.is_true(p.session.over)
         assert.equal(1, #p:of_kind "end")
      end
   end)
end)

describe("results of iperf3", function()
   it("are null where iperf3 does not know them, however its version writes -1", function()
      local shape = '{"sender_has_retransmits":%s,"streams":[{"bytes":5,"id":1,"retransmits":%s}]}'
      for _, unknown in ipairs { "-1", "18446744073709551615" } do
         local said = messages.peer_results(shape:format(unknown, unknown))
         assert.equal(shape:format("null", "null"), json.encode(said))
      end
      assert.is_nil(messages.peer_results "")
   end)
end)
