/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A conversation on the wire's clock, as text: one host of ours against a peer that the script plays. Times
 * are seconds since the start, sequence numbers count from each side's SYN (which is 0), so payload begins at
 * 1.
 *
 *   set KEY VALUE              before the first time: a field of struct fg_l4_tcp, or ipv6, mtu, flooded,
 *                              refuse_early, refuse_until (a time), answer, peer_isn
 *   TIME open|listen           our side opens, or waits; TIME write N, close, abort
 *   TIME end                   what is open is reset
 *   TIME rooms N               N frames fit into a burst from now on; 0: nothing can leave
 *   TIME < FLAGS FROM[:TO] [ack N] [win N] [opt ...]    the peer sends; numbers from FROM to before TO
 *   TIME > FLAGS FROM[:TO] [ack N] [win N] [opt ...]    we must send this, now and nothing else before
 *   TIME expect NAME N         state, cwnd, ssthresh, mss, received, closed, end or a counter has this value
 *   TIME icmp SEQ MTU          a router says that the segment with this number was too big
 *
 * FLAGS are S F R A E W (ECE, CWR) and U, or "-" for none; P is not compared. Options: mss N, scale N,
 * sackok, ts VAL ECR (in ms; of ours since the clock's begin), echo VAL (the same with our last one), sack
 * FROM:TO, raw HEX (bytes as they are). The peer's port is 40000 unless "from PORT" says otherwise, ours the
 * application's unless "to PORT" does, and "times N" sends the segment so often. "ecn N" is the field of the
 * IP header, "bad" a wrong checksum. Of our segments what is written is compared, and a window or option that
 * is not written may be anything. "+0.2" is the time of the line before and a bit. A timer may be late by a
 * tick of the wheel, 66 us; our segments are compared to the millisecond.
 */
#ifndef L4_SCRIPT_H
#define L4_SCRIPT_H

#include <deque>
#include <fstream>
#include <sstream>
#include <string>

#include "l4_host.h"

namespace l4
{

class Script
{
      public:
	void Run(const std::string &path);

      private:
	struct Out {
		double at;
		Frame frame;
	};

	void Line(const std::string &text);
	void Set(std::istringstream &in);
	void Advance(double to);
	void Command(const std::string &name, std::istringstream &in);
	void Expect(std::istringstream &in);
	void Peer(std::istringstream &in);
	void Ours(std::istringstream &in);
	void Icmp(std::istringstream &in);
	void Start();
	double Value(const std::string &name);
	std::string Describe(const Frame &frame);
	std::string Read(const Frame &frame, segment *s);

	fg_l4_tcp tcp = {};
	uint32_t peer_isn = 0x7ffff000;
	uint16_t mtu = 1040;
	uint64_t answer = 0, refuse_until = 0;
	bool ipv6 = false, flooded = false, listens = false, refuses_early = false;
	std::unique_ptr<Host> host;
	fg_stream *c = nullptr;
	double now = 0;
	uint32_t our_isn = 0, our_ts = 0;
	bool knows_isn = false;
	std::deque<Out> out;
};

} /* namespace l4 */

#endif
