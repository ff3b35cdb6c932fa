/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/page_token.h: the position at which a page ended, as an opaque text that only this state directory can make.
 *
 * A token is bound to a text that identifies the list (the query and its filter); it is refused with another text, or
 * if a single bit was changed. Pure. Thread: any. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct page_key {
	unsigned char bytes[32];
};

enum { PAGE_NUMBERS = 4, PAGE_NAME_MAX = 1024 };

/* The position after which the next page begins. */
struct page_mark {
	int64_t numbers[PAGE_NUMBERS];
	char name[PAGE_NAME_MAX]; /* "" if the position consists of numbers only */
};

/* Returns the token, base64url without padding; the caller frees. NULL: the name is too long. */
char *page_token_write(const struct page_key *key, const char *bound_to, size_t bound_length,
		       const struct page_mark *mark);
/* Reads a token. INVALID_ARGUMENT on field page_token: it was not made by page_token_write() with the same key and
 * binding. */
enum status page_token_read(const struct page_key *key, const char *bound_to, size_t bound_length,
			    const char *token, struct page_mark *ret_mark, struct error *err);
