/* SPDX-License-Identifier: BSD-3-Clause */
#include <cerrno>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "fg_error.h"

TEST(Error, IsFilledAndReturnsTheNegativeErrno)
{
	fg_error err = {};

	EXPECT_EQ(-ERANGE, fg_error_set(&err, ERANGE, "stream.rate", "%d fps is not in 1..%d", 7, 5));
	EXPECT_EQ(ERANGE, err.code);
	EXPECT_STREQ("stream.rate", err.where);
	EXPECT_STREQ("7 fps is not in 1..5", err.message);
}

TEST(Error, MayBeAbsent)
{
	EXPECT_EQ(-ENOMEM, fg_error_set(nullptr, ENOMEM, "pool", "no memory"));
}

TEST(Error, TheLastOneWins)
{
	fg_error err = {};

	fg_error_set(&err, EINVAL, "a.long.place", "a long sentence");
	fg_error_set(&err, EIO, "b", "c");
	EXPECT_EQ(EIO, err.code);
	EXPECT_STREQ("b", err.where);
	EXPECT_STREQ("c", err.message);
}

TEST(Error, LongTextIsCutAndTerminated)
{
	struct {
		fg_error err;
		char behind;
	} box = {{}, '#'};
	std::string text(10000, 'x');

	EXPECT_EQ(-EINVAL, fg_error_set(&box.err, EINVAL, text.c_str(), "%s", text.c_str()));
	EXPECT_EQ(sizeof(box.err.where) - 1, strlen(box.err.where));
	EXPECT_EQ(sizeof(box.err.message) - 1, strlen(box.err.message));
	EXPECT_EQ('#', box.behind);
}

TEST(Error, TheWhereIsNoFormat)
{
	fg_error err = {};

	fg_error_set(&err, EINVAL, "50%s%n", "100%%");
	EXPECT_STREQ("50%s%n", err.where);
	EXPECT_STREQ("100%", err.message);
}
