-- SPDX-License-Identifier: BSD-3-Clause

-- Commands that use only the ports of a plan: what is wrong in the rest does not keep them from it.
local plans = require "framegauge.plan"
local scratch = require "scratch"
local uv = require "luv"

local WRONG = [[
test: traffic
ports: {a: {device: wire0}, b: {device: wire1}}
streams: {s: {rate: 7, nonsense: 1}}
criteria: {nothing: 1}
]]

describe("a plan for a command that uses only its ports", function()
   teardown(scratch.remove)

   it("may be wrong in its streams, captures, criteria and hooks", function()
      assert.is_nil((plans.load_text(WRONG, "x.yaml")))
      local plan = assert(plans.load_text(WRONG, "x.yaml", { ports_only = true }))
      assert.same({ "b", {} }, { plan.ports[2].name, plan.streams })
   end)

   it("is refused where the rest of it is wrong", function()
      local plan, errors = plans.load_text(WRONG .. "host: {memory: none}\n", "x.yaml", { ports_only = true })
      assert.is_nil(plan)
      assert.equal(1, #errors)
      assert.matches("host.memory", tostring(errors[1]))
   end)

   it("is enough for capture", function()
      local path = scratch.path()
      local file = assert(io.open(path, "w"))
      file:write(WRONG)
      file:close()
      local output, status = scratch.shell(("'%s' capture '%s' --port a --out '%s.pcap' --duration 10ms 2>&1")
         :format(uv.exepath(), path, path))
      assert.equal(0, status, output)
      output, status = scratch.shell(("'%s' capture '%s' --port a --out '%s.pcap' --duration 10ms --filter 'inbound' 2>&1"):format(uv.exepath(), path, path))
      assert.equal(2, status)
      assert.matches("inbound: only the kernel knows the direction or interface of a frame", output)
   end)
end)
