/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * YAML as a tree of nodes that know their place.
 *
 * A plan's error must name a line and a column, and no YAML-to-Lua library keeps them once the values are Lua
 * tables. So libyaml's events become nodes, kept in the order of the file:
 *
 *   { kind = "map", line =, column =, entries = { { key = "ports", line =, column =, value = node }, ... } }
 *   { kind = "list", line =, column =, items = { node, ... } }
 *   { kind = "scalar", line =, column =, value = "text", quoted = bool }
 *
 * Values stay text: what "1e3" or "yes" means is the schema's business. Whatever a plan has no use for is
 * rejected, so that nobody has to guess its meaning: anchors, aliases, tags, a second document, duplicate
 * keys, keys that are no text. Depth and size are bounded, so hostile input costs no more than a megabyte's
 * worth of nodes.
 *
 * The tree is built inside one protected call. Refusals and lack of memory leave it by lua_error(), and the
 * caller frees the parser and the event in hand whichever way it ended.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <yaml.h>

#include "script_priv.h"

#define YAML_MAX_BYTES (1024 * 1024)
#define YAML_MAX_DEPTH 32

struct reader {
	lua_State *L;
	const unsigned char *text;
	size_t length;
	int depth;
	yaml_parser_t parser;
	yaml_event_t event; /* the one in hand */
};

/* libyaml's messages, and their meaning for the author of a plan. */
static const struct {
	const char *problem;
	const char *sentence;
	bool at_start; /* shown where the unfinished thing begins, not where the text gave up on it */
} sentences[] = {
	{"found character that cannot start any token",
	 "a value cannot begin like this; indent with spaces, not tabs, and quote text that begins with @ or `"},
	{"found a tab character that violates indentation", "a tab cannot indent; use spaces"},
	{"mapping values are not allowed in this context",
	 "a ':' that does not belong here; check the indentation, and quote text that holds ': '"},
	{"did not find expected key", "this line does not fit the keys above it; check the indentation"},
	{"did not find expected '-' indicator",
	 "this line does not fit the list above it; check the indentation"},
	{"block sequence entries are not allowed in this context",
	 "a list item ('- ') cannot stand here; begin it on its own line"},
	{"did not find expected node content", "a value is missing here"},
	{"could not find expected ':'", "a key without its ':'; write 'key: value'", true},
	{"did not find expected ',' or ']'", "this list is not closed; expected ',' or ']'", true},
	{"did not find expected ',' or '}'", "this map is not closed; expected ',' or '}'", true},
	{"found unexpected end of stream", "this quoted text is not closed", true},
	{"found unexpected document indicator", "this quoted text is not closed", true},
	{"found undefined tag handle", "a tag ('!...') has no meaning in a plan"},
	{"found incompatible YAML document", "not a version of YAML; expected 1.1 or 1.2"},
	{"did not find expected <document start>", "a second document begins here; a plan is one document"},
};

/* Leave the protected call with { line =, column =, message = }. */
static int __attribute__((format(printf, 4, 5)))
refuse(struct reader *r, size_t line, size_t column, const char *format, ...)
{
	lua_State *L = r->L;
	va_list args;

	lua_createtable(L, 0, 4);
	lua_pushinteger(L, (lua_Integer)line);
	lua_setfield(L, -2, "line");
	lua_pushinteger(L, (lua_Integer)column);
	lua_setfield(L, -2, "column");
	va_start(args, format);
	lua_pushvfstring(L, format, args);
	va_end(args);
	lua_setfield(L, -2, "message");
	return lua_error(L);
}

static int
refuse_event(struct reader *r, const char *message)
{
	return refuse(r, r->event.start_mark.line + 1, r->event.start_mark.column + 1, "%s", message);
}

/* libyaml's reader knows only the byte at which the text stops being text; count lines and characters up to
 * it. */
