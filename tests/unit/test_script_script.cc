/* SPDX-License-Identifier: BSD-3-Clause */
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "fg_script.h"

namespace
{

/* A virtual machine whose framegauge modules come from a folder of the test's own. */
class Script : public testing::Test
{
      protected:
	void
	SetUp() override
	{
		ASSERT_NE(nullptr, mkdtemp(folder));
		ASSERT_EQ(0, mkdir((std::string(folder) + "/framegauge").c_str(), 0755));
		fg_script_config config = {folder};
		fg_error err;
		ASSERT_EQ(0, fg_script_create(&config, &vm, &err)) << err.message;
	}

	void
	TearDown() override
	{
		fg_script_close(vm);
		ASSERT_EQ(0, system((std::string("rm -r ") + folder).c_str()));
	}

	void
	write(const char *module, const char *text)
	{
		std::filesystem::path path = std::string(folder) + "/framegauge/" + module;
		std::filesystem::create_directories(path.parent_path());
		FILE *file = fopen(path.c_str(), "w");
		ASSERT_NE(nullptr, file);
		fputs(text, file);
		fclose(file);
	}

	int
	run(const char *module, int argc = 0, char *const argv[] = nullptr)
	{
		return fg_script_run(vm, module, argc, argv, &status, &err);
	}

	char folder[32] = "/tmp/framegauge-XXXXXX";
	fg_script *vm = nullptr;
	fg_error err = {};
	int status = -1;
};

TEST_F(Script, PassesArgumentsAndStatus)
{
	char one[] = "5", two[] = "7";
	char *const argv[] = {one, two};

	write("sum.lua", "return { main = function(args) return #args + args[1] * args[2] end }");
	ASSERT_EQ(0, run("framegauge.sum", 2, argv)) << fg_script_traceback(vm);
	EXPECT_EQ(37, status);
}

TEST_F(Script, StatusIsZeroWhenNothingIsReturned)
{
	write("quiet.lua", "return { main = function() end }");
	ASSERT_EQ(0, run("framegauge.quiet"));
	EXPECT_EQ(0, status);
	EXPECT_STREQ("", fg_script_traceback(vm));
}

TEST_F(Script, ErrorNamesFileAndLineAndComesWithTheStack)
{
	write("broken.lua",
	      "\nlocal function deep() error('no luck') end\nreturn { main = function() deep() end }");
	EXPECT_EQ(-EFAULT, run("framegauge.broken"));
	EXPECT_NE(nullptr, strstr(err.message, "framegauge/broken.lua:2: no luck")) << err.message;
	EXPECT_NE(nullptr, strstr(fg_script_traceback(vm), "stack traceback:"));
	EXPECT_NE(nullptr, strstr(fg_script_traceback(vm), "deep"));
}

TEST_F(Script, ErrorObjectsAreDescribed)
{
	write("object.lua", "return { main = function() error(setmetatable({ traceback = 'its own' }, {\n"
			    "__tostring = function() return 'an object' end })) end }");
	EXPECT_EQ(-EFAULT, run("framegauge.object"));
	EXPECT_STREQ("an object\nits own", fg_script_traceback(vm));
	write("table.lua", "return { main = function() error({}) end }");
	EXPECT_EQ(-EFAULT, run("framegauge.table"));
	EXPECT_STREQ("(an error object of type table)", err.message);
}

TEST_F(Script, MissingModuleAndSyntaxErrorAreErrors)
{
	EXPECT_EQ(-EFAULT, run("framegauge.nowhere"));
	EXPECT_NE(nullptr, strstr(fg_script_traceback(vm), "inside the program"));
	write("syntax.lua", "return return");
	EXPECT_EQ(-EFAULT, run("framegauge.syntax"));
	EXPECT_NE(nullptr, strstr(err.message, "framegauge/syntax.lua:1:")) << err.message;
}

TEST_F(Script, FolderOverridesModuleByModule)
{
	write("core/ethernet.lua", "return { mine = true }");
	write("both.lua",
	      "local line, nearest = require 'framegauge.core.ethernet', require 'framegauge.core.suggest'\n"
	      "return { main = function() return line.mine and nearest.word and 3 end }");
	ASSERT_EQ(0, run("framegauge.both")) << fg_script_traceback(vm);
	EXPECT_EQ(3, status);
}

TEST_F(Script, FirstSignalIsReadFromTheDescriptor)
{
	write("signals_test.lua", "local signals = require 'framegauge.signals'\n"
				  "return { main = function(args)\n"
				  "   if args[1] then return signals.take() end\n"
				  "   assert(signals.open() == signals.open())\n"
				  "   return signals.take() and 1 or 0 end }");
	char argument[] = "take";
	char *const argv[] = {argument};

	ASSERT_EQ(0, run("framegauge.signals_test")) << fg_script_traceback(vm);
	EXPECT_EQ(0, status);
	raise(SIGTERM);
	ASSERT_EQ(0, run("framegauge.signals_test", 1, argv)) << fg_script_traceback(vm);
	EXPECT_EQ(SIGTERM, status);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

TEST(ScriptCreate, RefusesAFolderThatIsNone)
{
	fg_script_config config = {"/dev/null"};
	fg_script *vm = reinterpret_cast<fg_script *>(1);
	fg_error err;

	EXPECT_EQ(-ENOTDIR, fg_script_create(&config, &vm, &err));
	EXPECT_EQ(nullptr, vm);
	EXPECT_STREQ("/dev/null is not a folder", err.message);
	fg_script_close(nullptr);
}

} // namespace
