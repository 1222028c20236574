-- SPDX-License-Identifier: BSD-3-Clause

-- The common time of testers, on played machines whose true time is known.
local Clock = require "framegauge.clock"
local doctor = require "framegauge.doctor.clock"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local kernel = require "framegauge.clock.machine".kernel
local clocks = require "framegauge.fleet.clocks"
local pair = require "framegauge.clock.pair"
local phc_device = require "framegauge.clock.phc_device"
local time = require "framegauge.clock.time"

local random = math.random

local function within(least, most)
   return least + random() * (most - least)
end

-- A machine whose raw clock is wrong in offset and rate, in a world with one true time.
-- @param world  { now = true time, ns }
local function new_machine(world)
   local ppm, offset = within(-100, 100), within(0, 1e12)
   local machine = { world = world, running = {}, answers = {} }
   function machine.raw(at)
      return ffi.cast("int64_t", offset + (at or world.now) * (1 + ppm / 1e6))
   end
   -- by a reading with some width, of a clock that is wrong by machine.wrong(true time)
   local function distance()
      local width = within(10, 60)
      local read_at = world.now + within(-width, width)
      return ffi.cast("int64_t", read_at + machine.wrong(read_at)) - machine.raw(), width, machine.raw()
   end
   machine.distance_of_realtime, machine.distance_of_phc = distance, distance
   function machine.kernel()
      return machine.kernel_state, machine.refused
   end
   function machine.programs() return machine.running end
   function machine.phcs() return machine.devices or {} end
   function machine.ptp4l_socket() return machine.socket end
   function machine.boot() return "played" end
   function machine.run(argv, done)
      local text = machine.answers[argv[1]]
      text = type(text) == "function" and text() or text
      done(text, not text and argv[1] .. " cannot be run: ENOENT" or nil)
   end
   function machine.wrong() return 0 end
   return machine
end

-- As pmc of linuxptp prints it.
local function pmc(o)
   return ([[
sending: GET TIME_STATUS_NP
	727b88.fffe.19a3cb-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP
		master_offset              %d
		gmPresent                  true
		gmIdentity                 %s
	727b88.fffe.19a3cb-0 seq 1 RESPONSE MANAGEMENT CURRENT_DATA_SET
		stepsRemoved     1
		offsetFromMaster %.1f
		meanPathDelay    %.1f
	727b88.fffe.19a3cb-0 seq 2 RESPONSE MANAGEMENT PARENT_DATA_SET
		gm.ClockAccuracy                      %s
	727b88.fffe.19a3cb-1 seq 3 RESPONSE MANAGEMENT PORT_DATA_SET
		portState               %s
	727b88.fffe.19a3cb-0 seq 4 RESPONSE MANAGEMENT TIME_PROPERTIES_DATA_SET
		currentUtcOffset      37
		ptpTimescale          %d
]]):format(o.offset or 0, o.grandmaster or "ba36b2.fffe.05c242", o.offset or 0, o.delay or 2689,
      o.accuracy or "0xfe", o.state or "SLAVE", o.tai and 1 or 0)
end

local function chrony(o)
   return ("%s,192.0.2.1,3,1795380734.1,%.9f,0.0,0.0,0.0,%.3f,%.3f,%.9f,%.9f,64.0,%s\n"):format(
      o.reference or "C0000201", o.offset or 0, o.residual or 0, o.skew or 0, o.delay or 0, o.dispersion or 0,
      o.leap or "Normal")
end

local function opened(machine, o)
   o = o or {}
   o.machine = machine
   return job.run(function() return Clock.new(o):open() end)
end

local function of_ptp(o)
   local machine = new_machine { now = 1e9 }
   machine.devices, machine.socket, machine.answers.pmc = { "/dev/ptp0" }, "/run/ptp4lro", pmc(o or {})
   return machine
end

