/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side writes until the stop, or a number of octets: TCP_STREAM, TCP_MAERTS, TCP_SENDFILE.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app_priv.h"

static void
write_all(struct fg_l4 *w, struct fg_stream *s)
{
	struct application *a = application_of(w, s);
	uint64_t octets = a->config.octets;

	if (a->first_at == 0)
		a->first_at = w->now;
	if (w->now >= w->stop_at) { /* a client that comes too late */
		fg_stream_close(w, s);
		return;
	}
	if (a->config.message > 0) {
		fg_stream_ready(w, s); /* one_message() does the rest */
		return;
	}
	fg_stream_write(w, s, octets > 0 ? octets : UINT64_MAX / 4);
	if (octets > 0)
		fg_stream_close(w, s);
}

/* a write that does not block: the whole message has room in the send buffer, or nothing else is there */
static bool
one_message(struct fg_l4 *w, struct fg_stream *s)
{
	const struct fg_l4_app *config = &application_of(w, s)->config;
	uint64_t length = config->message, buffered = s->written - s->acked;

	if (length == 0 || s->ended)
		return false;
	if (buffered > 0 && buffered + length > application_of(w, s)->base.tcp.send_buffer)
		return false;
	if (config->octets > 0 && config->octets - s->written <= length) {
		fg_stream_write(w, s, config->octets - s->written);
		fg_stream_close(w, s);
	} else {
		fg_stream_write(w, s, length);
	}
	return true;
}

static void
stream_established(struct fg_l4 *w, struct fg_stream *s)
{
	note_setup(w, s);
	write_all(w, s);
}

static void
note_arrival(struct fg_l4 *w, struct fg_stream *s)
{
	struct application *a = application_of(w, s);

	if (a->first_at == 0)
		a->first_at = w->now;
	a->last_at = w->now;
}

static void
note_acked(struct fg_l4 *w, struct fg_stream *s)
{
	application_of(w, s)->last_at = w->now;
}

/* for an acknowledgement; no time of a transaction is known */
static uint32_t
sender_waits(struct fg_l4 *w, const struct fg_stream *s,
	     void (*note)(struct fg_l4 *w, struct application *a, uint64_t since))
{
	return s->written > s->acked;
}

/* for payload */
static uint32_t
receiver_waits(struct fg_l4 *w, const struct fg_stream *s,
	       void (*note)(struct fg_l4 *w, struct application *a, uint64_t since))
{
	return 1;
}

/* what is in flight is all that will be sent */
static void
end_writing(struct fg_l4 *w, struct fg_stream *s)
{
	fg_stream_truncate(w, s);
	fg_stream_close(w, s);
}

static void
maerts_established(struct fg_l4 *w, struct fg_stream *s)
{
	note_setup(w, s);
	if (w->now >= w->stop_at)
		fg_stream_close(w, s);
}

static const struct fg_app_ops stream_client = {
	PLAIN_CLIENT,        .established = stream_established, .refill = one_message, .acked = note_acked,
	.stop = end_writing,
};
static const struct fg_app_ops stream_server = {
	PLAIN_SERVER,
	.arrived = note_arrival,
	.eof = fg_stream_close,
};
static const struct fg_app_ops maerts_client = {
	PLAIN_CLIENT,
	.established = maerts_established,
	.arrived = note_arrival,
	.stop = fg_stream_close,
};
static const struct fg_app_ops maerts_server = {
	PLAIN_SERVER,          .established = write_all, .eof = end_writing,
	.refill = one_message, .acked = note_acked,
};

/*
 * --- SENDFILE: as STREAM, but the bytes are a file's. It is mapped, and a segment is filled from where it
 * lies: to send a byte again is to look at it again. A receiver with the same file at hand compares.
 */

struct sendfile {
	struct application app; /* first */
	const uint8_t *file;    /* NULL: a server that compares with nothing */
	size_t octets;
};

