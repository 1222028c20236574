-- SPDX-License-Identifier: BSD-3-Clause

--- PostgreSQL databases, by the system's libpq (https://www.postgresql.org/docs/current/libpq.html), with the
-- interface of framegauge.core.sqlite.
--
-- A password is never given here: libpq takes it from ~/.pgpass, PGPASSFILE or PGPASSWORD. A URL with one is
-- refused and never repeated, because command lines and messages are read by others. A call waits for the
-- server, at most for the times below: not for a thread that has other work.
local failure = require "framegauge.core.failure"
local ffi = require "ffi"
local Library = require "framegauge.core.library"
local tables = require "framegauge.core.tables"
local transaction = require "framegauge.core.transaction"
local user_error = require "framegauge.core.user_error"

ffi.cdef [[
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct {
	char *keyword, *envvar, *compiled, *val, *label, *dispchar;
	int dispsize;
} PQconninfoOption;
PQconninfoOption *PQconninfoParse(const char *text, char **message);
void PQconninfoFree(PQconninfoOption *options);
PGconn *PQconnectdbParams(const char *const *keywords, const char *const *values, int expand);
int PQstatus(const PGconn *connection);
char *PQerrorMessage(const PGconn *connection);
void PQfinish(PGconn *connection);
PGresult *PQexecParams(PGconn *connection, const char *sql, int count, const unsigned *types,
	const char *const *values, const int *sizes, const int *formats, int format);
int PQresultStatus(const PGresult *result);
int PQntuples(const PGresult *result);
int PQnfields(const PGresult *result);
char *PQfname(const PGresult *result, int column);
unsigned PQftype(const PGresult *result, int column);
int PQgetisnull(const PGresult *result, int row, int column);
int PQgetlength(const PGresult *result, int row, int column);
char *PQgetvalue(const PGresult *result, int row, int column);
void PQclear(PGresult *result);
]]

local CONNECTED = 0
local COMMAND_DONE, ROWS = 1, 2
local NUMBERS = { [20] = true, [21] = true, [23] = true, [701] = true } -- int8, int2, int4, float8
local ENVIRONMENT, BAD_USAGE = 4, 2
local MAX_VALUES = 32000 -- of one statement; the protocol has 16 bits
local LOCK = 0x66676869 -- of those who write: any number that no other program takes

-- What the URL does not set.
local DEFAULTS = {
   { "connect_timeout", "10" }, { "tcp_user_timeout", "30000" }, { "application_name", "framegauge" },
   { "client_encoding", "UTF8" }, { "options", "-c statement_timeout=60s -c lock_timeout=30s" },
}

local Database = {}
Database.__index = Database

local library
local load_library = Library.loader("history", "libpq.so.5", "libpq5")

-- Refuse what is no URL, or has a secret. Neither message repeats it.
local function check_url(url)
   local options = url:find "^postgres%a*://" and library.PQconninfoParse(url, nil) or nil
   if options == nil then
      user_error.raise("history", BAD_USAGE,
         "--database is no URL of PostgreSQL; expected postgresql://USER@HOST/DATABASE")
   end
   local i, is_secret = 0, false
   while options[i].keyword ~= nil do
      local is_set = options[i].val ~= nil and ffi.string(options[i].val) ~= ""
      is_secret = is_secret or is_set and ffi.string(options[i].dispchar) == "*"
      i = i + 1
   end
   library.PQconninfoFree(options)
   if is_secret then
      user_error.raise("history", BAD_USAGE, "--database has a password, which others can read on the command line; put it into ~/.pgpass, or into PGPASSWORD")
   end
end

local function raise(self)
   local text = ffi.string(library.PQerrorMessage(self.connection)):gsub("%s+", " "):gsub(" $", "")
   user_error.raise("history", ENVIRONMENT, "the database: %s", text)
end

-- Texts as C takes them, with a null after the last. A list is alive as long as its texts are read.
local function texts(list, count)
   local array = ffi.new("const char *[?]", count + 1)
   for i = 1, count do
      array[i - 1] = list[i]
   end
   return array
end

