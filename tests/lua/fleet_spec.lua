-- SPDX-License-Identifier: BSD-3-Clause

-- Agents of a fleet: who may use their ports, and what they may be made to send. The agents run their real
-- code over played testers (fleet_world.lua).
local bus = require "framegauge.fleet.bus"
local connection = require "framegauge.core.connection"
local frame = require "framegauge.traffic.frame"
local job = require "framegauge.core.job"
local ledger = require "framegauge.fleet.ledger"
local octets = require "framegauge.core.octets"
local policy = require "framegauge.fleet.policy"
local real_machine = require "framegauge.clock.machine"
local recipe = require "framegauge.fleet.recipe"
local scratch = require "scratch"
local time = require "framegauge.clock.time"
local World = require "fleet_world"

local random = math.random

teardown(scratch.remove)

local function command(step, o)
   o = o or {}
   return { v = 1, run = o.run or "r", trial = o.trial or 1, attempt = 1, step = step, epoch = o.epoch,
      by = o.by or "me", body = o.body or {} }
end

local function lease(agent, by, ports, ttl)
   return agent:obey(command("lease", {
      by = by, run = by, body = { ports = ports or { "east" }, ttl = ttl or 30 },
   }))
end

-- A stream from east of an agent to west of the same, as a controller tells it.
local function told(name, o)
   o = o or {}
   local template = frame.rfc2544(o.size or 128, { version = 4, src = octets.ipv4 "198.18.1.2",
      dst = octets.ipv4(o.to or "198.18.1.3"), src_mac = ("\2"):rep(6), dst_mac = ("\2"):rep(6),
      vary = { dst = o.vary } })
   local list = { array = require("ffi").new "struct fg_stream_config[1]", count = 1,
      made = { { frame = template } } }
   local load = require("ffi").new("struct fg_load[1]",
      { { fps = o.fps or 1000, end_fps = o.end_fps or 0, frames = 100 } })
   list.array[0].load, list.array[0].loads = load, 1
   local owner = function() return { agent = name, port = o.port or "east" } end
   local streams = recipe.streams(list, owner)
   streams[1].id = 1
   return { streams = streams, described = { { name = "one", fps = 1000 } }, seconds = 0.1, first_id = 1,
      learning_wait = 0, drain = 0, settle = 0 }
end

local function in_job(fn)
   return function()
      return job.run(fn)
   end
end

