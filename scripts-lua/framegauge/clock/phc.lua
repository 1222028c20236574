-- SPDX-License-Identifier: BSD-3-Clause

--- A PTP hardware clock that ptp4l steers; pmc asks ptp4l (IEEE 1588 management messages).
--
-- Its error against the grandmaster is the offset that ptp4l measures, and what ptp4l cannot see: half the
-- difference of the two directions' delays. Plans may bound that (clock.asymmetry); otherwise it is at most
-- the mean path delay. Two machines of one grandmaster need no more; others also differ by the accuracy of
-- their grandmasters.
local M = { name = "phc" }

local DRIFT_PPM = 0.1 -- how fast the clock may leave the offset last seen, while the servo is locked

local SETS = { "TIME_STATUS_NP", "CURRENT_DATA_SET", "PARENT_DATA_SET", "PORT_DATA_SET",
   "TIME_PROPERTIES_DATA_SET" }

-- clockAccuracy from 0x20 on (IEEE 1588, table 5), nanoseconds; others are unknown.
local ACCURACY_NS = { 25, 100, 250, 1e3, 2.5e3, 1e4, 2.5e4, 1e5, 2.5e5, 1e6, 2.5e6, 1e7, 2.5e7, 1e8, 2.5e8,
   1e9, 1e10 }

local START = "apt install linuxptp; start ptp4l on the interface of the clock"

-- Values by name, of all data sets. Of several ports a synchronised one counts.
local function values_of(text)
   local values = {}
   for line in text:gmatch "[^\n]+" do
      local name, value = line:match "^%s+([%w.]+)%s+(%S+)%s*$"
      local had = values[name]
      if name == "portState" and (had == "SLAVE" or had == "MASTER" and value ~= "SLAVE") then
         value = had
      end
      values[name or ""] = value
   end
   return values
end

local function device_of(machine, o)
   local list = machine.phcs()
   if o.device or #list == 1 then
      return o.device or list[1]
   elseif #list == 0 then
      return nil, "there is no PTP hardware clock", "use a card with one (ethtool -T IF), or chrony"
   end
   return nil, ("there are %d PTP hardware clocks: %s"):format(#list, table.concat(list, ", ")),
      "name one in the plan (clock.device)"
end

local function judge(values, o)
   local offset, delay = tonumber(values.offsetFromMaster), tonumber(values.meanPathDelay)
   local state = values.portState
   if not (offset and delay and state and values.gmIdentity) then
      return { finding = "ptp4l gives no state of its clock", fix = START }
   elseif state ~= "SLAVE" and state ~= "MASTER" then
      return { finding = ("ptp4l is not synchronised: its port is %s"):format(state),
         fix = "check that a grandmaster of the same domain is reachable: pmc -u -b 0 'GET PORT_DATA_SET'" }
   end
   local gives_time = state == "MASTER"
   local accuracy = ACCURACY_NS[(tonumber(values["gm.ClockAccuracy"]) or 0) - 0x20 + 1]
   local of_tai = values.ptpTimescale == "1"
   return {
      synchronised = true, drift_ppm = gives_time and 0 or DRIFT_PPM,
      error_ns = gives_time and 0
         or math.abs(offset) + (o.asymmetry and o.asymmetry * 1e9 or math.abs(delay)),
      reference = values.gmIdentity, reference_error_ns = accuracy,
      ahead_ns = of_tai and (tonumber(values.currentUtcOffset) or 0) * 1e9 or 0, -- of UTC
   }
end

local function arguments(socket, path)
   local list = { "pmc", "-u", "-b", "0", "-s", socket, "-i", path }
   for _, set in ipairs(SETS) do
      list[#list + 1] = "GET " .. set
   end
   return list
end

--- Ask it. @param done  function(state), see framegauge.clock
-- @param o  device = path or nil, asymmetry = seconds or nil
function M.ask(machine, o, done)
   local device, finding, fix = device_of(machine, o)
   local socket = device and machine.ptp4l_socket()
   if not device then
      return done { finding = finding, fix = fix }
   elseif not socket then
      return done { finding = "ptp4l has no socket that this user may use (/var/run/ptp4lro, /var/run/ptp4l)",
         fix = START .. "; before linuxptp 4.0 its socket is for root" }
   end
   local own = os.tmpname()
   os.remove(own)
   machine.run(arguments(socket, own), function(text, why)
      if not text then
         return done { finding = "ptp4l does not answer: " .. why, fix = START }
      end
      local state = judge(values_of(text), o)
      state.device = device
      done(state)
   end)
end

function M.distance(machine, state)
   local distance, width, at = machine.distance_of_phc(state.device)
   return distance and distance - state.ahead_ns, width, at
end

return M
