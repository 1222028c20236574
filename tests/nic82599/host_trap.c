/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to BAR 0. The page allows none, so each is a fault; the handler decodes those x86 instructions
 * that compilers make of a volatile 32-bit read or write, does what they would have done, and lets the
 * program go on behind them. An instruction that it does not know ends the program with the bytes printed:
 * guessing would be worse.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "host.h"

static struct {
	struct nic_card *card;
	uint8_t *at;
} bars[NIC_CARDS * 4];
static unsigned bar_count;
static struct sigaction before;

enum alu { ADD, OR, ADC, SBB, AND, SUB, XOR, CMP, TEST };

/* One access: where, and what the instruction is */
struct access {
	struct nic_card *card;
	uint32_t offset;
	greg_t *regs;
	fpregset_t vectors; /* XMM registers */
	const uint8_t *modrm,
		*next; /* behind ModRM, SIB and displacement: the immediate, or the next instruction */
	unsigned reg, size;
};

static const int registers[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

void
host_map_bar(struct nic_card *card, uint8_t *at)
{
	host_lock();
	for (unsigned i = 0; i < bar_count; i++)
		if (bars[i].at == at || bars[i].card == card) {
			bars[i].card = card;
			bars[i].at = at;
			host_unlock();
			return;
		}
	bars[bar_count].card = card;
	bars[bar_count++].at = at;
	host_unlock();
}

static uint32_t
load(const struct access *a)
{
	uint32_t value;

	host_lock();
	host_release_writes(host_now_ns());
	value = nic_read(a->card, a->offset & ~3u);
	host_trace(a->card, false, a->offset & ~3u, value);
	host_unlock();
	value >>= 8 * (a->offset & 3);
	return a->size == 4 ? value : value & ((1u << 8 * a->size) - 1);
}

static void
store(const struct access *a, uint32_t value)
{
	host_lock();
	host_release_writes(host_now_ns());
	host_trace(a->card, true, a->offset & ~3u, value);
	if (a->size != 4 || (a->offset & 3))
		nic_breach(a->card, "a write of %u bytes at 0x%05x; registers are written whole", a->size,
			   a->offset);
	nic_write(a->card, a->offset & ~3u, value);
	host_unlock();
}

/* The processor itself does the sum, and its flags are taken over */
#define ALU(name) \
	__asm__ volatile(name " %2, %0; pushfq; popq %1" : "+r"(a), "=r"(flags) : "r"(b) : "cc", "memory")

static uint32_t
compute(enum alu op, uint32_t a, uint32_t b, greg_t *regs)
{
	uint64_t flags = 0;
	const uint64_t arithmetic = 0x8d5; /* OF, SF, ZF, AF, PF, CF */

	switch (op) {
	case ADD:
		ALU("addl");
		break;
	case OR:
		ALU("orl");
		break;
	case AND:
		ALU("andl");
		break;
	case SUB:
		ALU("subl");
		break;
	case XOR:
		ALU("xorl");
		break;
	case CMP:
		ALU("cmpl");
		break;
	case TEST:
		ALU("testl");
		break;
	default:
		break;
	}
	regs[REG_EFL] = (greg_t)(((uint64_t)regs[REG_EFL] & ~arithmetic) | (flags & arithmetic));
	return a;
}

/* ModRM with SIB and displacement (Intel SDM, volume 2, 2.1.5) */
static unsigned
modrm_length(const uint8_t *m)
{
	unsigned mode = m[0] >> 6, base = m[0] & 7, length = base == 4 ? 2 : 1;

	if (mode == 1)
		return length + 1;
	if (mode == 2 || (mode == 0 && (base == 5 || (base == 4 && (m[1] & 7) == 5))))
		return length + 4;
	return length;
}

static uint32_t
immediate(struct access *a, unsigned bytes)
{
	uint32_t value = 0;

	memcpy(&value, a->next, bytes);
	a->next += bytes;
	return value;
}

static void
set_register(struct access *a, uint32_t value)
{
	greg_t *reg = &a->regs[registers[a->reg]];

	if (a->size == 4)
		*reg = value;
	else
		*reg = (greg_t)(((uint64_t)*reg & ~((1ull << 8 * a->size) - 1)) | value);
}

/* 00 to 3F: eight operations, each between register and memory both ways */
static bool
run_alu(struct access *a, uint8_t opcode)
{
	enum alu op = opcode >> 3;
	uint32_t mine = (uint32_t)a->regs[registers[a->reg]], result;

	if (op == ADC || op == SBB || a->size != 4)
		return false;
	if ((opcode & 7) == 3) {
		result = compute(op, mine, load(a), a->regs);
		if (op != CMP)
			set_register(a, result);
	} else if ((opcode & 7) == 1) {
		result = compute(op, load(a), mine, a->regs);
		if (op != CMP)
			store(a, result);
	} else
		return false;
	return true;
}

/* 80, 81 and 83: an operation with an immediate */
static bool
run_alu_immediate(struct access *a, uint8_t opcode)
{
	enum alu op = a->modrm[0] >> 3 & 7;
	uint32_t value, result;

	if (opcode == 0x80)
		a->size = 1;
	value = opcode == 0x81 ? immediate(a, 4) : (uint32_t)(int32_t)(int8_t)immediate(a, 1);
	if (op == ADC || op == SBB || a->size == 2 || (a->size == 1 && op != CMP))
		return false;
	result = compute(op, load(a), a->size == 1 ? value & 0xff : value, a->regs);
	if (op != CMP)
		store(a, result);
	return true;
}

static bool
run_test_immediate(struct access *a, uint8_t opcode)
{
	uint32_t value;

	if (a->modrm[0] >> 3 & 6)
		return false;
	if (opcode == 0xf6)
		a->size = 1;
	value = immediate(a, a->size);
	compute(TEST, load(a), value, a->regs);
	return true;
}

static bool
run(struct access *a, uint8_t opcode)
{
	switch (opcode) {
	case 0x88:
		a->size = 1;
		/* fallthrough */
	case 0x89:
		store(a, (uint32_t)a->regs[registers[a->reg]]);
		return true;
	case 0x8a:
		a->size = 1;
		/* fallthrough */
	case 0x8b:
		set_register(a, load(a));
		return true;
	case 0xc7:
		store(a, immediate(a, a->size));
		return true;
	case 0x85:
		compute(TEST, load(a), (uint32_t)a->regs[registers[a->reg]], a->regs);
		return true;
	case 0x80:
	case 0x81:
	case 0x83:
		return run_alu_immediate(a, opcode);
	case 0xf6:
	case 0xf7:
		return run_test_immediate(a, opcode);
	default:
		return opcode < 0x40 && run_alu(a, opcode);
	}
}

/* movzx, 0F B6 and 0F B7; movd of an XMM register to memory, 66 0F 7E */
static bool
run_wide(struct access *a, uint8_t opcode)
{
	if (opcode == 0x7e && a->size == 2) {
		a->size = 4;
		store(a, a->vectors->_xmm[a->reg].element[0]);
		return true;
	}
	if (opcode != 0xb6 && opcode != 0xb7)
		return false;
	a->size = opcode == 0xb6 ? 1 : 2;
	a->regs[registers[a->reg]] = load(a);
	return true;
}

/* 0F 38 F9: movdiri, by which DPDK writes a tail past the caches of a processor that has it (rte_io.h) */
static bool
run_direct(struct access *a, uint8_t opcode)
{
	if (opcode != 0xf9 || a->size != 4)
		return false;
	store(a, (uint32_t)a->regs[registers[a->reg]]);
	return true;
}

static bool
emulate(struct nic_card *card, uint32_t offset, mcontext_t *machine)
{
	greg_t *regs = machine->gregs;
	const uint8_t *at = (const uint8_t *)regs[REG_RIP];
	struct access a = {
		.card = card, .offset = offset, .regs = regs, .vectors = machine->fpregs, .size = 4};
	bool (*run_opcode)(struct access *, uint8_t) = run;
	uint8_t rex = 0, opcode;

	for (; *at == 0x66 || *at == 0xf0 || *at == 0xf2 || *at == 0xf3; at++)
		if (*at == 0x66)
			a.size = 2;
	if ((*at & 0xf0) == 0x40)
		rex = *at++;
	if (*at == 0x0f) {
		run_opcode = *++at == 0x38 ? run_direct : run_wide;
		at += *at == 0x38;
	}
	opcode = *at++;
	a.modrm = at;
	a.reg = (at[0] >> 3 & 7u) | (rex & 4u) << 1;
	a.next = at + modrm_length(at);
	if ((rex & 8) || (at[0] >> 6) == 3 || !run_opcode(&a, opcode))
		return false;
	regs[REG_RIP] = (greg_t)a.next;
	return true;
}

static void
pass_on(int signal_number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(signal_number, info, context);
	else
		signal(SIGSEGV, SIG_DFL);
}

static void
on_fault(int signal_number, siginfo_t *info, void *context)
{
	mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
	const uint8_t *address = info->si_addr, *code = (const uint8_t *)machine->gregs[REG_RIP];
	int saved = errno;

	for (unsigned i = 0; i < bar_count; i++)
		if (address >= bars[i].at && address < bars[i].at + NIC_BAR0) {
			if (!emulate(bars[i].card, (uint32_t)(address - bars[i].at), machine)) {
				dprintf(2,
					"NIC82599: an instruction that the model cannot decode: %02x %02x "
					"%02x %02x %02x %02x\n",
					code[0], code[1], code[2], code[3], code[4], code[5]);
				signal(SIGSEGV, SIG_DFL);
			}
			errno = saved;
			return;
		}
	pass_on(signal_number, info, context);
}

void
host_catch_faults(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSEGV, &action, &before);
}
