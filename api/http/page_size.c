/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/http/http.h"
#include "daemon/base/json.h"

enum status page_size_read(const json_t *request, unsigned otherwise, unsigned most, unsigned *ret_size,
			   struct error *err)
{
	int64_t asked = json_int_at(request, "pageSize", 0);

	if (asked < 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "page_size",
				 "The page size must not be negative.");
	*ret_size = asked == 0 ? otherwise : asked > most ? most : (unsigned)asked;
	return STATUS_OK;
}

void page_end_write(struct text *text, const char *next_page_token)
{
	if (next_page_token) {
		text_printf(text, "%s\"nextPageToken\":",
			    text->length && text->data[text->length - 1] == '{' ? "" : ",");
		text_json(text, next_page_token, strlen(next_page_token));
	}
	text_putc(text, '}');
}
