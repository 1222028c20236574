-- SPDX-License-Identifier: BSD-3-Clause

-- What our server of iperf3 does on the control connection, with a peer that says what it should, and what it
-- should not.
local iperf_peer = require "iperf_peer"
local json = require "framegauge.text.json"

local COOKIE, nothing, served = iperf_peer.COOKIE, iperf_peer.nothing, iperf_peer.served
local peer, text = iperf_peer.new, iperf_peer.text

local TCP = '{"tcp":true,"parallel":1,"time":1,"len":1000}'

local function running(...)
   local p = served(TCP)
   p:streams(...)
   return p
end

describe("a session of our server of iperf3", function()
   it("leads a client through its test", function()
      local p = running(1111)
      assert.equal("\9\10\1\2", p.said)
      assert.equal(COOKIE .. "\0", p.test.cookie)
      assert.same({ "OPEN", "RUN" }, p.orders)
      p:say "\4"
      p:say(text '{"streams":[{"id":1,"bytes":1111,"retransmits":-1}]}')
      assert.equal("\14", p.said:sub(-1))
      p:say "\16"
      assert.equal("done", p:last())
      assert.is_true(p.session.over)
      local test, result = p:of_kind "test" [1], p:of_kind "result" [1]
      assert.same({ "198.18.0.1", 40000, false, 1000 }, { test.address, test.port, test.client, test.length })
      assert.same({ 1111, 1111, 1, false, 1 },
         { result.ours.octets, result.theirs.octets, result.stream, result.sent, result.ours.to })
      assert.is_nil(result.theirs.retransmits)
      assert.same({ "OPEN", "RUN", "COUNT", "TRUNCATE", "COUNT", "END" }, p.orders)
   end)

   it("tells the client what it reports, which later data do not change", function()
      local p = running(11)
      p:say "\4"
      p:say(text '{"streams":[{"id":1,"bytes":5}]}')
      local told = json.decode(p.said:sub(10, -2))
      p.counts[1].all.octets = 20
      p:say "\16"
      local result = p:of_kind "result" [1]
      assert.same({ 11, 11, 5 }, { told.streams[1].bytes, result.ours.octets, result.theirs.octets })
      assert.same({ "cubic", -1, -1 },
         { told.congestion_used, told.sender_has_retransmits, told.streams[1].retransmits })
   end)

   it("waits a second for what is on its way", function()
      for _, comes in ipairs { true, false } do
         local p = running(1000)
         p:say "\4"
         p:say(text '{"streams":[{"id":1,"bytes":2000}]}')
         p:wait(0.5)
         assert.equal("\9\10\1\2\13", p.said)
         p.counts[1].all.octets = comes and 2000 or 1500
         p:wait(0.4)
         assert.equal(comes and "\14" or "\13", p.said:sub(-1))
         p:wait(0.2)
         p:say "\16"
         assert.same({ "done", comes and 2000 or 1500 },
            { (p:last()), p:of_kind "result" [1].ours.octets })
      end
   end)

   it("does not wait for a stream whose connection has ended", function()
      local p = running(1000)
      p.counts[1].open = false
      p:say "\4"
      p:say(text '{"streams":[{"id":1,"bytes":2000}]}')
      assert.equal("\14", p.said:sub(-1))
   end)

   it("reports each second, and the rest at the end", function()
      local p = running(1000)
      p:wait(1)
      p.counts = { now = 2, from = 0, omitting = false, retransmits = 0, cubic = true, p.counts[1] }
      p.counts[1] = { sends = false, open = true, all = nothing(), omitted = nothing(), jitter_ms = 0,
         to = 2 }
      p.counts[1].all.octets = 2500
      p:say "\4"
      p:say(text '{"streams":[]}')
      local list = p:of_kind "interval"
      assert.same({ 2, 1000, 1500, 0, 1, 1, 2 }, { #list, list[1].ours.octets, list[2].ours.octets,
         list[1].ours.from, list[1].ours.to, list[2].ours.from, list[2].ours.to })
   end)

   it("marks the second that was omitted, though its end was a moment before the count", function()
      local p = served '{"parallel":1,"time":2,"omit":1,"len":1000}'
      p:streams(1000)
      for second = 1, 3 do
         p.counts.now, p.counts.from = second + 0.001, 1
         p:wait(1)
         assert.equal(second == 1, p:of_kind "interval" [second].omitted)
      end
   end)

   it("reports what control was late to report as one interval", function()
      local p = running(1000)
      p:wait(3.5)
      p:wait(0.4)
      assert.equal(1, #p:of_kind "interval")
      p:wait(0.2)
      assert.equal(2, #p:of_kind "interval")
   end)

   it("numbers streams as iperf3 does, and gives the first sender all retransmissions", function()
      local p = served '{"parallel":3,"reverse":true,"len":1000,"get_server_output":1}'
      local sends = { sends = true, all = { octets = 100 } }
      p:streams(sends, sends, sends)
      p:say "\4"
      p:say(text('{"streams":[{"id":4,"bytes":44},{"id":3,"bytes":33},{"id":99,"bytes":1},7,{"bytes":5},{"id":nan},{"id":"1"}]}'))
      p:say "\16"
      local numbers, theirs, again = {}, {}, {}
      for i, r in ipairs(p:of_kind "result") do
         numbers[i], theirs[i], again[i] = r.stream, r.theirs.octets, r.ours.retransmits
      end
      assert.same({ 1, 3, 4 }, numbers)
      assert.same({ 0, 33, 44 }, theirs)
      assert.same({ 7, 0, 0 }, again)
      assert.matches("%[  3%] sent 100 bytes in 1.000000 s", p.said)
   end)

   it("leaves out the omitted time of datagrams, whether the client says what it lost then or not", function()
      for _, case in ipairs { { ',"omitted_errors":2', 3 }, { "", 1 } } do
         local p = served '{"udp":true,"parallel":1,"time":1,"omit":1,"len":1000}'
         local omitted = nothing()
         omitted.octets, omitted.datagrams, omitted.lost = 10000, 10, 1
         p:streams { sends = true, all = { octets = 110000, datagrams = 110, lost = 0 }, omitted = omitted }
         p:say "\4"
         p:say(text(('{"streams":[{"id":1,"bytes":99000,"packets":110,"errors":5%s}]}'):format(case[1])))
         p:say "\16"
         local r = p:of_kind "result" [1]
         assert.same({ 100, 100, case[2] }, { r.ours.datagrams, r.theirs.datagrams, r.theirs.lost })
         assert.matches('"packets":110', p.said)
         assert.matches('"omitted_packets":10', p.said)
      end
   end)

   it("takes a message byte by byte", function()
      local p = peer()
      for byte in (COOKIE .. "\0" .. text(TCP)):gmatch "." do
         p:say(byte)
      end
      assert.equal("\9\10", p.said)
   end)

   it("refuses parameters by iperf3's number", function()
      for _, case in ipairs {
         { '{"tcp":true,"parallel":1', 114 }, -- ends too early
         { '{"tcp":true,"parallel":1}}', 114 }, { '{"parallel":1,}', 114 },
         { "[1]", 114 }, { "7", 114 }, { "null", 114 }, { " ", 114 },
         { ('{"a":%s1%s}'):format(("["):rep(5000), ("]"):rep(5000)), 114 },
         { '{"parallel":1,"reverse":true,"bidirectional":true}', 114 },
         { '{"parallel":0}', 6 }, { '{"parallel":129}', 6 }, { '{"parallel":nan}', 6 },
         { '{"parallel":1e999,"len":-1e999,"time":1e99,"bandwidth":1e999}', 6 },
         { '{"parallel":-1}', 6 }, { '{"time":86401}', 5 }, { '{"omit":-1}', 5 }, { '{"sctp":true}', 18 },
         { '{"udp":true,"len":15}', 20 }, { '{"udp":true}', 20 },
         { '{"udp":true,"len":1473}', 20 }, -- an IPv4 packet of 1501
         { '{"MSS":87}', 10 }, { '{"congestion":"vegas"}', 134 },
      } do
         local p = served(case[1])
         assert.equal("\9\254\0\0\0" .. string.char(case[2]) .. "\0\0\0\0", p.said, case[1]:sub(1, 60))
         assert.same({ "refused", case[2] }, { p:last() })
         assert.equal("test", p.reports[1].kind)
         assert.same({ "END" }, p.orders)
      end
   end)

   it("reads what matters and passes over the rest", function()
      local p = served(' {"title":"a \\"quoted\\" {[ title", "extra" : {"parallel":7,"list":[1,2.5e3,null,false]},\r\n\t"parallel":2,"udp":false,"time":null,"len":2000,"congestion":"reno","window":1,"num":4500,"MSS":"x"} ')
      assert.equal("\9\10", p.said)
      assert.same({ 2, 2000, 1, 2304, 3, 0, false },
         { p.test.parallel, p.test.length, p.test.congestion, p.test.window, p.test.blocks, p.test.mss,
            p.test.udp })
      assert.same({ 2, 2000, false }, { p.reports[1].parallel, p.reports[1].length, p.reports[1].udp })
      assert.equal(3, served '{"blockcount":3}'.test.blocks)
      assert.equal(131072, served '{"len":0}'.test.length)
      assert.equal(2 ^ 30, served '{"window":1e12}'.test.window)
   end)

   it("ends what is said out of turn", function()
      for _, case in ipairs {
         { "a length of nothing", ("\0"):rep(4), "refused" },
         { "a length of gigabytes", "\255\255\255\255{}", "refused" },
         { "a text that needs half the room of a session and more", "\0\2\0\1{", "refused" },
         { "a length with less behind it", "\0\0\0\9{}", "gone" }, { "nothing", "", "gone" },
      } do
         local p = peer()
         p:say(COOKIE .. "\0" .. case[2])
         p:gone()
         assert.equal(case[3], (p:last()), case[1])
      end
      for _, state in ipairs { 0, 1, 2, 3, 9, 10, 11, 12, 13, 14, 15, 16, 255, 254 } do
         local p = served(TCP)
         p:say(string.char(state))
         local ends = state == 16 or state == 12
         assert.equal(ends and "terminated" or "nonsense", (p:last()), tostring(state))
         assert.equal(ends and "\9\10" or "\9\10\254\0\0\0\110\0\0\0\0", p.said)
         p = running(1)
         p:say "\4"
         p:say(text(string.char(state)))
         assert.same({ "nonsense", 117 }, { p:last() })
         assert.equal("result", p.reports[#p.reports - 1].kind)
      end
   end)

   it("ends a test whose client goes, at every step", function()
      local steps = { COOKIE .. "\0", text(TCP), false, "\4", text '{"streams":[]}' }
      for n = 0, #steps do
         local p = peer()
         for i = 1, n do
            if steps[i] then
               p:say(steps[i])
            else
               p:streams(1)
            end
         end
         p:gone()
         assert.equal("gone", (p:last()), tostring(n))
         assert.is_true(p.session.over)
         assert.equal(n >= 3 and 1 or 0, #p:of_kind "result")
         assert.equal("END", p.orders[#p.orders])
      end
   end)

   it("ends a test whose client stays away, at every step", function()
      local steps = { COOKIE .. "\0", text(TCP), false, "\4" }
      for n = 0, #steps do
         local p = peer()
         for i = 1, n do
            if steps[i] then
               p:say(steps[i])
            else
               p:streams(1)
            end
         end
         p:wait(9.9)
         assert.is_nil((p:last()))
         p:wait(n == 3 and 21.2 or 0.2) -- the time of the test, and 30 s more
         assert.equal("late", (p:last()), tostring(n))
      end
      local p = running(1)
      p:say "\4"
      p:say(text '{"streams":[]}')
      p:wait(10.1)
      assert.equal("late", (p:last()))
   end)

   it("gives each stream its time, and a test without an end all of it", function()
      local p = served '{"tcp":true,"parallel":3,"time":0,"len":1000}'
      for n = 1, 3 do
         p:wait(8)
         p.counts[n] = running(1).counts[1]
         p.state.streams = n
         p:wait()
      end
      assert.equal("\9\10\1\2", p.said)
      p:wait(1e6)
      assert.is_nil((p:last()))
   end)

   it("tells the client that the server ends", function()
      local p = running(5)
      p.session:stop()
      p:wait()
      assert.equal("\9\10\1\2\11", p.said)
      assert.same({ "stopped", 5 }, { (p:last()), p:of_kind "result" [1].ours.octets })
   end)

   it("lets a client give up", function()
      local p = running(5)
      p:say "\12"
      assert.equal("terminated", (p:last()))
      assert.same({ "HALT", "END" }, { p.orders[#p.orders - 1], p.orders[#p.orders] })
      p = served(TCP)
      p:say "\16" -- its option --rcv-timeout, or a port that is in use
      assert.equal("terminated", (p:last()))
   end)

   it("survives any bytes", function()
      math.randomseed(7)
      for _ = 1, 300 do
         local p = math.random() < 0.5 and served(TCP) or peer()
         if p.said ~= "" and math.random() < 0.5 then
            p:streams(1)
         end
         for _ = 1, 8 do
            local bytes = {}
            for i = 1, math.random(12) do
               bytes[i] = string.char(math.random() < 0.7 and math.random(0, 16) or math.random(0, 255))
            end
            p:say(math.random() < 0.2 and text(table.concat(bytes)) or table.concat(bytes))
            p:wait(math.random() * 3)
         end
         p:gone()
         p:wait(20)
         assert.is_true(p.session.over)
         assert.equal(1, #p:of_kind "end")
      end
   end)
end)
