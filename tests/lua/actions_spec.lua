-- SPDX-License-Identifier: BSD-3-Clause

-- What `framegauge check` says a plan does on the host.
local actions = require "framegauge.plan.actions"
local plans = require "framegauge.plan"
local rows = require "framegauge.plan.rows"
local scratch = require "scratch"
local uv = require "luv"

local HEAD = "isolated_network: true\n"

local function said_of(text)
   local plan, err = plans.load_text(HEAD .. text, "mine")
   local list = {}
   for i, one in ipairs(actions.of(plan or error(tostring(err)))) do
      list[i] = ("%s: this plan %s: %s"):format(one.key, one.does, one.what)
   end
   return list
end

-- Keys of a row and of those below it.
local function each_row(row, path, fn)
   fn(row, path)
   for _, field in ipairs(row.fields or row.type == "map" and row.of.fields or {}) do
      each_row(field, path .. "." .. tostring(field.key), fn)
   end
end

describe("the check of a plan", function()
   teardown(scratch.remove)

   it("names the commands of a plan, the files, the messages, and what DPDK is given", function()
      assert.same({
         "ports.a.device: this plan reads the file: in.pcap",
         "ports.a.device: this plan writes the file: /tmp/out.pcap",
         "ports.b.device: this plan has a DPDK driver open: net_null0",
         "host.eal: this plan gives DPDK the arguments: -d /tmp/driver.so",
         "convergence.command: this plan runs a command: sh -c 'reboot ?[2J'",
         "convergence.revert_command: this plan runs a command: true",
         "capture.b.file: this plan writes the file: b.pcapng",
         "hooks.chat.command: this plan runs a command: ./tell us",
         "hooks.web.webhook: this plan sends a message to: http://10.0.0.1:8000/x",
      }, said_of [[
ports: {a: {device: 'pcap:in.pcap,/tmp/out.pcap'}, b: {device: 'vdev:net_null0', line_rate: 1Gbps}}
host: {eal: [-d, /tmp/driver.so]}
test: convergence
convergence: {command: [sh, -c, "reboot \e[2J"], revert_command: ["true"]}
hooks: {chat: {command: [./tell, us]}, web: {webhook: "http://10.0.0.1:8000/x"}}
capture: {b: {file: b.pcapng}}
]])
      local ports = "ports: {a: {device: 'kernel:a'}, b: {device: 'kernel:b'}}\n"
      assert.same({ "rfc2544.reset.command: this plan runs a command: ./reset" },
         said_of(ports .. "test: rfc2544\nrfc2544: {tests: [reset], reset: {command: [./reset]}}"))
      assert.same({ "rfc9693.clear: this plan runs a command: ./clear" },
         said_of(ports .. "test: rfc9693\nrfc9693: {clear: [./clear]}"))
      assert.same({ "l4.file: this plan sends the bytes of the file: /etc/shadow" },
         said_of(ports .. "test: l4\nl4: {tests: [TCP_SENDFILE], file: /etc/shadow}"))
      local tagged = "ports: {a: {device: 'kernel:a,af_packet'}, b: {device: 'kernel:b,af_xdp'}}\ntest: traffic\nstreams: {s: {"
      assert.same({ "ports.a.device: this plan sends tags 0x88a8, which it receives as 0x8100: kernel:a,af_packet" },
         said_of(tagged .. "size: 128, frame: [ethernet, {qinq: {id: 5}}, {vlan: {id: 7}}, ipv4, udp]}}"))
      assert.same({}, said_of(tagged .. "size: 128, frame: [ethernet, {vlan: {id: 7}}, ipv4, udp]}}"))
      assert.equal(1, #said_of(tagged .. "size: 128, frame: [{ethernet: {type: 0x88a8}}, ipv4, udp]}}"))
      assert.same({}, said_of((tagged:gsub("traffic", "rfc2544"))
         .. "size: 128, frame: [ethernet, {qinq: {id: 5}}, {vlan: {id: 7}}, ipv4, udp]}}"))
      assert.same({ "convergence.link: this plan takes down the link of port: b" },
         said_of(ports .. "test: convergence\nconvergence: {link: b}"))
   end)

   it("prints them", function()
      local path = scratch.path()
      scratch.write(path, HEAD .. "ports: {a: {device: 'kernel:a'}, b: {device: 'kernel:b'}}\n"
         .. "test: traffic\nstreams: {s: {from: a, to: b, rate: 1kfps, size: 64}}\n"
         .. "hooks: {x: {command: [./tell]}}\n")
      local said, status = scratch.shell(("'%s' check '%s' 2>&1"):format(uv.exepath(), path))
      assert.equal(0, status)
      assert.matches("hooks.x.command: this plan runs a command: ./tell\n", said, 1, true)
   end)

   it("refuses what a run of the plan would, but not where that depends on a rate that only ports have", function()
      local function check(devices)
         local path = scratch.path()
         scratch.write(path, HEAD .. "ports: " .. devices .. "\ntest: mesh\nmesh: {load: 0.1%, trial: 1ms}\n")
         return scratch.shell(("'%s' check '%s' 2>&1"):format(uv.exepath(), path))
      end
      local said, status = check "{a: {device: wire0}, b: {device: wire1}}\nreference_device: {rate: 10Mbps}"
      assert.equal(2, status, said)
      assert.matches("not one frame in a trial of 1 ms", said, 1, true)
      assert.equal("", (said:match "good" or ""))
      said, status = check "{a: {device: 'kernel:a'}, b: {device: 'kernel:b'}}"
      assert.equal(0, status, said)
   end)

   it("refuses to send on a network that may be in use", function()
      for _, test in ipairs { "rfc2544", "replay\nreplay: {file: a.pcap}" } do
         local plan, err = plans.load_text("ports: {a: {device: 'kernel:a'}, b: {device: 'kernel:b'}}\ntest: "
            .. test, "mine")
         assert.is_nil(plan)
         assert.matches("isolated_network", tostring(err), 1, true)
      end
   end)

   it("prints no control characters of a plan", function()
      local path = scratch.path()
      for _, line in ipairs { 'description: "a\\e[2J\\ab"', 'name: "\\e[2J"', '"\\e[2Jx": 1',
         'rfc2544: {tests: ["\\e[2J"]}', 'hooks: {x: {command: ["\\e[2J"]}}' } do
         scratch.write(path, "ports: {a: {device: wire0}, b: {device: wire1}}\ntest: rfc2544\n" .. line
            .. "\n")
         local said = scratch.shell(("'%s' check '%s' 2>&1"):format(uv.exepath(), path))
         assert.falsy(said:find "[%z\1-\9\11-\31\127]", said)
      end
   end)

   it("has nothing to say of a plan that only sends frames", function()
      assert.same({}, said_of "ports: {a: {device: wire0}, b: {device: wire1}}\ntest: rfc2544")
   end)

   it("knows each key whose value is a program", function()
      each_row(rows, "plan", function(row, path)
         local is_program = row.type == "list" and row.of.type == "string"
            and (row.help or ""):find "program" ~= nil
         assert.falsy(is_program and not row.does, path)
      end)
   end)
end)
