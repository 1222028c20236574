-- SPDX-License-Identifier: BSD-3-Clause

--- The links that scripts have taken down: what is down comes up again before the ports are closed.
local Live = require "framegauge.tester.live"

local Links = {}
Links.__index = Links

--- All links are up.
function Links.new()
   return setmetatable({ down = {} }, Links)
end

--- Take links down, or let them come up; all of them or none.
-- @param tester  the open ports
-- @param ports  list of { place =, path = }
-- @param state  "up" or "down"
-- @return nil; or why a link cannot be set
function Links:set(tester, ports, state)
   local changed, down = {}, state == "down" or nil
   for _, port in ipairs(ports) do
      if self.down[port.place] ~= down then
         local ok, err = Live.set_link(tester, port.place, state == "up")
         if not ok then
            for _, place in ipairs(changed) do
               Live.set_link(tester, place, state == "down")
               self.down[place] = state == "up" or nil
            end
            return ("port.link: %s: %s"):format(port.path, err.message)
         end
         self.down[port.place] = down
         changed[#changed + 1] = port.place
      end
   end
   return nil
end

--- Let all come up.
function Links:restore(tester)
   for place in pairs(self.down) do
      Live.set_link(tester, place, true)
   end
   self.down = {}
end

return Links
