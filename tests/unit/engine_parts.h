/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's private parts, in C++: _Atomic is a word of C alone, and the tests have one thread. */
#ifndef ENGINE_PARTS_H
#define ENGINE_PARTS_H

#define _Atomic
extern "C" {
#include "engine_priv.h"
}
#undef _Atomic

#endif
