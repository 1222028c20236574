/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to BAR 0. The page allows none, so each is a fault; the handler performs the instruction with the
 * card in place of memory, and lets the program go on behind it. An instruction that x86.c does not know ends
 * the program with the bytes printed: guessing would be worse.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "host.h"
#include "x86.h"

static struct {
	struct nic_card *card;
	uint8_t *at;
} bars[NIC_CARDS * 4];
static unsigned bar_count;
static struct sigaction before;

/* One access to a card: where */
struct access {
	struct nic_card *card;
	uint32_t offset;
};

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
load_word(struct nic_card *card, uint32_t offset)
{
	uint32_t value = nic_read(card, offset);

	host_trace(card, false, offset, value);
	return value;
}

static void
load(void *owner, void *to, unsigned bytes)
{
	const struct access *a = owner;
	uint32_t words[X86_WIDEST / 4];

	host_lock();
	host_release_writes(host_now_ns());
	for (unsigned i = 0; i < bytes; i += 4)
		words[i / 4] = load_word(a->card, (a->offset & ~3u) + i);
	host_unlock();
	memcpy(to, (uint8_t *)words + (bytes < 4 ? a->offset & 3 : 0), bytes);
}

static void
store(void *owner, const void *from, unsigned bytes)
{
	const struct access *a = owner;
	uint32_t word = 0;

	host_lock();
	host_release_writes(host_now_ns());
	for (unsigned i = 0; i < bytes; i += 4) {
		memcpy(&word, (const uint8_t *)from + i, bytes < 4 ? bytes : 4);
		host_trace(a->card, true, (a->offset & ~3u) + i, word);
		if (bytes != 4 || (a->offset & 3))
			nic_breach(a->card, "a write of %u bytes at 0x%05x; registers are written whole",
				   bytes, a->offset);
		nic_write(a->card, (a->offset & ~3u) + i, word);
	}
	host_unlock();
}

static bool
emulate(struct nic_card *card, uint32_t offset, mcontext_t *machine)
{
	struct access access = {.card = card, .offset = offset};
	const struct x86_bus bus = {.load = load, .store = store, .owner = &access};

	return x86_run(machine, &bus);
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
					"NIC82599: an instruction that the model cannot decode: %02x %02x %02x %02x %02x %02x\n",
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
