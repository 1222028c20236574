-- SPDX-License-Identifier: BSD-3-Clause

--- The protocol between a tester and its attached sessions: JSON objects, one a line, over a Unix socket.
--
--    to the tester    {"hello": VERSION, "columns":, "rows":, "utf8":, "read_only":}   first
--                     {"line": text}           execute it; answered by "done" at its end
--                     {"complete": text}       complete this text; answered by "completion"
--                     {"interrupt": true}      Ctrl-C
--                     {"key": name}            pressed at a page
--                     {"columns":, "rows":}    new size of the terminal
--    from the tester  {"welcome": text}        after hello
--                     {"out": text}  {"err": text}
--                     {"progress": event}      of the watched job (run/progress.lua); false removes it
--                     {"screen": [line, ...]}  a full-screen page; false removes it
--                     {"done": outcome}        "done", "failed", "more" or "quit"
--                     {"completion": text, "candidates": [...]}
--                     {"bye": reason}          and the end
--
-- The tester does not trust its clients: buffers per client are bounded, and clients that flood, stall or
-- violate the protocol are disconnected.

--- Changes when the two sides would no longer understand each other.
return { VERSION = 2 }