--- Connect to a server.
-- @param url   postgresql://USER@HOST/DATABASE?sslmode=verify-full, as libpq takes it, without a password
-- @param name  schema of the tables; it need not be there yet
function Database.open(url, name)
   library = load_library()
   check_url(url)
   local keywords, values = { unpack(tables.field(DEFAULTS, 1)) }, { unpack(tables.field(DEFAULTS, 2)) }
   keywords[#keywords + 1], values[#values + 1] = "dbname", url -- what it sets comes last, and holds
   local self = setmetatable({ name = name }, Database)
   self.connection = library.PQconnectdbParams(texts(keywords, #keywords), texts(values, #values), 1)
   if library.PQstatus(self.connection) ~= CONNECTED then
      local _, err = pcall(raise, self)
      self:close()
      error(err, 0)
   end
   self:run(('SET search_path = "%s"'):format(name))
   return self
end

local function row_of(result, i)
   local row = {}
   for at = 0, library.PQnfields(result) - 1 do
      if library.PQgetisnull(result, i, at) == 0 then
         local text = ffi.string(library.PQgetvalue(result, i, at), library.PQgetlength(result, i, at))
         row[ffi.string(library.PQfname(result, at))] =
            NUMBERS[library.PQftype(result, at)] and tonumber(text) or text
      end
   end
   return row
end

-- Question marks become $1, $2 ...
local function numbered(sql)
   local count = 0
   return (sql:gsub("%?", function()
      count = count + 1
      return "$" .. count
   end))
end

local function execute(self, sql, values, count)
   local list = {}
   for i = 1, count do
      local value = values[i]
      if value ~= nil then
         list[i] = type(value) == "number" and ("%.17g"):format(value) or tostring(value)
      end
   end
   local result = library.PQexecParams(self.connection, numbered(sql), count, nil, texts(list, count), nil,
      nil, 0)
   local status, rows = library.PQresultStatus(result), {}
   for i = 0, status == ROWS and library.PQntuples(result) - 1 or -1 do
      rows[i + 1] = row_of(result, i)
   end
   library.PQclear(result)
   if status ~= ROWS and status ~= COMMAND_DONE then
      raise(self)
   end
   return rows, list -- which is alive until here
end

--- Run one statement.
-- @param ...  values for its question marks; numbers, texts or nil
-- @return list of its rows, each { column = value }
function Database:run(sql, ...)
   local rows = execute(self, sql, { ... }, select("#", ...))
   return rows
end

--- Add rows to a table, many in one statement: each statement waits for the server.
-- @param columns  how many it has
-- @param rows     list of lists of values
function Database:insert(name, columns, rows)
   local one = "(" .. ("?,"):rep(columns - 1) .. "?)"
   local most = math.floor(MAX_VALUES / columns)
   for first = 1, #rows, most do
      local values, n = {}, math.min(most, #rows - first + 1)
      for i = 1, n do
         for column = 1, columns do
            values[(i - 1) * columns + column] = rows[first + i - 1][column]
         end
      end
      execute(self, ("INSERT INTO %s VALUES %s%s"):format(name, (one .. ","):rep(n - 1), one), values,
         n * columns)
   end
end

--- Call a function; all that it writes is kept, or, where it raises an error, nothing.
function Database:transaction(fn)
   transaction(self, "BEGIN", fn)
end

--- Call a function while no other tester writes.
function Database:alone(fn)
   self:run("SELECT pg_advisory_lock(?)", LOCK)
   failure.finally(function()
      pcall(self.run, self, "SELECT pg_advisory_unlock(?)", LOCK)
   end, fn)
end

-- A schema that may not be used is to PostgreSQL as one that is not there, tables and all.
local function check_rights(self, user, may)
   if may ~= "t" then
      user_error.raise("history", ENVIRONMENT, "the database: %s may not use the schema %s; its owner permits it by GRANT USAGE ON SCHEMA %s TO %s, and the same for its tables",
         user, self.name, self.name, user)
   end
end

--- Make the tables, unless they are there.
-- @param statements  SQL
function Database:make(statements)
   local found = self:run([[SELECT current_user AS user, has_schema_privilege(oid, 'USAGE') AS may
      FROM pg_namespace WHERE nspname = ?]], self.name)[1]
   if found then
      return check_rights(self, found.user, found.may)
   end
   self:transaction(function()
      self:run(('CREATE SCHEMA "%s"'):format(self.name))
      for _, sql in ipairs(statements) do
         self:run(sql)
      end
   end)
end

function Database:close()
   library.PQfinish(self.connection)
   self.connection = nil
end

return Database
