-- SPDX-License-Identifier: BSD-3-Clause

--- The index of runs: what their figures were, without reading every result.json again.
--
-- It is a SQLite database in the folder of the runs, or a PostgreSQL database that several testers share, and
-- never the only copy of anything: a run is read again when its result.json has changed, and forgotten when
-- it is gone. In the folder an index that is missing, damaged or of another version is made again; where it
-- cannot be written, it is made in memory. In a shared one each tester keeps the runs of its own folder,
-- whose names begin with HOST:FOLDER, and sees the runs of all.
local compare = require "framegauge.report.compare"
local Database = require "framegauge.core.sqlite"
local files = require "framegauge.report.files"
local Postgres = require "framegauge.core.postgres"
local report = require "framegauge.report"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local Index = {}
Index.__index = Index

--- Name of the index in the folder of runs.
Index.FILE = ".framegauge-history.sqlite"

local VERSION = 3 -- of the tables and of what they hold
local BAD_USAGE = 2
local DEEPEST = 3 -- folders below the folder of the runs

local TABLES = {
   [[CREATE TABLE runs (
      folder TEXT PRIMARY KEY, stamp TEXT NOT NULL, problem TEXT, plan TEXT, test TEXT, started TEXT,
      validity TEXT, outcome TEXT, interrupted TEXT, device TEXT, firmware TEXT, configuration TEXT,
      version TEXT, host TEXT)]],
   [[CREATE TABLE figures (
      folder TEXT NOT NULL REFERENCES runs(folder) ON DELETE CASCADE, position INTEGER NOT NULL, title TEXT,
      name TEXT, figure TEXT, heading TEXT, unit TEXT, text TEXT, value DOUBLE PRECISION,
      low DOUBLE PRECISION, high DOUBLE PRECISION, valid TEXT, side TEXT, PRIMARY KEY (folder, position))]],
   "CREATE INDEX runs_of_plan ON runs (plan, started)",
}
local RUN_COLUMNS, FIGURE_COLUMNS = 14, 13
local ENDED = "WHERE plan = ? AND interrupted = 'no' ORDER BY started, folder" -- runs of a plan
local OLD_TABLES = { "DROP TABLE IF EXISTS figures", "DROP TABLE IF EXISTS runs" }

local function remove(path)
   for _, ending in ipairs { "", "-wal", "-shm" } do
      uv.fs_unlink(path .. ending)
   end
end

