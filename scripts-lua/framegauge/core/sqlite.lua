-- SPDX-License-Identifier: BSD-3-Clause

--- SQLite databases, by the system's libsqlite3 (https://www.sqlite.org/cintro.html).
--
-- Just what an index needs: statements with values in their places, and rows as tables. A file that is no
-- database, or a damaged one, raises { damaged = true }: an index is made again (framegauge.history.index).
local ffi = require "ffi"
local Library = require "framegauge.core.library"
local transaction = require "framegauge.core.transaction"
local user_error = require "framegauge.core.user_error"

ffi.cdef [[
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
int sqlite3_open_v2(const char *file, sqlite3 **db, int flags, const char *vfs);
int sqlite3_close_v2(sqlite3 *db);
const char *sqlite3_errmsg(sqlite3 *db);
int sqlite3_busy_timeout(sqlite3 *db, int ms);
int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **statement, const char **tail);
int sqlite3_bind_double(sqlite3_stmt *statement, int at, double value);
int sqlite3_bind_text(sqlite3_stmt *statement, int at, const char *text, int size, intptr_t kept);
int sqlite3_bind_null(sqlite3_stmt *statement, int at);
int sqlite3_step(sqlite3_stmt *statement);
int sqlite3_reset(sqlite3_stmt *statement);
int sqlite3_finalize(sqlite3_stmt *statement);
int sqlite3_column_count(sqlite3_stmt *statement);
int sqlite3_column_type(sqlite3_stmt *statement, int at);
const char *sqlite3_column_name(sqlite3_stmt *statement, int at);
double sqlite3_column_double(sqlite3_stmt *statement, int at);
const char *sqlite3_column_text(sqlite3_stmt *statement, int at);
int sqlite3_column_bytes(sqlite3_stmt *statement, int at);
]]

local OK, CORRUPT, NO_DATABASE, ROW, DONE = 0, 11, 26, 100, 101
local READ_WRITE, CREATE = 2, 4
local INTEGER, FLOAT, NULL = 1, 2, 5
local COPIED = -1 -- SQLITE_TRANSIENT
local ENVIRONMENT = 4
local PATIENCE_MS = 10000

local Database = {}
Database.__index = Database

local library
local load_library = Library.loader("history", "libsqlite3.so.0", "libsqlite3-0")

local function check(self, status)
   if status == OK or status == ROW or status == DONE then
      return status
   end
   local primary = status % 256
   user_error.raise("history", ENVIRONMENT, "%s: %s", self.path, ffi.string(library.sqlite3_errmsg(self.db)),
      primary)
end

-- What is raised tells a damaged file from other trouble.
local function checked(self, status)
   local ok, err = pcall(check, self, status)
   if not ok then
      err.damaged = status % 256 == CORRUPT or status % 256 == NO_DATABASE
      error(err, 0)
   end
   return status
end

--- Open a file, or ":memory:".
function Database.open(path)
   library = load_library()
   local place = ffi.new "sqlite3 *[1]"
   local status = library.sqlite3_open_v2(path, place, READ_WRITE + CREATE, nil)
   local self = setmetatable({ db = place[0], path = path, prepared = {} }, Database)
   local ok, err = pcall(checked, self, status)
   if not ok then
      library.sqlite3_close_v2(self.db)
      error(err, 0)
   end
   library.sqlite3_busy_timeout(self.db, PATIENCE_MS)
   return self
end

-- A statement is kept, for the same text again.
local function prepare(self, sql)
   if not self.prepared[sql] then
      local place = ffi.new "sqlite3_stmt *[1]"
      checked(self, library.sqlite3_prepare_v2(self.db, sql, #sql, place, nil))
      self.prepared[sql] = place[0]
   end
   return self.prepared[sql]
end

local function bind(self, statement, values, count)
   for i = 1, count do
      local value = values[i]
      local kind = type(value)
      if kind == "number" then
         checked(self, library.sqlite3_bind_double(statement, i, value))
      elseif kind == "nil" then
         checked(self, library.sqlite3_bind_null(statement, i))
      else
         value = tostring(value)
         checked(self, library.sqlite3_bind_text(statement, i, value, #value, COPIED))
      end
   end
end

local function column(statement, at)
   local kind = library.sqlite3_column_type(statement, at)
   if kind == INTEGER or kind == FLOAT then
      return library.sqlite3_column_double(statement, at)
   end
   return kind ~= NULL and ffi.string(library.sqlite3_column_text(statement, at),
      library.sqlite3_column_bytes(statement, at)) or nil
end

local function names_of(statement)
   local names = {}
   for at = 1, library.sqlite3_column_count(statement) do
      names[at] = ffi.string(library.sqlite3_column_name(statement, at - 1))
   end
   return names
end

local function row_of(statement, names)
   local row = {}
   for at, name in ipairs(names) do
      row[name] = column(statement, at - 1)
   end
   return row
end

--- Run one statement.
-- @param ...  values for its question marks; numbers, texts or nil
-- @return list of its rows, each { column = value }
function Database:run(sql, ...)
   local statement, rows = prepare(self, sql), {}
   bind(self, statement, { ... }, select("#", ...))
   local status = library.sqlite3_step(statement)
   local names = names_of(statement) -- after the step: before it a statement may belong to other tables
   while status == ROW do
      rows[#rows + 1] = row_of(statement, names)
      status = library.sqlite3_step(statement)
   end
   library.sqlite3_reset(statement)
   checked(self, status)
   return rows
end

--- Call a function; all that it writes is kept, or, where it raises an error, nothing.
function Database:transaction(fn)
   transaction(self, "BEGIN IMMEDIATE", fn)
end

--- Add rows to a table.
-- @param columns  how many it has
-- @param rows     list of lists of values
function Database:insert(name, columns, rows)
   local sql = ("INSERT INTO %s VALUES (%s?)"):format(name, ("?,"):rep(columns - 1))
   for _, row in ipairs(rows) do
      self:run(sql, unpack(row, 1, columns))
   end
end

--- Call a function that writes; others wait in transaction().
function Database.alone(_, fn)
   fn()
end

--- Make the tables, in place of another version's.
-- @param statements  SQL
-- @param version     of the tables
-- @param old         SQL that takes them away
function Database:make(statements, version, old)
   self:run "PRAGMA journal_mode = WAL"
   self:run "PRAGMA synchronous = NORMAL"
   self:run "PRAGMA foreign_keys = ON"
   if self:run("PRAGMA user_version")[1].user_version == version then
      return
   end
   self:transaction(function()
      for _, list in ipairs { old, statements, { ("PRAGMA user_version = %d"):format(version) } } do
         for _, sql in ipairs(list) do
            self:run(sql)
         end
      end
   end)
end

function Database:close()
   for _, statement in pairs(self.prepared) do
      library.sqlite3_finalize(statement)
   end
   library.sqlite3_close_v2(self.db)
   self.prepared, self.db = {}, nil
end

return Database