static int
refuse_byte(struct reader *r)
{
	size_t line = 1, column = 1, end = r->parser.problem_offset;

	for (size_t i = 0; i < end && i < r->length; i++) {
		if (r->text[i] == '\n') {
			line++;
			column = 1;
		} else if ((r->text[i] & 0xc0) != 0x80) {
			column++;
		}
	}
	if (strcmp(r->parser.problem, "control characters are not allowed") == 0)
		return refuse(r, line, column, "a control character; a plan is plain text in UTF-8");
	return refuse(r, line, column, "not UTF-8; a plan is plain text in UTF-8");
}

static int
refuse_syntax(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *sentence = p->problem;
	yaml_mark_t mark = p->problem_mark;

	if (p->error == YAML_MEMORY_ERROR)
		return luaL_error(r->L, "not enough memory");
	if (p->error == YAML_READER_ERROR)
		return refuse_byte(r);
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		if (strcmp(p->problem, sentences[i].problem) != 0)
			continue;
		sentence = sentences[i].sentence;
		if (sentences[i].at_start && p->context != NULL)
			mark = p->context_mark;
	}
	return refuse(r, mark.line + 1, mark.column + 1, "%s", sentence);
}

static void
next_event(struct reader *r)
{
	yaml_event_delete(&r->event);
	if (!yaml_parser_parse(&r->parser, &r->event))
		refuse_syntax(r);
}

static void
refuse_decoration(struct reader *r, const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor != NULL)
		refuse_event(r, "an anchor ('&...') has no meaning in a plan; write the value out");
	if (tag != NULL)
		refuse_event(r, "a tag ('!...') has no meaning in a plan");
}

/* Push a table for the event in hand with its kind and place. */
static void
push_node(struct reader *r, const char *kind)
{
	lua_State *L = r->L;

	luaL_checkstack(L, 8, "the plan is nested too deeply");
	lua_createtable(L, 0, 5);
	lua_pushstring(L, kind);
	lua_setfield(L, -2, "kind");
	lua_pushinteger(L, (lua_Integer)r->event.start_mark.line + 1);
	lua_setfield(L, -2, "line");
	lua_pushinteger(L, (lua_Integer)r->event.start_mark.column + 1);
	lua_setfield(L, -2, "column");
}

static void
push_event_text(struct reader *r)
{
	lua_pushlstring(r->L, (const char *)r->event.data.scalar.value, r->event.data.scalar.length);
}

static void
enter(struct reader *r)
{
	if (++r->depth > YAML_MAX_DEPTH)
		refuse_event(r, "nested more than 32 deep");
}

static void push_value(struct reader *r);

static void
push_scalar(struct reader *r)
{
	refuse_decoration(r, r->event.data.scalar.anchor, r->event.data.scalar.tag);
	push_node(r, "scalar");
	push_event_text(r);
	lua_setfield(r->L, -2, "value");
	lua_pushboolean(r->L, r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE);
	lua_setfield(r->L, -2, "quoted");
}

static void
push_list(struct reader *r)
{
	int n = 0;

	refuse_decoration(r, r->event.data.sequence_start.anchor, r->event.data.sequence_start.tag);
	enter(r);
	push_node(r, "list");
	lua_newtable(r->L);
	for (next_event(r); r->event.type != YAML_SEQUENCE_END_EVENT; next_event(r)) {
		push_value(r);
		lua_rawseti(r->L, -2, ++n);
	}
	lua_setfield(r->L, -2, "items");
	r->depth--;
}