-- Folders with a result.json below one, by their paths relative to it: { [path] = stamp of the file }.
local function find_runs(root, below, depth, found)
   local entries = uv.fs_scandir(root .. below)
   local name = entries and uv.fs_scandir_next(entries)
   while name do
      local path = below .. "/" .. name
      local stat = name:sub(1, 1) ~= "." and uv.fs_stat(("%s%s/result.json"):format(root, path))
      if stat and stat.type == "file" then
         found[path:sub(2)] = ("%d.%09d %d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size)
      elseif stat == nil and depth > 1 then
         find_runs(root, path, depth - 1, found)
      end
      name = uv.fs_scandir_next(entries)
   end
   return found
end

local function add_run(db, key, stamp, result, moment)
   local dut = result.plan.device_under_test or {}
   db:insert("runs", RUN_COLUMNS, { { key, stamp, nil, result.plan.name, result.plan.test, moment.started,
      result.validity, result.outcome, result.interrupted and "yes" or "no", dut.name, dut.firmware,
      dut.notes, result.generator and result.generator.version, moment.host } })
   db:insert("figures", FIGURE_COLUMNS, tables.map(compare.figures(result), function(one, i)
      return { key, i, one.title, one.name, one.figure, one.heading, one.unit, one.text, one.value, one.low,
         one.high, one.valid and "yes" or "no", one.side }
   end))
end

-- For an unreadable result the index keeps the reason, so that it is read only once.
local function read_run(self, folder, stamp)
   local path, key = self.root .. "/" .. folder, self.prefix .. folder
   self.db:run("DELETE FROM runs WHERE folder = ?", key)
   local ok, err = pcall(self.db.transaction, self.db, function()
      add_run(self.db, key, stamp, report.read(path), files.moment(path))
   end)
   if not ok then
      if type(err) == "table" and err.damaged then
         error(err, 0)
      end
      self.db:run("INSERT INTO runs (folder, stamp, problem) VALUES (?,?,?)", key, stamp, tostring(err))
   end
end

-- Make the index agree with the folders.
local function refresh(self, again)
   local found = find_runs(self.root, "", DEEPEST, {})
   for _, row in ipairs(self.db:run "SELECT folder, stamp FROM runs") do
      local is_ours = row.folder:sub(1, #self.prefix) == self.prefix
      local folder = row.folder:sub(#self.prefix + 1)
      if is_ours and not found[folder] then
         self.db:run("DELETE FROM runs WHERE folder = ?", row.folder)
      elseif is_ours and found[folder] == row.stamp and not again then
         found[folder] = nil
      end
   end
   for folder, stamp in pairs(found) do
      read_run(self, folder, stamp)
      if self.pause then
         self.pause()
      end
   end
end

local function open_with(root, db, prefix, o)
   local self = setmetatable({ root = root, db = db, prefix = prefix, pause = o.pause }, Index)
   local ok, err = pcall(db.alone, db, function()
      db:make(TABLES, VERSION, OLD_TABLES)
      if root then
         refresh(self, o.again)
      end
   end)
   if not ok then
      self:close()
      error(err, 0)
   end
   return self
end

local function open_file(root, o)
   local path = root .. "/" .. Index.FILE
   if o.again then
      remove(path)
   end
   local ok, index = pcall(function()
      return open_with(root, Database.open(path), "", o)
   end)
   if not ok and type(index) == "table" and index.damaged and not o.again then
      return open_file(root, { again = true, pause = o.pause })
   elseif not ok and not uv.fs_access(root, "W") then
      return open_with(root, Database.open ":memory:", "", o)
   end
   return ok and index or error(index, 0)
end

--- The index of a folder, as the folders are now.
-- @param root     folder of runs
-- @param o.again  make it anew, whatever is there
-- @param o.url    of a shared database; the folder need not be there then
-- @param o.pause  function called after each run that is read, where others wait for the thread
function Index.open(root, o)
   o = o or {}
   local stat = uv.fs_stat(root)
   local is_folder = stat and stat.type == "directory"
   if not is_folder and not o.url then
      user_error.raise("history", BAD_USAGE, "there is no folder %s with runs", root)
   elseif not o.url then
      return open_file(root, o)
   end
   local db = Postgres.open(o.url, "framegauge_" .. VERSION)
   local prefix = is_folder and ("%s:%s/"):format(uv.os_gethostname(), uv.fs_realpath(root)) or ""
   return open_with(is_folder and root, db, prefix, o)
end

--- Runs in the order in which they were started.
-- @param plan  only of the plan of this name; nil: all
-- @return list of rows of the table runs
function Index:runs(plan)
   return self.db:run("SELECT * FROM runs WHERE problem IS NULL AND plan = COALESCE(?, plan) ORDER BY started, folder", plan)
end

--- Folders whose result cannot be read: list of { folder, problem }.
function Index:problems()
   return self.db:run "SELECT folder, problem FROM runs WHERE problem IS NOT NULL ORDER BY folder"
end

--- Names of the plans that were run.
function Index:plans()
   return self.db:run "SELECT DISTINCT plan FROM runs WHERE problem IS NULL ORDER BY plan"
end

--- The figures of one run, in the order of its tables.
function Index:figures(folder)
   return self.db:run("SELECT * FROM figures WHERE folder = ? ORDER BY position", folder)
end

--- Every figure of all runs of a plan that came to their end, in the order in which they were started.
-- @return list of rows of the table figures without position and text, each with its run
-- @return list of the runs: folder, started, device, firmware, configuration and number, from 1 on
function Index:points(plan)
   local runs = self.db:run("SELECT folder, started, device, firmware, configuration FROM runs " .. ENDED,
      plan)
   local points = self.db:run("SELECT folder, title, name, figure, heading, unit, side, value, low, high, valid FROM figures JOIN runs USING (folder) " .. ENDED .. ", position", plan)
   local by_folder = {}
   for number, run in ipairs(runs) do
      run.number, by_folder[run.folder] = number, run
   end
   for _, point in ipairs(points) do
      point.run = by_folder[point.folder]
   end
   return points, runs
end

function Index:close()
   self.db:close()
end

return Index
