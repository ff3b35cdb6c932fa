/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/memory.h: memory allocation that cannot fail.
 *
 * A program that cannot have the memory for a struct, a name or a short text cannot do its work. The functions below
 * end the process in that case with one line on stderr, so that no caller has a failure to handle. A restart loses
 * nothing: what a client asks for is stored before the client gets the answer.
 *
 * A size that a client chooses (a body, a page of an answer, the buffers of a transfer) is bounded by the caller and comes
 * from malloc(), realloc() or a struct text that may_fail. The caller checks it, and the client gets 503.
 *
 * The libraries:
 *   jansson, libcurl    use the functions below.
 *   SQLite              uses them up to 64 KiB; beyond that the statement fails with SQLITE_NOMEM, which is answered 503.
 *   PCRE2, zlib, expat, GnuTLS, libmicrohttpd, nghttp2
 *                       report a failure: the request is refused, or its connection ends, and the process goes on. GMP and
 *                       libtasn1, which GnuTLS uses, end the process themselves.
 *
 * Thread: any. */
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Makes jansson use memory_alloc(). To be called before the first use of jansson, by the first thread. */
void memory_init(void);

/* Like the functions of libc, but they never return NULL. memory_resize() has reallocarray()'s arguments. */
void *memory_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *memory_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *memory_resize(void *place, size_t count, size_t size) __attribute__((returns_nonnull));
void *memory_realloc(void *place, size_t size) __attribute__((returns_nonnull));
/* Returns a copy that the caller frees; NULL if @text is NULL. */
char *memory_strdup(const char *text);
char *memory_strndup(const char *text, size_t length) __attribute__((returns_nonnull));
/* Returns a new text that the caller frees. */
char *memory_printf(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
char *memory_vprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0), returns_nonnull));

/* Returns true if there is enough memory now for the JSON values from a client's JSON text or binary message of @length
 * bytes; always true up to 64 KiB. Check this before parsing, because jansson would end the process. */
bool memory_holds_json(size_t length);

/* Prints a line and ends the process with status 1. For libraries that report that they are out of memory. */
void memory_exhausted(size_t size) __attribute__((noreturn, cold));
