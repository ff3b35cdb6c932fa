/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/metadata/page.h: what Google's front ends show for an error: a page with one sentence. Pure. Thread: any.
 * Source: the sentences as they are quoted in https://cloud.google.com/compute/docs/metadata/querying-metadata and in
 * transcripts of real servers (read 2026-11-22); the page around them is ours. */
#include "api/http/http.h"
#include "daemon/base/text.h"

extern const char page_media_type[];

/* "/computeMetadata/v1/instance": the path that was asked for. */
void page_path_write(const struct call *call, struct text *path);
/* Appends @plain so that no part of it is taken for markup. */
void page_text_write(struct text *page, const char *plain);
/* Appends a page. @sentence is markup already. */
void page_write(struct text *page, unsigned http_status, const char *sentence);
