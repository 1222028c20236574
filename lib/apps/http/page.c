/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client that loads pages by HTTP/1.1, as a browser does: a connection for the document, and for what may
 * be asked for while all connections of the page are busy further ones, up to a limit. What opens and
 * requests is poll(); the rest notes what has come. A connection knows its place, and the place its visit.
 */
#include <errno.h>
#include <stdlib.h>

#include "http_priv.h"

enum place_state { FREE, OPENING, IDLE, BUSY };
static const uint64_t RETRY_NS = 1000000;

static struct http_page *
page_client_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return (struct http_page *)http_of(w, s);
}

static struct page_load *
load_of(const struct http_page *h, const struct http_place *place)
{
	const struct page *page = h->http.app.page;

	return page_load_at(page, h->visit[(place - h->place) / page->connections].load);
}

/* something of the place's page has come: poll() has to look at it */
static void
set_changed(struct http_page *h, struct http_visit *v)
{
	if (v->changed)
		return;
	v->changed = true;
	v->next_changed = h->changed;
	h->changed = (uint32_t)(v - h->visit) + 1;
}

static void
note_change(struct http_page *h, const struct http_place *place)
{
	set_changed(h, &h->visit[(place - h->place) / h->http.app.page->connections]);
}

/* the connection belongs to the page no more */
static void
forget(struct fg_stream *s, struct http_place *place)
{
	client_of(s)->since = 0;
	place->stream = NULL;
	place->state = FREE;
}

/* --- what a connection is told */

static void
page_connected(struct fg_l4 *w, struct fg_stream *s)
{
	const struct http_place *place = http_place_of(w, s);

	if (place != NULL)
		note_time(w, application_of(w, s)->setup, place->opened_at);
}

static void
page_established(struct fg_l4 *w, struct fg_stream *s)
{
	struct http_place *place = http_place_of(w, s);

	if (application_of(w, s)->base.layer == NULL)
		page_connected(w, s);
	if (place == NULL || w->now >= w->stop_at) {
		fg_stream_close(w, s);
		return;
	}
	place->state = IDLE;
	note_change(page_client_of(w, s), place);
}

static void
page_fill(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length)
{
	const struct http *h = http_of(w, s);
	const struct http_place *place = http_place_of(w, s);
	size_t object = place == NULL ? 0 : place->object;

	memcpy(to, h->request + object * h->request_head + offset % h->request_head, length);
}

/*
 * Bytes behind a gap, before anything of the response has come. Were its head as long as the last one, they
 * would be these of the body: if they are, nothing remains to be read in them, and they need not come again.
 */
static bool
is_body(const struct fg_l4 *w, const struct fg_stream *s, uint64_t offset, const uint8_t *data,
	uint32_t length)
{
	uint64_t body = s->received + http_of(w, s)->seen.octets;

	return http_of(w, s)->seen.octets > 0 && offset >= body &&
	       offset + length <= body + http_wanted(w, s) &&
	       payload_wrong(SERVER_STREAM, offset - body, data, length) == 0;
}

static bool
page_receive(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length,
	     bool early)
{
	const struct http_place *place = http_place_of(w, s);
	struct http_page *h = page_client_of(w, s);

	if (place == NULL) /* nobody reads that any more */
		return true;
	if (early && ((const struct http_client *)client_of(s))->head.state == 0)
		return place->state == BUSY && is_body(w, s, offset, data, length);
	if (place->state == BUSY && !early)
		page_first(w, &h->http.app, load_of(h, place), place->object);
	return http_client_receive(w, s, offset, data, length, early);
}

/* the response is here, as far as it will be. @param good  it is what was asked for */
static void
response_over(struct fg_l4 *w, struct fg_stream *s, struct http_place *place, bool good)
{
	struct http_page *h = page_client_of(w, s);
	struct page_load *load = load_of(h, place);

	place->state = IDLE;
	note_change(h, place);
	if (good) {
		h->http.app.base.tally.transactions++;
		note_time(w, h->http.app.transaction, load->object[place->object].asked_at);
		page_over(w, &h->http.app, load, place->object);
	} else {
		load->broken = true;
	}
}

