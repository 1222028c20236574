/* SPDX-License-Identifier: BSD-3-Clause */
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fg_log.h"

namespace
{

using Lines = std::vector<std::pair<fg_log_level, std::string>>;

void
collect(void *context, fg_log_level level, const char *line)
{
	static_cast<Lines *>(context)->emplace_back(level, line);
}

class Log : public testing::Test
{
      protected:
	Lines lines;

	void
	TearDown() override
	{
		fg_log_set_sink(nullptr, nullptr);
	}
};

TEST_F(Log, DropsLinesUntilThereIsASink)
{
	fg_log(FG_LOG_ERROR, "nobody listens");
	fg_log_set_sink(collect, &lines);
	fg_log(FG_LOG_WARNING, "port %s: %d frames", "east", 7);
	fg_log_set_sink(nullptr, nullptr);
	fg_log(FG_LOG_INFO, "nobody listens any more");
	EXPECT_EQ((Lines{{FG_LOG_WARNING, "port east: 7 frames"}}), lines);
}

TEST_F(Log, CutsALongLine)
{
	fg_log_set_sink(collect, &lines);
	fg_log(FG_LOG_DEBUG, "%s", std::string(10000, 'x').c_str());
	ASSERT_EQ(1u, lines.size());
	EXPECT_EQ(511u, lines[0].second.size());
}

} // namespace