describe("a bus", function()
   it("knows which subjects fit a pattern", function()
      for pattern, subject in pairs {
         ["a.b"] = "a.b", ["a.*.c"] = "a.b.c", ["a.>"] = "a.b.c", [">"] = "x",
      } do
         assert.is_true(bus.fits(pattern, subject))
      end
      for pattern, subject in pairs { ["a.b"] = "a", ["a"] = "a.b", ["a.*"] = "a.b.c", ["a.>"] = "a" } do
         assert.is_false(bus.fits(pattern, subject))
      end
   end)

   it("carries questions and answers, and what one link sends to another", in_job(function()
      local hub, left, right = bus.new { carries = ">" }, bus.new(), bus.new()
      for _, one in ipairs { left, right } do
         local a, b = World.connection()
         hub:attach(a)
         one:attach(b)
      end
      left:serve("double.*", function(body, subject, answer)
         answer { twice = 2 * body.n, subject = subject }
      end)
      job.sleep(0.02)
      assert.same({ twice = 14, subject = "double.it" }, right:request("double.it", { n = 7 }, 1))
      assert.is_nil(right:request("nobody", {}, 0.02))
      assert.is_true(left:alive())
      left:close()
      job.sleep(0.01)
      assert.is_nil(right:request("double.it", { n = 7 }, 0.02))
   end))

   it("sends a link each message once, however many patterns of it fit, and none when it is gone",
      in_job(function()
      local hub, one = bus.new(), bus.new()
      local a, b = World.connection()
      local heard = {}
      hub:attach(a)
      for _, pattern in ipairs { "x.*", "x.y", "x.>", ">", "z.*.z" } do
         one:serve(pattern, function(body) heard[#heard + 1] = pattern .. body end)
      end
      local messages = 0
      local receive = one.receive
      function one:receive(...)
         messages = messages + 1
         return receive(self, ...)
      end
      one:attach(b)
      job.sleep(0.02)
      hub:publish("x.y", 1)
      hub:publish("z.a.z", 2)
      job.sleep(0.02)
      assert.same({ 2, { "x.*1", "x.y1", "x.>1", ">1", ">2", "z.*.z2" } }, { messages, heard })
      one:close()
      job.sleep(0.02)
      assert.same({}, hub.wanted)
      hub:publish("x.y", 3)
   end))

   it("drops a link whose message has no end", in_job(function()
      local small = bus.new { longest = 1000 }
      local a, b = World.connection()
      small:attach(a)
      b:write(("x"):rep(2000))
      job.sleep(0.02)
      assert.is_false(small:alive())
   end))
end)

describe("a line in many pieces", function()
   it("is joined once, and takes no more than a few times its memory", function()
      local heard, pieces = nil, 128
      local feed = connection.reader(function(object) heard = object end, 16 * 1024 * 1024)
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      feed '{"text":"'
      for i = 1, pieces do
         feed(("%064d"):format(i):rep(512)) -- 32 KiB
      end
      feed '"}\n{"n":'
      local made = collectgarbage "count" - before
      collectgarbage "restart"
      assert.equal(pieces * 32 * 1024, #heard.text)
      assert.is_true(made < 8 * pieces * 32, made)
      assert.is_true(feed "7}\n")
      assert.same({ n = 7 }, heard)
      assert.is_nil((feed "[\n"))
   end)
end)

describe("the leases of an agent", function()
   it("have epochs that only grow, also over restarts", function()
      local path, now = scratch.path(), 0
      local function open()
         return assert(ledger.open { ports = { "a", "b" }, path = path, now = function() return now end })
      end
      local one = open()
      local first = assert(one:lease { ports = { "a" }, by = "x", ttl = 10 })
      local nothing, why, other = one:lease { ports = { "b", "a" }, by = "y", ttl = 10 }
      assert.is_nil(nothing)
      assert.equal("port a is in use by x", why)
      assert.equal(first, other)
      assert.is_nil(one:of_port "b") -- all or none
      now = 9
      one:renew(first)
      now = 18
      assert.same({}, one:expire())
      now = 19.5
      assert.same({ first }, one:expire())
      local second = assert(open():lease { ports = { "a" }, by = "y", ttl = 10 })
      assert.equal(first.epoch + 1, second.epoch)
      scratch.write(path, "{ torn")
      assert.is_nil((ledger.open { ports = { "a" }, path = path, now = os.time }))
   end)

   it("are never two of one port, and no command of an old one counts, in 10,000 steps of a race",
      in_job(function()
      math.randomseed(11)
      local world = World.new { agents = { "rack1" } }
      local agent, epochs, last = world.agents.rack1, {}, 0
      local granted, stale = 0, 0
      for _ = 1, 10000 do
         local by = "c" .. random(2)
         local dice = random(6)
         if dice <= 2 then
            local answer = lease(agent, by, nil, 2)
            local fresh = answer.ok and answer.body.epoch ~= epochs[by]
            if fresh then
               granted = granted + 1
               if answer.body.epoch <= last then error "an epoch twice" end
               last, epochs[by] = answer.body.epoch, answer.body.epoch
            end
         elseif dice == 3 and epochs[by] then
            agent:obey(command("release", { by = by, run = by, epoch = epochs[by] }))
         elseif epochs[by] then
            local answer = agent:obey(command("renew", { by = by, run = by, epoch = epochs[by] }))
            if (answer.ok and true or false) ~= (agent.ledger:of_epoch(epochs[by]) ~= nil) then
               error "an old epoch counts"
            end
            if epochs[by] ~= last and answer.ok then error "not the newest epoch counts" end
            stale = stale + (answer.ok and 0 or 1)
         end
         world.now = world.now + random() * 0.5
         agent:look()
         if #agent.ledger:rows() ~= 2 then error "rows" end
      end
      assert.is_true(granted > 500 and stale > 500)
   end))

   it("end by themselves, and say who has the port now", in_job(function()
      local world = World.new { agents = { "rack1" } }
      local agent = world.agents.rack1
      local first = lease(agent, "alice", nil, 5).body.epoch
      assert.is_true(agent:obey(command("open", { epoch = first, by = "alice" })).ok)
      local tester = agent.work[first].tester
      for second = 1, 5 do -- alice has been stopped
         world.now, agent.looked = world.now + 1, world.now + 1
         agent:look()
         assert.equal(second < 5 and "alice" or nil, agent:rows()[1].by)
      end
      assert.is_true(tester.closed)
      assert.is_true(lease(agent, "bob").ok)
      for _, step in ipairs { "open", "prepare", "arm", "renew", "release", "abort" } do
         local answer = agent:obey(command(step, { epoch = first, by = "alice" }))
         assert.equal("bob", answer.holder)
         assert.matches("epoch 1 is over", answer.refused, 1, true)
      end
   end))

   it("do not end because the agent itself could not listen", in_job(function()
      local world = World.new { agents = { "rack1" } }
      local agent = world.agents.rack1
      lease(agent, "alice", nil, 5)
      agent:look()
      world.now = world.now + 60 -- the agent was stopped
      agent:look()
      assert.is_nil(agent:rows()[1].by) -- for no longer than another ttl
      lease(agent, "alice", nil, 5)
      world.now = world.now + 6
      agent:look()
      assert.equal("alice", agent:rows()[1].by)
   end))

   it("are asked of many agents at once, and all given back when one refuses", in_job(function()
      local names, wanted = {}, {}
      for i = 1, 90 do
         names[i] = ("rack%02d"):format(i)
         wanted[names[i]] = { "east" }
      end
      local world = World.new { agents = names }
      local control, asked, now, most = world.controller "alice", {}, 0, 0
      local ask = control.ask
      function control.ask(self, name, step, ...)
         asked[#asked + 1], now = step .. " " .. name, now + 1
         most = math.max(most, step == "lease" and now or 0)
         local answer = ask(self, name, step, ...)
         asked.first = asked.first or #asked
         now = now - 1
         return answer
      end
      lease(world.agents.rack44, "bob")
      local ok, err = pcall(control.lease, control, wanted, { ttl = 30 })
      assert.is_false(ok)
      assert.equal("agent rack44: port east is in use by bob", tostring(err))
      assert.same({ "lease rack01", 1 }, { asked[1], asked.first }) -- the first one alone
      assert.is_true(most > 10 and most <= 64, most)
      world.agents.rack44:obey(command("release", { epoch = 1, by = "bob", run = "bob" }))
      assert.is_true(World.is_free(world))
      control:lease(wanted, { ttl = 30 })
      for _, name in ipairs(names) do
         assert.equal("alice", world.agents[name]:rows()[1].by)
      end
      control:close()
      assert.is_true(World.is_free(world))
   end))

   it("are taken from others by those who say so, and are not given while an agent drains", in_job(function()
      local agent = World.new({ agents = { "rack1" } }).agents.rack1
      assert.is_true(lease(agent, "alice").ok)
      local taken = agent:obey(command("take", { by = "bob", body = { ports = { "east" }, ttl = 9 } }))
      assert.is_true(taken.ok)
      assert.equal("bob", agent:rows()[1].by)
      assert.is_true(agent:obey(command("drain")).body.draining)
      assert.matches("draining", lease(agent, "carol", { "west" }).refused)
      agent:obey(command("drain", { body = { on = false } }))
      assert.is_true(lease(agent, "carol", { "west" }).ok)
   end))
end)

describe("the commands of an agent", function()
   local function opened(o)
      local world = World.new { agents = { "rack1" }, isolated = o and o.isolated }
      local agent = world.agents.rack1
      local epoch = lease(agent, "me").body.epoch
      return agent, epoch, agent:obey(command("open", { epoch = epoch, body = { max_frame = 1518 } }))
   end

   it("are refused with the state when they come at the wrong time, and twice do nothing twice",
      in_job(function()
      local agent, epoch = opened()
      local function send(step, body)
         return agent:obey(command(step, { epoch = epoch, body = body }))
      end
      assert.same({ "no trial is prepared", "open" }, { send("arm", { at = "1" }).refused,
         send("arm", { at = "1" }).state })
      local body = told "rack1"
      local first = send("prepare", body)
      assert.is_true(first.ok)
      assert.equal(first, send("prepare", body))
      assert.matches("with another body", send("prepare", told("rack1", { fps = 5 })).refused)
      assert.is_true(send("arm", { at = "1" }).ok)
      assert.is_true(send("arm", { at = "1" }).ok)
      job.sleep(0.1)
      local result = send "collect"
      assert.same({ 100, 90 }, { result.body.directions[1].tx, result.body.directions[1].rx })
      assert.same(result, send "collect")
      send "forget"
      assert.matches("no result", send("collect").refused)
   end))

   it("start a trial by the common time, where there is one", in_job(function()
      local agent, epoch = opened()
      local function arm(machine, ahead, compared)
         agent.plan.clock = { source = "kernel", machine = setmetatable(machine, { __index = real_machine }) }
         agent.work[epoch].state = "open"
         local trial = random(1e6)
         agent:obey(command("prepare", { epoch = epoch, trial = trial, body = told "rack1" }))
         return agent:obey(command("arm", { epoch = epoch, trial = trial, body = {
            at = time.text(time.raw() + ahead), scale = "common", raw = time.text(time.raw()),
            distance = compared and time.text(compared) } }))
      end
      local function kernel(synchronised)
         return function() return { synchronised = synchronised, maxerror_ns = 1000 } end
      end
      assert.matches("clock is not synchronised", arm({ kernel = kernel(false) }, 0LL).refused, 1, true)
      local ahead = 3600000000000LL -- the common time is an hour ahead of the agent's own
      local began = time.raw()
      local function machine()
         return { kernel = kernel(true), programs = function() return {} end,
            distance_of_realtime = function() return ahead, 1, time.raw() end }
      end
      assert.matches("was not compared", arm(machine(), ahead).refused, 1, true)
      assert.matches("its clock was stepped by 1,000.000 ms",
         arm(machine(), ahead, ahead - 1000000000LL).refused, 1, true)
      -- so far back that the agent's own clock did not run yet
      assert.matches("the start is over", arm(machine(), -time.raw() - 1000LL, ahead).refused, 1, true)
      assert.is_true(arm(machine(), ahead + 50000000LL, ahead).ok)
      while agent.work[epoch].state ~= "frozen" and time.raw() - began < 5000000000LL do
         job.sleep(0.01)
      end
      assert.is_true(agent.work[epoch].state == "frozen" and time.raw() - began >= 50000000LL)
   end))

   it("of no form do nothing", in_job(function()
      local agent = opened()
      for _, case in ipairs {
         { command("lease", { body = {} }), "no ports" },
         { { v = 1, step = "lease", by = "me" }, "body is missing" },
         { { v = 1, step = "ports", by = "me", body = {}, shell = "rm" }, "an unknown field: shell" },
         { { v = 1, step = "ports", by = 7, body = {} }, "by is no string" },
         { { v = 2, step = "ports", by = "me", body = {} }, "version 1, not 2" },
         { command "format", "no step 'format'" }, { "text", "a command is an object" },
         { command("prepare", { body = {} }), "epoch nil is over" },
         { command("lease", { body = { ports = { "north" }, ttl = 9 } }), "no port 'north'" },
         { command("lease", { body = { ports = { "west" }, ttl = 1e9 } }), "lasts 1 to" },
      } do
         assert.matches(case[2], agent:obey(case[1]).refused, 1, true)
      end
      math.randomseed(5)
      local words = { "lease", "prepare", "arm", "x", 7, true, { 1 }, { l = {}, k = {} }, -1, "" }
      for _ = 1, 2000 do
         local body = {}
         for _ = 1, random(4) do
            body[({ "streams", "ports", "ttl", "at", "described" })[random(5)]] = words[random(#words)]
         end
         local answer
         agent:hear(command(words[random(3)], { epoch = random(3), body = body }), "fg.v1.cmd.rack1."
            .. words[random(3)], function(given) answer = given end)
         if not answer or not (answer.ok or answer.refused) then error "no answer" end
      end
   end))

   it("cannot widen what the agent's own file permits", in_job(function()
      local agent, epoch = opened()
      local function refusal(o)
         return agent:obey(command("prepare", {
            epoch = epoch, trial = random(1e6), body = told("rack1", o),
         })).refused
      end
      assert.is_nil(refusal {})
      agent.work[epoch].state = "open"
      assert.matches("198.20.0.1, which is not in agent.sends_to", refusal { to = "198.20.0.1" }, 1, true)
      assert.matches("8.8.8.8, which is not", refusal { to = "8.8.8.8" }, 1, true)
      assert.matches("port west is not leased", refusal { port = "west" }, 1, true)
      assert.matches("more than agent.limit, 100 Mbit/s", refusal { fps = 1e5 }, 1, true)
      assert.matches("more than agent.limit, 100 Mbit/s", refusal { end_fps = 1e5 }, 1, true) -- a ramp
      -- 198.19.255.0 and 512 addresses from there
      assert.matches("198.20.0.255, which is not", refusal {
         vary = { first = 0xc613ff00, step = 1, count = 512 } }, 1, true)
      assert.is_nil(refusal { vary = { first = 0xc613ff00, step = 1, count = 256 } })
   end))

   it("send nothing where the file does not say isolated_network", in_job(function()
      local _, _, answer = opened { isolated = false }
      assert.matches("isolated_network: true", answer.refused, 1, true)
   end))
end)

describe("the frames that an agent may send", function()
   local agent = {
      sends_to = { { address = "198.18.0.0", prefix = 15 }, { address = "2001:2::", prefix = 48 } },
   }

   local function problem(stack, more, raw)
      return policy.frame_problem(stack, more, { sends_to = agent.sends_to, raw = raw })
   end

   it("are for networks of its file alone, layer by layer", function()
      local good = { "ipv4", destination = octets.ipv4 "198.19.255.255" }
      local bad = { "ipv4", destination = octets.ipv4 "192.0.2.1" }
      assert.is_nil(problem { { "ethernet" }, good })
      assert.matches("192.0.2.1", problem { { "ethernet" }, good, { "gre" }, bad }, 1, true)
      assert.is_nil(problem { { "ipv6", destination = octets.ipv6 "2001:2:0:ffff::1" } })
      assert.matches("2001:2:1::1", problem { { "ipv6", destination = octets.ipv6 "2001:2:1::1" } }, 1, true)
      assert.matches("no IP layer", problem { { "ethernet" } })
      assert.matches("cannot be told", problem { { "ipv4" } })
      assert.matches("by offset", problem({ good }, { bytes = { { at = 30 } } }))
      assert.matches("by offset", problem { { "ipv4", destination = good.destination, bytes = { {} } } })
      assert.is_nil(problem({ { "ethernet" } }, {}, true))
   end)

   it("come out the same at another tester", function()
      local made = frame.build(256, { { "ethernet", source = "\2\0\0\0\0\1", destination = "\2\0\0\0\0\2" },
         { "ipv4", destination = octets.ipv4 "198.18.0.1", fields = { { name = "dscp", program = {
            first = 1, step = 2, count = 3, list = { 1, 7, 9 } } } } }, { "udp" } }, { payload = "\170\0" })
      local r = frame.recipe(made)
      local json = require "framegauge.text.json"
      local pack = json.decode(json.encode(recipe.pack(r.stack)))
      local again = frame.build(256, recipe.unpack(pack), recipe.unpack(recipe.pack(r.more)))
      for number = 0, 5 do
         assert.equal(frame.make(made, 3, number, 17), frame.make(again, 3, number, 17))
      end
      assert.is_true(recipe.unpack(recipe.pack(0xffffffffffffffffULL)) == 0xffffffffffffffffULL)
      assert.is_false((pcall(recipe.unpack, { l = 1, k = {} })))
   end)
end)
