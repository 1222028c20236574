/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures that wait for a frame, and keep what is around it. */
#include <algorithm>

#include "capture_under_test.h"

/* the ring of the buffer comes round many times: what is kept is what a list in memory would keep */
TEST(Capture, FramesAroundEachTrigger)
{
	const size_t before = 20, after = 5;
	for (size_t slice : {size_t(0), size_t(40)}) {
		File in, out;
		Path path;
		auto packets = some_packets(15000);
		std::vector<frames::Bytes> wanted;
		size_t triggers = 0, left = 0, done = 0;

		for (size_t i = 0; i < packets.size(); i++) {
			if (packets[i].bytes[20] == 0x42) {
				triggers++;
				for (size_t k = std::max(done, i > before ? i - before : 0); k < i; k++)
					wanted.push_back(packets[k].bytes);
				left = after;
			}
			if (left > 0) {
				left--;
				wanted.push_back(packets[i].bytes);
				done = i + 1;
			}
		}
		for (frames::Bytes &bytes : wanted)
			bytes.resize(slice > 0 ? slice : bytes.size());
		write_pcap(in.path, packets);
		path.capture.filter = "ether proto 0x88b5";
		path.capture.trigger = "ether[20] = 0x42";
		path.capture.before = before;
		path.capture.after = after;
		path.capture.slice = uint32_t(slice);
		path.capture.buffer = 1;
		out.path += ".pcapng";
		path.Run(in.path, out.path);
		auto got = read_pcap(out.path);
		ASSERT_EQ(wanted.size(), got.size());
		for (size_t i = 0; i < got.size(); i++)
			ASSERT_EQ(wanted[i], got[i].bytes) << i;
		EXPECT_LT(30u, triggers);
		EXPECT_EQ(triggers, path.Captured().triggers);
		EXPECT_EQ(wanted.size(), path.Captured().written);
		EXPECT_EQ(0u, path.Captured().dropped);
	}
}
