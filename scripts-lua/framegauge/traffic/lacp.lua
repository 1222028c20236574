-- SPDX-License-Identifier: BSD-3-Clause

--- Frames of LACP (IEEE 802.1AX), built and read, and the answer to a marker of the same standard.
--
-- What a LACPDU says of either end of a link is { system_priority =, system = MAC, key =, port_priority =,
-- port =, and what its state has: activity, timeout (short), aggregation, synchronization, collecting,
-- distributing, defaulted, expired = booleans }.
local octets = require "framegauge.core.octets"

local M = {}

M.ETHERTYPE = 0x8809

local GROUP = "\1\128\194\0\0\2"
local HEADER = 14
local LACP, MARKER = 1, 2 -- subtypes of slow protocols
local ACTOR, PARTNER, COLLECTOR = 1, 2, 3 -- TLVs of a LACPDU
local ASKS, ANSWERS = 1, 2 -- TLVs of a marker
local END_LENGTH, COLLECTOR_LENGTH = 20, 16
local LACPDU_LENGTH, MARKER_LENGTH = 110, 110
local MAX_COLLECTOR_DELAY = 0 -- we hold no frame

-- by bit, the lowest first
local STATES = { "activity", "timeout", "aggregation", "synchronization", "collecting", "distributing",
   "defaulted", "expired" }

local number = octets.of_number

local function u16(text, at)
   return text:byte(at) * 256 + text:byte(at + 1)
end

local function header(source, subtype)
   return GROUP .. octets.mac(source) .. number(M.ETHERTYPE, 2) .. string.char(subtype, 1)
end

local function state_byte(one)
   local byte = 0
   for i, name in ipairs(STATES) do
      byte = byte + (one[name] and 2 ^ (i - 1) or 0)
   end
   return string.char(byte)
end

local function end_tlv(kind, one)
   return string.char(kind, END_LENGTH) .. number(one.system_priority, 2) .. octets.mac(one.system)
      .. number(one.key, 2) .. number(one.port_priority, 2) .. number(one.port, 2) .. state_byte(one)
      .. ("\0"):rep(3)
end

--- A LACPDU.
-- @param source          MAC of the port
-- @param actor, partner  what it says of this end, and of the other one
-- @return its bytes without FCS
function M.build(source, actor, partner)
   local frame = header(source, LACP) .. end_tlv(ACTOR, actor) .. end_tlv(PARTNER, partner)
      .. string.char(COLLECTOR, COLLECTOR_LENGTH) .. number(MAX_COLLECTOR_DELAY, 2)
   return frame .. ("\0"):rep(HEADER + LACPDU_LENGTH - #frame)
end

local function read_end(frame, at)
   local one = {
      system_priority = u16(frame, at + 2), system = octets.mac_text(frame:sub(at + 4, at + 9)),
      key = u16(frame, at + 10), port_priority = u16(frame, at + 12), port = u16(frame, at + 14),
   }
   local state = frame:byte(at + 16)
   for i, name in ipairs(STATES) do
      one[name] = math.floor(state / 2 ^ (i - 1)) % 2 == 1
   end
   return one
end

-- Does a frame have a TLV of this type and length there?
local function has_tlv(frame, at, kind, length)
   return frame:byte(at) == kind and frame:byte(at + 1) == length
end

-- The answer to a marker: the same, with another type.
local function marker_answer(frame, source)
   local at = HEADER + 3
   return header(source, MARKER) .. string.char(ANSWERS) .. frame:sub(at + 1, HEADER + MARKER_LENGTH)
end

--- Read a frame.
-- @param frame   bytes without FCS
-- @param source  MAC of the port that has received it
-- @return { actor =, partner = } of a LACPDU, { answer = frame } of a marker that is to be answered; nil: it
--         is malformed; false: it is not LACP or marker
function M.read(frame, source)
   if #frame < HEADER + 2 or u16(frame, HEADER - 1) ~= M.ETHERTYPE or frame:sub(1, 6) ~= GROUP then
      return false
   end
   local subtype, first = frame:byte(HEADER + 1), HEADER + 3
   if subtype == MARKER then
      return #frame >= HEADER + MARKER_LENGTH and has_tlv(frame, first, ASKS, 16)
         and { answer = marker_answer(frame, source) } or false
   elseif subtype ~= LACP then
      return false
   end
   local second = first + END_LENGTH
   if #frame < HEADER + LACPDU_LENGTH or not has_tlv(frame, first, ACTOR, END_LENGTH)
      or not has_tlv(frame, second, PARTNER, END_LENGTH) then
      return nil
   end
   return { actor = read_end(frame, first), partner = read_end(frame, second) }
end

return M
