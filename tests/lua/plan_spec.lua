-- SPDX-License-Identifier: BSD-3-Clause
local address = require "framegauge.plan.address"
local help = require "framegauge.plan.help"
local plan = require "framegauge.plan"
local scratch = require "scratch"

local MINIMAL = "ports: {east: {device: wire0}, west: {device: wire1}}\ntest: rfc2544\n"

local MEMIF = "ports: {a: {device: 'memif:/run/a'}, b: {device: 'memif:/run/b'}}\ntest: rfc2544\n"

-- The problems of a text as one text; "" for a good plan.
local function wrong(text, options)
   local _, errors = plan.load_text(text, "x.yaml", options)
   return tostring(errors or "")
end

-- The same for the minimal plan with some settings.
local function wrong_with(...)
   return wrong(MINIMAL, { sets = { ... } })
end

describe("a plan", function()
   it("needs two ports and a test, and gets everything else", function()
      local loaded = plan.load_text(MINIMAL, "dir/my lab.yaml")
      local given = loaded.source.given
      assert.same({ true, false }, { given "ports.east.device", given "rfc2544.latency.trial" })
      loaded.source.given = nil
      assert.same({
         file = "dir/my lab.yaml", name = "my lab", isolated_network = false,
         ports = {
            { name = "east", device = "wire0", kind = "wire", physical = false, ipv4 = "198.18.1.2",
              prefix4 = 24 },
            { name = "west", device = "wire1", kind = "wire", physical = false, ipv4 = "198.19.1.2",
              prefix4 = 24 },
         },
         reference_device = {
            time = "free", rate = 1e9, buffer = 512, buffer_unit = "frames", latency = 20e-6,
            latency_per_byte = 0, switching = "store-and-forward", loss_every = 0, loss_random = 0,
            recovery = 0, seed = 1, reflect = false,
         },
         host = { huge_pages = "auto", max_lag = 0.001, realtime = false, eal = {} },
         clock = { source = "auto" }, fleet = { agents = {}, wait = 0, ttl = 30 },
         needs = {
            topology = "pairs", one_way = false, one_lcore_a_port = false,
            frame_sizes = { 64, 128, 256, 512, 1024, 1280, 1518 }, marks = { pcp = 0, dei = 0, dscp = 0 },
         },
         test = "rfc2544",
         rfc2544 = {
            latency = { trial = 120, tag_after = 60, tags = 1, repetitions = 20 },
            frame_loss = { max = { unit = "ratio", value = 1, text = "100%" }, step = 0.1, trial = 60 },
            back_to_back = { search = "binary", limit = 2, step = 1, repetitions = 50 },
            system_recovery = { overload = 60, watch = 60, repetitions = 3 },
            reset = { after = 15, watch = 60, outage = 1, repetitions = 1 },
            management = { community = "public", interface = 1 }, pcp = 0, dei = false, dscp = 0,
            bursty_traffic = {
               burst_frames = { 16, 64, 256, 1024 }, search = "binary", limit = 1, resolution = 0.001,
               trial = 60, search_trial = 1,
            },
            tests = { "throughput" }, frame_sizes = { 64, 128, 256, 512, 1024, 1280, 1518 },
            bidirectional = true, topology = "pairs", modifiers = {}, learning_wait = 2, drain = 2,
            settle = 5, retries = 2,
            throughput = {
               search = "binary", min = { unit = "ratio", value = 0, text = "0%" },
               max = { unit = "ratio", value = 1, text = "100%" },
               resolution = { unit = "ratio", value = 0.001, text = "0.1%" }, trial = 60, search_trial = 1,
               loss_tolerance = 0, backoff = { unit = "ratio", value = 0.01, text = "1%" }, max_trials = 1000,
               loss_verify_trials = 2, preceding_targets = 2,
            },
         },
         streams = {}, quick = false,
         source = { text = MINIMAL, options = { sets = {}, quick = false, eal = {} }, replaced = {} },
      }, loaded)
   end)

   it("keeps the order of its ports", function()
      local text = "test: rfc2544\nports: {z: {device: wire1}, a: {device: wire0}}"
      local loaded = plan.load_text(text, "x.yaml")
      assert.equal("z", loaded.ports[1].name)
      assert.equal("198.18.1.2", loaded.ports[1].ipv4)
   end)

   it("changes with --set, whatever the kind of the value; the last one counts", function()
      local loaded = plan.load_text(MINIMAL, "x.yaml", {
         sets = {
            "reference_device.capacity=734kfps", "rfc2544.frame_sizes=[64, 1518]", "rfc2544.retries=1",
            "rfc2544.retries=3", "reference_device.buffer=64KiB", "ports.west.ipv4=198.18.1.3/24",
            "description=a = b", "dut={name: bridge}",
         },
      })
      assert.equal(734000, loaded.reference_device.capacity)
      assert.same({ 64, 1518 }, loaded.rfc2544.frame_sizes)
      assert.equal(3, loaded.rfc2544.retries)
      assert.equal("bytes", loaded.reference_device.buffer_unit)
      assert.equal("198.18.1.3", loaded.ports[2].ipv4)
      assert.equal("a = b", loaded.description)
      assert.same({ name = "bridge" }, loaded.device_under_test)
   end)

   it("says which of its keys --quick replaces, and has its errors under it, too", function()
      local function load(keys, ...)
         return plan.load_text(MINIMAL .. "\nrfc2544: {" .. keys .. "}", "x.yaml",
            { quick = true, sets = { ... } })
      end
      local loaded = assert(load "drain: 3s, settle: 7s, learning_wait: 2s")
      local keys = {}
      for _, one in ipairs(loaded.source.replaced) do
         keys[one.key] = one.was
      end
      assert.equal("3s", keys["rfc2544.drain"])
      assert.same({}, assert(load("drain: 3s", "rfc2544.drain=3s")).source.replaced)
      local _, errors = load "drain: 3"
      assert.matches('rfc2544.drain: "3" has no unit', tostring(errors), 1, true)
      assert.is_truthy(load("drain: 3", "rfc2544.drain=3s")) -- mended by the setting
   end)

   it("is shortened by --quick, but not against an explicit --set", function()
      local loaded = plan.load_text(MINIMAL, "x.yaml", { quick = true, sets = { "rfc2544.drain=1s" } })
      local rfc2544 = loaded.rfc2544
      assert.is_true(loaded.quick)
      assert.same({ 0.1, 1, 0, 1, 0.2 }, {
         rfc2544.learning_wait, rfc2544.drain, rfc2544.settle, rfc2544.throughput.trial,
         rfc2544.throughput.search_trial,
      })
   end)

   it("never searches with longer trials than it decides with", function()
      local loaded = plan.load_text(MINIMAL, "x.yaml", { sets = { "rfc2544.throughput.trial=500ms" } })
      assert.equal(0.5, loaded.rfc2544.throughput.search_trial)
   end)

   it("completes the goals of MLRsearch from the presets of their names", function()
      local mlr = "rfc2544.throughput.search=mlr"
      local function goals(...)
         return plan.load_text(MINIMAL, "x.yaml", { sets = { mlr, ... } }).rfc2544.throughput.goals
      end
      assert.same({ {
         name = "rfc2544", final_trial = 60, initial_trial = 1, duration_sum = 60, loss_ratio = 0,
         exceed_ratio = 0,
      } }, goals())
      local list = goals("rfc2544.throughput.goals=[ndr, {name: pdr, loss_ratio: 1%}]",
         "rfc2544.throughput.search_trial=100ms")
      assert.same({ "ndr", 0, 0.1, 2.1, 0.005 }, {
         list[1].name, list[1].loss_ratio, list[1].final_trial, list[1].duration_sum, list[1].width,
      })
      assert.same({ "pdr", 0.01 }, { list[2].name, list[2].loss_ratio })
      assert.equal(10, goals("rfc2544.throughput.trial=10s")[1].duration_sum)
      assert.is_nil(plan.load_text(MINIMAL, "x.yaml").rfc2544.throughput.goals)
   end)

   it("has a reference device only between wires", function()
      local loaded = plan.load_text(MEMIF, "x.yaml", { sets = { "rfc2544.throughput.max=5Mfps" } })
      assert.is_nil(loaded.reference_device)
   end)

   it("may use a physical port once its network is said to be isolated", function()
      local text = "test: rfc2544\nports: {a: {device: 'kernel:eth1'}, b: {device: '0000:03:00.0'}}"
      local err = wrong(text)
      assert.matches("x.yaml:2:21: ports.a.device: kernel:eth1 may reach a network in use.*RFC 6815", err)
      assert.matches("x.yaml:2:49: ports.b.device: 0000:03:00.0 .*isolated_network: true", err)
      assert.equal("", wrong(text .. "\nisolated_network: true"))
   end)

   it("is documented in docs/reference/plan.md as its rows say", function()
      assert.equal(help.markdown(), scratch.read(scratch.PROJECT .. "docs/reference/plan.md"))
   end)

   it("has every key in its help", function()
      for _, key in ipairs { "isolated_network", "latency_per_byte", "gateway6", "huge_pages" } do
         assert.matches("\n  " .. key .. " +%l", help.text())
      end
   end)
end)

