/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are due and that the port does not take. */
#include "data_plane.h"

namespace
{

struct Outcome {
	uint64_t intended, tx, late, unsent;
	bool
	operator==(const Outcome &o) const
	{
		return intended == o.intended && tx == o.tx && late == o.late && unsent == o.unsent;
	}
};

Outcome
of(const Senders &s, unsigned stream)
{
	fg_stream_result r = {};

	tx_result(&s.all.stream[stream], 1, &r);
	return {r.intended, r.tx, r.late, r.unsent};
}

} // namespace

/* one waits for the port, and those behind it for that one: each is late when it has waited too long */
TEST(TxScheduled, WhatHasWaitedTooLongIsLate)
{
	Senders s({1e6, 5e5}); /* one each us, and one each 2 us */
	const uint64_t now = s.START + 50 * US;

	for (unsigned i : {0, 1})
		s.all.stream[i].pace.max_lag = 10 * US;
	s.port.takes = 0;
	s.Poll(s.START);
	s.port.takes = UINT16_MAX;
	for (unsigned i = 0; i < 8; i++)
		s.Poll(now);
	/* from 40 us on they may leave */
	EXPECT_EQ((Outcome{51, 11, 40, 0}), of(s, 0));
	EXPECT_EQ((Outcome{26, 6, 20, 0}), of(s, 1));
}
