/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/part_claims.h: parses the document that completes an upload in parts, while it arrives. Pure. Unknown
 * elements are ignored, a document type is refused, so there are no entities to expand.
 * Source: https://cloud.google.com/storage/docs/xml-api/post-object-complete (read 2026-11-22) */
#include <stddef.h>

#include "daemon/base/cleanup.h"
#include "store/objects/assemblies.h"

enum { PART_CLAIMS_MOST_BYTES = 1 << 20 };

struct part_claims;

/* Returns NULL if there is no memory for expat's parser. */
struct part_claims *part_claims_new(void);
void part_claims_free(struct part_claims *claims);
DEFINE_AUTO(part_claims, struct part_claims *, part_claims_free)

/* Parses the next bytes. INVALID_ARGUMENT: MalformedXML, as in store/objects/assemblies.h. Make no further call
 * after a failure. */
enum status part_claims_receive(struct part_claims *claims, const char *data, size_t length,
				struct error *err);
/* Ends the document. *ret_list has the parts in the document's order, and belongs to @claims. */
enum status part_claims_finish(struct part_claims *claims, const struct part_claim **ret_list,
			       size_t *ret_count, struct error *err);
