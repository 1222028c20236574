/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcap and pcapng files. libpcap writes the one and not the other, and only to a file that stays the same;
 * both are a header and frames behind headers of their own, so they are written here in one way. pcap with
 * nanoseconds: draft-ietf-opsawg-pcap; pcapng: draft-ietf-opsawg-pcapng, sections 4.1 to 4.3.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer_priv.h"

enum { ETHERNET = 1, SNAPLEN = 262144, PATIENCE_MS = 3000 };
static const uint64_t NS_PER_S = 1000000000;

static int
put(struct writer *w, const void *octets, size_t n)
{
	if (fwrite(octets, 1, n, w->file) != n)
		return errno == 0 ? -EIO : -errno;
	w->in_file += n;
	return 0;
}

static int
put_file_header(struct writer *w)
{
	static const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, accuracy, snaplen, link;
	} pcap = {0xa1b23c4d, 2, 4, 0, 0, SNAPLEN, ETHERNET};
	/* a section of unknown length, and an interface whose time stamps are in 10^-9 s */
	static const struct {
		uint32_t section, section_length, order;
		uint16_t major, minor;
		uint32_t unknown[2], section_length_again;
		uint32_t interface, interface_length;
		uint16_t link, reserved;
		uint32_t snaplen;
		uint16_t resolution, resolution_length;
		uint8_t exponent, pad[3];
		uint32_t end_of_options, interface_length_again;
	} pcapng = {0x0a0d0d0a, 28, 0x1a2b3c4d, 1,        0, {UINT32_MAX, UINT32_MAX},
		    28,         1,  32,         ETHERNET, 0, SNAPLEN,
		    9,          1,  9,          {0},      0, 32};

	return w->pcapng ? put(w, &pcapng, sizeof(pcapng)) : put(w, &pcap, sizeof(pcap));
}

static char *
path_of(const struct writer *w, unsigned number)
{
	char *path;

	if (w->config->file_octets == 0)
		return strdup(w->path);
	return asprintf(&path, "%s.%u", w->path, number) < 0 ? NULL : path;
}

/* A reader of a pipe may stop and never go on: the end of a capture does not wait for it. */
static ssize_t
write_on(void *cookie, const char *octets, size_t n)
{
	struct writer *w = cookie;
	struct pollfd out = {.fd = w->fd, .events = POLLOUT};
	size_t done = 0;

	while (done < n) {
		ssize_t more = write(w->fd, octets + done, n - done);

		if (more < 0 && errno == EAGAIN && poll(&out, 1, PATIENCE_MS) == 0)
			errno = EPIPE;
		if (more < 0 && errno != EAGAIN && errno != EINTR)
			break;
		done += more < 0 ? 0 : (size_t)more;
	}
	return (ssize_t)done;
}

static int
close_it(void *cookie)
{
	return close(((struct writer *)cookie)->fd);
}

/* Reject a terminal: a write may wait for ever. Accept a pipe with a reader. */
static int
begin_file(struct writer *w)
{
	const cookie_io_functions_t on = {.write = write_on, .close = close_it};
	char *path = path_of(w, w->number);
	bool terminal;

	if (path == NULL)
		return -ENOMEM;
	w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	free(path);
	if (w->fd < 0)
		return -errno;
	terminal = isatty(w->fd);
	w->file = terminal ? NULL : fopencookie(w, "wb", on);
	if (w->file == NULL) {
		close(w->fd);
		return terminal ? -ENOTTY : -ENOMEM;
	}
	w->in_file = 0;
	return put_file_header(w);
}

static int
next_file(struct writer *w)
{
	const unsigned keep = w->config->files;

	if (fclose(w->file) != 0) {
		w->file = NULL;
		return -errno;
	}
	w->file = NULL;
	w->number++;
	if (keep > 0 && w->number >= keep) {
		char *oldest = path_of(w, w->number - keep);

		if (oldest == NULL)
			return -ENOMEM;
		unlink(oldest);
		free(oldest);
	}
	return begin_file(w);
}

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

int
writer_open(struct writer *w, const struct fg_capture_config *config, struct fg_error *err)
{
	int rc;

	*w = (struct writer){.config = config, .pcapng = ends_with(config->path, ".pcapng")};
	w->path = strdup(config->path);
	rc = w->path == NULL ? -ENOMEM : begin_file(w);
	if (rc != 0) {
		fg_error_set(err, -rc, config->path, "cannot be written: %s",
			     rc == -ENXIO    ? "no process reads it"
			     : rc == -ENOTTY ? "it is a terminal"
					     : strerror(-rc));
		writer_close(w);
	}
	return rc;
}

static int
put_pcap(struct writer *w, const struct record *r, uint64_t ns)
{
	const uint32_t header[] = {(uint32_t)(ns / NS_PER_S), (uint32_t)(ns % NS_PER_S), r->kept, r->length};
	int rc = put(w, header, sizeof(header));

	return rc != 0 ? rc : put(w, r->octets, r->kept);
}

/* bytes, filled up to a multiple of four */
static int
put_padded(struct writer *w, const void *octets, uint32_t n)
{
	const uint32_t nothing = 0;
	int rc = put(w, octets, n);

	return rc != 0 ? rc : put(w, &nothing, -n & 3);
}

static uint32_t
padded(uint32_t n)
{
	return (n + 3) & ~3U;
}

/* why the capture begins here, or continues; "" if there is nothing to explain */
static uint32_t
comment_of(const struct record *r, char *out, size_t room)
{
	if (r->note == 0)
		return 0;
	if (r->note == 1)
		return (uint32_t)snprintf(out, room, "trigger");
	return (uint32_t)snprintf(out, room, "trigger: missing before this frame: %" PRIu64, r->note - 1);
}

static int
put_comment(struct writer *w, const char *text, uint32_t n)
{
	const uint16_t comment[] = {1, (uint16_t)n}, end[] = {0, 0};
	int rc = put(w, comment, sizeof(comment));

	if (rc == 0)
		rc = put_padded(w, text, n);
	return rc != 0 ? rc : put(w, end, sizeof(end));
}

static int
put_pcapng(struct writer *w, const struct record *r, uint64_t ns)
{
	char text[64];
	const uint32_t comment = comment_of(r, text, sizeof(text)),
		       length = 32 + padded(r->kept) + (comment > 0 ? 8 + padded(comment) : 0);
	const uint32_t header[] = {6, length, 0, (uint32_t)(ns >> 32), (uint32_t)ns, r->kept, r->length};
	int rc = put(w, header, sizeof(header));

	if (rc == 0)
		rc = put_padded(w, r->octets, r->kept);
	if (rc == 0 && comment > 0)
		rc = put_comment(w, text, comment);
	return rc != 0 ? rc : put(w, &length, sizeof(length));
}

int
writer_put(struct writer *w, const struct record *r)
{
	const uint64_t ns = r->time_ns + (uint64_t)w->config->epoch_ns;
	int rc = 0;

	if (w->config->file_octets > 0 && w->in_file >= w->config->file_octets)
		rc = next_file(w);
	if (rc == 0)
		rc = w->pcapng ? put_pcapng(w, r, ns) : put_pcap(w, r, ns);
	return rc;
}

int
writer_flush(struct writer *w)
{
	return w->file == NULL || fflush(w->file) == 0 ? 0 : -errno;
}

void
writer_close(struct writer *w)
{
	if (w->file != NULL)
		fclose(w->file);
	free(w->path);
	w->file = NULL;
	w->path = NULL;
}
