// SPDX-License-Identifier: GPL-2.0
/*
 * What an instruction needs when a breakpoint displaces it: to be emulated, to
 * run from a slot (perhaps with its rip-relative operand adjusted), or not to be
 * displaced at all.
 *
 * Anything that the decoder knows and that is not named here runs from a slot
 * unchanged: interrupts and preemption are as they were, so not even cli, sti,
 * pushf and popf are special.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

#include "insn.h"

#define PREFIX_OPERAND_SIZE	0x66
#define PREFIX_ADDRESS_SIZE	0x67
#define PREFIX_FS		0x64
#define PREFIX_GS		0x65

#define MODRM_REGISTER		3
#define MODRM_RM_SIB		4
#define MODRM_RM_RIP		5
#define SIB_NO_INDEX		4
#define SIB_NO_BASE		5

/* Register numbers as instructions encode them. */
static const u8 reg_offset[] = {
	offsetof(struct pt_regs, ax),  offsetof(struct pt_regs, cx),
	offsetof(struct pt_regs, dx),  offsetof(struct pt_regs, bx),
	offsetof(struct pt_regs, sp),  offsetof(struct pt_regs, bp),
	offsetof(struct pt_regs, si),  offsetof(struct pt_regs, di),
	offsetof(struct pt_regs, r8),  offsetof(struct pt_regs, r9),
	offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
	offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
	offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
};

static bool has_prefix(struct insn *insn, insn_byte_t wanted)
{
	insn_byte_t prefix;
	int i;

	for_each_insn_prefix(insn, i, prefix)
		if (prefix == wanted)
			return true;
	return false;
}

static u8 extended(unsigned int reg, bool rex_bit)
{
	return reg_offset[reg + (rex_bit ? 8 : 0)];
}

/* Registers, displacement and segment of a modrm operand. */
static int decode_operand(struct insn *insn, struct site_insn *si)
{
	struct insn_operand *op = &si->operand;
	u8 modrm = insn->modrm.bytes[0], sib = insn->sib.bytes[0];
	u8 mod = X86_MODRM_MOD(modrm), rm = X86_MODRM_RM(modrm);
	u8 rex = insn->rex_prefix.nbytes ? insn->rex_prefix.bytes[0] : 0;

	if (insn_is_rex2(insn) || has_prefix(insn, PREFIX_FS) ||
	    has_prefix(insn, PREFIX_ADDRESS_SIZE))
		return -EINVAL;

	*op = (struct insn_operand) {
		.base	= OPERAND_NO_REG,
		.index	= OPERAND_NO_REG,
		.memory	= mod != MODRM_REGISTER,
		.gs	= has_prefix(insn, PREFIX_GS),
	};
	si->disp = insn->displacement.nbytes ? insn->displacement.value : 0;

	if (mod == MODRM_REGISTER || rm != MODRM_RM_SIB) {
		if (mod == 0 && rm == MODRM_RM_RIP)
			op->base = offsetof(struct pt_regs, ip);
		else
			op->base = extended(rm, X86_REX_B(rex));
		return 0;
	}
	if (mod != 0 || X86_SIB_BASE(sib) != SIB_NO_BASE)
		op->base = extended(X86_SIB_BASE(sib), X86_REX_B(rex));
	if (X86_SIB_INDEX(sib) != SIB_NO_INDEX || X86_REX_X(rex)) {
		op->index = extended(X86_SIB_INDEX(sib), X86_REX_X(rex));
		op->shift = X86_SIB_SCALE(sib);
	}
	return 0;
}

/* ff /n */
static int classify_group5(struct insn *insn, struct site_insn *si)
{
	switch (X86_MODRM_REG(insn->modrm.bytes[0])) {
	case 2:
		si->emulate = emulate_call_to;
		break;
	case 4:
		si->emulate = emulate_jmp_to;
		break;
	case 3:		/* far call */
	case 5:		/* far jmp */
	case 7:
		return -EINVAL;
	default:	/* inc, dec, push */
		return 0;
	}
	if (has_prefix(insn, PREFIX_OPERAND_SIZE))
		return -EINVAL;
	return decode_operand(insn, si);
}

