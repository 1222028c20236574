/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * framegauge-bridge: the bus of a fleet over NATS.
 *
 * It has the keys and the network, and no device; the agent has the devices, and no network but its socket.
 * Beside an agent it connects to the agent's socket; beside controllers it listens for them. libnats and its
 * threads stay out of the process that sends packets.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "nkey.h"
#include "pair.h"

enum { STATUS_USAGE = 2, STATUS_ENVIRONMENT = 4, BACKLOG = 64 };
enum { FIRST_WAIT_MS = 250, MAX_WAIT_MS = 5000 };

static const char usage[] =
	"framegauge-bridge: the bus of a fleet of testers over NATS\n"
	"\n"
	"  framegauge-bridge --agent SOCKET --server URL [OPTION]...     beside an agent\n"
	"  framegauge-bridge --listen SOCKET --server URL [OPTION]...    beside controllers (fleet.bus)\n"
	"  framegauge-bridge --new-key FILE                              make a key, print its public part\n"
	"\n"
	"  --server URL        tls://HOST:PORT of a NATS server; give it again for each server of a cluster\n"
	"  --ca FILE           certificates (PEM) that vouch for the server; default: the system's\n"
	"  --server-name NAME  the name in the server's certificate; default: the host of the first URL\n"
	"  --plain             no TLS, with nats://HOST:PORT: all that is sent can be read and changed\n"
	"\n"
	"Who this is, one of:\n"
	"  --nkey FILE         a key as --new-key makes it\n"
	"  --user NAME --password-file FILE\n"
	"  --token-file FILE\n"
	"  --cert FILE --cert-key FILE   a certificate (PEM); may be given with one of the others, too\n"
	"\n"
	"  --name NAME         name of the connection, for the list of the server\n";

struct settings {
	struct bridge_servers servers;
	const char *agent, *listen, *new_key, *password_file, *token_file;
};

static char listens_at[sizeof(((struct sockaddr_un *)0)->sun_path)];

#define STOP(...)                         \
	do {                              \
		bridge_note(__VA_ARGS__); \
		exit(STATUS_USAGE);       \
	} while (0)

/* The first line of a file that only its owner can read. */
static void
read_secret(const char *option, const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");
	struct stat about;

	if (file == NULL || fstat(fileno(file), &about) != 0)
		STOP("%s %s: %s", option, path, strerror(errno));
	if ((about.st_mode & 077) != 0)
		STOP("%s %s: its mode is %03o, which lets others read it; expected 600", option, path,
		     about.st_mode & 0777);
	if (fgets(out, (int)size, file) == NULL)
		out[0] = 0;
	fclose(file);
	out[strcspn(out, "\r\n")] = 0;
	if (out[0] == 0)
		STOP("%s %s: it is empty", option, path);
}

static int
make_key(const char *path)
{
	char seed[BRIDGE_SEED_SIZE], public_key[BRIDGE_PUBLIC_SIZE];
	FILE *file;

	umask(077);
	file = fopen(path, "wxe"); /* never over another one */
	if (file == NULL || bridge_nkey_make(seed) != 0 || bridge_nkey_public(seed, public_key) != 0 ||
	    fprintf(file, "%s\n", seed) < 0 || fclose(file) != 0) {
		bridge_note("--new-key %s: %s", path, strerror(errno));
		return STATUS_ENVIRONMENT;
	}
	OPENSSL_cleanse(seed, sizeof(seed));
	printf("%s\n", public_key);
	return 0;
}

/* Reject a scheme that contradicts the options. */
static void
check_url(const struct bridge_servers *servers, const char *url)
{
	const char *scheme = servers->plain ? "nats://" : "tls://";

	if (strncmp(url, scheme, strlen(scheme)) != 0)
		STOP("--server %s: expected %sHOST:PORT%s", url, scheme,
		     servers->plain ? "" : " (nats:// with --plain alone)");
	if (strchr(url, '@') != NULL)
		STOP("--server %s: a name or a password in it would be seen by all; expected --user", url);
}

