/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting DPDK's environment layer. A user should not need its forty arguments to test a switch, so they
 * are worked out from the machine: which CPUs this process may use, whether there are huge pages, how much
 * memory.
 *
 * Without huge pages EAL lives on ordinary memory: it reserves a fixed address space at the
 * start; pages are only used when touched, so the share can be generous. With huge pages memory grows as
 * needed. In both cases nothing is left in the file system and any number of testers can run side by side.
 *
 * Start-up is 0.15 s, most of it EAL measuring the time stamp counter; loading every driver is a small part
 * of it.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <numa.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "fg_eal.h"
#include "fg_host.h"
#include "fg_log.h"
#include "fg_tsc.h"

#define MIB                (1024ull * 1024)
#define DEFAULT_MEMORY_MB  1024
#define SMALLEST_MEMORY_MB 64
#define ENOUGH_HUGE_MB     256 /* fewer free huge pages than this are left alone */
#define HUGE_PAGES_DIR     "/sys/kernel/mm/hugepages"

enum { HUGE_AUTO, HUGE_NEVER, HUGE_REQUIRED };

/* EAL keeps pointers to some of its arguments, so they live as long as the process */
static struct {
	char *argv[96];
	int argc;
	char text[8192];
	size_t used;
	bool full;
} arguments;

static bool running;

bool
fg_eal_is_running(void)
{
	return running;
}

static void __attribute__((format(printf, 1, 2))) add_argument(const char *format, ...)
{
	size_t left = sizeof(arguments.text) - arguments.used;
	char *here = arguments.text + arguments.used;
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(here, left, format, list);
	va_end(list);
	if (n < 0 || (size_t)n >= left || arguments.argc + 1 >= (int)RTE_DIM(arguments.argv)) {
		arguments.full = true;
		return;
	}
	arguments.argv[arguments.argc++] = here;
	arguments.argv[arguments.argc] = NULL;
	arguments.used += (size_t)n + 1;
}

static uint64_t
read_number(const char *path)
{
	FILE *in = fopen(path, "re");
	unsigned long long value = 0;

	if (in == NULL)
		return 0;
	if (fscanf(in, "%llu", &value) != 1)
		value = 0;
	fclose(in);
	return value;
}

static uint64_t
free_huge_mb(void)
{
	DIR *sizes = opendir(HUGE_PAGES_DIR);
	const struct dirent *entry;
	uint64_t kib = 0;
	char path[512];

	if (sizes == NULL)
		return 0;
	while ((entry = readdir(sizes)) != NULL) {
		unsigned long page_kib;

		if (sscanf(entry->d_name, "hugepages-%lukB", &page_kib) != 1)
			continue;
		snprintf(path, sizeof(path), HUGE_PAGES_DIR "/%s/free_hugepages", entry->d_name);
		kib += read_number(path) * page_kib;
	}
	closedir(sizes);
	return kib / 1024;
}

static uint64_t
available_mb(void)
{
	FILE *in = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	if (in == NULL)
		return DEFAULT_MEMORY_MB;
	while (fgets(line, sizeof(line), in) != NULL)
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	fclose(in);
	return kib / 1024;
}

/* Half of what is free at most, for the pages count once they are touched */
static uint64_t
ordinary_memory_mb(const struct fg_host_config *config)
{
	uint64_t memory;

	if (config->memory_mb != 0)
		return config->memory_mb;
	memory = available_mb() / 2;
	memory = RTE_MIN(memory, (uint64_t)DEFAULT_MEMORY_MB);
	return RTE_MAX(memory, (uint64_t)SMALLEST_MEMORY_MB);
}

static int
add_memory(const struct fg_host_config *config, bool *huge, struct fg_error *err)
{
	uint64_t want = config->memory_mb != 0 ? config->memory_mb : ENOUGH_HUGE_MB;
	uint64_t have = config->huge_pages == HUGE_NEVER ? 0 : free_huge_mb();

	if (config->huge_pages == HUGE_REQUIRED && have < want)
		return fg_error_set(err, ENOMEM, "host.huge_pages",
				    "%" PRIu64 " MiB of huge pages are free and %" PRIu64
				    " are needed; reserve them as root: sysctl -w vm.nr_hugepages=%" PRIu64
				    " (pages of 2 MiB), or set host.huge_pages to auto",
				    have, want, (want + 1) / 2);
	*huge = have >= want;
	if (*huge) {
		add_argument("--in-memory");
		if (config->memory_mb != 0)
			add_argument("-m%u", config->memory_mb);
		return 0;
	}
	/* EAL rejects --in-memory here; without shared configuration it leaves nothing behind either */
	add_argument("--no-huge");
	add_argument("--no-shconf");
	add_argument("-m%" PRIu64, ordinary_memory_mb(config));
	return 0;
}

/* The main lcore on the first CPU we may use, a worker on each other; on a single CPU both share it */
static int
add_lcores(const struct fg_host_config *config, struct fg_error *err)
{
	char map[2048] = "";
	unsigned lcores = 0;
	size_t used = 0;
	cpu_set_t allowed;
	int first = 0;

	if (config->lcores != NULL) {
		add_argument("--lcores=%s", config->lcores);
		return 0;
	}
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return fg_error_set(err, errno, "host.lcores",
				    "the kernel does not tell which CPUs may be used: %s", strerror(errno));
	for (int cpu = 0; cpu < CPU_SETSIZE && lcores < RTE_MAX_LCORE && used + 16 < sizeof(map); cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		if (lcores == 0)
			first = cpu;
		used += (size_t)snprintf(map + used, sizeof(map) - used, "%s%u@%d", lcores > 0 ? "," : "",
					 lcores, cpu);
		lcores++;
	}
	if (lcores == 1) {
		fg_log(FG_LOG_WARNING,
		       "only one CPU may be used: the worker shares CPU %d with the main thread and will be disturbed",
		       first);
		snprintf(map, sizeof(map), "0@%d,1@%d", first, first);
	}
	add_argument("--lcores=%s", map);
	return 0;
}

