-- SPDX-License-Identifier: BSD-3-Clause

--- A transaction of a database (framegauge.core.sqlite, framegauge.core.postgres).

--- Call a function; all that it writes is kept, or, where it raises an error, nothing.
-- @param database  with the method run
-- @param begin     the statement that begins it
return function(database, begin, fn)
   database:run(begin)
   local ok, err = pcall(fn)
   if not ok then
      pcall(database.run, database, "ROLLBACK")
      error(err, 0)
   end
   database:run "COMMIT"
end
