/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens by itself: frames whose time on the wire has come, write-backs that were delayed, orders
 * from the control pipe (`link N up|down`, `link N out MILLISECONDS`, `remove N [held]`, `stuck N rx|tx Q`,
 * `free N rx|tx Q`, `swallow N rx|tx|dma COUNT`), and the chaos of a seed. And the records of a run:
 * breaches, each kind once a card; a trace of registers; a capture of the wire with the time at which frames
 * began.
 *
 * The thread starts only if something needs it: without, the model is a pure function of the accesses.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

#define KINDS 64

/* A file written through a buffer of its own: stdio may not be entered from a signal's handler */
struct record {
	int fd;
	size_t used;
	char bytes[1 << 16];
};

static struct record trace = {.fd = -1}, capture = {.fd = -1}, report = {.fd = -1};
static uint64_t kinds[NIC_CARDS][KINDS];
static unsigned breaches[NIC_CARDS];
static double began_ns;
static pthread_t thread;
static volatile bool running;

double
host_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void
flush(struct record *r)
{
	size_t done = 0;

	while (r->fd >= 0 && done < r->used) {
		ssize_t part = write(r->fd, r->bytes + done, r->used - done);

		if (part <= 0)
			break;
		done += (size_t)part;
	}
	r->used = 0;
}

static void
append(struct record *r, const void *bytes, size_t length)
{
	if (r->fd < 0 || length > sizeof(r->bytes))
		return;
	if (r->used + length > sizeof(r->bytes))
		flush(r);
	memcpy(r->bytes + r->used, bytes, length);
	r->used += length;
}

static void
start_record(struct record *r, const char *path)
{
	if (path == NULL)
		return;
	r->fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	if (r->fd < 0)
		perror(path);
}

/* @return whether this card has not reported the line yet; of more than KINDS the rest is counted only */
static bool
is_new(const struct nic_card *card, const char *line)
{
	uint64_t hash = 1469598103934665603ull; /* FNV-1a */

	for (; *line != '\0'; line++)
		hash = (hash ^ (uint8_t)*line) * 1099511628211ull;
	for (unsigned i = 0; i < KINDS; i++) {
		if (kinds[card->index][i] == hash)
			return false;
		if (kinds[card->index][i] == 0) {
			kinds[card->index][i] = hash;
			return true;
		}
	}
	return false;
}

void
nic_breach(struct nic_card *card, const char *format, ...)
{
	char line[256];
	int length;
	va_list list;

	breaches[card->index]++;
	length = snprintf(line, sizeof(line), "card %u: ", card->index);
	va_start(list, format);
	length += vsnprintf(line + length, sizeof(line) - (size_t)length - 1, format, list);
	va_end(list);
	if (length > (int)sizeof(line) - 2)
		length = (int)sizeof(line) - 2;
	if (!is_new(card, line))
		return;
	line[length++] = '\n';
	if (report.fd < 0)
		dprintf(2, "NIC82599: %.*s", length, line);
	append(&report, line, (size_t)length);
	flush(&report);
}

void
host_trace(const struct nic_card *card, bool is_write, uint32_t offset, uint32_t value)
{
	char line[96], name[32];

	if (trace.fd < 0)
		return;
	nic_register_name(offset, name, sizeof(name));
	append(&trace, line,
	       (size_t)snprintf(line, sizeof(line), "%.3f %u %c %s 0x%08x\n",
				(host_now_ns() - began_ns) / 1e3, card->index, is_write ? 'W' : 'R', name,
				value));
}

/* pcap with nanoseconds; the interface is not recorded, the source address tells the card */
void
host_capture(const struct nic_card *card, const uint8_t *frame, uint32_t length, double at_ns)
{
	uint64_t at = (uint64_t)(at_ns - began_ns);
	uint32_t head[4] = {(uint32_t)(at / 1000000000u), (uint32_t)(at % 1000000000u), length, length};

	(void)card;
	append(&capture, head, sizeof(head));
	append(&capture, frame, length);
}

static void
stick(struct nic_card *card, const char *side, unsigned queue, bool stuck)
{
	if (queue >= NIC_QUEUES)
		return;
	if (strcmp(side, "tx") == 0)
		card->tx[queue].stuck = stuck;
	else
		card->rx_stuck[queue] = stuck;
}

static void
move_cable(struct nic_card *card, const char *to, unsigned milliseconds)
{
	nic_plug(card, strcmp(to, "up") == 0);
	if (strcmp(to, "out") != 0)
		return;
	host_unlock();
	nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000l}, NULL);
	host_lock();
	nic_plug(card, true);
}

static void
swallow(struct nic_card *card, const char *where, unsigned frames)
{
	*(strcmp(where, "tx") == 0   ? &card->swallow_tx
	  : strcmp(where, "rx") == 0 ? &card->swallow_rx
				     : &card->swallow_dma) = frames;
}

/* as if this number of frames had gone by, which nobody handed over or fetched */
static void
count(struct nic_card *card, const char *side, unsigned frames)
{
	static const uint32_t sent[] = {NIC_TPT, NIC_GPTC, NIC_QPTC};
	static const uint32_t received[] = {NIC_TPR, NIC_GPRC, NIC_QPRC};

	for (unsigned i = 0; i < 3; i++)
		nic_count(card, strcmp(side, "tx") == 0 ? sent[i] : received[i], frames);
}

/* "sent N COUNT ORDER": ORDER once card N has sent COUNT frames: at its place in a trial on any host */
static struct {
	const struct nic_card *card; /* NULL: no order waits */
	uint64_t frames;
	char order[64];
} later;