local GATEWAY = "ports.west.gateway=198.19.1.1"

describe("the second way of the reference device", function()
   local function reverse(...)
      local loaded = assert(plan.load_text(MINIMAL, "x.yaml", { sets = { ... } }))
      return loaded.reference_device.reverse
   end

   it("is not there when nothing is said of it", function()
      assert.is_nil(reverse())
   end)

   it("is as the first where it says nothing else", function()
      assert.same({
         capacity = 7e5, buffer = 100, buffer_unit = "frames", latency = 50e-6, latency_per_byte = 1e-9,
         switching = "store-and-forward", loss_every = 0, loss_random = 0, recovery = 0.01,
      }, reverse("reference_device={capacity: 900kfps, buffer: 100, recovery: 10ms, latency_per_byte: 1ns, reverse: {capacity: 700kfps, latency: 50us}}"))
   end)

   it("has a buffer in its own unit", function()
      local way = reverse("reference_device={buffer: 100, reverse: {buffer: 64KiB}}")
      assert.same({ 65536, "bytes" }, { way.buffer, way.buffer_unit })
   end)
end)

describe("the profiles of the reference device", function()
   it("are those of both ways, unless the second has its own or none", function()
      for written, expected in pairs { ["{latency: 1us}"] = 1, ["{profiles: {}}"] = 0,
         ["{profiles: {a: {cir: 1Mbps}, b: {eir: 1Mbps}}}"] = 2 } do
         local device = assert(plan.load_text(MINIMAL, "x.yaml", { sets = {
            "reference_device.profiles={voice: {vlan: 10, cir: 2Mbps, cbs: 16KiB}}",
            "reference_device.reverse=" .. written,
         } })).reference_device
         assert.equal(1, #device.profiles)
         assert.equal("voice", device.profiles[1].name)
         assert.equal(16384, device.profiles[1].cbs)
         assert.equal(expected, #device.reverse.profiles)
      end
   end)
end)

describe("the rules across the keys of a plan", function()
   it("leave room for a VLAN tag", function()
      assert.equal("", wrong_with("ports.east.vlan=7", "rfc2544.frame_sizes=[68]"))
      assert.matches("64 bytes do not hold an IPv4 test frame with a VLAN tag; expected at least 68",
         wrong_with("ports.west.vlan=4094"))
      assert.matches("IPv6 test frame with a VLAN tag; expected at least 88", wrong_with("ports.west.vlan=1",
         "ports.east.ipv6=2001:2:0:1::2/64", "ports.west.ipv6=2001:2:0:2::2/64", "rfc2544.frame_sizes=[84]"))
      assert.matches("out of range; expected 1 to 4094", wrong_with("ports.west.vlan=4095"))
   end)

   it("hold the load of every test against the line", function()
      assert.matches("rfc2544.latency.rate: 1.5Mfps is more", wrong_with("rfc2544.latency.rate=1.5Mfps"))
      assert.matches("rfc2544.frame_loss.max: 1.5Mfps is more", wrong_with("rfc2544.frame_loss.max=1.5Mfps"))
   end)

   it("take a largest load of throughput and frame loss as at most the line at each frame size", function()
      assert.equal("", wrong_with("rfc2544.throughput.max=300kfps", "rfc2544.throughput.initial=200kfps",
         "rfc2544.frame_loss.max=300kfps", "rfc2544.frame_sizes=[64, 1518]"))
      assert.matches("rfc2544.latency.rate: 300kfps is more", wrong_with("rfc2544.latency.rate=300kfps",
         "rfc2544.frame_sizes=[64, 1518]"))
      assert.matches("rfc2544.throughput.max: 300kfps is more", wrong_with("rfc2544.throughput.max=300kfps",
         "rfc2544.frame_sizes=[1518]"))
      assert.matches("rfc2544.throughput.max: 300kfps is not above min",
         wrong_with("rfc2544.throughput.max=300kfps", "rfc2544.throughput.min=100%",
         "rfc2544.frame_sizes=[64, 1518]"))
   end)

   it("take a gateway on one side only, but of a wire", function()
      local function of(device)
         local text = "test: rfc2544\nports:\n  a: {device: '%s0', ipv4: 198.18.1.2/24, gateway: 198.18.1.1}\n  b: {device: '%s1', ipv4: 198.19.1.2/24}\n"
         return plan.load_text(text:format(device, device), "mine",
            { sets = device ~= "wire" and { "rfc2544.throughput.max=1Mfps" } or {} })
      end
      assert.equal("198.18.1.1", of("memif:/none/").ports[1].gateway4)
      assert.is_nil(of "wire")
   end)

   it("take the MAC address of a gateway, and not without one", function()
      assert.equal("", wrong_with("ports.east.gateway=198.18.1.1", GATEWAY,
         "ports.east.gateway_mac=02:00:00:00:00:77"))
      assert.matches("ports.east.gateway_mac: there is no gateway",
         wrong_with("ports.east.gateway_mac=02:00:00:00:00:77"))
   end)

   it("want the tagged frame in its stream, and a device that a command can reset", function()
      assert.matches("tag_after: 2 min 0 s is not within the trial",
         wrong_with("rfc2544.latency.tag_after=2min"))
      assert.matches("the reference device resets itself", wrong_with("rfc2544.reset.command=[reboot]"))
   end)

   it("take a bridge, a router and IPv6 alone", function()
      assert.equal("", wrong_with("ports.west.ipv4=198.18.1.3/24"))
      assert.equal("", wrong_with("ports.east.gateway=198.18.1.1", GATEWAY))
      assert.equal("", wrong_with("ports.east.ipv6=2001:2:0:1::2/64", "ports.west.ipv6=2001:2:0:2::2/64",
         "ports.east.gateway6=2001:2:0:1::1", "ports.west.gateway6=2001:2:0:2::1",
         "rfc2544.frame_sizes=[84]"))
   end)

   it("refuse addresses that cannot work", function()
      local cases = {
         { "ports.west.ipv4=198.18.1.2/24", "is the address of the port east already" },
         { "ports.west.ipv4=198.18.1.3/16", "overlaps with 198.18.1.2/24 of the port east" },
         { "ports.west.ipv4=198.19.1.0/24", "is the address of the /24 network itself" },
         { "ports.west.ipv4=198.19.1.255/24", "is the broadcast address" },
         { "ports.west.ipv4=127.0.0.2/24", "loopback" },
         { "ports.west.ipv4=224.0.0.2/24", "multicast" },
         { GATEWAY, "ports.east.gateway: missing, while the port west has one" },
      }
      for _, case in ipairs(cases) do
         assert.matches(case[2], wrong_with(case[1]), 1, true)
      end
      assert.matches("outside the port's network", wrong_with("ports.east.gateway=198.18.2.1", GATEWAY))
      assert.matches("the port's own address", wrong_with("ports.east.gateway=198.18.1.2", GATEWAY))
      assert.matches("yet a gateway is given", wrong_with("ports.west.ipv4=198.18.1.3/24",
         "ports.east.gateway=198.18.1.1", "ports.west.gateway=198.18.1.1"))
      assert.matches("without an address", wrong_with("ports.east.gateway6=2001:2::1"))
      assert.matches("only IPv4, the other only IPv6", wrong_with("ports.east.ipv6=2001:2::2/64"))
   end)

   it("do not blame one mistake twice", function()
      assert.equal('--set ports.west.ipv4=198.19.1.2: ports.west.ipv4: "198.19.1.2" is not an IPv4 address with its prefix length; expected an IPv4 address with its prefix length, such as 198.18.1.2/24',
         wrong_with("ports.west.ipv4=198.19.1.2"))
   end)

   it("refuse more load than the line carries, and take all of it", function()
      assert.matches("rfc2544.throughput.max: 1.5Mfps is more than the line carries in frames of 64 bytes %(reference_device.rate: 1 Gbit/s%); expected at most 1,488,095 fps",
         wrong_with("rfc2544.throughput.max=1.5Mfps"))
      assert.matches("1Gbps L2 is more", wrong_with("rfc2544.throughput.max=1Gbps L2"))
      assert.equal("", wrong_with("rfc2544.throughput.max=1Gbps L1"))
      assert.equal("", wrong_with("rfc2544.throughput.max=81274fps"))
   end)

   it("want a line for shares of it", function()
      assert.matches("rfc2544.throughput.max: a share %(100%%%) of no line: memif:/run/a", wrong(MEMIF))
      assert.equal("", wrong(MEMIF, { sets = { "ports.b.line_rate=10Gbps" } }))
   end)

   it("want min below initial below max, in whatever units", function()
      assert.matches("min: 100%% is not below max", wrong_with("rfc2544.throughput.min=100%"))
      assert.matches("initial: 1%% is not above min %(2%%%)", wrong_with("rfc2544.throughput.min=2%",
         "rfc2544.throughput.initial=1%"))
      assert.matches("max: 1kfps is not above min %(10%%%)", wrong_with("rfc2544.throughput.min=10%",
         "rfc2544.throughput.max=1kfps"))
   end)

   it("want goals only for MLRsearch, each of its own name, that can be reached", function()
      local mlr, key = "rfc2544.throughput.search=mlr", "rfc2544.throughput.goals="
      assert.matches("goals: not for the search binary; expected search: mlr", wrong_with(key .. "ndr"))
      assert.equal("", wrong_with(mlr, key .. "[ndr, pdr, tst009, rfc2544, {name: mine, loss_ratio: 1%}]"))
      assert.matches("goals%[2%]: there is a goal ndr already", wrong_with(mlr, key .. "[ndr, ndr]"))
      assert.matches("initial_trial: 2 s is longer than final_trial %(1 s%)",
         wrong_with(mlr, key .. "[{name: ndr, initial_trial: 2s}]"))
      assert.matches("duration_sum: 5 s is shorter than one final_trial %(60 s%)",
         wrong_with(mlr, key .. "[{name: tst009, duration_sum: 5s}]"))
      assert.matches("goals%[1%].name: missing", wrong_with(mlr, key .. "[{loss_ratio: 0%}]"))
      assert.matches("exceed_ratio: \"100%%\" is out of range",
         wrong_with(mlr, key .. "[{name: a, exceed_ratio: 100%}]"))
   end)

   it("join wires with wires", function()
      assert.matches("cannot be joined with a wire", wrong_with("ports.west.device=memif:/run/a"))
      assert.matches("wire2 does not exist", wrong_with("ports.west.device=wire2"))
      assert.matches("used by the port east already", wrong_with("ports.west.device=wire0"))
      assert.matches("a wire has the rate of the reference device", wrong_with("ports.west.line_rate=1Gbps"))
   end)
end)

describe("--set", function()
   it("names itself where its value is wrong", function()
      assert.equal("--set rfc2544.throughput.resolutoin=1%: rfc2544.throughput.resolutoin: unknown key; expected resolution", wrong_with("rfc2544.throughput.resolutoin=1%"))
      assert.matches('^%-%-set test=y1731: test: "y1731" is not known; expected rfc2544, .+ or %w+$',
         wrong_with("test=y1731"))
      assert.matches("^%-%-set rfc2544: not a setting", wrong_with("rfc2544"))
      assert.matches("^%-%-set =1: not a setting", wrong_with("=1"))
      assert.matches("^%-%-set a..b=1: not a setting", wrong_with("a..b=1"))
      assert.matches("^%-%-set test.x=1: test.x: test holds no keys", wrong_with("test.x=1"))
      assert.matches("^%-%-set test=%[: test: ", wrong_with("test=["))
      assert.matches("^%-%-set test=: test: no value", wrong_with("test="))
   end)
end)

describe("a plan's loader", function()
   local path = os.tmpname()

   after_each(function()
      os.remove(path)
   end)

   it("reads files", function()
      local file = assert(io.open(path, "wb"))
      file:write(MINIMAL)
      file:close()
      assert.equal(path, plan.load(path).file)
   end)

   it("says why a file cannot be read", function()
      local _, errors = plan.load("/no/such/plan.yaml")
      assert.equal("/no/such/plan.yaml: cannot be read: No such file or directory; expected a plan, a YAML file", tostring(errors[1]))
      _, errors = plan.load("/tmp")
      assert.matches("^/tmp: cannot be read: Is a directory", tostring(errors[1]))
   end)

   -- Every key replaced by every kind of junk: a problem each time, never a Lua error.
   it("survives any value at any key", function()
      local keys = {
         "name", "description", "test", "isolated_network", "dut", "ports", "ports.east", "ports.east.device",
         "ports.east.ipv4", "ports.east.gateway", "ports.east.ipv6", "ports.east.gateway6", "ports.east.mac",
         "ports.east.line_rate", "ports.south", "reference_device", "reference_device.rate",
         "reference_device.capacity", "reference_device.buffer", "reference_device.latency", "host",
         "host.lcores", "host.eal", "rfc2544", "rfc2544.tests", "rfc2544.frame_sizes", "rfc2544.throughput",
         "rfc2544.throughput.min", "rfc2544.throughput.max", "rfc2544.throughput.resolution",
         "rfc2544.throughput.goals", "rfc2544.throughput.loss_verify_max",
      }
      local junk = {
         "", "null", "[]", "{}", "[[[]]]", "{a: {b: c}}", "[1, {x: y}]", "-1", "0", "1e308", "1e999", "''",
         '"\\0"', "0/0", "::/0", "1.1.1.1/0", "::1/128", "5Gbps L1", "1000Tfps", "100%", "kernel:", "vdev:x",
         "01:02.3", "memif:,", ("9"):rep(400), ("x"):rep(5000), "!!x y", "*a", "&b c",
      }
      for _, key in ipairs(keys) do
         for _, value in ipairs(junk) do
            local loaded, errors = plan.load_text(MINIMAL, "x.yaml", { sets = { key .. "=" .. value } })
            assert.is_true(loaded ~= nil or #errors > 0)
         end
      end
   end)
end)

describe("addresses", function()
   it("know their network", function()
      assert.is_true(address.same_network("198.18.1.2", "198.18.1.254", 24))
      assert.is_false(address.same_network("198.18.1.2", "198.18.2.2", 24))
      assert.is_true(address.same_network("198.18.1.2", "198.18.2.2", 22))
      assert.is_true(address.same_network("2001:2:0:1::1", "2001:2:0:1:ffff::", 64))
      assert.is_false(address.same_network("2001:2:0:1::1", "2001:2:0:2::1", 64))
   end)

   it("are compared by value, not by text", function()
      assert.is_true(address.equal("2001:2::1", "2001:0002:0::1"))
   end)

   it("may be both ends of a /31", function()
      assert.is_nil(address.unusable("198.18.1.0", 31))
      assert.is_nil(address.unusable("198.18.1.1", 31))
   end)
end)
