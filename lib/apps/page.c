/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages: see page_priv.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "page_priv.h"

enum { DIGITS = 3, MORE_LOADS = 64 };
static const uint64_t LONGEST_NS = 1000000000000;

/* --- control */

/* @return whether the way from an object to what it waits for comes to an end */
static bool
ends(const struct fg_l4_page *page, uint32_t i)
{
	for (uint32_t steps = 0; steps < page->objects; steps++) {
		if (page->object[i].after == 0)
			return true;
		i = page->object[i].after - 1;
	}
	return false;
}

int
page_check(const struct fg_l4_page *page, struct fg_error *err)
{
	if (page->objects == 0 || page->objects > FG_L4_OBJECTS_MAX)
		return fg_error_set(err, EINVAL, "l4.page", "a page of %u objects: 1 to %d", page->objects,
				    FG_L4_OBJECTS_MAX);
	if (page->connections == 0 || page->connections > FG_L4_PAGE_CONNECTIONS_MAX)
		return fg_error_set(err, EINVAL, "l4.page", "%u connections for a page: 1 to %d",
				    page->connections, FG_L4_PAGE_CONNECTIONS_MAX);
	if (page->object[0].after != 0)
		return fg_error_set(err, EINVAL, "l4.page", "the first object waits for another one");
	for (uint32_t i = 0; i < page->objects; i++)
		if (page->object[i].after > page->objects)
			return fg_error_set(err, EINVAL, "l4.page", "object %u waits for object %u of %u",
					    i + 1, page->object[i].after, page->objects);
	for (uint32_t i = 0; i < page->objects; i++)
		if (!ends(page, i))
			return fg_error_set(err, EINVAL, "l4.page", "object %u waits for itself", i + 1);
	return 0;
}