static bool
wait_for_frames(const char *order)
{
	unsigned index, frames;
	int at = 0;

	if (sscanf(order, "sent %u %u %n", &index, &frames, &at) != 2 || index >= nic_options.cards)
		return false;
	snprintf(later.order, sizeof(later.order), "%s", order + at);
	later.frames = frames;
	later.card = &nic_cards[index];
	return true;
}

static void
obey(const char *order)
{
	char word[16] = "", what[16] = "";
	unsigned index = 0, number = 0; /* of a queue, milliseconds or frames */
	struct nic_card *card;

	if (wait_for_frames(order))
		return;
	if (sscanf(order, "%15s %u %15s %u", word, &index, what, &number) < 2 || index >= nic_options.cards)
		return;
	card = &nic_cards[index];
	host_lock();
	if (strcmp(word, "link") == 0)
		move_cable(card, what, number);
	else if (strcmp(word, "remove") == 0) {
		nic_pull(card);
		host_remove_device(card, strcmp(what, "held") == 0);
	} else if (strcmp(word, "stuck") == 0 || strcmp(word, "free") == 0)
		stick(card, what, number, *word == 's');
	else if (strcmp(word, "swallow") == 0)
		swallow(card, what, number);
	else if (strcmp(word, "count") == 0)
		count(card, what, number);
	host_unlock();
}

static void
obey_later(void)
{
	if (later.card == NULL || later.card->sent < later.frames)
		return;
	later.card = NULL;
	obey(later.order);
}

static void
read_orders(int fd)
{
	static char text[512];
	static size_t used;
	ssize_t got = fd >= 0 ? read(fd, text + used, sizeof(text) - used - 1) : 0;
	char *end;

	if (got > 0)
		used += (size_t)got;
	text[used] = '\0';
	while ((end = strchr(text, '\n')) != NULL) {
		*end++ = '\0';
		obey(text);
		used -= (size_t)(end - text);
		memmove(text, end, used + 1);
	}
	if (used == sizeof(text) - 1)
		used = 0;
}

/*
 * The chaos of a seed, from the first frame on: none to two times the cable is out for 1 to 50 ms within
 * the first two seconds, and in one seed of eight a card is pulled. Delays of write-backs are
 * host_memory.c's.
 */
static void
make_chaos(double now_ns)
{
	static struct {
		double at_ns;
		char order[24];
	} events[5];
	static unsigned count, next;
	static double first_ns;
	unsigned seed = nic_options.chaos;
	bool sent = false;

	for (unsigned i = 0; i < nic_options.cards; i++)
		sent |= *nic_at(&nic_cards[i], NIC_TPT) != 0;
	if (seed == 0 || (first_ns == 0 && !sent))
		return;
	if (first_ns == 0) {
		first_ns = now_ns;
		for (unsigned i = 0; i < seed % 3; i++) {
			double at = ((seed * 7919 + i * 104729) % 2000) * 1e6,
			       gap = (1 + seed * 31 % 50) * 1e6;

			events[count].at_ns = at;
			snprintf(events[count++].order, sizeof(events[0].order), "link %u down", seed & 1);
			events[count].at_ns = at + gap;
			snprintf(events[count++].order, sizeof(events[0].order), "link %u up", seed & 1);
		}
		if (seed % 8 == 7) {
			events[count].at_ns = (seed * 15485863u % 2000) * 1e6;
			snprintf(events[count++].order, sizeof(events[0].order), "remove %u", seed >> 3 & 1);
		}
	}
	for (next = 0; next < count; next++)
		if (events[next].at_ns >= 0 && now_ns - first_ns >= events[next].at_ns) {
			obey(events[next].order);
			events[next].at_ns = -1;
		}
}

static void *
run(void *unused)
{
	int orders = -1;
	struct timespec pause = {0, 0};

	(void)unused;
	if (nic_options.control != NULL) {
		unlink(nic_options.control);
		if (mkfifo(nic_options.control, 0600) == 0)
			orders = open(nic_options.control, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	}
	while (running) {
		double now = host_now_ns();
		bool waiting;

		host_lock();
		waiting = host_release_writes(now);
		if (nic_options.paced)
			waiting |= nic_run(now);
		host_unlock();
		make_chaos(now);
		read_orders(orders);
		obey_later();
		pause.tv_nsec = waiting ? 1000 : nic_options.paced ? 20000 : 1000000;
		nanosleep(&pause, NULL);
	}
	if (orders >= 0)
		close(orders);
	if (nic_options.control != NULL)
		unlink(nic_options.control);
	return NULL;
}

void
host_start_events(void)
{
	const uint32_t head[6] = {0xa1b23c4d, 0x00040002, 0, 0, 65535, 1};
	sigset_t all, old;

	began_ns = host_now_ns();
	start_record(&trace, nic_options.trace);
	start_record(&capture, nic_options.capture);
	start_record(&report, nic_options.report);
	append(&capture, head, sizeof(head));
	if (nic_options.chaos != 0 && nic_options.write_back_us == 0)
		nic_options.write_back_us = 300;
	if (!nic_options.paced && nic_options.write_back_us == 0 && nic_options.control == NULL &&
	    nic_options.chaos == 0)
		return;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	running = true;
	running = pthread_create(&thread, NULL, run, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void
host_stop_events(void)
{
	char line[160];

	if (running) {
		running = false;
		pthread_join(thread, NULL);
	}
	for (unsigned i = 0; i < nic_options.cards; i++) {
		const struct nic_card *c = &nic_cards[i];

		append(&report, line,
		       (size_t)snprintf(
			       line, sizeof(line),
			       "card %u ended: %lu reads, %lu writes, %lu missed, %lu filtered, %u breaches\n",
			       i, (unsigned long)c->reads, (unsigned long)c->writes, (unsigned long)c->misses,
			       (unsigned long)c->filtered, breaches[i]));
	}
	flush(&trace);
	flush(&capture);
	flush(&report);
}
