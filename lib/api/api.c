/* SPDX-License-Identifier: BSD-3-Clause */
#include "fg_api.h"

uint32_t
fg_api_version(void)
{
	return FG_API_VERSION;
}
