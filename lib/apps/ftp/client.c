/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client: it logs in, and then gets or puts a file again and again, a data connection for each. What is
 * wrong with a file is counted once, by its first cause, and the session goes on where both sides still know
 * where they are; else it ends, and another one begins, as the load wants it.
 *
 * A file's time begins with the command that asks for its data connection, and ends when all of the file is
 * here and the server says that it is done.
 */
#include "ftp_priv.h"

enum {
	SERVICE_GOES = 421,
	READY = 220,
	LOGGED_IN = 230,
	NEEDS_PASSWORD = 331,
	PASSIVE_ADDRESS = 227,
	EXTENDED_ADDRESS = 229,
	GOES_ON_THERE = 350,
};

static const struct fg_l4_app *
config_of(const struct fg_l4 *w, const struct ftp_session *p)
{
	return &application_of(w, p->control)->config;
}

static bool
is_upload(const struct fg_l4 *w, const struct ftp_session *p)
{
	return config_of(w, p)->request > 0;
}

static bool
is_active(const struct fg_l4 *w, const struct ftp_session *p)
{
	return config_of(w, p)->ftp_mode >= FG_L4_FTP_EXTENDED_ACTIVE;
}

/* the next reply must come in time */
static void
await(struct fg_l4 *w, struct ftp_session *p, enum ftp_step step)
{
	p->step = step;
	p->progress_at = w->now;
	fg_stream_timer(w, p->control, step == FTP_IDLE ? UINT64_MAX : config_of(w, p)->timeout_ns);
}

/* the session ends at once, without QUIT */
static void
end_session(struct fg_l4 *w, struct ftp_session *p)
{
	ftp_data_leave(w, p, true);
	await(w, p, FTP_OVER);
	fg_stream_close(w, p->control);
}

static void
note_fault(struct fg_l4 *w, struct ftp_session *p, enum ftp_sum why)
{
	struct fg_l4_tally *t = &application_of(w, p->control)->base.tally;

	if (p->failed || p->truncated)
		return;
	p->failed = true;
	t->refused++;
	t->own[why]++;
}

static void
quit(struct fg_l4 *w, struct ftp_session *p)
{
	ftp_say(w, p, "QUIT");
	await(w, p, FTP_QUIT);
}

static void
ask_for_data(struct fg_l4 *w, struct ftp_session *p)
{
	static const char *const command[] = {"EPSV", "PASV", "EPRT", "PORT"};
	const struct fg_flow *flow = fg_stream_flow(p->control);
	uint8_t mode = config_of(w, p)->ftp_mode;
	char address[FTP_ADDRESS_TEXT];
	uint16_t port;

	await(w, p, FTP_ADDRESS);
	if (!is_active(w, p)) {
		ftp_say(w, p, "%s", command[mode]);
		return;
	}
	port = ftp_data_listen(w, p);
	(mode == FG_L4_FTP_ACTIVE ? ftp_write_six : ftp_write_eprt)(flow, port, address);
	ftp_say(w, p, "%s %s", command[mode], address);
}

static void
next_file(struct fg_l4 *w, struct ftp_session *p)
{
	const struct fg_l4_app *config = config_of(w, p);

	ftp_data_leave(w, p, false);
	p->replied = p->failed = p->truncated = false;
	p->whole = 0;
	p->data_octets = 0;
	p->rest = config->ftp_rest;
	if (w->now >= w->stop_at || (config->requests > 0 && p->files >= config->requests && !config->hold)) {
		quit(w, p);
	} else if (config->requests > 0 && p->files >= config->requests) {
		await(w, p, FTP_IDLE);
	} else {
		p->files++;
		p->since = w->now;
		ask_for_data(w, p);
	}
}

static void
fail_file(struct fg_l4 *w, struct ftp_session *p, enum ftp_sum why)
{
	note_fault(w, p, why);
	next_file(w, p);
}

/* what a file ends with: the data connection and the reply, in any order */
static void
file_may_be_over(struct fg_l4 *w, struct ftp_session *p)
{
	const struct fg_l4_app *config = config_of(w, p);
	bool upload = is_upload(w, p);

	if (!p->replied || ftp_data_goes_on(p, config->request))
		return;
	if (!upload && !p->data_ended)
		note_fault(w, p, p->data_octets > 0 ? FTP_CUT : FTP_NO_DATA);
	else if (p->data_octets != (upload ? config->request : config->response) &&
		 (upload || !config->any_body))
		note_fault(w, p, FTP_LENGTH);
	if (!p->failed && !p->truncated) {
		struct application *a = application_of(w, p->control);

		a->base.tally.transactions++;
		note_time(w, a->transaction, p->since);
		if (p->files == 1 && !upload)
			note_last_octet(w, p->control);
	}
	next_file(w, p);
}

