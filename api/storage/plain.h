/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/plain.h: the plain paths "/BUCKET/OBJECT" of the XML API, used by signed URLs, public links and older
 * tools. Conditions are headers, errors are XML.
 * Source: https://cloud.google.com/storage/docs/xml-api/reference-methods (read 2026-11-20) */
#include "api/storage/parts.h"

enum status plain_object_get(struct call *call, struct error *err);
enum status plain_object_put_begin(struct call *call, struct error *err);
enum status plain_object_put(struct call *call, struct error *err);
enum status plain_object_post_begin(struct call *call, struct error *err);
enum status plain_object_post(struct call *call, struct error *err);
enum status plain_object_delete(struct call *call, struct error *err);
enum status plain_bucket_get(struct call *call, struct error *err);
enum status plain_bucket_head(struct call *call, struct error *err);

/* Uploads in parts; the handlers of plain paths call these functions. */
enum status plain_assembly_begin(struct call *call, struct error *err); /* POST ?uploads */
enum status plain_assembly(struct call *call, struct error *err);
enum status plain_part_begin(struct call *call, struct error *err); /* PUT ?partNumber&uploadId */
enum status plain_part(struct call *call, struct error *err);
enum status plain_assembly_end_begin(struct call *call, struct error *err); /* POST ?uploadId */
enum status plain_assembly_end(struct call *call, struct error *err);
enum status plain_assembly_cancel(struct call *call, struct error *err); /* DELETE ?uploadId */
enum status plain_part_list(struct call *call, struct error *err);       /* GET ?uploadId */
enum status plain_assembly_list(struct call *call, struct error *err);   /* GET of a bucket ?uploads */

/* True if a plain path was requested at an address that serves several APIs, but not the XML API. */
bool plain_is_elsewhere(const struct call *call);

struct upload_form;
/* Reads the path and headers of a request that writes an object. */
enum status plain_target_read(const struct call *call, struct upload_form *form, struct error *err);

/* Reads x-goog-if-generation-match and x-goog-if-metageneration-match. INVALID_ARGUMENT: not numbers. */
enum status plain_conditions_read(const struct call *call, struct conditions *ret_conditions,
				  struct error *err);
