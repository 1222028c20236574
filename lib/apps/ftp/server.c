/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server: it accepts any user and password. A path that ends in a number is a file of that number of
 * bytes; what is stored is compared with what our client sends, and its length with the number that its path
 * ends in, if it does. Folders are not looked at. A file's last reply follows when the peer has acknowledged
 * its end, or has sent it.
 */
#include <strings.h>

#include "ftp_priv.h"

static void
finish(struct fg_l4 *w, struct ftp_session *p, const char *reply)
{
	ftp_data_leave(w, p, false);
	p->transfer = FTP_NONE;
	p->rest = 0;
	fg_stream_timer(w, p->control, UINT64_MAX);
	ftp_say(w, p, "%s", reply);
}

static void
finish_whole(struct fg_l4 *w, struct ftp_session *p)
{
	application_of(w, p->control)->base.tally.transactions++;
	finish(w, p, "226 Transfer complete.");
}

/* all that the client wants to store is here */
static void
stored(struct fg_l4 *w, struct ftp_session *p)
{
	if (p->sized && p->rest + p->data_octets != p->size &&
	    !application_of(w, p->control)->config.any_body)
		ftp_count(w, p->control, FTP_LENGTH);
	finish_whole(w, p);
}

/* the data connection is there, and so is the command */
static void
begin_transfer(struct fg_l4 *w, struct ftp_session *p)
{
	p->begun = true;
	p->progress_at = w->now;
	ftp_say(w, p, "150 Here it comes, in binary mode.");
	if (p->transfer == FTP_RETR) {
		ftp_data_send(w, p, p->size - p->rest);
	} else if (p->data_ended) {
		stored(w, p);
	}
}

/* no command that would change a transfer, or its data connection, is taken while it is under way */
static bool
is_busy(struct fg_l4 *w, struct ftp_session *p)
{
	if (p->transfer != FTP_NONE)
		ftp_say(w, p, "450 One file at a time.");
	return p->transfer != FTP_NONE;
}

static void
transfer(struct fg_l4 *w, struct ftp_session *p, const char *path, enum ftp_transfer what)
{
	const char *refusal = NULL;

	if (is_busy(w, p))
		return;
	p->sized = ftp_size_of(path, &p->size);
	if (what == FTP_RETR && !p->sized)
		refusal = "550 The name of a file ends in its number of bytes.";
	else if (what == FTP_RETR && p->rest > p->size)
		refusal = "554 The file is shorter.";
	else if (p->data == NULL && p->port == 0 && p->target == 0)
		refusal = "425 Use PASV, EPSV, PORT or EPRT first.";
	if (refusal != NULL) {
		p->rest = 0; /* it was meant for this command */
		ftp_say(w, p, "%s", refusal);
		return;
	}
	p->transfer = what;
	p->begun = false;
	p->progress_at = w->now;
	fg_stream_timer(w, p->control, application_of(w, p->control)->config.timeout_ns);
	if (p->target != 0)
		ftp_data_want(w, p);
	else if (p->data_open)
		begin_transfer(w, p);
}

static void
retr(struct fg_l4 *w, struct ftp_session *p, const char *path)
{
	transfer(w, p, path, FTP_RETR);
}

static void
stor(struct fg_l4 *w, struct ftp_session *p, const char *path)
{
	transfer(w, p, path, FTP_STOR);
}

static void
say_size(struct fg_l4 *w, struct ftp_session *p, const char *path)
{
	uint64_t size;

	if (ftp_size_of(path, &size))
		ftp_say(w, p, "213 %llu", (unsigned long long)size);
	else
		ftp_say(w, p, "550 The name of a file ends in its number of bytes.");
}

static void
rest(struct fg_l4 *w, struct ftp_session *p, const char *argument)
{
	uint64_t from;

	if (is_busy(w, p))
		return;
	if (!ftp_size_of(argument, &from) || strspn(argument, "0123456789") != strlen(argument)) {
		ftp_say(w, p, "501 That is no number of bytes.");
	} else {
		p->rest = (uint32_t)from;
		ftp_say(w, p, "350 It goes on at byte %u.", p->rest);
	}
}