static void
find_host(struct bridge_servers *servers)
{
	const char *host = strstr(servers->urls[0], "://") + 3;
	const size_t n = *host == '[' ? strcspn(++host, "]") : strcspn(host, ":/");

	if (servers->host[0] == 0)
		snprintf(servers->host, sizeof(servers->host), "%.*s", (int)n, host);
}

static void
check(struct settings *o)
{
	struct bridge_servers *s = &o->servers;
	const int ways = (s->nkey_file != NULL) + (s->user != NULL) + (o->token_file != NULL);
	char seed[256];

	if ((o->agent == NULL) == (o->listen == NULL))
		STOP("%s: expected one of them; see --help", "--agent, --listen");
	if (s->n == 0)
		STOP("%s: expected once at least, such as --server tls://HOST:4222", "--server");
	for (int i = 0; i < s->n; i++)
		check_url(s, s->urls[i]);
	find_host(s);
	if (ways > 1 || (ways == 0 && s->certificate == NULL && !s->plain))
		STOP("%s: expected one of them, or --cert; see --help", "--nkey, --user, --token-file");
	if ((s->user != NULL) != (o->password_file != NULL) || (s->certificate != NULL) != (s->key != NULL))
		STOP("%s: one is given without the other", s->user != NULL || o->password_file != NULL
								   ? "--user, --password-file"
								   : "--cert, --cert-key");
	if (o->password_file != NULL || o->token_file != NULL)
		read_secret(o->token_file != NULL ? "--token-file" : "--password-file",
			    o->token_file != NULL ? o->token_file : o->password_file, s->secret,
			    sizeof(s->secret));
	if (s->nkey_file != NULL) {
		read_secret("--nkey", s->nkey_file, seed, sizeof(seed));
		if (bridge_nkey_public(seed, s->nkey) != 0)
			STOP("--nkey %s: it is not the seed of a user's key; expected what --new-key makes",
			     s->nkey_file);
		OPENSSL_cleanse(seed, sizeof(seed));
	}
}

static void
read_options(int argc, char *argv[], struct settings *o)
{
	struct bridge_servers *s = &o->servers;
	const char *name = NULL;
	const struct {
		struct option option;
		const char **place;
	} rows[] = {
		{{"agent", required_argument, NULL, 0}, &o->agent},
		{{"listen", required_argument, NULL, 0}, &o->listen},
		{{"new-key", required_argument, NULL, 0}, &o->new_key},
		{{"ca", required_argument, NULL, 0}, &s->ca},
		{{"cert", required_argument, NULL, 0}, &s->certificate},
		{{"cert-key", required_argument, NULL, 0}, &s->key},
		{{"nkey", required_argument, NULL, 0}, &s->nkey_file},
		{{"user", required_argument, NULL, 0}, &s->user},
		{{"password-file", required_argument, NULL, 0}, &o->password_file},
		{{"token-file", required_argument, NULL, 0}, &o->token_file},
		{{"name", required_argument, NULL, 0}, &s->name},
		{{"server-name", required_argument, NULL, 0}, &name},
		{{"server", required_argument, NULL, 's'}, NULL},
		{{"plain", no_argument, NULL, 'p'}, NULL},
		{{"help", no_argument, NULL, 'h'}, NULL},
	};
	enum { N = sizeof(rows) / sizeof(rows[0]) };
	struct option options[N + 1] = {0};
	int at, c;

	for (int i = 0; i < N; i++)
		options[i] = rows[i].option;
	while ((c = getopt_long(argc, argv, "", options, &at)) != -1) {
		if (c == 0) {
			*rows[at].place = optarg;
		} else if (c == 's' && s->n < BRIDGE_MAX_SERVERS) {
			s->urls[s->n++] = optarg;
		} else if (c == 'p') {
			s->plain = true;
		} else if (c == 'h') {
			fputs(usage, stdout);
			exit(0);
		} else {
			exit(STATUS_USAGE); /* getopt_long() has printed the reason, except for too many
					     * servers */
		}
	}
	if (optind < argc)
		STOP("'%s': expected an option; see --help", argv[optind]);
	snprintf(s->host, sizeof(s->host), "%s", name != NULL ? name : "");
	s->name = s->name != NULL ? s->name : "framegauge-bridge";
}