static bool
is_good(const struct fg_stream *s)
{
	return !(((const struct http_client *)client_of(s))->head.state & HTTP_UNWANTED);
}

static void
page_arrived(struct fg_l4 *w, struct fg_stream *s)
{
	struct http_place *place = http_place_of(w, s);
	bool broken;

	if (place == NULL || place->state != BUSY)
		return;
	broken = http_is_broken(w, s);
	if (!broken && !http_is_whole(s))
		return;
	response_over(w, s, place, !broken && is_good(s));
	if (broken || ((struct http_client *)client_of(s))->head.close || w->now >= w->stop_at) {
		forget(s, place);
		fg_stream_close(w, s);
	}
}

static void
page_eof(struct fg_l4 *w, struct fg_stream *s)
{
	struct http_place *place = http_place_of(w, s);

	if (place != NULL) {
		if (place->state == BUSY)
			response_over(w, s, place, http_ends_so(w, s) && is_good(s));
		forget(s, place);
	}
	fg_stream_close(w, s);
}

static void
page_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	struct http_place *place = http_place_of(w, s);

	if (place == NULL)
		return;
	if (place->state != IDLE)
		load_of(page_client_of(w, s), place)->broken = true;
	note_change(page_client_of(w, s), place);
	forget(s, place);
}

uint32_t
http_page_waits(struct fg_l4 *w, const struct fg_stream *s,
		void (*note)(struct fg_l4 *w, struct application *a, uint64_t since))
{
	const struct http_place *place = http_place_of(w, s);

	if (place == NULL || place->state != BUSY)
		return 0;
	if (note != NULL)
		note(w, application_of(w, s),
		     load_of(page_client_of(w, s), place)->object[place->object].asked_at);
	return 1;
}

static void
page_stop(struct fg_l4 *w, struct fg_stream *s)
{
	const struct http_place *place = http_place_of(w, s);

	if (place != NULL && place->state == IDLE)
		fg_stream_close(w, s);
}

/* --- poll */

static void
ask_at(struct fg_l4 *w, struct http_page *h, struct http_place *place, uint32_t object, uint32_t connection)
{
	http_begin(&((struct http_client *)client_of(place->stream))->head);
	place->object = object;
	place->state = BUSY;
	page_ask(h->http.app.page, load_of(h, place), object, w->now, connection);
	fg_stream_write(w, place->stream, h->http.request_head);
}

/* @return false: there is no port or no room */
static bool
open_at(struct fg_l4 *w, struct http_page *h, struct http_place *place)
{
	place->stream = client_open(w, &h->http.app, w->now);
	if (place->stream == NULL)
		return false;
	place->opened_at = w->now;
	place->state = OPENING;
	client_of(place->stream)->since = (uint64_t)(place - h->place) + 1;
	return true;
}

/* a page is over when it is whole, or broken and nothing of it is under way */
static void
end_page(struct fg_l4 *w, struct http_page *h, struct http_visit *v)
{
	const struct page *page = h->http.app.page;
	struct http_place *place = h->place + (size_t)(v - h->visit) * page->connections;

	for (uint32_t i = 0; i < page->connections; i++)
		if (place[i].state == BUSY)
			return;
	for (uint32_t i = 0; i < page->connections; i++) {
		struct fg_stream *s = place[i].stream;
		bool is_idle = place[i].state == IDLE;

		if (s == NULL)
			continue;
		forget(s, &place[i]); /* an opening connection is closed once it is open */
		if (is_idle)
			fg_stream_close(w, s);
	}
	page_end(w, h->http.app.page, &v->load);
}