describe("the common time of a tester", function()
   it("is that of the best source that is synchronised", function()
      local machine = of_ptp { offset = -120, delay = 900 }
      machine.answers.chronyc = chrony { offset = 2e-6, delay = 4e-5, dispersion = 1e-5 }
      machine.kernel_state = { synchronised = true, maxerror_ns = 5e6 }
      local state = opened(machine):state()
      assert.equal("phc", state.source)
      assert.near(1020, state.error_ns, 130) -- and the width of the reading
      assert.near(320, opened(machine, { asymmetry = 200e-9 }):state().error_ns, 130)
      machine.answers.pmc = nil
      state = opened(machine):state()
      assert.equal("chrony", state.source)
      assert.near(32e3, state.error_ns, 130)
      machine.answers.chronyc = nil
      state = opened(machine):state()
      assert.equal("kernel", state.source)
      assert.near(5e6, state.error_ns, 130)
      assert.is_false(opened(machine, { source = "control" }):state().synchronised)
   end)

   -- finding and fix of each source, where nothing keeps the clock
   local BROKEN = {
      { "kernel", function(m) m.refused = "Operation not permitted" end, "Operation not permitted",
         "ProtectClock=no" },
      { "kernel", function(m) m.kernel_state = { synchronised = false, maxerror_ns = 0 } end,
         "not synchronised", "apt install chrony" },
      { "kernel", function(m)
         m.kernel_state, m.running = { synchronised = true, maxerror_ns = 0 }, { phc2sys = true }
      end, "phc2sys steers the clock", "clock.source: phc" },
      { "kernel", function(m)
         m.kernel_state, m.running = { synchronised = true, maxerror_ns = 0 }, { ["systemd-timesyn"] = true }
      end, "systemd-timesyn steers the clock", "apt install chrony" },
      { "chrony", function() end, "chronyd does not answer", "systemctl start chrony" },
      { "chrony", function(m) m.answers.chronyc = "506 Cannot talk to daemon\n" end, "does not answer",
         "systemctl start chrony" },
      { "chrony", function(m) m.answers.chronyc = chrony { leap = "Not synchronised" } end,
         "has not synchronised", "chronyc sources" },
      { "chrony", function(m) m.answers.chronyc = chrony { reference = "7F7F0101" } end,
         "the machine's own time", "give chrony a server" },
      { "phc", function() end, "no PTP hardware clock", "ethtool -T" },
      { "phc", function(m) m.devices = { "/dev/ptp0", "/dev/ptp1" } end, "2 PTP hardware clocks",
         "clock.device" },
      { "phc", function(m) m.devices = { "/dev/ptp0" } end, "no socket", "apt install linuxptp" },
      { "phc", function(m) m.devices, m.socket = { "/dev/ptp0" }, "/run/ptp4l" end, "does not answer",
         "start ptp4l" },
      { "phc", function(m)
         m.devices, m.socket, m.answers.pmc = { "/dev/ptp0" }, "/run/ptp4l", "sending: GET PORT_DATA_SET\n"
      end, "gives no state", "start ptp4l" },
      { "phc", function(m)
         m.devices, m.socket, m.answers.pmc = { "/dev/ptp0" }, "/run/ptp4l", pmc { state = "UNCALIBRATED" }
      end, "its port is UNCALIBRATED", "grandmaster" },
   }

   local function problem_of(near, far, within_ns)
      near.name, far.name = "near", "far"
      return clocks.problem({ near, far }, { delays = true, within_ns = within_ns,
         share = "10 % of the smallest FTD", otherwise = "set y1564.delays: false" })
   end

   it("is never one that nobody bounds, and delays then name the command that mends it", function()
      for _, case in ipairs(BROKEN) do
         local machine = new_machine { now = 1e9 }
         case[2](machine)
         local state = opened(machine, { source = case[1] }):state()
         assert.is_false(state.synchronised)
         assert.is_true(state.error_ns >= 1e9)
         assert.matches(case[3], state.finding, 1, true)
         assert.matches(case[4], state.fix, 1, true)
         local good = opened(of_ptp()):state()
         local problem = problem_of(good, state, 1e12)
         assert.matches("on far " .. state.finding, problem, 1, true)
         assert.matches(case[4], problem, 1, true)
         assert.matches("y1564.delays: false", problem, 1, true)
      end
   end)

   it("is refused by the kernel's zeros no longer", function()
      local state, why = kernel(function()
         ffi.errno(1)
         return -1
      end)
      assert.is_nil(state)
      assert.equal("Operation not permitted", why)
      assert.same({ synchronised = true, maxerror_ns = 250e3 }, kernel(function(timex)
         timex.maxerror = 250
         return 5
      end))
   end)

   it("is compared with another grandmaster's only where both tell their accuracy", function()
      local one = opened(of_ptp { grandmaster = "a", accuracy = "0x21" }):state()
      local same = opened(of_ptp { grandmaster = "a" }):state()
      local other = opened(of_ptp { grandmaster = "b", accuracy = "0x22" }):state()
      local unknown = opened(of_ptp { grandmaster = "c" }):state()
      assert.equal(one.error_ns + same.error_ns, pair.bound(one, same))
      assert.equal(one.error_ns + other.error_ns + 350, pair.bound(one, other))
      assert.is_nil(pair.bound(one, unknown))
      assert.matches("grandmaster c does not tell", problem_of(one, unknown, 1e9), 1, true)
      local bound = problem_of(one, other, 100)
      assert.matches("agree to 0.100 us, 10 % of the smallest FTD", bound, 1, true)
      assert.matches("doctor --clock", bound, 1, true)
   end)

   it("is UTC also where the hardware clock has TAI", function()
      local machine = of_ptp { tai = true, accuracy = "0x21" }
      function machine.wrong() return 37e9 end
      local clock = opened(machine)
      assert.near(machine.world.now, tonumber(machine.raw() + clock:distance()), 100)
   end)

   it("shows in the bound when it is stepped", function()
      local machine, step = of_ptp(), 0
      function machine.wrong() return step end
      local clock = opened(machine)
      local function go(n)
         for _ = 1, n do
            machine.world.now = machine.world.now + 50e6
            clock:look()
         end
      end
      go(30)
      assert.is_true(clock:error() < 4000)
      step = 1e6
      go(5)
      assert.is_true(clock:error() >= 1e6)
      clock:forget()
      go(30)
      assert.is_true(clock:error() < 4000)
   end)

   it("is shown by the doctor, with every source", function()
      local machine = of_ptp { offset = 80, delay = 400 }
      local rows = job.run(doctor.examine, machine)
      assert.same({ "ok", "warning", "warning" }, { rows[1].state, rows[2].state, rows[3].state })
      assert.matches("within 480 ns of grandmaster ba36b2.fffe.05c242", rows[1].finding, 1, true)
      assert.matches("auto takes it", rows[1].finding, 1, true)
      assert.equal("apt install chrony; systemctl start chrony", rows[2].fix)
   end)
end)