static void
rest(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static int
socket_at(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address->sun_path))
		STOP("%s: the path of a socket has at most 107 bytes", path);
	memcpy(address->sun_path, path, strlen(path));
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* If the server or the agent is missing, retry until both are present. */
static void
serve_agent(const struct settings *o)
{
	char why[512], before[512] = "";
	struct sockaddr_un address;

	for (int wait = FIRST_WAIT_MS;; wait = wait * 2 > MAX_WAIT_MS ? MAX_WAIT_MS : wait * 2) {
		const int fd = socket_at(o->agent, &address);
		struct bridge_pair *pair = NULL;

		why[0] = 0;
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
			snprintf(why, sizeof(why), "--agent %s: %s", o->agent, strerror(errno));
		else
			pair = bridge_pair_open(&o->servers, why, sizeof(why));
		if (pair != NULL) {
			wait = FIRST_WAIT_MS / 2;
			bridge_pair_run(pair, fd, why, sizeof(why));
			bridge_pair_close(pair);
		} else {
			close(fd);
		}
		if (strcmp(why, before) != 0 && why[0] != 0)
			bridge_note("%s; trying again", why);
		snprintf(before, sizeof(before), "%s", why);
		rest(wait + rand() % wait);
	}
}

/* Report to a controller at once why it has no bus. */
static void
serve_controller(const struct settings *o, int fd)
{
	char why[512] = "", line[1200];
	struct bridge_pair *pair = bridge_pair_open(&o->servers, why, sizeof(why));
	int n;

	if (pair != NULL) {
		bridge_pair_run(pair, fd, why, sizeof(why));
		bridge_pair_close(pair);
		return;
	}
	bridge_note("%s", why);
	for (char *c = why; *c != 0; c++)
		*c = *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? ' ' : *c;
	n = snprintf(line, sizeof(line), "{\"ends\":\"%s\"}\n", why);
	if (send(fd, line, (size_t)n, MSG_NOSIGNAL) < 0)
		bridge_note("it has left");
	close(fd);
}

static void
end(int number)
{
	unlink(listens_at);
	_exit(0);
}

static int
serve_controllers(const struct settings *o)
{
	struct sockaddr_un address;
	const int listener = socket_at(o->listen, &address);
	struct stat before;

	if (stat(o->listen, &before) == 0 && S_ISSOCK(before.st_mode))
		unlink(o->listen);
	umask(0177);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, BACKLOG) != 0) {
		bridge_note("--listen %s: %s", o->listen, strerror(errno));
		return STATUS_ENVIRONMENT;
	}
	memcpy(listens_at, address.sun_path, sizeof(listens_at));
	signal(SIGTERM, end);
	signal(SIGINT, end);
	signal(SIGCHLD, SIG_IGN);
	bridge_note("listening on %s", o->listen);
	for (;;) {
		const int fd = accept(listener, NULL, NULL);
		const pid_t parent = getpid();

		if (fd >= 0 && fork() == 0) {
			signal(SIGTERM, SIG_DFL);
			signal(SIGINT, SIG_DFL);
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			close(listener);
			if (getppid() == parent)
				serve_controller(o, fd);
			_exit(0);
		}
		if (fd >= 0)
			close(fd);
		else
			rest(100); /* such as too many open files */
	}
}

int
main(int argc, char *argv[])
{
	struct settings o = {0};

	signal(SIGPIPE, SIG_IGN);
	srand((unsigned)getpid() ^ (unsigned)time(NULL));
	read_options(argc, argv, &o);
	if (o.new_key != NULL)
		return make_key(o.new_key);
	check(&o);
	if (o.listen != NULL)
		return serve_controllers(&o);
	serve_agent(&o);
	return 0;
}
