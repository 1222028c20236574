/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port over a memif: shared memory with another program, or with this one. Each port has a thread that
 * speaks with the peer, joins it again when it has been away, and takes the rings down when it has gone,
 * after the lcores have left them. (DPDK's own driver takes them down while they are polled.)
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_string_fns.h>

#include "memif_priv.h"
#include "memif_wake.h"

enum { USUAL_MAX_FRAME = 1518, ANSWER_MS = 2000, RETRY_MS = 50 };

static struct memif *
memif_of(struct fg_port *port)
{
	return (struct memif *)port;
}

static struct memif_lane *
lane(struct memif *m, unsigned i)
{
	return i == 0 ? &m->first : &m->more[i - 1];
}

/* @return a socket that is connected, or -errno */
static int
join(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ret;

	strlcpy(address.sun_path, path, sizeof(address.sun_path));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd < 0 ? -errno : fd;
	ret = -errno;
	close(fd);
	return ret;
}

static void
leave_rings(struct memif *m)
{
	atomic_store_explicit(&m->link, NULL, memory_order_seq_cst);
	for (unsigned i = 0; i < m->first.port.queues; i++)
		while (atomic_load_explicit(&lane(m, i)->rx.inside, memory_order_seq_cst) ||
		       atomic_load_explicit(&lane(m, i)->tx.inside, memory_order_seq_cst))
			sched_yield();
}

/* @return 0 after a link that came and went; or -errno: there was none */
static int
meet(struct memif *m, int fd)
{
	struct memif_link *link = memif_link_create();
	int ret = link == NULL ? -ENOMEM : 0;

	m->reason[0] = '\0';
	if (ret == 0)
		ret = m->server ? memif_greet_client(m, fd, link) : memif_greet_server(m, fd, link);
	if (ret == 0) {
		atomic_fetch_add(&m->changes, 1);
		atomic_store_explicit(&m->link, link, memory_order_seq_cst);
		memif_stay(m, fd, m->listener);
		atomic_fetch_add(&m->changes, 1); /* a reader that sees the link gone finds it counted */
		leave_rings(m);
		m->offer = FG_MAX_QUEUES; /* the next peer may have more */
	} else if (m->reason[0] == '\0') {
		snprintf(m->reason, sizeof(m->reason), "%s", strerror(-ret));
	}
	if (link != NULL)
		memif_link_free(link);
	close(fd);
	return ret;
}

static void *
run(void *arg)
{
	struct memif *m = arg;
	int pause = 0, fd;

	while (memif_wait(m, m->listener, m->server ? -1 : pause) != -ECANCELED) {
		fd = m->server ? accept4(m->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)
			       : join(m->path);
		if (fd < 0 && !m->server)
			snprintf(m->reason, sizeof(m->reason), "%s", strerror(-fd));
		if (fd < 0 && m->server) /* such as no descriptor left: the connection waits on */
			(void)memif_wait(m, -1, RETRY_MS);
		pause = fd >= 0 && meet(m, fd) == -EAGAIN ? 0 : RETRY_MS;
	}
	return NULL;
}

/* A killed server leaves its socket behind, and the name cannot be bound until it is removed */
static int
prepare_path(const char *path, struct fg_error *err)
{
	struct stat status;
	int fd;

	if (lstat(path, &status) != 0)
		return 0;
	if (!S_ISSOCK(status.st_mode))
		return fg_error_set(err, EEXIST, "device", "%s exists and is no socket", path);
	fd = join(path);
	if (fd >= 0)
		close(fd);
	if (fd != -ECONNREFUSED)
		return fg_error_set(err, EBUSY, "device",
				    "another process listens on %s; use memif:%s to join it", path, path);
	unlink(path);
	return 0;
}

static int
listen_on(struct memif *m, struct fg_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int ret = prepare_path(m->path, err);

	if (ret != 0)
		return ret;
	strlcpy(address.sun_path, m->path, sizeof(address.sun_path));
	m->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m->listener < 0 || bind(m->listener, (struct sockaddr *)&address, sizeof(address)) != 0)
		return fg_error_set(err, errno, "device", "cannot listen on %s: %s", m->path,
				    strerror(errno));
	m->bound = true;
	if (listen(m->listener, FG_MAX_QUEUES) != 0)
		return fg_error_set(err, errno, "device", "cannot listen on %s: %s", m->path,
				    strerror(errno));
	return 0;
}

static void
count(struct fg_port *port, struct fg_port_counters *out)
{
	struct memif *m = memif_of(port);
	unsigned long changes = atomic_load(&m->changes);

	*out = (struct fg_port_counters){.link_changes = changes == 0 ? 0 : changes - 1};
	for (unsigned i = 0; i < port->queues; i++) {
		out->rx_frames += lane(m, i)->rx.frames;
		out->rx_errors += lane(m, i)->rx.errors;
		out->tx_frames += lane(m, i)->tx.frames;
		out->tx_errors += lane(m, i)->tx.errors;
	}
}

static bool
memif_link_up(struct fg_port *port)
{
	return atomic_load(&memif_of(port)->link) != NULL;
}

static void
stop(struct memif *m)
{
	if (m->running) {
		(void)!write(m->quit, &(uint64_t){1}, sizeof(uint64_t));
		pthread_join(m->thread, NULL);
		m->running = false;
	}
	if (m->bound)
		unlink(m->path);
	m->bound = false;
}

