/* SPDX-License-Identifier: BSD-3-Clause */
/* Parse lines of FTP. All input is verified: the range of numbers, the length of lines. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ftp_priv.h"

enum ftp_line
ftp_line_take(struct ftp_session *p, uint8_t octet)
{
	bool overlong = p->overlong;

	if (octet == '\n') {
		if (p->length > 0 && p->line[p->length - 1] == '\r')
			p->length--;
		p->line[p->length] = '\0';
		p->length = 0;
		p->overlong = false;
		return overlong ? FTP_MORE : FTP_WHOLE;
	}
	if (overlong)
		return FTP_MORE;
	if (p->length == FTP_LINE - 1) {
		p->overlong = true;
		p->line[p->length] = '\0';
		return FTP_TOO_LONG;
	}
	p->line[p->length++] = (char)octet;
	return FTP_MORE;
}

void
ftp_say(struct fg_l4 *w, struct ftp_session *p, const char *format, ...)
{
	char text[FTP_SAYS];
	va_list arguments;
	int n;

	if (p->control->ended)
		return;
	va_start(arguments, format);
	n = vsnprintf(text, sizeof(text) - 2, format, arguments);
	va_end(arguments);
	n = n > FTP_SAYS - 3 ? FTP_SAYS - 3 : n;
	memcpy(text + n, "\r\n", 2);
	n += 2;
	if (p->control->written - p->control->acked + (uint64_t)n > FTP_OUT) {
		p->flooded = true;
		return;
	}
	for (int i = 0; i < n; i++)
		p->out[(p->control->written + (uint64_t)i) % FTP_OUT] = text[i];
	fg_stream_write(w, p->control, (uint64_t)n);
}

void
ftp_fill_control(const struct ftp_session *p, uint64_t offset, uint8_t *to, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		to[i] = (uint8_t)p->out[(offset + i) % FTP_OUT];
}

static bool
ftp_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* 0: no number */
static uint16_t
code_of(const char *line)
{
	if (line[0] < '1' || line[0] > '5' || !ftp_is_digit(line[1]) || !ftp_is_digit(line[2]) ||
	    ftp_is_digit(line[3]))
		return 0;
	return (uint16_t)((line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0'));
}

bool
ftp_reply_take(struct ftp_session *p, uint16_t *code)
{
	*code = code_of(p->line);
	if (p->several != 0) {
		if (*code != p->several || p->line[3] != ' ')
			return false;
		p->several = 0;
	} else if (*code != 0 && p->line[3] == '-') {
		p->several = *code;
		return false;
	}
	return true;
}

void
ftp_reply_keep(struct ftp *f, const char *line)
{
	unsigned n = 0;

	for (; line[n] != '\0' && n < sizeof(f->reply) - 1; n++)
		f->reply[n] = line[n] >= ' ' && line[n] <= '~' ? line[n] : '?';
	f->reply[n] = '\0';
}

enum ftp_sum
ftp_reply_kind(uint16_t code)
{
	return code / 100 == 4 ? FTP_4XX : code / 100 == 5 ? FTP_5XX : FTP_OTHER;
}

/* the number at *text, which is moved behind it. @return -1: no number up to @p most */
static int64_t
number_at(const char **text, uint32_t most)
{
	int64_t n = 0;

	if (!ftp_is_digit(**text))
		return -1;
	for (; ftp_is_digit(**text); (*text)++)
		if ((n = n * 10 + (**text - '0')) > most)
			return -1;
	return n;
}

bool
ftp_read_six(const char *text, uint8_t address[16], uint16_t *port)
{
	uint8_t six[6];
	const char *at;
	unsigned i;

	for (; *text != '\0'; text++) {
		at = text;
		for (i = 0; i < 6; i++) {
			int64_t n = number_at(&at, UINT8_MAX);

			if (n < 0 || (i < 5 && *at++ != ','))
				break;
			six[i] = (uint8_t)n;
		}
		if (i == 6) {
			fg_address_of_ipv4(six, address);
			*port = (uint16_t)(six[4] << 8 | six[5]);
			return *port != 0;
		}
		while (ftp_is_digit(text[0]) && ftp_is_digit(text[1])) /* not in the middle of a number */
			text++;
	}
	return false;
}

uint16_t
ftp_read_epsv(const char *text)
{
	const char *at = strchr(text, '(');
	int64_t port;
	char mark;

	if (at == NULL || (mark = at[1]) == '\0' || ftp_is_digit(mark) || at[2] != mark || at[3] != mark)
		return 0;
	at += 4;
	port = number_at(&at, UINT16_MAX);
	return port < 0 || *at != mark ? 0 : (uint16_t)port;
}

bool
ftp_read_eprt(const char *text, uint8_t address[16], uint16_t *port)
{
	char mark = text[0], copy[INET6_ADDRSTRLEN], version = mark == '\0' ? '\0' : text[1];
	const char *at = text + 3, *end;
	uint8_t ipv4[4];
	int64_t n;

	if (ftp_is_digit(mark) || (version != '1' && version != '2') || text[2] != mark ||
	    (end = strchr(at, mark)) == NULL || (size_t)(end - at) >= sizeof(copy))
		return false;
	memcpy(copy, at, (size_t)(end - at));
	copy[end - at] = '\0';
	if (version == '1') {
		if (inet_pton(AF_INET, copy, ipv4) != 1)
			return false;
		fg_address_of_ipv4(ipv4, address);
	} else if (inet_pton(AF_INET6, copy, address) != 1) {
		return false;
	}
	at = end + 1;
	n = number_at(&at, UINT16_MAX);
	*port = (uint16_t)n;
	return n > 0 && *at == mark;
}

void
ftp_write_eprt(const struct fg_flow *flow, uint16_t port, char out[FTP_ADDRESS_TEXT])
{
	char address[INET6_ADDRSTRLEN] = "";

	inet_ntop(flow->ipv6 ? AF_INET6 : AF_INET, flow->local + (flow->ipv6 ? 0 : 12), address,
		  sizeof(address));
	snprintf(out, FTP_ADDRESS_TEXT, "|%d|%s|%u|", flow->ipv6 ? 2 : 1, address, port);
}

void
ftp_write_six(const struct fg_flow *flow, uint16_t port, char out[FTP_ADDRESS_TEXT])
{
	const uint8_t *a = flow->local + 12;

	snprintf(out, FTP_ADDRESS_TEXT, "%u,%u,%u,%u,%u,%u", a[0], a[1], a[2], a[3], port >> 8, port & 255);
}

bool
ftp_size_of(const char *path, uint64_t *size)
{
	const char *at = path + strlen(path);
	int64_t n;

	while (at > path && ftp_is_digit(at[-1]))
		at--;
	n = number_at(&at, UINT32_MAX);
	*size = (uint64_t)n;
	return n >= 0;
}
