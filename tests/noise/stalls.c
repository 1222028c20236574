/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded into the tester (LD_PRELOAD): takes a packet lcore's processor away for 0.1 to 50 ms at seeded
 * moments, as a busy host would. The lcore's thread gets a signal, whose handler does not return for so
 * long. The product knows nothing of it.
 *
 * NOISE_STALLS: seed=N,worker=K,mean_ms=T,most_us=T; worker 0: all of them at the same moment.
 * NOISE_LOG: file for what was done, a line "begin duration worker" for each, ns of CLOCK_MONOTONIC.
 */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model.h"

enum { MAX_WORKERS = 16, LOOK_NS = 5000000 };

static struct {
	double mean_ns, most_ns;
	unsigned worker;
	unsigned short seed[3];
	pid_t thread[MAX_WORKERS];
	_Atomic uint64_t until;
	FILE *log;
} stalls;

static const double least_ns = 100e3;

static void
hold(int number)
{
	(void)number;
	while (noise_now() < atomic_load(&stalls.until))
		;
}

/* packet lcores are called rte-worker-N or dpdk-workerN */
static void
find_workers(void)
{
	char path[300], name[32];
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
		unsigned number = MAX_WORKERS;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		if (fgets(name, sizeof(name), f) != NULL && sscanf(name, "rte-worker-%u", &number) != 1)
			sscanf(name, "dpdk-worker%u", &number);
		if (number < MAX_WORKERS)
			stalls.thread[number] = atoi(entry->d_name);
		fclose(f);
	}
	if (tasks != NULL)
		closedir(tasks);
}

static void
wait_until(uint64_t moment)
{
	struct timespec t = {.tv_sec = (time_t)(moment / 1000000000), .tv_nsec = (long)(moment % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void
stall_for(uint64_t duration)
{
	uint64_t now = noise_now();

	atomic_store(&stalls.until, now + duration);
	for (unsigned i = 0; i < MAX_WORKERS; i++) {
		if (stalls.thread[i] == 0 || (stalls.worker != 0 && stalls.worker != i))
			continue;
		syscall(SYS_tgkill, getpid(), stalls.thread[i], SIGRTMIN + 6);
		if (stalls.log != NULL)
			fprintf(stalls.log, "%lu %lu %u\n", now, duration, i);
	}
}

/* Poisson moments, durations evenly spread over their logarithm */
static void *
disturb(void *arg)
{
	uint64_t next;

	(void)arg;
	do {
		wait_until(noise_now() + LOOK_NS);
		find_workers();
	} while (stalls.thread[stalls.worker != 0 ? stalls.worker : 1] == 0);
	for (next = noise_now();;) {
		double pause = -log(1 - erand48(stalls.seed)) * stalls.mean_ns;
		double duration = least_ns * pow(stalls.most_ns / least_ns, erand48(stalls.seed));

		next += (uint64_t)(pause + duration);
		wait_until(next);
		stall_for((uint64_t)duration);
	}
	return NULL;
}

__attribute__((constructor)) static void
start(void)
{
	const char *text = getenv("NOISE_STALLS"), *log = getenv("NOISE_LOG");
	struct sigaction action = {.sa_handler = hold, .sa_flags = SA_RESTART};
	uint32_t seed;
	pthread_t thread;

	if (text == NULL)
		return;
	seed = (uint32_t)noise_number(text, "seed", 1) * 2654435761u;
	stalls.seed[0] = (unsigned short)seed;
	stalls.seed[1] = (unsigned short)(seed >> 16);
	stalls.worker = (unsigned)noise_number(text, "worker", 0);
	stalls.mean_ns = noise_number(text, "mean_ms", 300) * 1e6;
	stalls.most_ns = noise_number(text, "most_us", 50000) * 1e3;
	stalls.log = log != NULL ? fopen(log, "w") : NULL;
	if (stalls.log != NULL)
		setvbuf(stalls.log, NULL, _IOLBF, 0);
	sigaction(SIGRTMIN + 6, &action, NULL);
	if (pthread_create(&thread, NULL, disturb, NULL) == 0)
		pthread_detach(thread);
}
