-- SPDX-License-Identifier: BSD-3-Clause

-- Shows Framegauge's signature in Wireshark and tshark: stream, sequence number and transmit time of a test
-- frame.
--
--    cp tools/wireshark/framegauge.lua ~/.local/lib/wireshark/plugins/
--    tshark -X lua_script:tools/wireshark/framegauge.lua -r capture.pcap -Y 'framegauge.trial.stream == 3'
--
-- The signature stands in the last 18 bytes before the FCS (lib/frame/fg_signature.h), whatever protocols
-- and tunnels stand in front, so this is a postdissector: it looks at every frame from its end.
local SIZE, FCS, MAGIC = 18, 4, 0x4667

local protocol = Proto("framegauge", "Framegauge test frame")
local fields = {
   magic = ProtoField.uint16("framegauge.magic", "Magic", base.HEX),
   stream = ProtoField.uint16("framegauge.trial.stream", "Stream", base.DEC),
   copy = ProtoField.bool("framegauge.copy", "Sent a second time on purpose", 8, nil, 0x80),
   sequence = ProtoField.uint64("framegauge.sequence", "Sequence number", base.DEC),
   time = ProtoField.uint64("framegauge.time", "Transmit time, ns", base.DEC),
   balance = ProtoField.uint16("framegauge.balance", "Balance", base.HEX),
}
protocol.fields = fields

-- The nine 16-bit words sum to 0xffff in one's complement.
local function balanced(signature)
   local sum = 0
   for at = 0, SIZE - 2, 2 do
      sum = sum + signature(at, 2):uint()
   end
   while sum > 0xffff do
      sum = sum % 0x10000 + math.floor(sum / 0x10000)
   end
   return sum == 0xffff
end

-- The signature that ends so many bytes before the end of the capture, or nil.
local function find(buffer, behind)
   if buffer:len() < SIZE + behind then
      return nil
   end
   local signature = buffer(buffer:len() - SIZE - behind, SIZE)
   return signature(0, 2):uint() == MAGIC and balanced(signature) and signature or nil
end

function protocol.dissector(buffer, packet, tree)
   -- some captures hold the FCS, most do not
   local signature = find(buffer, 0) or find(buffer, FCS)
   if not signature then
      return
   end
   local branch = tree:add(protocol, signature)
   local sequence = signature(4, 6):uint64():band(UInt64(0xffffffff, 0x7fff))
   branch:add(fields.magic, signature(0, 2))
   branch:add(fields.stream, signature(2, 2))
   branch:add(fields.copy, signature(4, 1))
   branch:add(fields.sequence, signature(4, 6), sequence)
   branch:add(fields.time, signature(10, 6))
   branch:add(fields.balance, signature(16, 2))
   branch:append_text((", stream %d, sequence %s"):format(signature(2, 2):uint(), sequence))
end

register_postdissector(protocol)
