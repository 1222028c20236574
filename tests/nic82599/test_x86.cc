// SPDX-License-Identifier: BSD-3-Clause
/*
 * What x86.c makes of each form of a register access, beside what the processor makes of it: a signal's
 * handler sets all registers and points the program counter at the instruction, the trap behind it brings
 * them back. An instruction that the processor lacks is held against what the manual says of it.
 */
#include <gtest/gtest.h>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <vector>

extern "C" {
#include "x86.h"
extern const uint8_t x86_forms[], x86_forms_end[], x86_others[], x86_others_end[];
}

namespace
{

struct Form {
	unsigned length;
	const uint8_t *code;
	const char *text;
};

std::vector<Form>
formsOf(const uint8_t *at, const uint8_t *end)
{
	std::vector<Form> forms;
	for (; at < end; at += 128)
		forms.push_back({at[0], at + 1, reinterpret_cast<const char *>(at) + 16});
	return forms;
}

constexpr size_t XSAVED = 1024,
		 MEMORY = 64; // the area with the ymm registers; bytes from the accessed one on

// Registers, vectors and memory, before or after an instruction
struct State {
	greg_t general[NGREG];
	alignas(64) uint8_t vectors[XSAVED];
	uint8_t memory[MEMORY];
};

// Code, and what it accesses, in pages of their own: low ones, so that 32 bits address them
class Pages
{
      public:
	Pages()
	{
		code = static_cast<uint8_t *>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
						   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
		memory = code + 4096 + 1024;
	}
	~Pages()
	{
		munmap(code, 8192);
	}
	uint8_t *code, *memory;
};

struct Machine {
	State *state;
	const uint8_t *code;
	State before;
	bool lacks;
} native;

const bool hasYmm = __builtin_cpu_supports("avx");

void
exchange(ucontext_t *context, State &with)
{
	auto *fp = reinterpret_cast<uint8_t *>(context->uc_mcontext.fpregs);
	for (int reg = REG_R8; reg <= REG_RCX; reg++)
		std::swap(context->uc_mcontext.gregs[reg], with.general[reg]);
	std::swap(context->uc_mcontext.gregs[REG_EFL], with.general[REG_EFL]);
	std::swap_ranges(fp + 160, fp + 160 + 256, with.vectors + 160);
	if (hasYmm) {
		std::swap_ranges(fp + 576, fp + 576 + 256, with.vectors + 576);
		fp[512] |= 7; // FP, SSE and AVX state are present
	}
}

greg_t back;

void
onStart(int, siginfo_t *, void *context)
{
	auto *c = static_cast<ucontext_t *>(context);
	back = c->uc_mcontext.gregs[REG_RIP];
	exchange(c, *native.state);
	c->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(native.code);
}

void
onEnd(int number, siginfo_t *, void *context)
{
	auto *c = static_cast<ucontext_t *>(context);
	native.lacks = number == SIGILL;
	exchange(c, *native.state);
	c->uc_mcontext.gregs[REG_RIP] = back;
}

// @return false: the processor lacks the instruction
bool
runNatively(const Pages &pages, const Form &form, State &state)
{
	struct sigaction start = {}, end = {}, olds[3];
	start.sa_sigaction = onStart;
	end.sa_sigaction = onEnd;
	start.sa_flags = end.sa_flags = SA_SIGINFO | SA_ONSTACK;
	std::vector<uint8_t> room(65536);
	stack_t stack = {}, old;
	stack.ss_sp = room.data();
	stack.ss_size = room.size();
	sigaltstack(&stack, &old);
	sigaction(SIGUSR1, &start, &olds[0]);
	sigaction(SIGTRAP, &end, &olds[1]);
	sigaction(SIGILL, &end, &olds[2]);
	memcpy(pages.code, form.code, form.length);
	pages.code[form.length] = 0xcc;
	memcpy(pages.memory, state.memory, MEMORY);
	native.state = &state;
	native.code = pages.code;
	raise(SIGUSR1);
	memcpy(state.memory, pages.memory, MEMORY);
	sigaction(SIGUSR1, &olds[0], nullptr);
	sigaction(SIGTRAP, &olds[1], nullptr);
	sigaction(SIGILL, &olds[2], nullptr);
	sigaltstack(&old, nullptr);
	return !native.lacks;
}

struct Bus {
	State *state;
	unsigned loads, stores, bytes;
};

void
load(void *owner, void *to, unsigned bytes)
{
	auto *bus = static_cast<Bus *>(owner);
	memcpy(to, bus->state->memory, bytes);
	bus->loads++;
	bus->bytes = bytes;
}

void
store(void *owner, const void *from, unsigned bytes)
{
	auto *bus = static_cast<Bus *>(owner);
	memcpy(bus->state->memory, from, bytes);
	bus->stores++;
	bus->bytes = bytes;
}

// @return bytes of the instruction, 0: x86.c does not know it
unsigned
runEmulated(const Form &form, State &state, Bus &bus)
{
	mcontext_t machine = {};
	memcpy(machine.gregs, state.general, sizeof(machine.gregs));
	machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(form.code);
	machine.fpregs = reinterpret_cast<fpregset_t>(state.vectors);
	bus = {&state, 0, 0, 0};
	const x86_bus calls = {load, store, &bus};
	if (!x86_run(&machine, &calls))
		return 0;
	auto length = machine.gregs[REG_RIP] - reinterpret_cast<greg_t>(form.code);
	memcpy(state.general, machine.gregs, sizeof(machine.gregs));
	return static_cast<unsigned>(length);
}

// All addresses of test_x86_forms.S are the memory's
State
stateAt(const uint8_t *memory, unsigned seed)
{
	State s = {};
	auto at = reinterpret_cast<greg_t>(memory);
	uint8_t next = static_cast<uint8_t>(seed * 89);
	for (uint8_t &byte : s.vectors)
		byte = next += 37;
	for (uint8_t &byte : s.memory)
		byte = next += seed == 0 ? 11 : 0xc7;
	s.general[REG_RAX] = seed == 0 ? 0x0123456789abcdef : static_cast<greg_t>(0xfedcba9876543210);
	s.general[REG_RCX] = seed == 0 ? static_cast<greg_t>(0x8899aabbccddeeff) : 0x7fffffff00000001;
	s.general[REG_RDI] = s.general[REG_RBP] = s.general[REG_R13] = s.general[REG_R14] = at;
	s.general[REG_RSI] = at - 8;
	s.general[REG_RBX] = at + 8;
	s.general[REG_R8] = at - 0x1000;
	s.general[REG_R9] = at - 64;
	s.general[REG_R10] = 16;
	s.general[REG_RDX] = 6;
	s.general[REG_R11] = 0;
	s.general[REG_R12] = at;
	s.general[REG_R15] = static_cast<greg_t>(0xa5a5a5a55a5a5a5a);
	s.general[REG_RSP] = at - 512;
	s.general[REG_EFL] = 0x202 | (seed == 0 ? 0 : 0x8d5);
	return s;
}

constexpr greg_t ARITHMETIC = 0x8d5;

void
expectSame(const State &expected, const State &found, const char *text)
{
	for (int reg = REG_R8; reg <= REG_RCX; reg++)
		EXPECT_EQ(expected.general[reg], found.general[reg]) << text << ", register " << reg;
	EXPECT_EQ(expected.general[REG_EFL] & ARITHMETIC, found.general[REG_EFL] & ARITHMETIC) << text;
	EXPECT_EQ(0, memcmp(expected.memory, found.memory, MEMORY)) << text;
	EXPECT_EQ(0, memcmp(expected.vectors + 160, found.vectors + 160, 256)) << text;
	if (hasYmm) {
		EXPECT_EQ(0, memcmp(expected.vectors + 576, found.vectors + 576, 256)) << text;
	}
}

class X86 : public testing::TestWithParam<unsigned>
{
};
INSTANTIATE_TEST_SUITE_P(Seeds, X86, testing::Values(0u, 1u));

TEST_P(X86, DoesWhatTheProcessorDoes)
{
	Pages pages;
	unsigned compared = 0;
	for (const Form &form : formsOf(x86_forms, x86_forms_end)) {
		State emulated = stateAt(pages.memory, GetParam()), done = emulated;
		Bus bus;
		EXPECT_EQ(form.length, runEmulated(form, emulated, bus)) << form.text;
		EXPECT_GE(bus.loads + bus.stores, 1u) << form.text;
		if (runNatively(pages, form, done)) {
			expectSame(done, emulated, form.text);
			compared++;
		}
	}
	EXPECT_GT(compared, 300u); // some 40 need more than every x86-64 has
}

TEST(X86, LeavesOtherInstructionsAlone)
{
	Pages pages;
	for (const Form &form : formsOf(x86_others, x86_others_end)) {
		State state = stateAt(pages.memory, 0), before = state;
		Bus bus;
		EXPECT_EQ(0u, runEmulated(form, state, bus)) << form.text;
		EXPECT_EQ(0u, bus.loads + bus.stores) << form.text;
		expectSame(before, state, form.text);
	}
}

// Few processors have it, and DPDK writes tails by it where they do
TEST(X86, WritesPastTheCaches)
{
	Pages pages;
	unsigned found = 0;
	for (const Form &form : formsOf(x86_forms, x86_forms_end)) {
		if (strncmp(form.text, "movdiri ", 8) != 0)
			continue;
		State state = stateAt(pages.memory, 0), before = state;
		Bus bus;
		unsigned bytes = strstr(form.text, "%rcx") != nullptr ? 8 : 4;
		EXPECT_EQ(form.length, runEmulated(form, state, bus)) << form.text;
		EXPECT_EQ(0u, bus.loads) << form.text;
		EXPECT_EQ(1u, bus.stores) << form.text;
		EXPECT_EQ(bytes, bus.bytes) << form.text;
		memcpy(before.memory, &before.general[REG_RCX], bytes);
		expectSame(before, state, form.text);
		found++;
	}
	EXPECT_EQ(16u, found);
}

} // namespace
