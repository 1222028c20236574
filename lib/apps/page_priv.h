/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages: which object may be asked for now, what has come of each, and what that says of the page. It knows
 * nothing of a protocol: a client begins a load, requests what page_look() names, and reports the responses.
 * A client of several streams on a connection has a load for each of these; a client of HTTP/1.1 for several
 * connections together (http/page.c).
 *
 * The lcore that polls the worker writes all of it; control makes and frees it.
 */
#pragma once

#include "app_priv.h"
#include "fg_l4_page.h"
#include "fg_pool.h"

enum { PAGE_PATH = 20 };

/** What is known of an object in one load; times of the engine, 0: not yet. */
struct page_object {
	uint64_t ready_at; /* UINT64_MAX: what it waits for has not come */
	uint64_t asked_at, first_at, over_at;
	uint16_t connection;
	uint16_t nth; /* not of this object: the object of the n-th request */
};

/** One time that a page is loaded. */
struct page_load {
	uint32_t next; /* the pool's while it is free */
	uint32_t asked, over;
	uint32_t waiting, coming; /* objects without a byte, and with some, but not all */
	bool broken;              /* something failed: nothing more is asked for */
	uint64_t begun, noted;    /* noted: until when its time is in `spent` */
	uint64_t spent[FG_L4_PAGE_PARTS];
	struct page_object object[];
};

/** The page of an application. */
struct page {
	uint32_t objects, connections;
	struct fg_l4_object *object;
	char (*path)[PAGE_PATH]; /* of each object; all are as long */
	struct fg_pool loads;
	struct fg_histogram *time; /* of whole pages */
	uint64_t spent[FG_L4_PAGE_PARTS];
	uint64_t loaded, failed;
	struct fg_l4_moments *shown; /* of the first one that is measured */
	bool has_shown;
};

/** What may be asked for now. */
struct page_look {
	uint32_t ready; /* how many objects */
	uint32_t first; /* of these */
	uint64_t due;   /* when there will be one more, if nothing comes; UINT64_MAX: never */
};

static inline struct page_load *
page_load_at(const struct page *p, uint32_t i)
{
	return (struct page_load *)(void *)(p->loads.at + p->loads.size * i);
}

static inline bool
page_is_whole(const struct page *p, const struct page_load *l)
{
	return l->over == p->objects;
}

/** Is there nothing that could still be asked for? */
static inline bool
page_has_asked_for_all(const struct page *p, const struct page_load *l)
{
	return l->broken || l->asked == p->objects;
}

int page_check(const struct fg_l4_page *config, struct fg_error *err);
/** For an application with fg_l4_app.page. */
int page_create(struct application *a, struct fg_error *err);
void page_free(struct application *a);

/** @param since  when it was begun. @return the number of the load, 0: there is no room */
uint32_t page_begin(struct page *p, uint64_t since);
/** It is over, whole or not. @param load  a number from page_begin(); free then */
void page_end(const struct fg_l4 *w, struct page *p, uint32_t *load);
/** What was to load a page is gone before it could begin. Without a page: nothing. */
void page_missed(const struct fg_l4 *w, struct page *p);

struct page_look page_look(const struct page *p, const struct page_load *l, uint64_t now);
/** Look at a stream that carries a whole page. Its timer is set to when there will be something. */
bool page_next(struct fg_l4 *w, struct fg_stream *s, const struct page_load *l, uint32_t *object);
void page_ask(const struct page *p, struct page_load *l, uint32_t object, uint64_t now, uint32_t connection);
void page_first(const struct fg_l4 *w, struct application *a, struct page_load *l, uint32_t object);
/** All of it has come, as it was to be. */
void page_over(const struct fg_l4 *w, struct application *a, struct page_load *l, uint32_t object);
