/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a script's line: flags, numbers, and what may stand behind them. */
#ifndef L4_WORDS_H
#define L4_WORDS_H

#include <map>
#include <sstream>
#include <string>

#include "l4_host.h"

namespace l4
{

inline uint8_t
flags_of(const std::string &text)
{
	uint8_t flags = 0;

	for (char f : text) {
		static const std::map<char, uint8_t> bit = {{'S', TCP_SYN}, {'F', TCP_FIN}, {'R', TCP_RST},
							    {'A', TCP_ACK}, {'P', TCP_PSH}, {'E', TCP_ECE},
							    {'W', TCP_CWR}, {'U', 0x20},    {'-', 0}};

		flags |= bit.at(f);
	}
	return flags;
}

/* "1001:2001" or "1001" */
inline void
numbers(const std::string &text, uint32_t *from, uint32_t *to)
{
	size_t colon = text.find(':');

	*from = uint32_t(std::stoul(text));
	*to = colon == std::string::npos ? *from : uint32_t(std::stoul(text.substr(colon + 1)));
}

/* what stands behind the numbers of a segment */
struct Extras {
	std::map<std::string, uint32_t> value; /* ack, win, ecn, mss, scale, from, to, times */
	bool sackok = false, bad = false, has_ts = false, echo = false;
	uint32_t tsval = 0, tsecr = 0;
	std::vector<range> sack;
	std::string raw; /* options, in hex */

	explicit Extras(std::istringstream &in)
	{
		std::string word;

		while (in >> word) {
			if (word == "sackok") {
				sackok = true;
			} else if (word == "bad") {
				bad = true;
			} else if (word == "raw") {
				in >> raw;
			} else if (word == "ts") {
				has_ts = true;
				in >> tsval >> tsecr;
			} else if (word == "echo") {
				has_ts = echo = true;
				in >> tsval;
			} else if (word == "sack") {
				range r;

				in >> word;
				numbers(word, &r.from, &r.to);
				sack.push_back(r);
			} else {
				in >> value[word];
			}
			EXPECT_FALSE(in.fail()) << word;
		}
	}
};

} /* namespace l4 */

#endif
