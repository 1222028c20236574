-- SPDX-License-Identifier: BSD-3-Clause

--- Commands that capture frames to files and replay them.
local follow = require "framegauge.console.follow"
local replays = require "framegauge.control.replay"
local show = require "framegauge.console.show"
local user_error = require "framegauge.core.user_error"

-- Follow a job, and show its result.
local function see(session, task)
   follow.foreground(session, task)
   if task.summary then
      session.out(task.summary .. "\n")
   end
end

local function capture(session, o)
   local captures = session.control.captures
   if not o.port then
      return show.as_table(captures:rows(), {
         { "port", "port" }, { "file", "file" }, { "seen", "seen" }, { "filtered", "filtered out" },
         { "written", "written" }, { "triggers", "triggers" }, { "dropped", "DROPPED" },
      }, "there is no capture; 'capture PORT FILE' begins one")
   elseif o.port == "stop" then
      for _, line in ipairs(captures:stop(o.file)) do
         session.out(line .. "\n")
      end
      return
   elseif not o.file then
      user_error.raise("capture", 2, "capture: FILE is missing: capture PORT FILE [FILTER...]")
   end
   local begun = captures:start {
      port = o.port, file = o.file, filter = o.filter and table.concat(o.filter, " "), trigger = o.trigger,
      before = tonumber(o.before) or o.before, after = tonumber(o.after) or o.after,
   }
   if type(begun) == "string" then
      session.out(begun .. "\n")
   else
      see(session, begun)
   end
end

local function replay(session, o)
   local task = replays.start(session.control, o)
   if o.background then
      return task
   end
   see(session, task)
end

return {
   { "capture", "write what a port receives to a file",
      "Write what a port receives to a file: pcapng if its name ends so, otherwise pcap. The filter is in the language of pcap-filter(7). With trigger=loss only frames around a loss are kept, of any stream; with a filter as trigger, frames around a matching frame. before= and after= set their numbers; a pcapng file marks the frame. 'capture stop' ends all captures, or those at one port, and reports dropped frames. Captures can begin and end at any time, also while streams and tests run; they end when the ports are opened again. Without arguments: list the captures.",
      arguments = {
         { "port", "the receiving port, or stop", optional = true, complete = "captured" },
         { "file", "the file, .pcap or .pcapng", optional = true, complete = "port_to_stop" },
         { "filter", "frames to keep; default: all", optional = true, rest = true },
         { "trigger", "wait for this: loss, or a filter", named = true },
         { "before", "frames to keep before it; default: 0", named = true },
         { "after", "frames to keep from it on; default: all", named = true },
      },
      examples = {
         "capture west west.pcapng", "capture west dns.pcap udp port 53",
         "capture west loss.pcapng trigger=loss before=100 after=100", "capture stop",
      },
      run = capture,
   },
   { "replay", "replay a capture file",
      "Send the frames of a pcap or pcapng file from a port: with the recorded timing, faster, slower, or at a constant rate. verify= names the port that must receive the same frames in order.",
      arguments = {
         { "port", "the transmitting port", complete = "port" },
         { "file", "pcap or pcapng file of Ethernet frames" },
         { "pace", "a speed such as 2x, or a rate: 40%, 100kfps, 1Gbps L1", optional = true, rest = true },
         { "loops", "number of times; 0: until the duration ends", named = true },
         { "duration", "stop sending after this time, such as 10s", named = true },
         { "verify", "the port that must receive the same frames", named = true },
         { "background", "do not wait; 'jobs' and 'watch' show the job", flag = true },
      },
      examples = { "replay east site.pcapng 2x verify=west", "replay east site.pcap 40%" }, run = replay,
   },
}
