/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/http_date.h: dates in headers: "Sun, 06 Nov 1994 08:49:37 GMT". Pure. Source: RFC 9110 section 5.6.7 */
#include <stdbool.h>
#include <stdint.h>

enum { HTTP_DATE_SIZE = 32 };
/* Writes the date; "" for a year after 9999. */
void http_date_write(int64_t wall_us, char ret_date[HTTP_DATE_SIZE]);
/* Reads a date in the form above, which all clients send. False: another form. */
bool http_date_read(const char *date, int64_t *ret_wall_s);