static void
pasv(struct fg_l4 *w, struct ftp_session *p, const char *argument)
{
	const struct fg_flow *flow = fg_stream_flow(p->control);
	char address[FTP_ADDRESS_TEXT];
	uint16_t port;

	if (is_busy(w, p))
		return;
	if (flow->ipv6) {
		ftp_say(w, p, "425 PASV is for IPv4. Use EPSV.");
	} else if ((port = ftp_data_listen(w, p)) == 0) {
		ftp_say(w, p, "425 No port is free.");
	} else {
		ftp_write_six(flow, port, address);
		ftp_say(w, p, "227 Entering Passive Mode (%s).", address);
	}
}

static void
epsv(struct fg_l4 *w, struct ftp_session *p, const char *argument)
{
	uint16_t port;

	if (is_busy(w, p))
		return;
	if (strcasecmp(argument, "ALL") == 0)
		ftp_say(w, p, "200 EPSV it is.");
	else if ((port = ftp_data_listen(w, p)) == 0)
		ftp_say(w, p, "425 No port is free.");
	else
		ftp_say(w, p, "229 Entering Extended Passive Mode (|||%u|)", port);
}

/* the client's data port: only at its own address, to prevent the bounce attack (RFC 2577) */
static void
target(struct fg_l4 *w, struct ftp_session *p, const char *argument,
       bool (*read)(const char *text, uint8_t address[16], uint16_t *port))
{
	uint8_t address[16];
	uint16_t port;

	if (is_busy(w, p))
		return;
	if (!read(argument, address, &port)) {
		ftp_count(w, p->control, FTP_MALFORMED);
		ftp_say(w, p, "501 That is no address.");
	} else if (memcmp(address, fg_stream_flow(p->control)->remote, sizeof(address)) != 0) {
		ftp_count(w, p->control, FTP_FOREIGN);
		ftp_say(w, p, "500 That is not your address.");
	} else {
		ftp_data_leave(w, p, true);
		p->target = port;
		ftp_say(w, p, "200 I shall connect there.");
	}
}

static void
port(struct fg_l4 *w, struct ftp_session *p, const char *argument)
{
	target(w, p, argument, ftp_read_six);
}

static void
eprt(struct fg_l4 *w, struct ftp_session *p, const char *argument)
{
	target(w, p, argument, ftp_read_eprt);
}

static void
abor(struct fg_l4 *w, struct ftp_session *p, const char *argument)
{
	if (p->transfer != FTP_NONE) {
		ftp_data_leave(w, p, true);
		finish(w, p, "426 Aborted.");
	}
	ftp_say(w, p, "226 Nothing is under way.");
}

static void
quits(struct fg_l4 *w, struct ftp_session *p, const char *argument)
{
	ftp_say(w, p, "221 Goodbye.");
	ftp_data_leave(w, p, false);
	fg_stream_close(w, p->control);
}

static const struct command {
	const char *name, *reply; /* the reply, or the action */
	void (*run)(struct fg_l4 *w, struct ftp_session *p, const char *argument);
} commands[] = {
	{"USER", "331 Any password will do.", NULL},
	{"PASS", "230 Logged in.", NULL},
	{"ACCT", "202 Not needed.", NULL},
	{"SYST", "215 UNIX Type: L8", NULL},
	{"TYPE", "200 Binary it is.", NULL},
	{"MODE", "200 A stream it is.", NULL},
	{"STRU", "200 A file it is.", NULL},
	{"NOOP", "200 Done.", NULL},
	{"ALLO", "202 Not needed.", NULL},
	{"PWD", "257 \"/\" is where you are.", NULL},
	{"CWD", "250 So be it.", NULL},
	{"CDUP", "250 So be it.", NULL},
	{"SIZE", NULL, say_size},
	{"REST", NULL, rest},
	{"PASV", NULL, pasv},
	{"EPSV", NULL, epsv},
	{"PORT", NULL, port},
	{"EPRT", NULL, eprt},
	{"RETR", NULL, retr},
	{"STOR", NULL, stor},
	{"ABOR", NULL, abor},
	{"QUIT", NULL, quits},
};