/* the stop has come while a file is under way: our server ends it when we close, others send the rest */
static void
truncate_file(struct fg_l4 *w, struct ftp_session *p)
{
	if (p->truncated || p->data == NULL || !p->data_open || p->data->ended)
		return;
	p->truncated = true;
	fg_stream_truncate(w, p->data);
	fg_stream_close(w, p->data);
}

static void
ask_for_file(struct fg_l4 *w, struct ftp_session *p)
{
	ftp_say(w, p, "%s %s", is_upload(w, p) ? "STOR" : "RETR", ftp_of(w, p->control)->path);
	await(w, p, FTP_BEGIN);
}

static void
ask_where_it_goes_on(struct fg_l4 *w, struct ftp_session *p)
{
	if (p->rest == 0) {
		ask_for_file(w, p);
		return;
	}
	ftp_say(w, p, "REST %u", p->rest);
	await(w, p, FTP_REST);
}

/* an upload begins when the server is ready for it and its connection is there */
static void
begin_upload(struct fg_l4 *w, struct ftp_session *p)
{
	if (!is_upload(w, p) || p->step != FTP_END || !p->data_open || p->data->written > 0)
		return;
	ftp_data_send(w, p, config_of(w, p)->request);
}

static void
got_opened(struct fg_l4 *w, struct ftp_session *p)
{
	p->data_open = true;
	p->progress_at = w->now;
	if (w->now >= w->stop_at && p->step == FTP_OPENING)
		next_file(w, p);
	else if (p->step == FTP_OPENING)
		ask_where_it_goes_on(w, p);
	else if (w->now >= w->stop_at && p->step == FTP_END)
		truncate_file(w, p);
	else
		begin_upload(w, p);
}

/* where the reply to PASV or EPSV says to connect to. @return what is wrong with it; FTP_OCTETS: nothing */
static enum ftp_sum
read_address(struct ftp_session *p, uint16_t code)
{
	uint8_t address[16];

	if (code == EXTENDED_ADDRESS) {
		p->target = ftp_read_epsv(p->line);
		return p->target == 0 ? FTP_MALFORMED : FTP_OCTETS;
	}
	if (!ftp_read_six(p->line + 4, address, &p->target))
		return FTP_MALFORMED;
	return memcmp(address, fg_stream_flow(p->control)->remote, sizeof(address)) != 0 ? FTP_FOREIGN
											 : FTP_OCTETS;
}

static void
take_address(struct fg_l4 *w, struct ftp_session *p, uint16_t code)
{
	enum ftp_sum fault = read_address(p, code);

	if (fault != FTP_OCTETS) {
		ftp_reply_keep(ftp_of(w, p->control), p->line);
		fail_file(w, p, fault);
		return;
	}
	ftp_data_want(w, p);
	await(w, p, FTP_OPENING);
}

/* is a reply what the step waits for? */
static bool
is_awaited(const struct fg_l4 *w, const struct ftp_session *p, uint16_t code)
{
	uint8_t mode = config_of(w, p)->ftp_mode;

	switch (p->step) {
	case FTP_GREETING:
		return code == READY;
	case FTP_USER:
		return code == NEEDS_PASSWORD || code == LOGGED_IN;
	case FTP_PASS:
	case FTP_TYPE:
	case FTP_QUIT:
		return code / 100 == 2;
	case FTP_ADDRESS:
		return mode == FG_L4_FTP_PASSIVE            ? code == PASSIVE_ADDRESS
		       : mode == FG_L4_FTP_EXTENDED_PASSIVE ? code == EXTENDED_ADDRESS
							    : code / 100 == 2;
	case FTP_REST:
		return code == GOES_ON_THERE;
	case FTP_BEGIN:
		return code / 100 <= 2;
	case FTP_END:
		return code / 100 == 2;
	default:
		return false;
	}
}

static void
unwanted(struct fg_l4 *w, struct ftp_session *p, uint16_t code)
{
	struct ftp *f = ftp_of(w, p->control);

	if (!p->truncated) {
		f->replies[code]++;
		ftp_reply_keep(f, p->line);
	}
	note_fault(w, p, ftp_reply_kind(code));
	if (p->step == FTP_END || p->step == FTP_BEGIN || p->step == FTP_REST || p->step == FTP_ADDRESS)
		code == SERVICE_GOES ? end_session(w, p) : next_file(w, p);
	else
		end_session(w, p);
}

