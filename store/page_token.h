/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/page_token.h: where a page ended, as an opaque text that only this state directory can make.
 *
 * A token is bound to a text that says what is being paged (the query and its filter); with another
 * one, or after a change of a single bit, it is refused. Pure. Thread: any. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct page_key {
	unsigned char bytes[32];
};

enum { PAGE_NUMBERS = 4, PAGE_NAME_MAX = 1024 };

/* The place after which the next page begins. */
struct page_mark {
	int64_t numbers[PAGE_NUMBERS];
	char name[PAGE_NAME_MAX]; /* "" when the place is told by numbers alone */
};

/* base64url without padding; the caller frees, NULL when the name is too long. */
char *page_token_write(const struct page_key *key, const char *bound_to, size_t bound_length,
		       const struct page_mark *mark);
/* INVALID_ARGUMENT on field page_token for what page_token_write() did not make with the same key and binding. */
enum status page_token_read(const struct page_key *key, const char *bound_to, size_t bound_length,
			    const char *token, struct page_mark *ret_mark, struct error *err);
