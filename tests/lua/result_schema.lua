-- SPDX-License-Identifier: BSD-3-Clause

--- docs/reference/result.schema.json, with Python's jsonschema as the judge.
local scratch = require "scratch"

local SCHEMA = scratch.PROJECT .. "docs/reference/result.schema.json"

local M = {}

--- Hold a file against it.
-- @return true, or false and what is wrong
function M.validate(path)
   local script = [[
import json, sys, jsonschema
schema, instance = (json.load(open(name)) for name in sys.argv[1:])
try:
    jsonschema.Draft202012Validator(schema).validate(instance)
    print("valid")
except jsonschema.ValidationError as error:
    print(error.json_path, error.message[:200])
]]
   local output = scratch.shell(("/usr/bin/python3 -c '%s' '%s' '%s' 2>&1"):format(script, SCHEMA, path))
   return output == "valid\n", output
end

return M
