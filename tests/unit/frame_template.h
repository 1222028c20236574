/* SPDX-License-Identifier: BSD-3-Clause */
/* A stack with field programs, its template, and the frames made of it. */
#ifndef FRAME_TEMPLATE_H
#define FRAME_TEMPLATE_H

#include <vector>

#include <gtest/gtest.h>

#include "fg_frame.h"
#include "fg_signature.h"
#include "fg_vary.h"

namespace
{

struct Template {
	fg_frame *frame = fg_frame_create();
	fg_template *t = nullptr;
	fg_error err = {};

	~Template()
	{
		fg_frame_free(frame);
		fg_template_free(t);
	}
	Template &
	push(const char *protocol)
	{
		EXPECT_EQ(0, fg_frame_push(frame, protocol, &err)) << err.message;
		return *this;
	}
	Template &
	vary(const char *field, fg_vary_config c)
	{
		EXPECT_EQ(0, fg_frame_vary(frame, field, &c, &err)) << err.message;
		return *this;
	}
	Template &
	finish(unsigned size)
	{
		EXPECT_EQ(0, fg_frame_finish(frame, size, &t, &err)) << err.message;
		return *this;
	}
	std::vector<uint8_t>
	make(uint64_t n) const
	{
		std::vector<uint8_t> bytes(t->bytes, t->bytes + t->length);

		uint8_t *data = bytes.data();

		fg_vary_burst(t, n, &data, 1);
		fg_signature_write(bytes.data() + bytes.size(), 7, n, n * 1000);
		return bytes;
	}
};

} // namespace

#endif
