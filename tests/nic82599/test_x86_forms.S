/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instructions of test_x86.cc, as the assembler encodes them: records of 128 bytes, each with the length,
 * the code and the text. Nothing here runs where it stands. Each accesses the byte at %rdi.
 */
	.section .rodata
	.globl x86_forms, x86_forms_end
	.balign 128
x86_forms:

.macro form insn:vararg
1:	.byte 3f - 2f
2:	\insn
3:	.fill 16 - (3b - 1b), 1, 0xcc
	.asciz "\insn"
	.balign 128, 0
.endm

/* every width, every class of register */
.irp reg, %al, %cl, %bl, %ah, %ch, %sil, %bpl, %r9b, %r15b
	form mov \reg, (%rdi)
	form mov (%rdi), \reg
	form add \reg, (%rdi)
	form adc (%rdi), \reg
.endr
.irp reg, %ax, %bx, %si, %r10w, %eax, %ecx, %ebp, %r8d, %r15d, %rax, %rdx, %r12
	form mov \reg, (%rdi)
	form mov (%rdi), \reg
	form xor \reg, (%rdi)
	form sbb (%rdi), \reg
.endr

/* addressing: base, displacement of 8 and 32 bits, index, scale, no base, segments, what needs a SIB byte */
.irp address, (%rdi), 8(%rsi), -8(%rbx), 0x1000(%r8), "(%rdi,%r11)", "(%rdi,%r11,2)", "(%r9,%r10,4)", "0x10(%r9,%rdx,8)"
	form movl %eax, \address
	form movl \address, %ecx
	form movl $0x12345678, \address
	form movnti %ecx, \address
	form movdiri %ecx, \address
	form movdiri %rcx, \address
	form vmovdqu \address, %ymm3
.endr
.irp address, (%r12), (%r13), (%rbp), "(,%r14,1)", %ds:(%rdi), %es:(%rdi)
	form movl %eax, \address
	form movl \address, %ecx
.endr
	form movl (%edi), %ecx
	form {disp32} movl %eax, (%rdi)
	form {disp8} movl (%rdi), %eax

/* the arithmetic of two operands, with registers and with immediates of each width */
.irp op, add, or, adc, sbb, and, sub, xor, cmp
	form \op %ecx, (%rdi)
	form \op (%rdi), %ecx
	form \op %rcx, (%rdi)
	form \op (%rdi), %cx
	form \op (%rdi), %r9b
.irp width, b, w, l, q
	form \op\width $1, (%rdi)
	form \op\width $-1, (%rdi)
	form \op\width $0x7f, (%rdi)
.endr
	form \op\()w $0x1234, (%rdi)
	form \op\()l $0x12345678, (%rdi)
	form \op\()l $0x80000000, (%rdi)
	form \op\()q $0x12345678, (%rdi)
	form \op\()q $-0x12345678, (%rdi)
.endr
	form lock orl %ecx, (%rdi)
	form lock addl $1, (%rdi)
.irp width, b, w, l, q
	form test\width $0x41, (%rdi)
	form inc\width (%rdi)
	form dec\width (%rdi)
	form neg\width (%rdi)
	form not\width (%rdi)
	form mov\width $0x55, (%rdi)
.endr
	form test %cl, (%rdi)
	form test %cx, (%rdi)
	form test %ecx, (%rdi)
	form test %rcx, (%rdi)
	form movl $-1, (%rdi)
	form movq $-2, (%rdi)
	form movw $0xfedc, (%rdi)
	form xchg %cl, (%rdi)
	form xchg %cx, (%rdi)
	form xchg %ecx, (%rdi)
	form xchg %rcx, (%rdi)
.irp op, bt, bts, btr, btc
	form \op\()w $3, (%rdi)
	form \op\()l $31, (%rdi)
	form \op\()q $40, (%rdi)
.endr

/* extension and order */
	form movzbw (%rdi), %cx
	form movzbl (%rdi), %ecx
	form movzbl (%rdi), %r12d
	form movzbq (%rdi), %rcx
	form movzwl (%rdi), %ecx
	form movzwq (%rdi), %rcx
	form movsbw (%rdi), %cx
	form movsbl (%rdi), %ecx
	form movsbq (%rdi), %rcx
	form movswl (%rdi), %ecx
	form movswq (%rdi), %rcx
	form movslq (%rdi), %rcx
	form movbe (%rdi), %cx
	form movbe (%rdi), %ecx
	form movbe (%rdi), %rcx
	form movbe %cx, (%rdi)
	form movbe %ecx, (%rdi)
	form movbe %rcx, (%rdi)
	form movnti %rcx, (%rdi)

/* vectors */
	form movd %xmm0, (%rdi)
	form movd %xmm9, (%rdi)
	form movd (%rdi), %xmm2
	form movq %xmm1, (%rdi)
	form movq (%rdi), %xmm10
.irp op, movaps, movapd, movups, movupd, movdqa, movdqu
	form \op %xmm1, (%rdi)
	form \op (%rdi), %xmm11
	form v\op %xmm1, (%rdi)
	form v\op (%rdi), %xmm11
	form v\op %ymm1, (%rdi)
	form v\op (%rdi), %ymm11
.endr
	form movntdq %xmm3, (%rdi)
	form movntps %xmm3, (%rdi)
	form movntdqa (%rdi), %xmm4
	form lddqu (%rdi), %xmm4
	form vmovd %xmm3, (%rdi)
	form vmovd (%rdi), %xmm3
	form vmovq %xmm3, (%rdi)
	form vmovq (%rdi), %xmm3
	form vmovntdq %ymm3, (%rdi)
	form vmovntps %ymm3, (%rdi)
	form vmovntdqa (%rdi), %ymm4
	form vlddqu (%rdi), %ymm4
x86_forms_end:

/* what must not be guessed at */
	.globl x86_others, x86_others_end
	.balign 128
x86_others:
	form bts %ecx, (%rdi)
	form cmpxchg %ecx, (%rdi)
	form xadd %ecx, (%rdi)
	form movsl
	form rep stosl
	form push (%rdi)
	form call *(%rdi)
	form imul (%rdi), %ecx
	form shll $2, (%rdi)
	form paddd (%rdi), %xmm1
	form fldl (%rdi)
	form vmovdqu32 (%rdi), %ymm17
	form vmovdqu32 (%rdi), %zmm1
	form vmovdqu64 %zmm1, (%rdi)
	form mov %ecx, %eax
	form mov %ds, (%rdi)
	form ud2
x86_others_end:
	.section .note.GNU-stack, "", @progbits
