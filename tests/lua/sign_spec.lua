-- SPDX-License-Identifier: BSD-3-Clause
local ed25519 = require "framegauge.core.ed25519"
local scratch = require "scratch"
local signed = require "framegauge.report.signed"

-- RFC 8032, 7.1, test 3: the key in PKCS #8, the text af82, and its signature
local KEY = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIMWqjfQ/n4N77bdELzHct7Fm04U1B28JS4XOOi4LRFj3\n"
   .. "-----END PRIVATE KEY-----\n"
local PUBLIC = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU=\n"
   .. "-----END PUBLIC KEY-----\n"
local SIGNATURE = "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
   .. "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"

local function file(text)
   local path = scratch.path()
   scratch.write(path, text)
   return path
end

local function bytes(hex)
   return (hex:gsub("%x%x", function(byte) return string.char(tonumber(byte, 16)) end))
end

describe("a signature", function()
   teardown(scratch.remove)

   it("is that of RFC 8032", function()
      local key, public = ed25519.private_key(file(KEY)), ed25519.public_key(file(PUBLIC))
      assert.equal(bytes(SIGNATURE), ed25519.sign(key, bytes "af82"))
      assert.is_true(ed25519.verify(public, bytes "af82", bytes(SIGNATURE)))
      assert.is_false(ed25519.verify(public, bytes "af83", bytes(SIGNATURE)))
      assert.is_false(ed25519.verify(public, bytes "af82", bytes(SIGNATURE):sub(1, 63)))
   end)

   it("has digests of FIPS 180", function()
      assert.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ed25519.sha256 "abc")
   end)

   it("needs a key that is one", function()
      local function message(fn, path)
         return tostring(select(2, pcall(fn, path)))
      end
      assert.matches("cannot read the key: .*No such file", message(ed25519.public_key, scratch.path()))
      assert.matches("has no private key in PEM", message(ed25519.private_key, file(PUBLIC)))
      local path = scratch.path()
      scratch.shell(("openssl genpkey -algorithm x25519 -out '%s'"):format(path))
      assert.matches("is not an Ed25519 key", message(ed25519.private_key, path))
   end)
end)

describe("a signed folder", function()
   teardown(scratch.remove)

   local function folder()
      local path = scratch.path()
      scratch.shell(("mkdir '%s'"):format(path))
      scratch.write(path .. "/result.json", "{}\n")
      scratch.write(path .. "/trials.jsonl", "{}\n{}\n")
      return path
   end

   local function wrong(path)
      return table.concat((signed.verify(path, file(PUBLIC))), "; ")
   end

   it("is checked by this program, and by others", function()
      local path = folder()
      assert.same({ "result.json", "trials.jsonl" }, signed.sign(path, file(KEY)))
      assert.equal("", wrong(path))
      assert.equal("result.json: OK\ntrials.jsonl: OK\n",
         (scratch.shell(("cd '%s' && sha256sum -c SHA256SUMS"):format(path))))
      local command = "cd '%s' && openssl pkeyutl -verify -pubin -inkey '%s' -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig"
      assert.matches("Signature Verified", (scratch.shell(command:format(path, file(PUBLIC)))))
   end)

   it("names what was changed, taken away, or added", function()
      local path = folder()
      signed.sign(path, file(KEY))
      scratch.write(path .. "/result.json", "{ }\n")
      assert.equal("result.json was changed after it was signed", wrong(path))
      os.remove(path .. "/trials.jsonl")
      assert.equal("result.json was changed after it was signed; trials.jsonl is missing", wrong(path))
      path = folder()
      os.remove(path .. "/trials.jsonl")
      signed.sign(path, file(KEY))
      scratch.write(path .. "/trials.jsonl", "{}\n")
      assert.equal("trials.jsonl was added after the folder was signed", wrong(path))
   end)

   it("is not believed when its list or its signature was made by another", function()
      local path = folder()
      assert.matches("it is not signed", tostring(select(2, pcall(signed.verify, path, file(PUBLIC)))))
      signed.sign(path, file(KEY))
      local list = scratch.read(path .. "/SHA256SUMS")
      scratch.write(path .. "/SHA256SUMS", (list:gsub("^%x", "0")) .. "\n")
      assert.matches("was not signed by the owner of", wrong(path))
      local other = scratch.path()
      scratch.shell(("openssl genpkey -algorithm ed25519 -out '%s'"):format(other))
      signed.sign(path, other)
      assert.matches("was not signed by the owner of", wrong(path))
   end)
end)
