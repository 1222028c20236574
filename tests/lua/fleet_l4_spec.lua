-- SPDX-License-Identifier: BSD-3-Clause

-- What an agent lets a controller have its end of a connection do, and how both ends become one trial.
local l4 = require "framegauge.fleet.l4"
local octets = require "framegauge.core.octets"

local AGENT = { name = "rack1", sends_to = { { address = "198.18.0.0", prefix = 15 } } }
local PORTS = { { name = "east", ipv4 = "198.18.1.2" } }

local function client(more)
   local app = { test = "TCP_RR", address = "198.18.1.2", remote = "198.18.1.3", port = 5001,
      next_hop = octets.hex(("\2"):rep(6)), tcp = { congestion = "cubic" } }
   for key, value in pairs(more or {}) do
      app[key] = value
   end
   return app
end

local function problem(app, o)
   o = o or {}
   return l4.problem({ seconds = 1, interval = o.interval, sides = { {
      at = { agent = "rack1", port = o.port or "east" }, app = app, capacity = o.capacity,
   } } }, PORTS, o.agent or AGENT)
end

describe("the end of a connection at an agent", function()
   it("is from its port, to networks of its file, and of numbers", function()
      assert.is_nil(problem(client()))
      assert.is_nil(problem(client { server = true, remote = "192.0.2.1" })) -- it only answers
      for why, app in pairs {
         ["has no file"] = client { file = "/etc/passwd" }, ["has no tls"] = client { tls = {} },
         ["no application TCP_SENDFILE"] = client { test = "TCP_SENDFILE" },
         ["no application TLS_RR"] = client { test = "TLS_RR" },
         ["address differs from the port's"] = client { address = "198.18.1.9" },
         ["192.0.2.1 is not in agent.sends_to"] = client { remote = "192.0.2.1" },
         ["a MAC address of a wrong form"] = client { next_hop = "0202" },
         ["no congestion control"] = client { tcp = { congestion = "own" } },
         ["more than 4194304 connections"] = client { connections = 5e6 },
         ["has no port"] = client { port = "5001" },
      } do
         assert.matches(why, problem(app), 1, true)
      end
   end)

   it("has a leased port, no limit of its load, and no more memory than it needs", function()
      assert.matches("port west is not leased", problem(client(), { port = "west" }), 1, true)
      assert.matches("agent.limit is less", problem(client(), { agent = { name = "rack1", limit = 1e6,
         sends_to = AGENT.sends_to } }), 1, true)
      assert.matches("too many connections", problem(client(), { capacity = 5e6 }), 1, true)
      assert.matches("intervals", problem(client(), { interval = 1e-9 }), 1, true)
   end)

   it("is told to its own agent alone, and found in its place", function()
      local sides = { { at = { agent = "rack2", port = "a" } }, { at = { agent = "rack1", port = "b" } },
         { at = { agent = "rack2", port = "c" } } }
      assert.same({ sides[1], sides[3] }, l4.of({ sides = sides }, "rack2").sides)
      assert.same({}, l4.of({ sides = sides }, "rack3").sides)
      local joined, engine = l4.join({ rack1 = { sides = { "B" } }, rack2 = { sides = { "A", "C" } } },
         { l4 = { sides = sides }, seconds = 2 }, { time = "tsc", ports = {}, lcores = {} })
      assert.same({ "A", "B", "C" }, joined)
      assert.equal(2, engine.duration_s)
      local ok, err = pcall(l4.join, {}, {}, { invalid = { "agent rack2 was lost" } })
      assert.is_false(ok)
      assert.same({ 4, "agent rack2 was lost" }, { err.status, err.message })
   end)
end)
