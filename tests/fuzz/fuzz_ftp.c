/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Either role of FTP against a peer that says anything, on control and data connections; the first byte says
 * which role and mode. Then comes a train of actions, each behind a byte that names it: bytes or
 * words of FTP on a connection, a connection opened, closed or reset, time that passes. What must hold:
 * nothing is read or written out of bounds, and in the end no session and no connection is left.
 */
#include "fuzz_input.h"
#include "ftp/ftp_priv.h"
#include "l4_talker.h"

enum { PORT = 21, MTU = 1500, ROLES = 9, SERVER = 8, LONGEST = 255 };
enum action { SAY, WORDS, OPEN_CONTROL, OPEN_DATA, CLOSE, RESET, TIME, REFUSE, ACTIONS };

static const char *const words[] = {
	"220 ready\r\n",
	"331 password\r\n",
	"230 welcome\r\n",
	"200 ok\r\n",
	"227 (198,18,0,1,4,1)\r\n",
	"229 (|||1025|)\r\n",
	"150 here\r\n",
	"226 done\r\n",
	"221 bye\r\n",
	"550 no\r\n",
	"150-",
	"PASV\r\n",
	"EPSV\r\n",
	"PORT 198,18,0,1,4,1\r\n",
	"EPRT |1|198.18.0.1|1025|\r\n",
	"RETR 3000\r\n",
	"STOR 7\r\n",
	"ABOR\r\n",
	"QUIT\r\n",
};

static bool
takes_all(const struct fg_l4 *w, const struct fg_app *app, const struct fg_flow *flow)
{
	return true;
}

/* the first port from @p first on that is waited at, or that one */
static uint16_t
port_of(const struct talker *t, unsigned first)
{
	const struct ftp *f = (const struct ftp *)t->other->app[0];
	unsigned at = 10000 + first;

	while (at < 10400 && f->waits_at[at] == 0)
		at++;
	return (uint16_t)at;
}

static void
act(struct talker *t, enum action action)
{
	unsigned line = octet() % TALKER_LINES;
	uint8_t data[LONGEST];
	size_t length;

	switch (action) {
	case SAY:
		length = octet();
		for (size_t i = 0; i < length; i++)
			data[i] = octet();
		talker_say(t, line, data, length);
		break;
	case WORDS: {
		const char *word = words[octet() % (sizeof(words) / sizeof(words[0]))];

		talker_say(t, line, word, strlen(word));
		break;
	}
	case OPEN_CONTROL:
		talker_open(t, line, PORT);
		break;
	case OPEN_DATA:
		talker_open(t, line, port_of(t, octet()));
		break;
	case TIME:
		talker_wait(t, (uint64_t)octet() * octet() * 1000000);
		break;
	case REFUSE:
		t->app.listens = !t->app.listens;
		break;
	default:
		talker_close(t, line, action == RESET);
	}
}

/* @p t has told all; a client goes on as long as somebody answers it */
static void
expect_nothing_kept(struct talker *t)
{
	t->app.listens = false;
	for (unsigned i = 0; i < TALKER_LINES; i++)
		talker_close(t, i, true);
	for (unsigned i = 0; i < 60; i++)
		talker_wait(t, 1000000000);
	check(talker_taken(&((const struct ftp *)t->other->app[0])->sessions) == 0);
	check(t->other->app[0]->open <= 1); /* a client that tries to connect */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_l4_app app = {.kind = "FTP",
				.port = PORT,
				.user = "u",
				.password = "p",
				.path = "octets/3000",
				.requests = 3,
				.timeout_ns = 10000000000};
	struct fg_app_ops ops = talker_ops;
	struct talker *t;
	unsigned role;

	input = data;
	input_left = size;
	role = octet() % ROLES;
	app.server = role == SERVER;
	app.ftp_mode = role & 3;
	app.ftp_rest = octet() & 1 ? 5 : 0;
	app.request = role & 4 ? 3000 : 0;
	app.response = role & 4 ? 0 : 3000;
	t = talker_create(&app, MTU);
	check(t != NULL);
	ops.expects = takes_all;
	t->app.ops = &ops;
	while (input_left > 0) {
		act(t, octet() % ACTIONS);
		check(fg_l4_open(t->other) <= TALKER_CONNECTIONS);
	}
	expect_nothing_kept(t);
	talker_free(t);
	return 0;
}
