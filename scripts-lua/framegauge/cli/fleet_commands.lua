-- SPDX-License-Identifier: BSD-3-Clause

--- The commands of testers on several hosts; rows as in cli/commands.lua.
local SET = { "--set PATH=VALUE", "change one key of the plan, such as --set fleet.wait=10min", many = true }

local DURATION = { "--duration TIME", "end after this time (default: at Ctrl-C)" }

return {
   { "agent", "remote agent: a tester at the other end, controlled by a local tester",
      "Listen for another Framegauge, on a loopback address or a socket, and work for it: open ports with the addresses of its plan, send, receive and report the counts. With agent.name it is one of a fleet: plans use its ports as agent:NAME/PORT, and its own file says what it may send. Without, the local tester has a plan with topology: two-testers and a port agent:ADDRESS:PORT. Runs until Ctrl-C.",
      arguments = { { "PLAN.yaml", "a plan with test: agent; see 'help plan'" } },
      options = { SET, DURATION },
      takes_eal = true,
      examples = { "agent configs/agent.yaml" },
      module = "framegauge.cli.plan", call = "serve",
   },
   { "fleet", "the agents of a plan: ports, clocks, leases",
      "Ask the agents of a plan (fleet.agents). 'ports' lists their ports, who has leased them and until when; 'clocks' how far the clocks of each two may differ; 'drain' stops new leases, 'undrain' allows them again; 'lease' reserves the ports of the plan for you, so that only runs of yours (user and host) get them, until the time of --for is over, somebody calls 'release' or an agent starts again; 'release' takes the ports of the plan from their present user, so that a running trial becomes invalid; 'mesh' prints the rounds in which each agent meets each other one (a plan with test: mesh measures them). Without a plan: 'invite NAME' makes a key for a host and admits it to a NATS server, and prints a line for that host; 'join LINE' (or 'join -', which reads it) writes the files of agent and bridge there.",
      arguments = {
         { "ACTION", "'ports', 'clocks', 'lease', 'release', 'drain', 'undrain', 'mesh', 'invite' or 'join'",
           words = { "ports", "clocks", "lease", "release", "drain", "undrain", "mesh", "invite", "join" } },
         { "[PLAN.yaml]", "a plan with fleet.agents; a name, or a line of 'invite'" },
      },
      options = {
         SET,
         { "--for TIME", "lease: from now on, 1s to 24h", default = "1h" },
         { "--uplink-pairs N", "mesh: most pairs in a round over the uplink of a site" },
         { "--server URL", "invite: tls://HOST:PORT of the server; again for each of a cluster",
           many = true },
         { "--users FILE", "invite: file of users that the server's file includes" },
         { "--ca FILE", "invite: certificates that vouch for the server (default: the new host's)" },
         { "--controller", "invite: a host with controllers, not an agent" },
         { "--bridge FILE", "invite: the program that makes keys", default = "framegauge-bridge" },
         { "--port NAME=DEVICE", "join: a port of the agent", many = true },
         { "--folder DIR", "join: where files belong", default = "/etc/framegauge" },
         { "--isolated-network", "join: nothing but the network under test is at these ports: the agent may send" },
         { "--again", "join: replace files that are there" },
      },
      examples = { "fleet ports plan.yaml", "fleet clocks plan.yaml", "fleet lease plan.yaml --for 2h",
         "fleet mesh plan.yaml --uplink-pairs 2",
         "fleet invite rack1 --server tls://broker:4222 --users users.conf --ca ca.pem" },
      module = "framegauge.cli.fleet",
   },
}
