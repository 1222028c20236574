-- SPDX-License-Identifier: BSD-3-Clause

--- A result folder that its maker has signed.
--
-- SHA256SUMS lists the digests of result.json and trials.jsonl as `sha256sum` does, and SHA256SUMS.sig is the
-- Ed25519 signature of that list: both can be checked without this program. The reports are not in the list:
-- `framegauge report` makes them again from result.json.
local ed25519 = require "framegauge.core.ed25519"
local Folder = require "framegauge.report.folder"
local user_error = require "framegauge.core.user_error"

local M = {}

--- Files of a signed folder.
M.LIST, M.SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"

local FILES = { "result.json", "trials.jsonl" }
local BAD_USAGE = 2

--- Sign a folder.
-- @param path  of the folder; its result is complete
-- @param key   path of a private key
-- @return list of the files that were signed
function M.sign(path, key)
   local folder, lines, names = Folder.open(path), {}, {}
   local private = ed25519.private_key(key)
   for _, name in ipairs(FILES) do
      local text = folder:read(name)
      if text then
         lines[#lines + 1] = ("%s  %s\n"):format(ed25519.sha256(text), name)
         names[#names + 1] = name
      end
   end
   if names[1] ~= FILES[1] then
      user_error.raise("sign", BAD_USAGE, "%s has no result.json: there is nothing to sign", path)
   end
   local list = table.concat(lines)
   folder:write(M.LIST, list)
   folder:write(M.SIGNATURE, ed25519.sign(private, list))
   return names
end

local function must_read(folder, name)
   return folder:read(name) or user_error.raise("verify", BAD_USAGE,
      "%s has no %s: it is not signed (framegauge sign)", folder.path, name)
end

-- One line of the list: nil when the file is what was signed, else what is wrong.
local function wrong_file(folder, digest, name)
   local text = folder:read(name)
   if not text then
      return name .. " is missing"
   end
   return ed25519.sha256(text) ~= digest and name .. " was changed after it was signed" or nil
end

--- Check a signed folder.
-- @param path  of the folder
-- @param key   path of the public key of the claimed signer
-- @return list of what is wrong, empty when all is as it was signed; list of the files that were signed
function M.verify(path, key)
   local folder, public = Folder.open(path), ed25519.public_key(key)
   local list, signature = must_read(folder, M.LIST), must_read(folder, M.SIGNATURE)
   if not ed25519.verify(public, list, signature) then
      return { ("%s was not signed by the owner of %s, or was changed afterwards"):format(M.LIST, key) }, {}
   end
   local wrong, names = {}, {}
   for digest, name in list:gmatch "(%x+)  ([^\n]+)\n" do
      names[#names + 1] = name
      wrong[#wrong + 1] = wrong_file(folder, digest, name)
   end
   for i, name in ipairs(FILES) do
      if names[i] ~= name and folder:read(name) then
         wrong[#wrong + 1] = name .. " was added after the folder was signed"
      end
   end
   return wrong, names
end

return M
