-- SPDX-License-Identifier: BSD-3-Clause

--- Commands that keep frames in files, and send them again.
local follow = require "framegauge.console.follow"
local refusal = require "framegauge.refusal"
local replaying = require "framegauge.console.replaying"
local show = require "framegauge.console.show"

-- Wait for a job, and show how it ended.
local function see(session, task)
   follow.foreground(session, task)
   if task.summary then
      session.out(task.summary .. "\n")
   end
end

local function capture(session, o)
   local captures = session.tester.captures
   if not o.port then
      return show.as_table(captures:rows(), {
         { "port", "port" }, { "file", "file" }, { "seen", "seen" }, { "filtered", "not wanted" },
         { "written", "written" }, { "triggers", "triggers" }, { "dropped", "DROPPED" },
      }, "nothing is captured; 'capture PORT FILE' begins")
   elseif o.port == "stop" then
      for _, line in ipairs(captures:stop(o.file)) do
         session.out(line .. "\n")
      end
      return
   elseif not o.file then
      refusal.raise("capture", 2, "capture: FILE is missing: capture PORT FILE [FILTER...]")
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
   local task = replaying.start(session.tester, o)
   if o.background then
      return task
   end
   see(session, task)
end

return {
   {
      name = "capture", summary = "keep what a port receives in a file",
      help = "Keep what a port receives: pcapng where the file is called so, else pcap. A filter is in the\n"
         .. "language of pcap-filter(7). With trigger=loss only frames around a loss are kept, of any\n"
         .. "stream, and with another trigger those around frames like that: as many as before= and after=\n"
         .. "say; a pcapng file marks the frame. 'capture stop' ends all captures, or those of the port\n"
         .. "named behind it, and tells what was dropped, if anything; so does the end of each job.\n"
         .. "Captures begin and end at any time, while streams and tests run or not, and end when a test\n"
         .. "has to have the ports opened anew. Without a word: those there are.",
      arguments = {
         { name = "port", help = "the port that receives, or stop", optional = true, complete = "captured" },
         { name = "file", help = "where to, .pcap or .pcapng", optional = true, complete = "port_to_stop" },
         { name = "filter", help = "which frames; default: all", optional = true, rest = true },
         { name = "trigger", named = true, help = "loss, or a filter: what to wait for" },
         { name = "before", named = true, help = "frames kept before it; default: none" },
         { name = "after", named = true, help = "frames kept from it on, until the next; default: all" },
      },
      examples = {
         "capture west west.pcapng", "capture west dns.pcap udp port 53",
         "capture west loss.pcapng trigger=loss before=100 after=100", "capture stop",
      },
      run = capture,
   },
   {
      name = "replay", summary = "send a capture again",
      help = "Send the frames of a pcap or pcapng file from a port: as they were recorded, faster or\n"
         .. "slower, or at a rate. verify= names the port where the same frames must arrive, in order.",
      arguments = {
         { name = "port", help = "the port that sends", complete = "port" },
         { name = "file", help = "pcap or pcapng, of Ethernet" },
         { name = "pace", help = "a speed such as 2x, or a rate: 40%, 100kfps, 1Gbps L1",
            optional = true, rest = true },
         { name = "loops", named = true, help = "how often; 0: until the duration is over" },
         { name = "duration", named = true, help = "nothing is sent after it, such as 10s" },
         { name = "verify", named = true, help = "the port that must receive the same" },
         { name = "background", flag = true, help = "give the prompt back; 'jobs' and 'watch' show it" },
      },
      examples = { "replay east site.pcapng 2x verify=west", "replay east site.pcap 40%" }, run = replay,
   },
}
