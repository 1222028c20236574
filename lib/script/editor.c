/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line from a person at a terminal, edited with libedit, while the event loop goes on.
 *
 * libedit reads the next character and waits for it. It is given a function that waits the way
 * everybody here does: it lets the event loop turn (a Lua function, `wait`) until the terminal has something
 * to read. So a test in the background goes on between two keys, and even within one, for an escape sequence
 * is read in the same way. What others have to say meanwhile is written above the line and the line drawn
 * anew.
 *
 * There is one terminal, and so one editor.
 */
#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "script_priv.h"

enum { HISTORY_LINES = 1000 };

static struct {
	EditLine *line;
	History *history;
	lua_State *L;       /* whose call of editor.read() is under way; NULL: none */
	int wait, complete; /* stack indexes of its functions */
	const char *prompt;
	bool failed; /* one of them raised an error; it is on top of the stack */
	bool interrupted;
	char bytes[256];     /* read from the terminal and not yet taken */
	size_t first, after; /* of these, the first and the one behind the last */
	mbstate_t decoder;
} editor;

/* Call a function that lies on the stack below its arguments. What it raises waits until libedit has
 * returned. */
static bool
call(int arguments, int results)
{
	if (!editor.failed && lua_pcall(editor.L, arguments, results, 0) == 0)
		return true;
	editor.failed = true;
	return false;
}

/* Let the loop turn until there is a byte to read. @return false: no more of this line */
static bool
wait_for_byte(void)
{
	lua_State *L = editor.L;
	bool more;

	lua_pushvalue(L, editor.wait);
	if (!call(0, 1))
		return false;
	more = lua_toboolean(L, -1);
	lua_pop(L, 1);
	editor.interrupted = !more;
	return more;
}

static bool
next_byte(char *byte)
{
	ssize_t n;

	while (editor.first == editor.after) {
		if (!wait_for_byte())
			return false;
		n = read(STDIN_FILENO, editor.bytes, sizeof(editor.bytes));
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
			return false;
		editor.first = 0;
		editor.after = n > 0 ? (size_t)n : 0;
	}
	*byte = editor.bytes[editor.first++];
	return true;
}

/* libedit's getc: 1 and a character, or -1 for the end. What is no character of the locale is left out. */
static int
get_character(EditLine *line, wchar_t *out)
{
	char byte;
	size_t n;

	(void)line;
	while (next_byte(&byte)) {
		n = mbrtowc(out, &byte, 1, &editor.decoder);
		if (n <= 1)
			return 1;
		if (n == (size_t)-1)
			memset(&editor.decoder, 0, sizeof(editor.decoder));
	}
	return -1;
}

static char *
get_prompt(EditLine *line)
{
	(void)line;
	return (char *)(uintptr_t)editor.prompt; /* libedit does not change it */
}

/* The Tab key: complete(text before the cursor, text behind it) -> text to insert, lines to show below or
 * nil. */
static unsigned char
complete_key(EditLine *line, int key)
{
	const LineInfo *info = el_line(line);
	lua_State *L = editor.L;
	unsigned char answer = CC_ERROR;

	(void)key;
	lua_pushvalue(L, editor.complete);
	lua_pushlstring(L, info->buffer, (size_t)(info->cursor - info->buffer));
	lua_pushlstring(L, info->cursor, (size_t)(info->lastchar - info->cursor));
	if (!call(2, 2))
		return CC_EOF;
	if (lua_isstring(L, -2) && lua_objlen(L, -2) > 0 && el_insertstr(line, lua_tostring(L, -2)) == 0)
		answer = CC_REFRESH;
	if (lua_isstring(L, -1)) {
		fprintf(stdout, "\r\n%s", lua_tostring(L, -1));
		answer = CC_REDISPLAY;
	}
	lua_pop(L, 2);
	return answer;
}

static const struct {
	const char *key, *command;
} keys[] = {
	{"^I", "framegauge-complete"},     {"^R", "em-inc-search-prev"}, {"^W", "ed-delete-prev-word"},
	{"\\e[3~", "ed-delete-next-char"}, {"\\e[1~", "ed-move-to-beg"}, {"\\e[4~", "ed-move-to-end"},
	{"\\e[H", "ed-move-to-beg"},       {"\\e[F", "ed-move-to-end"},  {"\\e[1;5C", "em-next-word"},
	{"\\e[1;5D", "ed-prev-word"},
};

/* The user's own ~/.editrc comes last: it may choose vi's keys. */
static void
set_up(EditLine *line)
{
	HistEvent event;

	el_set(line, EL_SIGNAL, 0);
	el_set(line, EL_EDITOR, "emacs");
	el_set(line, EL_PROMPT, get_prompt);
	el_wset(line, EL_GETCFN, get_character);
	/* in wide characters: the narrow ones libedit would copy and never free */
	el_wset(line, EL_ADDFN, L"framegauge-complete", L"complete the word", complete_key);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		el_set(line, EL_BIND, keys[i].key, keys[i].command, NULL);
	history(editor.history, &event, H_SETSIZE, HISTORY_LINES);
	history(editor.history, &event, H_SETUNIQUE, 1);
	el_set(line, EL_HIST, history, editor.history);
	el_source(line, NULL);
}