static void
obey(struct fg_l4 *w, struct ftp_session *p, const char *line)
{
	size_t length = strcspn(line, " ");
	const char *argument = line + length + (line[length] == ' ');

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *c = &commands[i];

		if (strlen(c->name) != length || strncasecmp(c->name, line, length) != 0)
			continue;
		if (c->run != NULL)
			c->run(w, p, argument);
		else
			ftp_say(w, p, "%s", c->reply);
		return;
	}
	ftp_say(w, p, "502 That is not known here.");
}

/* a client that ignores replies and continues with commands is disconnected */
static void
flood_ends(struct fg_l4 *w, struct ftp_session *p)
{
	if (p->flooded && !p->control->ended)
		fg_stream_abort(w, p->control);
}

static void
take_line(struct fg_l4 *w, struct ftp_session *p)
{
	const char *line = p->line;

	while ((uint8_t)*line >= 0xf0) /* of Telnet, before ABOR (RFC 959, 4.1.3) */
		line++;
	obey(w, p, line);
	flood_ends(w, p);
}

static void
take_overlong(struct fg_l4 *w, struct ftp_session *p)
{
	ftp_count(w, p->control, FTP_OVERLONG);
	ftp_say(w, p, "500 That line is too long.");
	flood_ends(w, p);
}

static void
greet_client(struct fg_l4 *w, struct ftp_session *p)
{
	ftp_say(w, p, "220 framegauge");
}

static void
control_ended(struct fg_l4 *w, struct ftp_session *p)
{
	if (p->transfer != FTP_NONE)
		ftp_count(w, p->control, FTP_CUT);
	p->transfer = FTP_NONE;
	ftp_data_leave(w, p, true);
	fg_stream_close(w, p->control);
}

static void
data_opened(struct fg_l4 *w, struct ftp_session *p)
{
	p->data_open = true;
	if (p->transfer != FTP_NONE)
		begin_transfer(w, p);
}

static void
data_moved(struct fg_l4 *w, struct ftp_session *p)
{
	bool sends = p->transfer == FTP_RETR;

	ftp_data_count(w, p, sends);
	if (!sends || !p->begun || !p->data->ended || p->data->acked <= p->data->written)
		return;
	if (p->data_ended)
		finish(w, p, "426 You have closed the connection.");
	else
		finish_whole(w, p);
}

static void
data_ended(struct fg_l4 *w, struct ftp_session *p)
{
	p->data_ended = true;
	if (p->transfer == FTP_RETR && p->begun) {
		fg_stream_truncate(w, p->data);
		fg_stream_close(w, p->data);
	} else if (p->transfer == FTP_STOR && p->begun) {
		stored(w, p);
	}
}

static void
data_over(struct fg_l4 *w, struct ftp_session *p, bool in_order)
{
	if (p->transfer == FTP_NONE)
		return;
	ftp_count(w, p->control, p->begun ? FTP_CUT : FTP_NO_DATA);
	finish(w, p, p->begun ? "426 The data connection is gone." : "425 There is no data connection.");
}

static void
took_too_long(struct fg_l4 *w, struct ftp_session *p)
{
	uint64_t timeout = application_of(w, p->control)->config.timeout_ns, since = w->now - p->progress_at;

	if (p->transfer == FTP_NONE)
		return;
	if (since < timeout) {
		fg_stream_timer(w, p->control, timeout - since);
		return;
	}
	ftp_count(w, p->control, p->begun ? FTP_SILENT : FTP_NO_DATA);
	ftp_data_leave(w, p, true);
	finish(w, p, p->begun ? "426 Nothing moves." : "425 There is no data connection.");
}

const struct ftp_side ftp_server_side = {
	.begin = greet_client,
	.line = take_line,
	.overlong = take_overlong,
	.eof = control_ended,
	.timer = took_too_long,
	.opened = data_opened,
	.moved = data_moved,
	.ended = data_ended,
	.over = data_over,
};
