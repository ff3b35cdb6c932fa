/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/metadata/page.h: the error pages of Google's front ends: HTML with one sentence. Pure. Thread: any.
 * Source: the sentences as they are quoted in https://cloud.google.com/compute/docs/metadata/querying-metadata and in
 * transcripts of real servers (read 2026-11-22); the page around them is ours. */
#include "api/http/http.h"
#include "daemon/base/text.h"

extern const char page_media_type[];

/* Appends the requested path, such as "/computeMetadata/v1/instance". */
void page_path_write(const struct call *call, struct text *path);
/* Appends @plain with all markup escaped. */
void page_text_write(struct text *page, const char *plain);
/* Appends an error page. @sentence is HTML. */
void page_write(struct text *page, unsigned http_status, const char *sentence);
