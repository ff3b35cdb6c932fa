/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/memory.h: no work is done by halves because memory ran out in the middle of it.
 *
 * A tree of JSON is made by many small calls, and a member that found no memory is simply not in it. Nobody asks after each:
 * who begins a piece of work opens a watch, and asks once before its outcome is stored, answered or handed on. What
 * jansson, texts (text.h) and error_no_memory() miss is noted for the thread that they ran in. Thread: each its own. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Makes jansson's memory noted. Before its first use, by the first thread. */
void memory_init(void);

/* Some of this thread's memory could not be had. */
void memory_note_failure(void);

/* As the libc's; what cannot be had is noted. */
char *memory_strdup(const char *text);
void *memory_calloc(size_t count, size_t size);

/* Begins a watch; those within another one are a part of it. */
void memory_watch_begin(void);
/* Whether memory ran out since the outermost watch began; false outside of any. */
bool memory_watch_failed(void);
/* Ends a watch; as memory_watch_failed(). */
bool memory_watch_end(void);

/* json_loadb(), which must not run out of memory: its lexer does not notice that the token it reads could not grow, and
 * reads on behind its end. This one sets some aside beforehand, and stops reading as soon as that is touched.
 * Source: jansson 2.14, src/load.c: lex_save() drops the result of strbuffer_append_byte().
 * NULL: as json_loadb(), and when memory ran out, which is noted; @ret_problem may be NULL. */
json_t *memory_json_read(const char *text, size_t length, size_t flags, json_error_t *ret_problem);
