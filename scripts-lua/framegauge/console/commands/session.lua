-- SPDX-License-Identifier: BSD-3-Clause

--- Commands about the session itself.
return {
   { "trace", "show the stack of the last error",
      "Show the stack of the place where the last error was raised.",
      looks = true,
      run = function(session)
         return session.trace or "no error so far, or an error without a stack"
      end,
   },
   { "help", "help on a command or a topic",
      "Show the help of a command or a topic. Without one: list them all.",
      looks = true,
      arguments = { { "topic", "a command or a topic", optional = true, complete = "topic" } },
      run = function(session, o)
         local topics = require "framegauge.console.topics"
         local width = session.terminal and session.terminal:size()
         return o.topic and topics.page(session.commands, tostring(o.topic), width)
            or topics.overview(session.commands)
      end,
   },
   { "quit", "leave; jobs are stopped and keep their results",
      "Leave the console, as Ctrl-D does. Jobs are stopped and keep their results so far. Leaving an attached session stops nothing.",
      looks = true,
      run = function(session)
         session.leaving = true
      end,
   },
}
