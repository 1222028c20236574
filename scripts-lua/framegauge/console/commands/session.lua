-- SPDX-License-Identifier: BSD-3-Clause

--- Commands about the session itself.
return {
   {
      name = "trace", looks = true, summary = "where the last error came from", arguments = {},
      help = "Show the stack at the place the last error was raised.",
      run = function(session)
         return session.trace or "no error so far, or one that says all there is to say"
      end,
   },
   {
      name = "help", looks = true, summary = "help on a command or a topic",
      help = "Without a topic: everything that can be typed.",
      arguments = { { name = "topic", help = "a command or a topic", optional = true, complete = "topic" } },
      run = function(session, o)
         local topics = require "framegauge.console.topics"
         local width = session.terminal and session.terminal:size()
         return o.topic and topics.page(tostring(o.topic), width) or topics.overview()
      end,
   },
   {
      name = "quit", looks = true, summary = "leave; jobs are stopped with what they have", arguments = {},
      help = "Leave the console, as Ctrl-D does. Jobs are stopped and keep what they have found so far; in\n"
         .. "an attached session they go on.",
      run = function(session)
         session.leaving = true
      end,
   },
}
