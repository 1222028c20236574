-- SPDX-License-Identifier: BSD-3-Clause

-- Invitations to a fleet, from the line to the files. A script plays framegauge-bridge; nats.sh has
-- the real one and a server.
local invitation = require "framegauge.fleet.invitation"
local job = require "framegauge.core.job"
local plans = require "framegauge.plan"
local scratch = require "scratch"
local shell = require "framegauge.core.shell"
local uv = require "luv"

teardown(scratch.remove)

describe("an invitation to a fleet", function()
   local folder, count = scratch.path(), 0
   uv.fs_mkdir(folder, 493)
   local bridge, users = folder .. "/bridge", folder .. "/users.conf"
   scratch.write(bridge, [[#!/bin/sh
[ "$1" = --new-key ] || exit 1
echo "SECRET$$" >"$2"; echo "PUBLIC$$"
]])
   uv.fs_chmod(bridge, 493)

   local function invite(name, o)
      o = o or {}
      o.server, o.users, o.bridge = { "tls://one:4222", "tls://two:4222" }, users, bridge
      return job.run(invitation.invite, name, o)
   end

   local function join(line, o)
      count = count + 1
      o = o or { ports = { "east=memif:/run/a", "west=memif:/run/b" } }
      o.folder = o.folder or folder .. "/host" .. count
      return o.folder, invitation.join(line, o)
   end

   it("gives a key its subjects, and the host the key", function()
      local ca = folder .. "/ca.pem"
      scratch.write(ca, "CERTIFICATE\n")
      local host, name, role = join(invite("rack1", { ca = ca }))
      assert.same({ "rack1", "agent" }, { name, role })
      local secret = scratch.read(host .. "/bridge.nkey"):match "SECRET(%d+)"
      assert.matches(('{ nkey: PUBLIC%s, permissions: { publish: ["fg.v1.sent.*.rack1"], subscribe: ["fg.v1.cmd.rack1.*", "fg.v1.sent.rack1.*"], allow_responses'):format(secret),
         scratch.read(users), 1, true)
      assert.equal("CERTIFICATE\n", scratch.read(host .. "/bridge-ca.pem"))
      assert.equal(('OPTIONS="--server tls://one:4222 --server tls://two:4222 --ca %s --agent /run/framegauge/agent/socket"\n'):format(shell.word(host .. "/bridge-ca.pem")), scratch.read(host .. "/bridge.conf"))
      assert.equal("600\n", (scratch.shell(("stat -c %%a '%s/bridge.nkey'"):format(host))))
      local plan = assert(plans.load(host .. "/agent.yaml", {}))
      assert.same({ "rack1", "east", "west", false },
         { plan.agent.name, plan.ports[1].name, plan.ports[2].name, plan.isolated_network })
   end)

   it("replaces an earlier one of the same name, and no other", function()
      invite "rack2"
      local before = scratch.read(users)
      invite "rack2"
      local now = scratch.read(users)
      assert.equal(before:match "[^\n]*# rack1\n", now:match "[^\n]*# rack1\n")
      assert.is_true(before:match "[^\n]*# rack2\n" ~= now:match "[^\n]*# rack2\n")
      assert.equal(2, select(2, now:gsub("nkey: ", "")))
   end)

   it("lets a controller ask agents, and nothing else", function()
      local host, _, role = join(invite("desk", { controller = true }), {})
      assert.equal("controller", role)
      assert.matches('publish: ["fg.v1.cmd.>"], subscribe: ["_INBOX.>"] } } # desk', scratch.read(users), 1,
         true)
      assert.matches("--listen /run/framegauge/bridge/bus", scratch.read(host .. "/bridge.conf"), 1, true)
      assert.is_nil(io.open(host .. "/agent.yaml"))
   end)

   it("is refused where it is not whole, and where files are that it would replace", function()
      local line = invite "rack3"
      for _, bad in ipairs { "", "fg1-", "fg1-00", line:sub(1, -3), line .. "0", line:sub(5) } do
         assert.has_error(function() join(bad) end)
      end
      local host = join(line)
      assert.has_error(function() join(line, { folder = host, ports = { "east=memif:/run/a" } }) end)
      join(line, { folder = host, ports = { "east=memif:/run/a" }, again = true })
      assert.has_error(function() join(line, { ports = {} }) end)
      assert.has_error(function() join(line, { ports = { "wire0" } }) end)
      -- which a controller cannot make good
      assert.has_error(function() join(line, { ports = { "east=kernel:lo" } }) end)
   end)

   it("is followed where the services look, unless it is told where", function()
      local journal, asked = require "framegauge.fleet.journal", nil
      local folder_of = journal.folder
      function journal.folder(path)
         asked = path
         return nil, "not here"
      end
      local ok, why = pcall(invitation.join, invite "rack4", { ports = { "east=memif:/run/a" } })
      journal.folder = folder_of
      assert.same({ false, "not here", "/etc/framegauge" }, { ok, tostring(why), asked })
   end)

   it("is for names that subjects may have, and leaves other files alone", function()
      for _, bad in ipairs { "a.b", "*", "", ">", "a b", ("x"):rep(32) } do
         assert.has_error(function() invite(bad) end)
      end
      scratch.write(users, "authorization { token: secret }\n")
      assert.has_error(function() invite "rack4" end)
      assert.equal("authorization { token: secret }\n", scratch.read(users))
   end)
end)