static int
file_map(struct application *a, struct fg_error *err)
{
	struct sendfile *out = (struct sendfile *)a;
	const char *path = a->config.file;
	int fd, rc = 0;
	struct stat status;
	void *memory;

	if (path == NULL)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) != 0) {
		rc = fg_error_set(err, errno, "l4.file", "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(status.st_mode) || status.st_size == 0) {
		rc = fg_error_set(err, EINVAL, "l4.file", "%s is no file with bytes in it", path);
	} else {
		memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
		if (memory == MAP_FAILED) {
			rc = fg_error_set(err, errno, "l4.file", "%s: %s", path, strerror(errno));
		} else {
			out->file = memory;
			out->octets = (size_t)status.st_size;
		}
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static void
file_unmap(struct application *a)
{
	const struct sendfile *f = (const struct sendfile *)a;

	if (f->file != NULL)
		munmap((void *)(uintptr_t)f->file, f->octets);
}

/* of @p length bytes from @p offset on, as many as lie together */
static const uint8_t *
part(const struct sendfile *a, uint64_t offset, uint32_t length, uint32_t *together)
{
	size_t at = offset % a->octets, rest = a->octets - at;

	*together = rest < length ? (uint32_t)rest : length;
	return a->file + at;
}

static void
file_fill(const struct sendfile *a, uint64_t offset, uint8_t *to, uint32_t length)
{
	for (uint32_t n = 0; length > 0; offset += n, to += n, length -= n) {
		const uint8_t *octets = part(a, offset, length, &n);

		memcpy(to, octets, n);
	}
}

static const uint8_t *
place_in_file(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint32_t length, uint32_t *together)
{
	return part((const struct sendfile *)application_of(w, s), offset, length, together);
}

static uint32_t
file_wrong(const struct sendfile *a, uint64_t offset, const uint8_t *data, uint32_t length)
{
	uint32_t wrong = 0;

	for (uint32_t n = 0; a->file != NULL && length > 0; offset += n, data += n, length -= n) {
		const uint8_t *expected = part(a, offset, length, &n);

		if (memcmp(data, expected, n) == 0)
			continue;
		for (uint32_t i = 0; i < n; i++)
			wrong += data[i] != expected[i];
	}
	return wrong;
}

static void
fill_from_file(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	file_fill((const struct sendfile *)application_of(w, s), offset, to, length);
}

static bool
receive_file(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
	     bool early)
{
	w->counters.wrong_octets +=
		file_wrong((const struct sendfile *)application_of(w, s), offset, data, length);
	return true;
}

static const struct fg_app_ops sendfile_client = {
	.established = stream_established,
	.receive = receive_of_server,
	.eof = fg_stream_close,
	.refill = one_message,
	.acked = note_acked,
	.fill = fill_from_file,
	.place = place_in_file,
	.poll = client_poll,
	.stop = end_writing,
	.connected = note_connected,
};
static const struct fg_app_ops sendfile_server = {
	.receive = receive_file,
	.arrived = note_arrival,
	.eof = fg_stream_close,
	.fill = fill_by_server,
	.place = place_of_server,
};

static int
sendfile_check(const struct fg_l4_app *a, uint32_t mtu, struct fg_error *err)
{
	return a->server || a->file != NULL ? 0
					    : fg_error_set(err, EINVAL, "l4", "which file is to be sent?");
}

static const struct app_kind stream = {"TCP_STREAM",
				       .streams = true,
				       .secures = true,
				       .client = &stream_client,
				       .server = &stream_server,
				       .waits = sender_waits};
static const struct app_kind maerts = {"TCP_MAERTS",
				       .streams = true,
				       .secures = true,
				       .client = &maerts_client,
				       .server = &maerts_server,
				       .waits = receiver_waits};
static const struct app_kind sendfile = {
	"TCP_SENDFILE",
	.streams = true,
	.secures = true,
	.size = sizeof(struct sendfile),
	.client = &sendfile_client,
	.server = &sendfile_server,
	.check = sendfile_check,
	.create = file_map,
	.free = file_unmap,
	.waits = sender_waits,
};

const struct app_kind *const app_kinds_of_stream[] = {&stream, &maerts, &sendfile, NULL};
