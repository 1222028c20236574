/* SPDX-License-Identifier: BSD-3-Clause */
/* What a path does to frames: here they are strings, and the user lends the path as many copies as it has. */
#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fg_path.h"

namespace
{

const uint64_t GHZ = 1000000000; /* so that ticks are nanoseconds */

struct Frame {
	std::string bytes;
	bool is_shared; /* the path may not write into it */
};

class Path
{
      public:
	explicit Path(const fg_impair_config &config, unsigned buffers = 1000, uint64_t room = 1000)
	    : buffers(buffers)
	{
		static const fg_path_frames frames = {Own, Copy, Bytes, Cut};
		fg_error err = {};

		EXPECT_EQ(0, fg_path_init(&path, &config, GHZ, &frames, this, "path", &err)) << err.message;
		EXPECT_EQ(0, fg_delay_line_init(&line, room, &err)) << err.message;
		fg_path_reset(&path, 1);
	}
	~Path()
	{
		fg_delay_line_free(&line);
	}
	bool
	Send(const std::string &bytes, uint64_t time, bool is_shared = true)
	{
		store.push_back({bytes, is_shared});
		return fg_path_send(&path, &line, &store.back(), time);
	}
	/* "time:bytes ..." of all that comes out */
	std::string
	Out()
	{
		std::string text;

		for (uint64_t time; (time = fg_delay_line_next(&line)) != UINT64_MAX;)
			text += std::to_string(time) + ":" +
				static_cast<Frame *>(fg_delay_line_pop(&line))->bytes + " ";
		return text;
	}
	fg_path_counters
	Counters()
	{
		fg_path_counters counters;

		fg_path_read_counters(&path, &line, &counters);
		return counters;
	}

	fg_path path;
	fg_delay_line line;
	std::deque<Frame> store; /* where frames stay where they are */
	unsigned buffers;

