/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A socket that listens where a user says: at an address of this machine, or at a path; and the clock by
 * which servers wait.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "web_priv.h"

enum { BACKLOG = 511 };

static const char PATH[] = "unix:";

/* Is the socket left over from a program that has ended? */
static bool
is_stale(const struct sockaddr_un *address)
{
	struct stat st;
	bool stale;
	int probe;

	if (lstat(address->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (probe < 0)
		return false;
	stale = connect(probe, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
		errno == ECONNREFUSED;
	close(probe);
	return stale;
}

/* No other user can connect, not even for a moment. */
static int
bind_private(int fd, const struct sockaddr_un *address)
{
	mode_t before = umask(0177);
	int rc = bind(fd, (const struct sockaddr *)address, sizeof(*address));

	umask(before);
	return rc;
}

static int
listen_at_path(const char *name, char **path, struct fg_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (*name == '\0' || strlen(name) >= sizeof(address.sun_path))
		return fg_error_set(err, EINVAL, name, "the path of a socket has 1 to %zu bytes",
				    sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, name);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fg_error_set(err, errno, name, "cannot make a socket: %s", strerror(errno));
	if (is_stale(&address))
		unlink(name);
	if (bind_private(fd, &address) != 0 || listen(fd, BACKLOG) != 0) {
		int rc = fg_error_set(err, errno, name, "cannot listen: %s", strerror(errno));

		close(fd);
		return rc;
	}
	*path = strdup(name);
	return fd;
}

static int
listen_at_one(const struct addrinfo *info)
{
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, code;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	code = errno;
	close(fd);
	return -code;
}

/* "HOST:PORT" or "[IPV6]:PORT" in its two parts. @return whether it is one */
static bool
split(const char *address, char *host, size_t room, const char **port)
{
	const char *colon = strrchr(address, ':');
	size_t length;

	if (colon == NULL || colon == address || colon[1] == '\0' ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1) || strtoul(colon + 1, NULL, 10) > UINT16_MAX)
		return false;
	length = (size_t)(colon - address);
	if (address[0] == '[') {
		if (colon[-1] != ']')
			return false;
		address++;
		length -= 2;
	} else if (memchr(address, ':', length) != NULL) {
		return false;
	}
	*port = colon + 1;
	return length > 0 && (size_t)snprintf(host, room, "%.*s", (int)length, address) < room;
}

int
listen_at(const char *address, char **path, struct fg_error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	const char *port;
	char host[256];
	int fd, rc;

	*path = NULL;
	if (strncmp(address, PATH, sizeof(PATH) - 1) == 0)
		return listen_at_path(address + sizeof(PATH) - 1, path, err);
	if (!split(address, host, sizeof(host), &port))
		return fg_error_set(err, EINVAL, address, "expected HOST:PORT, [IPV6]:PORT or unix:PATH");
	rc = getaddrinfo(host, port, &hints, &found);
	if (rc != 0)
		return fg_error_set(err, EADDRNOTAVAIL, address, "no such address: %s", gai_strerror(rc));
	fd = listen_at_one(found);
	freeaddrinfo(found);
	return fd >= 0 ? fd : fg_error_set(err, -fd, address, "cannot listen: %s", strerror(-fd));
}

uint16_t
port_of(int fd)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &length) != 0)
		return 0;
	if (address.ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)&address)->sin_port);
	return address.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&address)->sin6_port) : 0;
}

int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
