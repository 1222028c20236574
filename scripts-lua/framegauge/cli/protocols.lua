-- SPDX-License-Identifier: BSD-3-Clause

--- The protocols as documentation: `framegauge help protocols` and docs/reference/protocols.md, from the
-- tables by which frames are built.
local addresses = require "framegauge.core.octets"
local columns = require("framegauge.text.columns").described
local field_value = require "framegauge.plan.field_value"
local parse = require "framegauge.cli.parse"
local protocols = require "framegauge.core.protocols"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"

local M = {}

local INTRODUCTION = [[
A stream's `frame` is a list of layers, from the outside in. A layer is the name of a protocol, or a name
with its fields, or a name with the value of its main field. What names what follows, lengths and checksums
are computed, unless they are given; `bad` computes them and then makes them wrong. Options stand in their
protocol's list `options`, called by their names without the part before the first `_`.

    frame:
      - ethernet
      - {vlan: {id: 100, priority: 5}}
      - {ipv4: {dscp: 46, source: 198.18.1.2, options: [router_alert]}}
      - {tcp: {flags: syn, options: [{mss: 1400}, nop, {window_scale: 7}], checksum: bad}}

A field can change from frame to frame:

    destination: 198.19.1.2-198.19.1.254          from the first to the last, and again
    destination: {from: 1024, to: 65535, step: 3} in steps; downwards when `to` is less than `from`
    destination: {from: 1024, count: 10}          10 values
    destination: [80, 443, 8080]                  these; or {list: [80, 443], hold: 2}
    source: {random: 1024-65535, seed: 7}         any of them; `random: all`: any value of the field, of an
                                                  IPv6 address any 128 bits, also of multicast
    source: {random: "2001:2::-2001:2:0:ffff:ffff:ffff:ffff:ffff"}   any address of whole /64 networks
    ttl: {from: 1, to: 255, every: 100}           every hundredth frame only
    ttl: {from: 1, to: 255, hold: 100}            each for a hundred frames

Several such fields go in step, or nest: `vary: nested` beside `frame`, and then the last one written changes
with every frame and the one before it when that has gone through its values, or with `hold: 3` through all
of them three times; `random` and `every` do not nest. Bytes of a layer change by their offset, whatever they
are: `{ipv4: {bytes: [{at: 8, mask: 0xf0, from: 0, to: 0xf0, step: 16}]}}`; bytes of the frame in the same way
by `bytes` beside `frame`. Every checksum that covers what changes follows, unless it is given.

The checksum behind an IPv6 routing header with segments left is computed over the final destination, as in
RFC 8200 and RFC 8754: the first in the list of a segment routing header, the last address of other types. An
SCTP packet is a multiple of 4 bytes (RFC 9260), and the signature stands at its end as in every frame: a
frame size that leaves SCTP another number of bytes is rejected, unless the chunk's `length` is given.

What stands behind the headers is `payload` beside `frame`: bytes that count up (`incrementing`), `zeros`,
`ones`, `random`, a pseudorandom sequence of ITU-T O.150 (`prbs9`, `prbs15`, `prbs23`, `prbs31`), bytes in
hex that are repeated (`0xdeadbeef`), or `{text: hello}`. Every device has to leave it alone, and the test
`traffic` tells whether it did, in frames, bytes and bits.

`framegauge frames PLAN.yaml` shows the frames.
]]

local function width_of(field)
   if field.width == 0 then
      return "to the end of the header"
   end
   return field.width % 8 == 0 and field.width > 48 and field.width / 8 .. " bytes" or field.width .. " bits"
end

local function preset_of(field)
   if field.computed then
      return "computed"
   elseif field.width == 0 then
      return "none"
   elseif field.kind == "mac" or field.kind == "ipv4" or field.kind == "ipv6" then
      local octets = field.preset ~= 0 and addresses.of_number(field.preset, field.width / 8)
      return octets and field_value.write(field, octets) or ""
   end
   return field_value.write(field, field.preset)
end

local function names_of(field)
   local list = tables.field(field.names or {}, "name")
   return table.concat(list, field.kind == "flags" and "+" or ", ")
end

-- What a field means, with all that belongs to it.
local function meaning(field)
   local text, names = field.help, names_of(field)
   if names ~= "" then
      text = text .. ": " .. names
   end
   return field.when and text .. "; there if " .. field.when .. " says so" or text
end

local function options_of(protocol)
   return protocol.option_space and table.concat(protocols.options_of(protocol), ", ") or nil
end

local function overview()
   local rows = {}
   for _, protocol in ipairs(protocols.list) do
      if not protocol.option then
         rows[#rows + 1] = { protocol.name, protocol.title }
      end
   end
   return (INTRODUCTION:gsub("`", "")) .. "\nProtocols:\n" .. columns(rows)
      .. "\n'framegauge help protocols NAME' tells the fields of one.\n"
end

--- The page of all protocols, or of one.
function M.page(name)
   local protocol = name and protocols.by_name[name]
   if not name then
      return overview()
   elseif not protocol then
      local names = tables.field(protocols.list, "name")
      parse.usage_error(nil, "there is no protocol '%s'%s", name, suggest.hint(name, names))
   end
   local rows = {}
   for i, field in ipairs(protocol.fields) do
      local facts = { width_of(field) }
      local preset = preset_of(field)
      facts[2] = preset ~= "" and (preset == "computed" and preset or "default: " .. preset) or nil
      facts[#facts + 1] = field.name == protocol.main and "main" or nil
      rows[i] = { field.name, ("%s [%s]"):format(meaning(field), table.concat(facts, "; ")) }
   end
   local options = options_of(protocol)
   if options then
      rows[#rows + 1] = { "options", "list of: " .. options }
   end
   return ("%s: %s\n\n"):format(protocol.name, protocol.title) .. columns(rows)
end

local function markdown_table(protocol, out)
   out[#out + 1] = "| field | meaning | width | default |\n|---|---|---|---|\n"
   for _, field in ipairs(protocol.fields) do
      local main = field.name == protocol.main and " (main)" or ""
      out[#out + 1] = ("| `%s`%s | %s | %s | %s |\n"):format(field.name, main, meaning(field),
         width_of(field), preset_of(field))
   end
end

--- The text of docs/reference/protocols.md.
function M.markdown()
   local out = { "# Protocols\n\n", INTRODUCTION }
   for _, protocol in ipairs(protocols.list) do
      out[#out + 1] = ("\n## `%s`\n\n%s.\n\n"):format(protocol.name,
         protocol.title:gsub("^%l", string.upper))
      local options = options_of(protocol)
      if options then
         out[#out + 1] = "Its `options`: " .. options .. ".\n\n"
      end
      markdown_table(protocol, out)
   end
   out[#out + 1] = "\nThis page is generated from the tables of lib/frame:\n"
      .. "`build/app/framegauge script docs/generate/protocols.lua > docs/reference/protocols.md`.\n"
   return table.concat(out)
end

return M
