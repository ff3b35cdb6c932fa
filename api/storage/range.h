/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/range.h: which bytes a request wants (Range), and which ones it brings (Content-Range). Pure.
 * Source: RFC 9110 section 14; https://cloud.google.com/storage/docs/performing-resumable-uploads (read 2026-11-20) */
#include <stdbool.h>
#include <stdint.h>

enum range_outcome {
	RANGE_WHOLE, /* none is given, or one that is passed over: malformed, or of several parts */
	RANGE_PART,
	RANGE_UNSATISFIABLE /* 416 */
};

struct byte_range {
	int64_t first, length;
};

/* @header "" when absent. *ret_range is what to send: with RANGE_UNSATISFIABLE nothing. */
enum range_outcome range_choose(const char *header, int64_t size_bytes, struct byte_range *ret_range);

/* Of "bytes FIRST-LAST/TOTAL"; LAST, TOTAL and the whole of FIRST-LAST may be a star each. */
struct content_range {
	bool brings_bytes; /* false: it asks what has arrived, or says that nothing more will */
	int64_t first;
	int64_t last;  /* -1: whatever the request brings */
	int64_t total; /* -1: not known yet; with last -1 the request's end is the object's, too */
};

/* False when it is malformed, or its bytes lie beyond its total. */
bool content_range_parse(const char *value, struct content_range *ret_range);