/* The key in hand, rejected unless it is text seen for the first time; `seen` maps keys to their line. */
static void
check_key(struct reader *r, int seen)
{
	lua_State *L = r->L;

	if (r->event.type == YAML_ALIAS_EVENT)
		refuse_event(r, "an alias ('*...') has no meaning in a plan; write the key out");
	if (r->event.type != YAML_SCALAR_EVENT)
		refuse_event(r, "a key must be plain text, not a list or a map");
	refuse_decoration(r, r->event.data.scalar.anchor, r->event.data.scalar.tag);
	if (r->event.data.scalar.length == 0)
		refuse_event(r, "a key is missing before the ':'");
	push_event_text(r);
	lua_pushvalue(L, -1);
	lua_rawget(L, seen);
	if (!lua_isnil(L, -1))
		refuse(r, r->event.start_mark.line + 1, r->event.start_mark.column + 1,
		       "the key \"%s\" is already there in line %d", lua_tostring(L, -2),
		       (int)lua_tointeger(L, -1));
	lua_pop(L, 1);
	lua_pushinteger(L, (lua_Integer)r->event.start_mark.line + 1);
	lua_rawset(L, seen);
}

static void
push_map(struct reader *r)
{
	lua_State *L = r->L;
	int seen, n = 0;

	refuse_decoration(r, r->event.data.mapping_start.anchor, r->event.data.mapping_start.tag);
	enter(r);
	push_node(r, "map");
	lua_newtable(L);
	seen = lua_gettop(L);
	lua_newtable(L);
	for (next_event(r); r->event.type != YAML_MAPPING_END_EVENT; next_event(r)) {
		check_key(r, seen);
		push_node(r, "key");
		push_event_text(r);
		lua_setfield(L, -2, "key");
		next_event(r);
		push_value(r);
		lua_setfield(L, -2, "value");
		lua_rawseti(L, -2, ++n);
	}
	lua_setfield(L, -3, "entries");
	lua_pop(L, 1);
	r->depth--;
}

/* Push the node that the event in hand begins; its last event is in hand afterwards. */
static void
push_value(struct reader *r)
{
	switch (r->event.type) {
	case YAML_SCALAR_EVENT:
		push_scalar(r);
		break;
	case YAML_SEQUENCE_START_EVENT:
		push_list(r);
		break;
	case YAML_MAPPING_START_EVENT:
		push_map(r);
		break;
	default:
		refuse_event(r, "an alias ('*...') has no meaning in a plan; write the value out");
	}
}

static bool
empty_document(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
	       event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* Runs protected, with the reader as its only argument; returns the document's root. */
static int
read_document(lua_State *L)
{
	struct reader *r = lua_touserdata(L, 1);

	if (r->length > YAML_MAX_BYTES)
		refuse(r, 1, 1, "larger than 1 MiB; this cannot be a plan");
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, r->text, r->length);
	next_event(r); /* stream start */
	next_event(r); /* document start */
	if (r->event.type == YAML_STREAM_END_EVENT)
		refuse_event(r, "empty; nothing but comments or blanks is here");
	next_event(r);
	if (empty_document(&r->event))
		refuse_event(r, "empty; nothing but comments or blanks is here");
	push_value(r);
	next_event(r); /* document end */
	next_event(r);
	if (r->event.type != YAML_STREAM_END_EVENT)
		refuse_event(r, "a second document begins here; a plan is one document");
	return 1;
}

/* yaml.parse(text [, filename]) -> node, or nil and { file =, line =, column =, message = } */
static int
parse(lua_State *L)
{
	struct reader r = {.L = L};
	int status;

	r.text = (const unsigned char *)luaL_checklstring(L, 1, &r.length);
	luaL_optstring(L, 2, "text");
	lua_settop(L, 2);
	lua_pushcfunction(L, read_document);
	lua_pushlightuserdata(L, &r);
	if (!yaml_parser_initialize(&r.parser))
		return luaL_error(L, "not enough memory");
	status = lua_pcall(L, 1, 1, 0);
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	if (status == 0)
		return 1;
	if (!lua_istable(L, -1))
		return lua_error(L);
	lua_pushvalue(L, 2);
	lua_setfield(L, -2, "file");
	lua_pushnil(L);
	lua_insert(L, -2);
	return 2;
}

int
luaopen_framegauge_yaml(lua_State *L)
{
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, parse);
	lua_setfield(L, -2, "parse");
	return 1;
}
