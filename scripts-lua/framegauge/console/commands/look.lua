-- SPDX-License-Identifier: BSD-3-Clause

--- Commands that show the tester and its plan.
local show = require "framegauge.console.show"
local units = require "framegauge.text.units"

-- Where a link is not up, what is wrong with it.
local function state_of(control, i)
   local link = control.links and control.links:state(i)
   return not control.tester and "closed" or link and link ~= "up" and link or "open"
end

local function ports(session)
   local control, rows = session.control, {}
   local opened = control.tester and control.tester.ports or {}
   for i, port in ipairs(control.plan.ports) do
      local open, holder = opened[i] or {}, control.tasks:holder(port.name)
      rows[i] = {
         name = port.name, device = port.device, state = state_of(control, i),
         line_rate = open.line_rate, mac = open.mac, address = port.ipv4 or port.ipv6,
         driver = open.driver, job = holder and holder.id,
      }
   end
   return show.as_table(rows, {
      { "name", "port" }, { "device", "device" }, { "state", "state" },
      { "line_rate", "line rate", format = function(value)
         return value and units.format_bits(value) or "-"
      end },
      { "mac", "mac" }, { "address", "address" }, { "driver", "driver" }, { "job", "job" },
   })
end

return {
   { "ports", "show the ports",
      "Show the ports: device, state (closed, open; or what is wrong with the link: down, removed, intercepted), and the job that uses each.",
      looks = true, run = ports },
   { "plan", "show the plan of the tester",
      "Show the plan as it was read, and the keys that have been set since. 'set' changes keys.",
      looks = true,
      run = function(session)
         local source = session.control.plan.source
         local text = source.text
         if #source.options.sets > 0 then
            text = text .. "# set since then:\n#   " .. table.concat(source.options.sets, "\n#   ") .. "\n"
         end
         return text
      end,
   },
   { "set", "change keys of the plan",
      "Change keys of the plan for later commands, for example of the reference device. Every key of 'help keys' can be set; running jobs must end first.",
      examples = { "set reference_device.time=free", "set rfc2544.frame_sizes=64,1518" },
      keys = function()
         return require("framegauge.plan.help").keys()
      end,
      group = function()
         return ""
      end,
      run = function(session, o)
         session.control:set(o.keys)
      end,
   },
}