      private:
	static void *
	Own(void *context, void *frame)
	{
		return static_cast<Frame *>(frame)->is_shared ? Copy(context, frame) : frame;
	}
	static void *
	Copy(void *context, void *frame)
	{
		Path *self = static_cast<Path *>(context);

		if (self->buffers == 0)
			return nullptr;
		self->buffers--;
		self->store.push_back({static_cast<Frame *>(frame)->bytes, false});
		return &self->store.back();
	}
	static uint8_t *
	Bytes(void *frame, uint32_t *length)
	{
		std::string &bytes = static_cast<Frame *>(frame)->bytes;

		*length = uint32_t(bytes.size());
		return reinterpret_cast<uint8_t *>(&bytes[0]);
	}
	static void
	Cut(void *frame, uint32_t length)
	{
		static_cast<Frame *>(frame)->bytes.resize(length);
	}
};

TEST(PathExecutor, PassesOnWhatNothingHappensTo)
{
	Path path({});

	for (uint64_t i = 0; i < 4; i++)
		EXPECT_TRUE(path.Send("abcd"[i] + std::string(), 10 * i));
	EXPECT_EQ("0:a 10:b 20:c 30:d ", path.Out());
	EXPECT_EQ(1000u, path.buffers) << "nothing is copied";
}

TEST(PathExecutor, LosesAndCounts)
{
	fg_impair_config config = {};

	config.loss.every = 3;
	Path path(config);
	std::string lost;
	for (int i = 0; i < 7; i++)
		lost += fg_path_loses(&path.path) ? 'x' : '.';
	EXPECT_EQ("..x..x.", lost);
	EXPECT_EQ(2u, path.Counters().lost_on_path);
	fg_path_reset(&path.path, 1);
	EXPECT_EQ(0u, path.Counters().lost_on_path);
}

TEST(PathExecutor, ACopyFollowsItsFrame)
{
	fg_impair_config config = {};

	config.duplicate.every = 2;
	config.duplicate_ns = 15;
	Path path(config, 1);
	for (uint64_t i = 0; i < 4; i++)
		path.Send("abcd"[i] + std::string(), 10 * i);
	EXPECT_EQ("0:a 10:b 20:c 25:b 30:d ", path.Out());
	EXPECT_EQ(1u, path.Counters().duplicated);
	EXPECT_EQ(1u, path.Counters().no_buffer) << "the copy of d";
	EXPECT_EQ(0u, path.Counters().reordered) << "a copy is no frame of the sender's";
}

/* 16061us is no binary fraction of a second: times 10^9 it is a little less than 16061000 */
TEST(PathExecutor, TakesATimeForWholeTicks)
{
	const double late = 16061e-6 * 1e9;
	fg_impair_config copies = {}, jitter = {};

	copies.duplicate.every = 2;
	copies.duplicate_ns = copies.reorder_ns = late;
	copies.reorder.every = 3;
	jitter.jitter = FG_JITTER_NORMAL;
	jitter.jitter_mean_ns = late;
	Path path(copies), constant(jitter);
	for (uint64_t i = 0; i < 3; i++)
		path.Send("abc"[i] + std::string(), 10 * i);
	EXPECT_EQ("0:a 10:b 16061010:b 16061020:c ", path.Out());
	constant.Send("a", 0);
	EXPECT_EQ("16061000:a ", constant.Out());
}

TEST(PathExecutor, HoldsFramesUntilOthersHavePassed)
{
	fg_impair_config config = {};

	config.reorder.every = 2;
	config.reorder_places = 1;
	config.reorder_ns = 1000;
	Path path(config);
	for (uint64_t i = 0; i < 3; i++)
		path.Send("abc"[i] + std::string(), 10 * i);
	EXPECT_EQ("0:a 20:c 20:b ", path.Out());
	EXPECT_EQ(1u, path.Counters().reordered);
}

TEST(PathExecutor, ChangesACopyOfASharedFrameAndTheFrameItselfElsewhere)
{
	fg_impair_config config = {};

	config.corrupt.every = 1;
	config.duplicate.every = 1;
	Path path(config);
	path.Send("shared", 0);
	EXPECT_EQ("shared", path.store[0].bytes);
	std::string out = path.Out();
	EXPECT_EQ(std::string::npos, out.find("shared"));
	EXPECT_EQ(out.substr(0, 9), out.substr(9)) << "the copy is one of the changed frame";
	path.Send("ours", 0, false);
	EXPECT_NE("ours", path.store[3].bytes);
	EXPECT_EQ(2u, path.Counters().corrupted);
}

/* a frame with a header of IPv4 and these bits of ECN; its checksum is 0, as nobody here reads it */
std::string
WithEcn(unsigned ecn)
{
	std::string f(34, '\0');

	f[12] = 8;
	f[14] = 0x45;
	f[15] = char(ecn);
	return f;
}

TEST(PathExecutor, MarksAndBleachesWhatIsOfATransportWithEcn)
{
	for (bool bleaches : {false, true}) {
		fg_impair_config config = {};

		(bleaches ? config.bleach : config.mark_ce).every = 1;
		Path path(config);
		for (unsigned ecn : {0, 1, 2, 3})
			path.Send(WithEcn(ecn), 0, false);
		for (unsigned ecn : {0, 1, 2, 3})
			EXPECT_EQ(bleaches || ecn == 0 ? 0 : 3, path.store[ecn].bytes[15] & 3) << ecn;
		EXPECT_EQ(bleaches ? 0u : 2u, path.Counters().ce_marked);
		EXPECT_EQ(bleaches ? 3u : 0u, path.Counters().bleached);
	}
}

TEST(PathExecutor, SendsAFrameUnchangedWithoutABuffer)
{
	fg_impair_config config = {};

	config.corrupt.every = 1;
	Path path(config, 0);
	path.Send("shared", 7);
	EXPECT_EQ("7:shared ", path.Out());
	EXPECT_EQ(0u, path.Counters().corrupted);
}

TEST(PathExecutor, LeavesAFrameToItsUserWhenTheLineIsFull)
{
	Path path({}, 0, 3);

	EXPECT_TRUE(path.Send("a", 0));
	EXPECT_TRUE(path.Send("b", 0));
	EXPECT_FALSE(path.Send("c", 0)) << "there might be a copy of it";
	EXPECT_EQ("0:a 0:b ", path.Out());
}

} // namespace