/*
 * 0f xx: what leaves the kernel, enters a guest, always traps, or is where an
 * indirect branch lands: a breakpoint is no place to land on, a slot must not be.
 */
static int classify_two_byte(struct insn *insn, struct site_insn *si)
{
	u8 opcode = insn->opcode.bytes[1];
	u8 modrm = insn->modrm.bytes[0];

	switch (opcode) {
	case 0x80 ... 0x8f:
		si->emulate = emulate_jcc;
		si->cond = opcode & 0xf;
		si->disp = insn->immediate.value;
		return 0;
	case 0x1e:
		return is_landing_pad(si) ? -EINVAL : 0;
	case 0x1f:
		si->emulate = emulate_nop;
		return 0;
	case 0x01:	/* vmlaunch, vmresume, vmrun */
		return modrm == 0xc2 || modrm == 0xc3 || modrm == 0xd8 ? -EINVAL : 0;
	case 0x05:	/* syscall */
	case 0x07:	/* sysret */
	case 0x0b:	/* ud2 */
	case 0x34:	/* sysenter */
	case 0x35:	/* sysexit */
	case 0xaa:	/* rsm */
	case 0xb9:	/* ud1 */
	case 0xff:	/* ud0 */
		return -EINVAL;
	}
	return 0;
}

static void classify_stack(struct insn *insn, struct site_insn *si)
{
	u8 opcode = insn->opcode.bytes[0];
	u8 rex = insn->rex_prefix.nbytes ? insn->rex_prefix.bytes[0] : 0;

	/* 16 bits wide, or with registers that pt_regs does not have: to a slot. */
	if (has_prefix(insn, PREFIX_OPERAND_SIZE) || insn_is_rex2(insn))
		return;
	si->emulate = opcode < 0x58 ? emulate_push : emulate_pop;
	si->operand.base = extended(opcode & 7, X86_REX_B(rex));
}

static int classify(struct insn *insn, struct site_insn *si)
{
	u8 opcode = insn->opcode.bytes[0];

	switch (opcode) {
	case 0x0f:
		return classify_two_byte(insn, si);
	case 0x50 ... 0x5f:
		classify_stack(insn, si);
		return 0;
	case 0x70 ... 0x7f:
		si->emulate = emulate_jcc;
		si->cond = opcode & 0xf;
		break;
	case 0x90:	/* with a prefix it may be xchg, or pause */
		if (insn->length == 1)
			si->emulate = emulate_nop;
		return 0;
	case 0xc7:	/* xbegin holds a relative address */
		return insn->modrm.bytes[0] == 0xf8 ? -EINVAL : 0;
	case 0xc2:
		si->disp = (u16)insn->immediate.value;
		fallthrough;
	case 0xc3:
		si->emulate = emulate_ret;
		return 0;
	case 0xca:	/* far returns */
	case 0xcb:
	case 0xcc:	/* int3, int, into, iret, int1 */
	case 0xcd:
	case 0xce:
	case 0xcf:
	case 0xf1:
		return -EINVAL;
	case LOOP_NE ... LOOP_JRCXZ:
		si->emulate = emulate_loop;
		si->cond = opcode;
		si->addr32 = has_prefix(insn, PREFIX_ADDRESS_SIZE);
		break;
	case 0xe8:
		si->emulate = emulate_call;
		break;
	case 0xe9:
	case 0xeb:
		si->emulate = emulate_jmp;
		break;
	case 0xff:
		return classify_group5(insn, si);
	default:
		return 0;
	}
	/* What is left here branches relatively. */
	si->disp = insn->immediate.value;
	return has_prefix(insn, PREFIX_OPERAND_SIZE) ? -EINVAL : 0;
}

/**
 * insn_classify() - decide how the effect of an instruction is had
 * @si: with the bytes filled in; the rest is filled in here
 *
 * Return: 0, or -EINVAL when it cannot be displaced.
 */
int insn_classify(struct site_insn *si)
{
	struct insn insn;

	if (insn_decode_kernel(&insn, si->bytes))
		return -EINVAL;
	/* "emulate" prefixes are for hypervisors; mov ss holds off the next trap. */
	if (insn_has_emulate_prefix(&insn) || insn_masking_exception(&insn))
		return -EINVAL;
	si->len = insn.length;
	return classify(&insn, si);
}
