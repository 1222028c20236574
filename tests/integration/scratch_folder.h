/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of a test program's own: in a folder that no other run has, gone when the program ends. */
#ifndef SCRATCH_FOLDER_H
#define SCRATCH_FOLDER_H

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

/** @return a path below /tmp, short enough for a socket */
inline std::string
scratch_path(const std::string &name)
{
	static const struct Folder {
		char path[32] = "/tmp/framegauge-test-XXXXXX";
		bool made = mkdtemp(path) != nullptr;
		pid_t owner = getpid(); /* a child that forks and exits leaves the folder alone */
		~Folder()
		{
			std::error_code none;
			if (made && owner == getpid())
				std::filesystem::remove_all(path, none);
		}
	} folder;

	return std::string(folder.path) + "/" + name;
}

#endif
