-- SPDX-License-Identifier: BSD-3-Clause

--- CLOCK_REALTIME with the bound that chronyd knows (chronyc tracking).
--
-- Its manual gives the bound: |system time offset| + root dispersion + root delay / 2. It grows with the
-- uncertainty of the frequency.
local M = { name = "chrony" }

local FIELDS = { reference = 1, offset = 5, residual_ppm = 9, skew_ppm = 10, root_delay = 11,
   root_dispersion = 12, leap = 14 }
local LEAST_DRIFT_PPM = 1 -- in addition to what it knows: its own default of maxclockerror
local OWN_TIME = "^7F7F01" -- the directive `local`: its own clock is the reference, with errors of 0

local function split(text)
   local list = {}
   for field in (text:match "[^\n]*" .. ","):gmatch "([^,]*)," do
      list[#list + 1] = field
   end
   return list
end

local function judge(text, why)
   local list = split(text or "")
   if not text or not list[FIELDS.leap] then
      return { finding = "chronyd does not answer" .. (why and (" (%s)"):format(why) or ""),
         fix = "apt install chrony; systemctl start chrony" }
   elseif list[FIELDS.leap] == "Not synchronised" then
      return { finding = "chronyd has not synchronised the clock",
         fix = "'chronyc sources' shows the servers; 'chronyc waitsync' waits for the clock" }
   elseif list[FIELDS.reference]:find(OWN_TIME) then
      return { finding = "chronyd serves the machine's own time (directive local), of unknown error",
         fix = "give chrony a server or a reference clock" }
   end
   local function number(name)
      return tonumber(list[FIELDS[name]])
   end
   local offset, delay, dispersion = number "offset", number "root_delay", number "root_dispersion"
   if not (offset and delay and dispersion and number "skew_ppm" and number "residual_ppm") then
      return { finding = "chronyd gives an answer of an unknown form", fix = "apt install chrony" }
   end
   return {
      synchronised = true, error_ns = (math.abs(offset) + dispersion + delay / 2) * 1e9,
      drift_ppm = LEAST_DRIFT_PPM + number "skew_ppm" + math.abs(number "residual_ppm"),
   }
end

--- Ask it. @param done  function(state), see framegauge.clock
function M.ask(machine, _, done)
   machine.run({ "chronyc", "-n", "-c", "tracking" }, function(text, why)
      done(judge(text, why))
   end)
end

function M.distance(machine)
   return machine.distance_of_realtime()
end

return M