/* what may be asked for takes connections that are idle; for the rest others are opened. @return the same */
static bool
use_places(struct fg_l4 *w, struct http_page *h, struct http_visit *v)
{
	const struct page *page = h->http.app.page;
	struct http_place *place = h->place + (size_t)(v - h->visit) * page->connections;
	struct page_load *load = page_load_at(page, v->load);
	struct page_look look = page_look(page, load, w->now);
	uint32_t opening = 0;

	for (uint32_t i = 0; i < page->connections; i++) {
		opening += place[i].state == OPENING;
		if (place[i].state != IDLE || look.ready == 0)
			continue;
		ask_at(w, h, &place[i], look.first, i + 1);
		look = page_look(page, load, w->now);
	}
	for (uint32_t i = 0; i < page->connections && opening < look.ready; i++) {
		if (place[i].state != FREE)
			continue;
		if (!open_at(w, h, &place[i]))
			return false;
		opening++;
	}
	v->due = look.due;
	if (v->due < h->due)
		h->due = v->due;
	return true;
}

/* @return the same */
static bool
load_on(struct fg_l4 *w, struct http_page *h, struct http_visit *v)
{
	const struct page *page = h->http.app.page;

	v->due = UINT64_MAX;
	if (v->load != 0) {
		const struct page_load *load = page_load_at(page, v->load);

		if (load->broken || page_is_whole(page, load))
			end_page(w, h, v);
		if (v->load != 0 && load->broken)
			return true;
	}
	if (v->load == 0)
		v->load = page_begin(h->http.app.page, w->now);
	return v->load != 0 && use_places(w, h, v);
}

/* those whose time has come count as changed */
static void
look_for_due(const struct fg_l4 *w, struct http_page *h)
{
	h->due = UINT64_MAX;
	for (uint32_t i = 0; i < h->http.app.config.connections; i++)
		if (h->visit[i].due <= w->now)
			set_changed(h, &h->visit[i]);
		else if (h->visit[i].due < h->due)
			h->due = h->visit[i].due;
}

static uint64_t
page_poll(struct fg_l4 *w, struct fg_app *app)
{
	struct http_page *h = (struct http_page *)(void *)app;
	uint64_t next = w->stop_at, look_at;

	if (w->now < w->start_at || w->now >= w->stop_at)
		return client_poll(w, app);
	look_at = patience_poll(w, &h->http.app);
	if (h->due <= w->now)
		look_for_due(w, h);
	while (h->changed != 0) {
		struct http_visit *v = &h->visit[h->changed - 1];

		if (!load_on(w, h, v)) {
			next = w->now + RETRY_NS;
			break;
		}
		h->changed = v->next_changed;
		v->changed = false;
	}
	next = h->due < next ? h->due : next;
	return look_at < next ? look_at : next;
}

const struct fg_app_ops http_page_ops = {
	.established = page_established,
	.receive = page_receive,
	.arrived = page_arrived,
	.stop = page_stop,
	.eof = page_eof,
	.fill = page_fill,
	.closed = page_closed,
	.poll = page_poll,
	.connected = page_connected,
};

/* --- control */

int
http_page_check(const struct fg_l4_app *config, uint32_t mtu, struct fg_error *err)
{
	if (!config->server && (config->page == NULL || config->request > 0 || config->head))
		return fg_error_set(err, EINVAL, "l4.page", "a client of pages asks for a page, by GET");
	return 0;
}

int
http_page_create(struct application *a, struct fg_error *err)
{
	struct http_page *h = (struct http_page *)(void *)a;
	uint32_t n = a->config.connections;

	if (a->config.server)
		return 0;
	h->visit = calloc(n, sizeof(*h->visit));
	h->place = calloc((size_t)n * a->page->connections, sizeof(*h->place));
	if (h->visit == NULL || h->place == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory for %u pages at a time", n);
	for (uint32_t i = n; i-- > 0;)
		set_changed(h, &h->visit[i]);
	h->due = UINT64_MAX;
	return http_create(a, err);
}

void
http_page_free(struct application *a)
{
	struct http_page *h = (struct http_page *)(void *)a;

	free(h->visit);
	free(h->place);
	http_free(a);
}