static void
memif_close_port(struct fg_port *port)
{
	struct memif *m = memif_of(port);

	stop(m);
	if (m->listener >= 0)
		close(m->listener);
	if (m->quit >= 0)
		close(m->quit);
	fg_port_pool_free(m->pool); /* another port may have sent them on */
	fg_port_pools_sweep();
	free(m->lanes);
	free(m->more);
	free(m);
}

static const struct fg_port_ops memif_ops = {
	.counters = count, .link_up = memif_link_up, .close = memif_close_port};

static void
describe(struct memif *m, const struct fg_port_config *config)
{
	struct fg_port *port = &m->first.port;

	*port = (struct fg_port){
		.tx = memif_send,
		.rx = memif_receive,
		.ops = &memif_ops,
		.lanes = m->lanes,
		.queues = RTE_MAX(config->queues, 1U),
		.caps =
			{
				.driver = "memif",
				.max_frame = config->max_frame != 0 ? config->max_frame : USUAL_MAX_FRAME,
				.numa_node = -1,
				.runts = true,
				.rx_ring = 1 << MEMIF_LOG2_SLOTS,
				.tx_ring = 1 << MEMIF_LOG2_SLOTS,
			},
	};
	snprintf(port->caps.mode, sizeof(port->caps.mode), "memif %s", m->server ? "server" : "client");
	rte_eth_random_addr(port->caps.mac);
	for (unsigned i = 0; i < port->queues; i++) {
		lane(m, i)->memif = m;
		lane(m, i)->index = i;
		if (i > 0) {
			m->more[i - 1].port =
				(struct fg_port){.tx = memif_send, .rx = memif_receive, .queues = 1};
			m->lanes[i - 1] = &m->more[i - 1].port;
		}
	}
}

static struct memif *
create(const struct fg_port_config *config, const struct fg_port_name *name)
{
	unsigned more = RTE_MAX(config->queues, 1U) - 1;
	struct memif *m = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*m));

	if (m == NULL)
		return NULL;
	memset(m, 0, sizeof(*m));
	m->server = name->server;
	m->id = name->id;
	m->offer = FG_MAX_QUEUES;
	m->listener = -1;
	snprintf(m->path, sizeof(m->path), "%.107s", name->text);
	snprintf(m->name, sizeof(m->name), "%.31s", config->name);
	m->quit = eventfd(0, EFD_CLOEXEC);
	m->lanes = calloc(more + 1, sizeof(struct fg_port *));
	m->more = aligned_alloc(RTE_CACHE_LINE_SIZE, (more + 1) * sizeof(*m->more));
	if (m->lanes != NULL && m->more != NULL && m->quit >= 0) {
		memset(m->more, 0, (more + 1) * sizeof(*m->more));
		describe(m, config);
		m->pool = fg_port_pool_create(more + 1, config->keep,
					      RTE_MAX(m->first.port.caps.max_frame, (uint32_t)MEMIF_BUFFER),
					      SOCKET_ID_ANY, false);
	}
	if (m->pool != NULL)
		return m;
	memif_close_port(&m->first.port);
	return NULL;
}

/* the process's signals are for its other threads */
static int
memif_start(struct memif *m)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* memif_guard.h */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&m->thread, NULL, run, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	m->running = ret == 0;
	return -ret;
}

static int
find_server(struct memif *m, struct fg_error *err)
{
	if (access(m->path, W_OK) != 0 && errno == EACCES)
		return fg_error_set(
			err, EACCES, "device",
			"this user may not join the memif server at %s: expected leave to write to the socket, and to enter its folder",
			m->path);
	if (access(m->path, W_OK) != 0)
		return fg_error_set(
			err, errno, "device",
			"no memif server at %s: %s; start the other side first, or say memif:%s,server",
			m->path, strerror(errno), m->path);
	if (memif_start(m) != 0)
		return fg_error_set(err, EAGAIN, "device", "no thread for the port");
	if (fg_port_wait_link(&m->first.port, ANSWER_MS, NULL) == 0)
		return 0;
	stop(m);
	return fg_error_set(
		err, ETIMEDOUT, "device",
		"the memif server at %s does not take interface %u: %s; does it run, with an interface of that id that nobody else has joined?",
		m->path, m->id, m->reason);
}

int
fg_memif_open(const struct fg_port_config *config, const struct fg_port_name *name, struct fg_port **out,
	      struct fg_error *err)
{
	struct memif *m = create(config, name);
	int ret;

	if (m == NULL)
		return fg_error_set(err, ENOMEM, "device", "no memory for the port");
	ret = memif_wake_begin();
	if (ret != 0) {
		memif_close_port(&m->first.port);
		return fg_error_set(err, -ret, "device", "cannot wake peers: io_setup: %s", strerror(-ret));
	}
	if (m->server) {
		ret = listen_on(m, err);
		if (ret == 0 && memif_start(m) != 0)
			ret = fg_error_set(err, EAGAIN, "device", "no thread for the port");
	} else {
		ret = find_server(m, err);
	}
	if (ret != 0)
		memif_close_port(&m->first.port);
	else
		*out = &m->first.port;
	return ret;
}