describe("the reading of a PTP hardware clock", function()
   local at = 5000000000123LL

   it("takes what the card reads at one instant", function()
      local distance, width, when = phc_device.of(3, function(_, _, answer)
         if ffi.sizeof(answer) ~= 64 then
            return -1
         end
         answer.raw.sec, answer.raw.nsec = 5000, 123
         answer.device.sec, answer.device.nsec = 5001, 125
         return 0
      end)
      assert.is_true(distance == 1000000002LL and width == 1 and when == at)
   end)

   it("or the narrowest of several readings of the kernel", function()
      local requests = {}
      local distance, width, when = phc_device.of(3, function(_, request, answer)
         requests[#requests + 1] = request
         if ffi.sizeof(answer) == 64 then
            return -1
         end
         for i = 0, answer.samples - 1 do
            local spread = i == 4 and 100 or 1000
            answer.time[i][0].sec, answer.time[i][0].nsec = 5000, 10123 - spread / 2
            answer.time[i][1].sec, answer.time[i][1].nsec = 5000, 10473
            answer.time[i][2].sec, answer.time[i][2].nsec = 5000, 10123 + spread / 2
         end
         return 0
      end)
      assert.same({ 0xC0403D08, 0xC4C03D12 }, requests) -- as linux/ptp_clock.h has them
      assert.is_true(distance == 350LL and width == 50 and when == at + 10000)
   end)

   it("or three clocks, one after the other; a clock that is none is refused", function()
      local distance = phc_device.of(3, function() return -1 end)
      assert.is_nil(distance)
      assert.is_nil((phc_device.distance "/dev/ptp-none"))
      distance = time.distance(time.RAW)
      assert.near(0, tonumber(distance), 1e6)
   end)
end)

describe("the bound of the common time, against the true time of 1,000 played clocks", function()
   -- A machine of a source; its clock leaves and comes back within what its daemon can know.
   local MAKE = {
      phc = function(machine)
         local unseen = within(-200, 200) -- half the difference of the path's delays
         local wander, period, phase = within(10, 600), within(60e9, 200e9), within(0, 6.28)
         function machine.wrong(at)
            return wander * math.sin(phase + at / period * 6.28) - unseen
         end
         machine.devices, machine.socket = { "/dev/ptp0" }, "/run/ptp4lro"
         function machine.answers.pmc()
            return pmc { offset = machine.wrong(machine.world.now) + unseen, delay = 2000 }
         end
         return { source = "phc", asymmetry = 200e-9 }
      end,
      chrony = function(machine)
         local delay, dispersion = within(1e4, 1e6), within(1e3, 1e5)
         local offset, skew = within(-1e5, 1e5), within(0, 2)
         local wrong = offset + within(-1, 1) * (delay / 2 + dispersion)
         local drift, asked_at, poll = within(-skew, skew) / 1e6, machine.world.now, within(1e9, 64e9)
         function machine.wrong(at)
            return wrong + drift * (at - asked_at)
         end
         function machine.answers.chronyc()
            local since = (machine.world.now - asked_at) % poll
            return chrony { offset = offset / 1e9, skew = skew, delay = delay / 1e9,
               dispersion = (dispersion + skew / 1e6 * (machine.world.now - asked_at) + since * 1e-6) / 1e9 }
         end
         return { source = "chrony" }
      end,
      kernel = function(machine)
         local bound, asked_at = within(1e5, 1e7), machine.world.now
         local wrong = bound * (random() < 0.5 and 1 or -1)
         function machine.wrong(at)
            return wrong + 400e-6 * (at - asked_at) * (wrong > 0 and 1 or -1)
         end
         function machine.kernel()
            return { synchronised = true, maxerror_ns = bound + 500e-6 * (machine.world.now - asked_at) }
         end
         return { source = "kernel" }
      end,
   }

   -- The worst error and the bound of a trial of some seconds; the source is asked twice in each.
   local function trial(kind)
      local machine = new_machine { now = within(1e9, 1e13) }
      local clock = opened(machine, MAKE[kind](machine))
      local worst = 0
      for look = 1, random(20, 60) do
         machine.world.now = machine.world.now + within(40e6, 60e6)
         clock:look()
         if look % 10 == 0 then
            clock:ask(function() end)
         end
         local ahead = within(0, 40e6) -- between two looks
         local common = machine.raw(machine.world.now + ahead)
         common = common + clock:distance(common)
         worst = math.max(worst, math.abs(tonumber(common) - (machine.world.now + ahead)))
      end
      return worst, clock:error()
   end

   it("holds for every one of them, and is at most three times the error of PTP in the median", function()
      math.randomseed(7)
      local ratios = {}
      for i = 1, 1000 do
         local kind = ({ "phc", "chrony", "kernel" })[i % 3 + 1]
         local worst, bound = trial(kind)
         assert.is_true(worst <= bound, ("%s clock %d: wrong by %g ns, bound %g ns"):format(kind, i, worst,
            bound))
         ratios[#ratios + 1] = kind == "phc" and bound / worst or nil
      end
      table.sort(ratios)
      assert.is_true(ratios[math.ceil(#ratios / 2)] <= 3, ratios[math.ceil(#ratios / 2)])
   end)
end)
