/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/range.h: the bytes that a request asks for (Range) or sends (Content-Range). Pure. Source: RFC 9110
 * section 14; https://cloud.google.com/storage/docs/performing-resumable-uploads (read 2026-11-20) */
#include <stdbool.h>
#include <stdint.h>

enum range_outcome {
	RANGE_WHOLE, /* no Range, or an ignored one: malformed, or of several parts */
	RANGE_PART,
	RANGE_UNSATISFIABLE /* 416 */
};

struct byte_range {
	int64_t first, length;
};

/* Chooses the bytes to send. @header: "" if absent. *ret_range is not set if the range is unsatisfiable. */
enum range_outcome range_choose(const char *header, int64_t size_bytes, struct byte_range *ret_range);

/* The parts of "bytes FIRST-LAST/TOTAL"; LAST and TOTAL may be "*", and so may FIRST-LAST as a whole. */
struct content_range {
	bool brings_bytes; /* false: the request asks how many bytes have arrived, or ends the upload */
	int64_t first;
	int64_t last;  /* -1: not given; the length of the body decides */
	int64_t total; /* -1: not known yet; if last is -1, the object ends with the request's body */
};

/* Parses a Content-Range header. False: the header is malformed, or its bytes are beyond the total. */
bool content_range_parse(const char *value, struct content_range *ret_range);