/* editor.open() -> true, or nil when the terminal cannot be used. Calling it again is harmless. */
static int
editor_open(lua_State *L)
{
	if (editor.line == NULL) {
		setlocale(LC_CTYPE, "");
		if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
			setlocale(LC_CTYPE, "C.UTF-8");
		editor.prompt = "";
		editor.history = history_init();
		editor.line = el_init("framegauge", stdin, stdout, stderr);
		if (editor.line == NULL || editor.history == NULL)
			return 0;
		set_up(editor.line);
	}
	lua_pushboolean(L, 1);
	return 1;
}

static const char *
read_line(int *length)
{
	const char *text = el_gets(editor.line, length);

	if (text == NULL)
		el_set(editor.line, EL_PREP_TERM, 0);
	editor.L = NULL;
	return text;
}

/*
 * editor.read(prompt, wait, complete) -> the line without its end; false when wait() returned false; nil at
 * the end of the input. wait() returns when the terminal can be read. Errors of the two functions are passed
 * on.
 */
static int
editor_read(lua_State *L)
{
	const char *text;
	int length = 0;

	editor.prompt = luaL_checkstring(L, 1);
	luaL_checktype(L, 2, LUA_TFUNCTION);
	luaL_checktype(L, 3, LUA_TFUNCTION);
	if (editor.line == NULL || editor.L != NULL)
		return luaL_error(L, "the editor is not open, or in use");
	luaL_checkstack(L, 16, "editor");
	editor.L = L;
	editor.wait = 2;
	editor.complete = 3;
	editor.failed = editor.interrupted = false;
	text = read_line(&length);
	if (editor.failed)
		return lua_error(L);
	if (editor.interrupted)
		lua_pushboolean(L, 0);
	else if (text == NULL || length <= 0)
		lua_pushnil(L);
	else
		lua_pushlstring(L, text, strcspn(text, "\r\n"));
	return 1;
}

/* editor.print(text): above the line that is being edited, if one is. */
static int
editor_print(lua_State *L)
{
	size_t length;
	const char *text = luaL_checklstring(L, 1, &length);

	if (editor.L != NULL)
		fputs("\r\033[J", stdout);
	fwrite(text, 1, length, stdout);
	if (editor.L != NULL)
		el_set(editor.line, EL_REFRESH);
	fflush(stdout);
	return 0;
}

/* editor.refresh(): the terminal has changed its size, or another program has used it. */
static int
editor_refresh(lua_State *L)
{
	(void)L;
	if (editor.line == NULL)
		return 0;
	el_resize(editor.line);
	if (editor.L != NULL) {
		el_set(editor.line, EL_PREP_TERM, 1);
		el_set(editor.line, EL_REFRESH);
	}
	return 0;
}

/* editor.remember(line): for the history. */
static int
editor_remember(lua_State *L)
{
	HistEvent event;

	history(editor.history, &event, H_ENTER, luaL_checkstring(L, 1));
	return 0;
}

/* editor.load(path) and editor.save(path) -> true where that went well. */
static int
with_file(lua_State *L, int operation)
{
	HistEvent event;

	lua_pushboolean(L, history(editor.history, &event, operation, luaL_checkstring(L, 1)) >= 0);
	return 1;
}

static int
editor_load(lua_State *L)
{
	return with_file(L, H_LOAD);
}

static int
editor_save(lua_State *L)
{
	return with_file(L, H_SAVE);
}

/*
 * editor.size(): columns and rows of the terminal on the standard output, without an editor, too; nothing
 * without a terminal. libuv reports them as well, but makes the output non-blocking for it, and then a text
 * that the terminal does not take at once is lost.
 */
static int
editor_size(lua_State *L)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
		return 0;
	lua_pushinteger(L, size.ws_col);
	lua_pushinteger(L, size.ws_row);
	return 2;
}

/* editor.close(): the terminal is as it was. */
static int
editor_close(lua_State *L)
{
	(void)L;
	if (editor.line != NULL)
		el_end(editor.line);
	if (editor.history != NULL)
		history_end(editor.history);
	memset(&editor, 0, sizeof(editor));
	return 0;
}

int
luaopen_framegauge_editor(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"open", editor_open},         {"read", editor_read},
		{"print", editor_print},       {"refresh", editor_refresh},
		{"remember", editor_remember}, {"load", editor_load},
		{"save", editor_save},         {"close", editor_close},
		{"size", editor_size},         {NULL, NULL},
	};

	lua_createtable(L, 0, 9);
	luaL_register(L, NULL, functions);
	return 1;
}
