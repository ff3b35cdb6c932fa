/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/range.h: the bytes that a request wants (Range) or brings (Content-Range). Pure.
 * Source: RFC 9110 section 14; https://cloud.google.com/storage/docs/performing-resumable-uploads (read 2026-11-20) */
#include <stdbool.h>
#include <stdint.h>

enum range_outcome {
	RANGE_WHOLE, /* no Range, or one that is ignored: malformed, or of several parts */
	RANGE_PART,
	RANGE_UNSATISFIABLE /* 416 */
};

struct byte_range {
	int64_t first, length;
};

/* @header "" if absent. *ret_range: what to send; nothing if RANGE_UNSATISFIABLE. */
enum range_outcome range_choose(const char *header, int64_t size_bytes, struct byte_range *ret_range);

/* The parts of "bytes FIRST-LAST/TOTAL"; LAST, TOTAL and the whole of FIRST-LAST may each be a star. */
struct content_range {
	bool brings_bytes; /* false: it asks what has arrived, or says that no more will come */
	int64_t first;
	int64_t last;  /* -1: not given; the request's body decides */
	int64_t total; /* -1: not known yet; if last is -1, the object ends with the request's body */
};

/* False: malformed, or bytes beyond the total. */
bool content_range_parse(const char *value, struct content_range *ret_range);