static void
wanted(struct fg_l4 *w, struct ftp_session *p, uint16_t code)
{
	const struct ftp *f = ftp_of(w, p->control);

	switch (p->step) {
	case FTP_GREETING:
		ftp_say(w, p, "USER %s", f->user);
		await(w, p, FTP_USER);
		break;
	case FTP_USER:
		if (code == NEEDS_PASSWORD) {
			ftp_say(w, p, "PASS %s", f->password);
			await(w, p, FTP_PASS);
			break;
		}
		/* fall through */
	case FTP_PASS:
		ftp_say(w, p, "TYPE I");
		await(w, p, FTP_TYPE);
		break;
	case FTP_TYPE:
		next_file(w, p);
		break;
	case FTP_ADDRESS:
		if (is_active(w, p))
			ask_where_it_goes_on(w, p);
		else
			take_address(w, p, code);
		break;
	case FTP_REST:
		ask_for_file(w, p);
		break;
	case FTP_BEGIN:
		await(w, p, FTP_END);
		if (code / 100 == 1) {
			if (w->now >= w->stop_at)
				truncate_file(w, p);
			else
				begin_upload(w, p);
			break;
		}
		/* fall through */
	case FTP_END:
		p->replied = true;
		file_may_be_over(w, p);
		break;
	default: /* QUIT */
		end_session(w, p);
	}
}

/* what follows cannot be understood, either */
static void
end_for(struct fg_l4 *w, struct ftp_session *p, enum ftp_sum why)
{
	ftp_reply_keep(ftp_of(w, p->control), p->line);
	note_fault(w, p, why);
	end_session(w, p);
}

static void
got_line(struct fg_l4 *w, struct ftp_session *p)
{
	uint16_t code;

	if (!ftp_reply_take(p, &code))
		return;
	if (code == 0)
		end_for(w, p, FTP_MALFORMED);
	else if (code / 100 == 1 && p->step != FTP_BEGIN)
		return; /* not yet; the time for it goes on */
	else if (is_awaited(w, p, code))
		wanted(w, p, code);
	else if (p->truncated && p->step == FTP_END)
		next_file(w, p);
	else
		unwanted(w, p, code);
}

static void
got_overlong(struct fg_l4 *w, struct ftp_session *p)
{
	end_for(w, p, FTP_OVERLONG);
}

static void
got_control(struct fg_l4 *w, struct ftp_session *p)
{
	if (w->now >= w->stop_at)
		end_session(w, p);
	else
		await(w, p, FTP_GREETING);
}

static void
got_eof(struct fg_l4 *w, struct ftp_session *p)
{
	if (p->step != FTP_IDLE && p->step != FTP_QUIT && p->step != FTP_OVER)
		note_fault(w, p, FTP_CUT);
	end_session(w, p);
}

static void
got_moved(struct fg_l4 *w, struct ftp_session *p)
{
	ftp_data_count(w, p, is_upload(w, p));
	file_may_be_over(w, p);
}

/* the server has sent all, or wants no more */
static void
got_ended(struct fg_l4 *w, struct ftp_session *p)
{
	p->data_ended = true;
	fg_stream_close(w, p->data);
	if (!is_upload(w, p))
		file_may_be_over(w, p);
}

/* we are told that a server has closed only where it does so before us, as it does with a file that we get */
static void
got_over(struct fg_l4 *w, struct ftp_session *p, bool in_order)
{
	if (in_order && (p->data_ended || is_upload(w, p)))
		return;
	if (p->step == FTP_OPENING) {
		fail_file(w, p, FTP_NO_DATA);
	} else if (p->step == FTP_REST || p->step == FTP_BEGIN || p->step == FTP_END) {
		note_fault(w, p, p->data_open ? FTP_CUT : FTP_NO_DATA);
		file_may_be_over(w, p); /* after the server's reply to the upload */
	}
}

static void
got_timer(struct fg_l4 *w, struct ftp_session *p)
{
	uint64_t timeout = config_of(w, p)->timeout_ns, since = w->now - p->progress_at;

	if (since < timeout) {
		fg_stream_timer(w, p->control, timeout - since);
		return;
	}
	if (p->step != FTP_OVER && p->step != FTP_QUIT)
		note_fault(w, p,
			   p->step == FTP_OPENING || (p->step == FTP_END && !p->data_open) ||
					   (p->step == FTP_BEGIN && is_active(w, p) && !p->data_open)
				   ? FTP_NO_DATA
				   : FTP_SILENT);
	fg_stream_abort(w, p->control);
}

void
ftp_client_stop(struct fg_l4 *w, struct ftp_session *p)
{
	if (p->step == FTP_IDLE)
		quit(w, p);
	else if (p->step == FTP_END)
		truncate_file(w, p);
}

const struct ftp_side ftp_client_side = {
	.begin = got_control,
	.line = got_line,
	.overlong = got_overlong,
	.eof = got_eof,
	.timer = got_timer,
	.opened = got_opened,
	.moved = got_moved,
	.ended = got_ended,
	.over = got_over,
};