/* Only devices handed to DPDK: a driver takes any device that it may, also one in use */
static void
add_devices(const struct fg_host_config *config)
{
	if (config->pci == NULL || config->pci[0] == NULL)
		add_argument("--no-pci");
	for (const char *const *address = config->pci; address != NULL && *address != NULL; address++)
		add_argument("--allow=%s", *address);
	for (const char *const *extra = config->eal; extra != NULL && *extra != NULL; extra++)
		add_argument("%s", *extra);
}

/* What the machine lacks; NULL: nothing that shows. EAL keeps what it took, also when it fails. */
static const char *
lacking(void)
{
	int spare[8], n = 0;

	while (n < (int)RTE_DIM(spare) && (spare[n] = dup(STDERR_FILENO)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(spare[i]);
	if (n < (int)RTE_DIM(spare))
		return "allow more open files (ulimit -n)";
	return access("/proc/self/maps", R_OK) != 0 ? "mount /proc, which it reads" : NULL;
}

static sigjmp_buf back;
static pthread_t starter;
static volatile sig_atomic_t starting, panicked;

static void
on_abort(int number)
{
	if (pthread_equal(pthread_self(), starter) && !starting) {
		signal(number, SIG_DFL);
		raise(number);
	}
	panicked = 1;
	if (pthread_equal(pthread_self(), starter))
		siglongjmp(back, 1);
	for (;;)
		pause(); /* a thread of EAL; the process ends without it */
}

/*
 * rte_eal_init(), which ends the process where it cannot make a pipe or a thread (rte_panic). Here that is an
 * error like its others; as after those, nothing of EAL may be used any more. Threads that it has made by
 * then may still fail.
 */
static int
init_eal(void)
{
	struct sigaction action = {.sa_handler = on_abort}, before;
	int ret = -1;

	starter = pthread_self();
	starting = 1;
	sigemptyset(&action.sa_mask);
	sigaction(SIGABRT, &action, &before);
	if (sigsetjmp(back, 1) == 0)
		ret = rte_eal_init(arguments.argc, arguments.argv);
	starting = 0;
	if (ret >= 0)
		sigaction(SIGABRT, &before, NULL);
	if (!panicked)
		return ret;
	rte_errno = ECANCELED;
	return -1;
}

static int
explain_failure(int code, bool huge, const char *reason, struct fg_error *err)
{
	const char *advice = lacking();

	if (*reason == '\0')
		reason = rte_strerror(code);
	if (code == EALREADY)
		return fg_error_set(err, code, "host",
				    "DPDK failed to start before; only a new process can try again");
	if (advice == NULL && code == EINVAL)
		return fg_error_set(err, code, "host",
				    "DPDK does not take its arguments (%s); look at host.lcores and host.eal",
				    reason);
	if (advice == NULL)
		advice =
			huge ? "free more huge pages (sysctl -w vm.nr_hugepages=512) or set host.huge_pages to never"
			     : "try a smaller host.memory and fewer host.lcores";
	return fg_error_set(err, code, "host", "DPDK did not start: %s; %s", reason, advice);
}

int
fg_host_start(const struct fg_host_config *config, struct fg_error *err)
{
	bool huge = false;
	const char *reason;
	int ret, code;

	if (running)
		return 0;
	fg_tsc_begin();
	memset(&arguments, 0, sizeof(arguments));
	add_argument("framegauge");
	add_argument("--no-telemetry");
	ret = add_lcores(config, err);
	if (ret == 0)
		ret = add_memory(config, &huge, err);
	add_devices(config);
	if (ret == 0)
		ret = fg_eal_log_open(err);
	if (ret != 0)
		return ret;
	if (arguments.full)
		return fg_error_set(err, E2BIG, "host.eal", "too many arguments for DPDK");

	fg_eal_log_begin();
	ret = init_eal();
	code = ret < 0 && rte_errno != 0 ? rte_errno : EINVAL;
	reason = fg_eal_log_end();
	if (ret < 0)
		return explain_failure(code, huge, reason, err);
	running = true;
	fg_log(FG_LOG_INFO, "DPDK runs on %u lcores with %s memory", rte_lcore_count(),
	       huge ? "huge-page" : "ordinary");
	return 0;
}

/* The one CPU an lcore is bound to; -1 when it floats */
static int
lcore_cpu(unsigned id)
{
	rte_cpuset_t set = rte_lcore_cpuset(id);

	if (CPU_COUNT(&set) != 1)
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return cpu;
	return -1;
}

unsigned
fg_host_lcores(struct fg_lcore_info *out, unsigned max)
{
	bool numa = numa_available() >= 0;
	unsigned count = 0, id;

	if (!running)
		return 0;
	RTE_LCORE_FOREACH_WORKER (id) {
		if (count < max) {
			out[count].id = id;
			out[count].cpu = lcore_cpu(id);
			out[count].node = numa && out[count].cpu >= 0 ? numa_node_of_cpu(out[count].cpu)
								      : (int)rte_lcore_to_socket_id(id);
		}
		count++;
	}
	return count;
}
