/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of connections against a list that is searched from end to end. */
#include <gtest/gtest.h>

#include <cstring>
#include <list>

extern "C" {
#include "connections_priv.h"
#include "fg_random.h"
}

namespace
{

tuple
Tuple(unsigned i)
{
	tuple t = {};

	t.version = 4;
	t.protocol = 6;
	memcpy(t.from, &i, sizeof(i));
	t.from_port = uint16_t(i);
	return t;
}

connections *
Table(uint32_t size, uint64_t timeout, uint64_t closing = 0)
{
	connections *table = nullptr;
	fg_error err = {};

	EXPECT_EQ(0, connections_create(size, timeout, closing, "test", &table, &err)) << err.message;
	return table;
}

connection *
Add(connections *table, unsigned i, uint64_t now)
{
	tuple there = Tuple(i), back = tuple_back(&there);

	return connections_add(table, &there, &back, now);
}

TEST(DeviceConnections, HoldSoManyAndNoMore)
{
	connections *table = Table(3, 1000);
	tuple one = Tuple(1), back = tuple_back(&one), four = Tuple(4);

	for (unsigned i = 1; i <= 3; i++)
		ASSERT_NE(nullptr, Add(table, i, 0));
	EXPECT_EQ(nullptr, Add(table, 4, 0));
	EXPECT_EQ(nullptr, connections_find(table, 0, &four));
	EXPECT_EQ(connections_find(table, 0, &one), connections_find(table, 1, &back));
	connections_remove(table, connections_find(table, 0, &one));
	EXPECT_EQ(nullptr, connections_find(table, 1, &back));
	EXPECT_NE(nullptr, Add(table, 4, 0));
	EXPECT_EQ(3u, connections_count(table));
	connections_free(table);
}

TEST(DeviceConnections, AreForgottenWhenIdleAndWhenClosed)
{
	connections *table = Table(10, 1000, 50);

	Add(table, 1, 0);
	connection *heard = Add(table, 2, 0), *closed = Add(table, 3, 0);
	connections_heard(table, heard, 500);
	connections_close(table, closed, 500);
	EXPECT_EQ(0u, connections_expire(table, 549));
	connections_heard(table, closed, 549); /* a late frame does not keep it */
	EXPECT_EQ(3u, connections_count(table));
	EXPECT_EQ(0u, connections_expire(table, 550)); /* it was not open */
	EXPECT_EQ(2u, connections_count(table));
	EXPECT_EQ(1u, connections_expire(table, 1000));
	EXPECT_EQ(heard, connections_oldest(table));
	EXPECT_EQ(1u, connections_expire(table, 1500));
	EXPECT_EQ(0u, connections_count(table));
	connections_free(table);
}

TEST(DeviceConnections, AreThoseOfAList)
{
	connections *table = Table(200, 300);
	struct Row {
		unsigned i;
		uint64_t heard;
	};
	std::list<Row> list;
	uint64_t random = 1, now = 0;

	for (unsigned step = 0; step < 20000; step++) {
		unsigned i = unsigned(fg_random_next(&random) % 400);
		tuple t = Tuple(i);

		now += fg_random_next(&random) % 3;
		uint32_t gone = 0;
		for (auto row = list.begin(); row != list.end();)
			if (row->heard + 300 <= now) {
				row = list.erase(row);
				gone++;
			} else {
				++row;
			}
		ASSERT_EQ(gone, connections_expire(table, now));
		auto row = list.begin();
		while (row != list.end() && row->i != i)
			++row;
		connection *c = connections_find(table, 0, &t);
		ASSERT_EQ(row == list.end(), c == nullptr);
		if (c == nullptr) {
			ASSERT_EQ(list.size() == 200, Add(table, i, now) == nullptr);
			if (list.size() < 200)
				list.push_back({i, now});
		} else if (fg_random_next(&random) % 2) {
			connections_heard(table, c, now);
			row->heard = now;
		} else {
			connections_remove(table, c);
			list.erase(row);
		}
		ASSERT_EQ(list.size(), connections_count(table));
	}
	connections_free(table);
}

} // namespace