int
page_create(struct application *a, struct fg_error *err)
{
	const struct fg_l4_page *config = a->config.page;
	uint32_t n = config->objects, loads = 2 * a->config.connections + MORE_LOADS;
	struct page *p = a->page = calloc(1, sizeof(*p));

	if (p == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	p->objects = n;
	p->connections = config->connections;
	p->object = calloc(n, sizeof(*p->object));
	p->path = calloc(n, sizeof(*p->path));
	p->shown = calloc(n, sizeof(*p->shown));
	p->time = fg_histogram_create(DIGITS, LONGEST_NS, err);
	if (p->object == NULL || p->path == NULL || p->shown == NULL || p->time == NULL ||
	    !fg_pool_create(&p->loads, fg_u32_min(loads, a->room),
			    sizeof(struct page_load) + n * sizeof(struct page_object)))
		return fg_error_set(err, ENOMEM, "l4", "no memory for %u pages of %u objects at a time",
				    loads, n);
	memcpy(p->object, config->object, n * sizeof(*p->object));
	for (uint32_t i = 0; i < n; i++)
		snprintf(p->path[i], sizeof(p->path[i]), "/octets/%010u", p->object[i].octets);
	return 0;
}

void
page_free(struct application *a)
{
	struct page *p = a->page;

	if (p == NULL)
		return;
	fg_pool_free(&p->loads);
	fg_histogram_free(p->time);
	free(p->object);
	free(p->path);
	free(p->shown);
	free(p);
}

unsigned
fg_l4_page_moments(const struct fg_l4 *w, unsigned app, struct fg_l4_moments *out, unsigned max)
{
	const struct page *p = ((const struct application *)w->app[app])->page;

	if (p == NULL || !p->has_shown)
		return 0;
	for (uint32_t i = 0; i < p->objects && i < max; i++)
		out[i] = p->shown[i];
	return p->objects;
}

/* --- a load */

uint32_t
page_begin(struct page *p, uint64_t since)
{
	uint32_t number = fg_pool_take(&p->loads);
	struct page_load *l = page_load_at(p, number);

	if (number == 0)
		return 0;
	*l = (struct page_load){.begun = since, .noted = since};
	for (uint32_t i = 0; i < p->objects; i++)
		l->object[i] = (struct page_object){
			.ready_at = p->object[i].after == 0 ? since + p->object[i].think_ns : UINT64_MAX};
	return number;
}

void
page_missed(const struct fg_l4 *w, struct page *p)
{
	if (p != NULL && w->now < w->stop_at)
		p->failed++;
}

void
page_end(const struct fg_l4 *w, struct page *p, uint32_t *load)
{
	if (*load != 0 && !page_is_whole(p, page_load_at(p, *load)))
		page_missed(w, p);
	fg_pool_give(&p->loads, load);
}

struct page_look
page_look(const struct page *p, const struct page_load *l, uint64_t now)
{
	struct page_look look = {.due = UINT64_MAX};

	for (uint32_t i = p->objects; i-- > 0;) {
		const struct page_object *o = &l->object[i];

		if (o->asked_at != 0)
			continue;
		if (o->ready_at <= now) {
			look.first = i;
			look.ready++;
		} else if (o->ready_at < look.due) {
			look.due = o->ready_at;
		}
	}
	return look;
}

bool
page_next(struct fg_l4 *w, struct fg_stream *s, const struct page_load *l, uint32_t *object)
{
	struct page_look look = page_look(application_of(w, s)->page, l, w->now);

	*object = look.first;
	if (look.ready == 0 && look.due < UINT64_MAX)
		fg_stream_timer(w, s, look.due - w->now);
	return look.ready > 0;
}

/*
 * What the page has waited for since it was looked at last; each moment is one part's. Where nothing is under
 * way, an object that may be asked for lacks a connection, and the pause before it is the client's own.
 */
static void
spend(const struct page *p, struct page_load *l, uint64_t now)
{
	uint64_t since = l->noted, ready = since;

	l->noted = now;
	if (l->coming > 0) {
		l->spent[FG_L4_PAGE_TRANSFER] += now - since;
	} else if (l->waiting > 0) {
		l->spent[FG_L4_PAGE_WAITING] += now - since;
	} else if (now > since) {
		struct page_look look = page_look(p, l, since);

		if (look.ready == 0)
			ready = look.due < now ? look.due : now;
		l->spent[FG_L4_PAGE_THINK] += ready - since;
		l->spent[FG_L4_PAGE_SETUP] += now - ready;
	}
}

void
page_ask(const struct page *p, struct page_load *l, uint32_t object, uint64_t now, uint32_t connection)
{
	spend(p, l, now);
	l->waiting++;
	l->object[l->asked++].nth = (uint16_t)object;
	l->object[object].asked_at = now;
	l->object[object].connection = (uint16_t)connection;
}

void
page_first(const struct fg_l4 *w, struct application *a, struct page_load *l, uint32_t object)
{
	if (l->object[object].first_at != 0)
		return;
	spend(a->page, l, w->now);
	l->waiting--;
	l->coming++;
	l->object[object].first_at = w->now;
	if (object == 0)
		note_time(w, a->first_octet, l->begun);
}

/* the first whole page of those that are measured is shown object by object */
static void
show(struct page *p, const struct page_load *l)
{
	for (uint32_t i = 0; i < p->objects; i++) {
		const struct page_object *o = &l->object[i];

		p->shown[i] =
			(struct fg_l4_moments){o->ready_at - l->begun, o->asked_at - l->begun,
					       o->first_at - l->begun, o->over_at - l->begun, o->connection};
	}
	p->has_shown = true;
}

void
page_over(const struct fg_l4 *w, struct application *a, struct page_load *l, uint32_t object)
{
	struct page *p = a->page;

	spend(p, l, w->now);
	l->coming--;
	l->object[object].over_at = w->now;
	l->over++;
	if (object == 0)
		note_time(w, a->last_octet, l->begun);
	for (uint32_t i = 0; i < p->objects; i++)
		if (p->object[i].after == object + 1)
			l->object[i].ready_at = w->now + p->object[i].think_ns;
	if (!page_is_whole(p, l))
		return;
	p->loaded++;
	note_time(w, p->time, l->begun);
	for (unsigned i = 0; i < FG_L4_PAGE_PARTS && fg_l4_is_measured(w); i++)
		p->spent[i] += l->spent[i];
	if (!p->has_shown && fg_l4_is_measured(w))
		show(p, l);
}
