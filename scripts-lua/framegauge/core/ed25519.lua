-- SPDX-License-Identifier: BSD-3-Clause

--- Signatures by Ed25519 (RFC 8032) and digests by SHA-256, of the system's libcrypto.
--
-- Keys are PEM as `openssl genpkey -algorithm ed25519` writes them, so that keys are made, kept and checked
-- with the tools that everybody has.
local ffi = require "ffi"
local named_file = require "framegauge.core.named_file"
local user_error = require "framegauge.core.user_error"

ffi.cdef [[
typedef struct bio_st BIO;
typedef struct evp_pkey_st EVP_PKEY;
typedef struct evp_md_st EVP_MD;
typedef struct evp_md_ctx_st EVP_MD_CTX;
BIO *BIO_new_mem_buf(const void *text, int size);
int BIO_free(BIO *bio);
EVP_PKEY *PEM_read_bio_PrivateKey(BIO *bio, EVP_PKEY **key, void *ask, void *with);
EVP_PKEY *PEM_read_bio_PUBKEY(BIO *bio, EVP_PKEY **key, void *ask, void *with);
int EVP_PKEY_get_id(const EVP_PKEY *key);
void EVP_PKEY_free(EVP_PKEY *key);
EVP_MD_CTX *EVP_MD_CTX_new(void);
void EVP_MD_CTX_free(EVP_MD_CTX *context);
int EVP_DigestSignInit(EVP_MD_CTX *context, void **options, const EVP_MD *digest, void *engine,
   EVP_PKEY *key);
int EVP_DigestSign(EVP_MD_CTX *context, unsigned char *signature, size_t *size, const char *text,
   size_t length);
int EVP_DigestVerifyInit(EVP_MD_CTX *context, void **options, const EVP_MD *digest, void *engine,
   EVP_PKEY *key);
int EVP_DigestVerify(EVP_MD_CTX *context, const char *signature, size_t size, const char *text,
   size_t length);
const EVP_MD *EVP_sha256(void);
int EVP_Digest(const char *text, size_t length, unsigned char *digest, unsigned *size, const EVP_MD *kind,
   void *engine);
void ERR_clear_error(void);
]]

local crypto = ffi.load "libcrypto.so.3" -- the program itself is linked with it

local ED25519, SIGNATURE_SIZE, DIGEST_SIZE = 1087, 64, 32
local BAD_USAGE, ENVIRONMENT = 2, 4

local M = {}

local function read_text(path)
   local text, message = named_file.read(path)
   return text or user_error.raise("verify", BAD_USAGE, "cannot read the key: %s", message or path)
end

local function read_key(path, read, kind)
   local text = read_text(path)
   local bio = crypto.BIO_new_mem_buf(text, #text)
   local key = read(bio, nil, nil, nil)
   crypto.BIO_free(bio)
   crypto.ERR_clear_error()
   if key == nil then
      user_error.raise("verify", BAD_USAGE, "%s has no %s key in PEM", path, kind)
   end
   key = ffi.gc(key, crypto.EVP_PKEY_free)
   if crypto.EVP_PKEY_get_id(key) ~= ED25519 then
      user_error.raise("verify", BAD_USAGE, "the key in %s is not an Ed25519 key", path)
   end
   return key
end

--- The private key of a PEM file. libcrypto asks for its passphrase on the terminal.
function M.private_key(path)
   return read_key(path, crypto.PEM_read_bio_PrivateKey, "private")
end

--- The public key of a PEM file.
function M.public_key(path)
   return read_key(path, crypto.PEM_read_bio_PUBKEY, "public")
end

local function with_context(fn)
   local context = crypto.EVP_MD_CTX_new()
   local result = fn(context)
   crypto.EVP_MD_CTX_free(context)
   crypto.ERR_clear_error()
   return result
end

--- The signature of a text: 64 bytes.
function M.sign(key, text)
   local signature, size = ffi.new("unsigned char[?]", SIGNATURE_SIZE), ffi.new("size_t[1]", SIGNATURE_SIZE)
   local done = with_context(function(context)
      return crypto.EVP_DigestSignInit(context, nil, nil, nil, key) == 1
         and crypto.EVP_DigestSign(context, signature, size, text, #text) == 1
   end)
   return done and ffi.string(signature, size[0]) or user_error.raise("sign", ENVIRONMENT,
      "libcrypto cannot sign")
end

--- Whether a signature of a text was made by the owner of a key.
function M.verify(key, text, signature)
   return with_context(function(context)
      return crypto.EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
         and crypto.EVP_DigestVerify(context, signature, #signature, text, #text) == 1
   end)
end

--- The SHA-256 of a text, in hexadecimal digits.
function M.sha256(text)
   local digest = ffi.new("unsigned char[?]", DIGEST_SIZE)
   if crypto.EVP_Digest(text, #text, digest, nil, crypto.EVP_sha256(), nil) ~= 1 then
      user_error.raise("sign", ENVIRONMENT, "libcrypto cannot make a digest")
   end
   return (ffi.string(digest, DIGEST_SIZE):gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

return M
