/* SPDX-License-Identifier: BSD-3-Clause */
/* Every conversation in tests/l4 goes as it is written there. */
#include <algorithm>
#include <filesystem>

#include "l4_script.h"

namespace
{
std::vector<std::string>
Scripts()
{
	std::vector<std::string> names;

	for (const auto &entry : std::filesystem::directory_iterator(L4_SCRIPTS))
		if (entry.path().extension() == ".txt")
			names.push_back(entry.path().stem());
	std::sort(names.begin(), names.end());
	return names;
}

class L4Script : public ::testing::TestWithParam<std::string>
{
};
} /* namespace */

TEST_P(L4Script, GoesAsWritten)
{
	l4::Script script;

	script.Run(std::string(L4_SCRIPTS) + "/" + GetParam() + ".txt");
}

INSTANTIATE_TEST_SUITE_P(Rfc, L4Script, ::testing::ValuesIn(Scripts()),
			 [](const auto &param) { return param.param; });
