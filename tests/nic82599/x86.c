/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An instruction is performed in three steps: read its operands, the card's register among them if the
 * instruction reads it; compute; write the result. Zydis gives the operands and which of them the
 * instruction reads and writes. Arithmetic is done by the processor itself, so that its flags are right.
 */
#include <string.h>

#include <Zydis/Zydis.h>

#include "x86.h"

/* Where the signal frame has the upper halves of ymm registers: XSAVE's standard format (Intel SDM, volume 1,
 * 13.4), whose first 512 bytes are FXSAVE's, with the kernel's own words in the last 48 of them */
#define XSTATE_BV  512
#define YMM_UPPER  576
#define XSTATE_YMM 4u
#define ARITHMETIC 0x8d5u /* OF, SF, ZF, AF, PF, CF */

union value {
	uint64_t word;
	uint8_t bytes[X86_WIDEST];
};

struct instruction {
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	mcontext_t *machine;
	const struct x86_bus *bus;
};

static const int general[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static bool
is_high_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

static greg_t *
general_of(mcontext_t *machine, ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return &machine->gregs[general[ZydisRegisterGetId(whole)]];
}

static uint8_t *
lower_half(mcontext_t *machine, ZydisRegister reg)
{
	return (uint8_t *)&machine->fpregs->_xmm[ZydisRegisterGetId(reg)];
}

static uint8_t *
upper_half(mcontext_t *machine, ZydisRegister reg)
{
	return (uint8_t *)machine->fpregs + YMM_UPPER + 16 * ZydisRegisterGetId(reg);
}

static bool
is_vector(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	return class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM;
}

static bool
is_general(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	return class == ZYDIS_REGCLASS_GPR8 || class == ZYDIS_REGCLASS_GPR16 ||
	       class == ZYDIS_REGCLASS_GPR32 || class == ZYDIS_REGCLASS_GPR64;
}

static void
read_register(mcontext_t *machine, ZydisRegister reg, union value *value)
{
	if (!is_vector(reg)) {
		value->word = (uint64_t)*general_of(machine, reg) >> (is_high_byte(reg) ? 8 : 0);
		return;
	}
	memcpy(value->bytes, lower_half(machine, reg), 16);
	if (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_YMM)
		memcpy(value->bytes + 16, upper_half(machine, reg), 16);
}

/* A result of 32 bits clears the upper half of a general register, a shorter one leaves the rest */
static void
write_general(mcontext_t *machine, ZydisRegister reg, unsigned bits, uint64_t word)
{
	greg_t *to = general_of(machine, reg);
	uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
	unsigned shift = is_high_byte(reg) ? 8 : 0;

	if (bits >= 32)
		*to = (greg_t)(word & mask);
	else
		*to = (greg_t)(((uint64_t)*to & ~(mask << shift)) | (word & mask) << shift);
}

/* A VEX instruction clears what it does not write, an SSE instruction leaves the upper half */
static void
write_vector(struct instruction *i, ZydisRegister reg, const union value *value)
{
	uint64_t *present = (uint64_t *)(void *)((uint8_t *)i->machine->fpregs + XSTATE_BV);

	memcpy(lower_half(i->machine, reg), value->bytes, 16);
	if (i->decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return;
	memcpy(upper_half(i->machine, reg), value->bytes + 16, 16);
	*present |= XSTATE_YMM;
}

static union value
read_operand(const struct instruction *i, const ZydisDecodedOperand *operand)
{
	union value value = {0};

	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		read_register(i->machine, operand->reg.value, &value);
	else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		value.word = operand->imm.value.u;
	else if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		i->bus->load(i->bus->owner, value.bytes, operand->size / 8);
	return value;
}

static void
write_operand(struct instruction *i, const ZydisDecodedOperand *operand, const union value *value)
{
	if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		i->bus->store(i->bus->owner, value->bytes, operand->size / 8);
	else if (is_vector(operand->reg.value))
		write_vector(i, operand->reg.value, value);
	else
		write_general(i->machine, operand->reg.value, operand->size, value->word);
}

static uint64_t
sign_extended(uint64_t word, unsigned bits)
{
	return (uint64_t)((int64_t)(word << (64 - bits)) >> (64 - bits));
}

static const ZydisMnemonic moves[] = {
	ZYDIS_MNEMONIC_MOV,      ZYDIS_MNEMONIC_MOVZX,     ZYDIS_MNEMONIC_MOVSX,   ZYDIS_MNEMONIC_MOVSXD,
	ZYDIS_MNEMONIC_MOVBE,    ZYDIS_MNEMONIC_MOVNTI,    ZYDIS_MNEMONIC_MOVDIRI, ZYDIS_MNEMONIC_MOVD,
	ZYDIS_MNEMONIC_MOVQ,     ZYDIS_MNEMONIC_MOVAPS,    ZYDIS_MNEMONIC_MOVAPD,  ZYDIS_MNEMONIC_MOVUPS,
	ZYDIS_MNEMONIC_MOVUPD,   ZYDIS_MNEMONIC_MOVDQA,    ZYDIS_MNEMONIC_MOVDQU,  ZYDIS_MNEMONIC_MOVNTDQ,
	ZYDIS_MNEMONIC_MOVNTDQA, ZYDIS_MNEMONIC_MOVNTPS,   ZYDIS_MNEMONIC_LDDQU,   ZYDIS_MNEMONIC_VMOVD,
	ZYDIS_MNEMONIC_VMOVQ,    ZYDIS_MNEMONIC_VMOVAPS,   ZYDIS_MNEMONIC_VMOVAPD, ZYDIS_MNEMONIC_VMOVUPS,
	ZYDIS_MNEMONIC_VMOVUPD,  ZYDIS_MNEMONIC_VMOVDQA,   ZYDIS_MNEMONIC_VMOVDQU, ZYDIS_MNEMONIC_VMOVNTDQ,
	ZYDIS_MNEMONIC_VMOVNTPS, ZYDIS_MNEMONIC_VMOVNTDQA, ZYDIS_MNEMONIC_VLDDQU,
};
static const ZydisMnemonic operations[] = {
	ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_OR,  ZYDIS_MNEMONIC_ADC, ZYDIS_MNEMONIC_SBB,  ZYDIS_MNEMONIC_AND,
	ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_TEST, ZYDIS_MNEMONIC_INC,
	ZYDIS_MNEMONIC_DEC, ZYDIS_MNEMONIC_NEG, ZYDIS_MNEMONIC_NOT, ZYDIS_MNEMONIC_XCHG,
};
/* With an immediate number of the bit only: with a register they reach beyond their operand */
static const ZydisMnemonic bit_tests[] = {ZYDIS_MNEMONIC_BT, ZYDIS_MNEMONIC_BTS, ZYDIS_MNEMONIC_BTR,
					  ZYDIS_MNEMONIC_BTC};

static bool
is_in(const ZydisMnemonic *list, size_t n, ZydisMnemonic mnemonic)
{
	while (n > 0)
		if (list[--n] == mnemonic)
			return true;
	return false;
}
#define IS_IN(list, mnemonic) is_in(list, sizeof(list) / sizeof((list)[0]), mnemonic)

static union value
moved(const struct instruction *i, union value value)
{
	unsigned bits = i->operands[1].size;

	if (i->decoded.mnemonic == ZYDIS_MNEMONIC_MOVSX || i->decoded.mnemonic == ZYDIS_MNEMONIC_MOVSXD)
		value.word = sign_extended(value.word, bits);
	else if (i->decoded.mnemonic == ZYDIS_MNEMONIC_MOVBE)
		value.word = __builtin_bswap64(value.word) >> (64 - bits);
	return value;
}

/* The processor computes "a = a OP b", with the flags that it has before and after */
#define COMPUTE(op, operands)                                                    \
	__asm__ volatile("pushq %1; popfq; " op " " operands "; pushfq; popq %1" \
			 : "+q"(a), "+q"(flags)                                  \
			 : "q"(b)                                                \
			 : "cc", "memory")
#define BY_WIDTH(name, of_8, of_16, of_32, of_64) \
	do {                                      \
		if (bits == 64)                   \
			COMPUTE(name "q", of_64); \
		else if (bits == 32)              \
			COMPUTE(name "l", of_32); \
		else if (bits == 16)              \
			COMPUTE(name "w", of_16); \
		else                              \
			of_8;                     \
	} while (0)
#define TWO(name)                                                                                    \
	case ZYDIS_MNEMONIC_##name:                                                                  \
		BY_WIDTH(#name, COMPUTE(#name "b", "%b2, %b0"), "%w2, %w0", "%k2, %k0", "%q2, %q0"); \
		break
#define ONE(name)                                                                \
	case ZYDIS_MNEMONIC_##name:                                              \
		BY_WIDTH(#name, COMPUTE(#name "b", "%b0"), "%w0", "%k0", "%q0"); \
		break
#define BIT(name)                                                             \
	case ZYDIS_MNEMONIC_##name:                                           \
		BY_WIDTH(#name, (void)0, "%w2, %w0", "%k2, %k0", "%q2, %q0"); \
		break

static uint64_t
computed(struct instruction *i, uint64_t a, uint64_t b)
{
	greg_t *kept = &i->machine->gregs[REG_EFL];
	uint64_t flags = 2u | ((uint64_t)*kept & ARITHMETIC);
	unsigned bits = i->operands[0].size;

	switch (i->decoded.mnemonic) {
		TWO(ADD);
		TWO(OR);
		TWO(ADC);
		TWO(SBB);
		TWO(AND);
		TWO(SUB);
		TWO(XOR);
		TWO(CMP);
		TWO(TEST);
		ONE(INC);
		ONE(DEC);
		ONE(NEG);
		ONE(NOT);
		BIT(BT);
		BIT(BTS);
		BIT(BTR);
		BIT(BTC);
	default:
		break;
	}
	*kept = (greg_t)(((uint64_t)*kept & ~(uint64_t)ARITHMETIC) | (flags & ARITHMETIC));
	return a;
}

static void
perform(struct instruction *i)
{
	const ZydisDecodedOperand *target = &i->operands[0], *source = &i->operands[1];
	union value second =
		i->decoded.operand_count_visible > 1 ? read_operand(i, source) : (union value){0};
	union value first;

	if (IS_IN(moves, i->decoded.mnemonic)) {
		second = moved(i, second);
		write_operand(i, target, &second);
		return;
	}
	first = read_operand(i, target);
	if (i->decoded.mnemonic == ZYDIS_MNEMONIC_XCHG) {
		write_operand(i, target, &second);
		write_operand(i, source, &first);
		return;
	}
	first.word = computed(i, first.word, second.word);
	write_operand(i, target, &first);
}

static bool
is_operand(const ZydisDecodedOperand *operand)
{
	ZydisRegister reg = operand->reg.value;

	return operand->size <= 8 * X86_WIDEST &&
	       (operand->type == ZYDIS_OPERAND_TYPE_MEMORY || operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ||
		(operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		 (is_vector(reg) ? ZydisRegisterGetId(reg) < 16 : is_general(reg))));
}

/* Nothing is read before this is certain: the read of a card's register changes the card */
static bool
is_known(const struct instruction *i)
{
	const ZydisDecodedOperand *o = i->operands;
	ZydisMnemonic mnemonic = i->decoded.mnemonic;
	unsigned visible = i->decoded.operand_count_visible;

	if (visible < 1 || visible > 2 || !is_operand(&o[0]) || (visible == 2 && !is_operand(&o[1])))
		return false;
	if (o[0].type != ZYDIS_OPERAND_TYPE_MEMORY &&
	    (visible == 1 || o[1].type != ZYDIS_OPERAND_TYPE_MEMORY))
		return false;
	return IS_IN(moves, mnemonic) || IS_IN(operations, mnemonic) ||
	       (IS_IN(bit_tests, mnemonic) && o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE);
}

bool
x86_run(mcontext_t *machine, const struct x86_bus *bus)
{
	const void *code = (const void *)machine->gregs[REG_RIP];
	struct instruction i = {.machine = machine, .bus = bus};
	ZydisDecoder decoder;

	if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code, ZYDIS_MAX_INSTRUCTION_LENGTH, &i.decoded,
					       i.operands)) ||
	    !is_known(&i))
		return false;
	perform(&i);
	machine->gregs[REG_RIP] += i.decoded.length;
	return true;
}
