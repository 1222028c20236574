/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One instruction of x86-64 that reads or writes a register of a card: decoded by Zydis, performed by the
 * caller's loads and stores in place of memory.
 */
#ifndef NIC_X86_H
#define NIC_X86_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define X86_WIDEST 32 /* bytes of an operand: a ymm register */

struct x86_bus {
	/* read, or write, this many bytes: 1, 2, 4, 8, 16 or 32 */
	void (*load)(void *owner, void *to, unsigned bytes);
	void (*store)(void *owner, const void *from, unsigned bytes);
	void *owner;
};

/**
 * Perform the instruction at the program counter and move the counter behind it.
 *
 * Known are the moves (mov, movzx, movsx, movbe, movnti, movdiri, and the moves of xmm and ymm registers),
 * the arithmetic of two operands and of one, the tests of bits and xchg, of every width, prefix and
 * addressing mode. The machine needs not have the instruction.
 *
 * @param machine  registers, as a signal's handler gets them; vectors are in the format of XSAVE
 * @return         false: another instruction, or none with an operand in memory; nothing was done
 */
bool x86_run(mcontext_t *machine, const struct x86_bus *bus);

#endif
