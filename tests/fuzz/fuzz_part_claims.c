/* SPDX-License-Identifier: Apache-2.0 */
/* The document that ends an upload in parts: whole and in pieces it must come to the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/storage/part_claims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static enum status claims_read(struct part_claims *claims, const char *data, size_t length, size_t piece,
			       const struct part_claim **ret_list, size_t *ret_count)
{
	enum status rc = STATUS_OK;

	for (size_t at = 0; !rc && at < length; at += piece)
		rc = part_claims_receive(claims, data + at, length - at < piece ? length - at : piece, NULL);
	return rc ? rc : part_claims_finish(claims, ret_list, ret_count, NULL);
}

static void claims_check(const struct part_claim *list, size_t count)
{
	require(count > 0 && count <= PART_NUMBER_MOST);
	for (size_t i = 0; i < count; i++)
		require(list[i].number >= 1 && list[i].number <= PART_NUMBER_MOST);
}

static void pieces_check(const char *data, size_t size, size_t piece)
{
	AUTO(part_claims) struct part_claims *whole = part_claims_new();
	AUTO(part_claims) struct part_claims *cut = part_claims_new();
	const struct part_claim *list, *other;
	size_t count, other_count;

	if (!whole || !cut)
		return;
	enum status rc = claims_read(whole, data, size, size + 1, &list, &count);

	require(claims_read(cut, data, size, piece, &other, &other_count) == rc);
	if (rc)
		return;
	claims_check(list, count);
	require(count == other_count);
	for (size_t i = 0; i < count; i++)
		require(list[i].number == other[i].number && list[i].has_md5 == other[i].has_md5 &&
			memcmp(list[i].md5, other[i].md5, sizeof(list[i].md5)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = size ? (const char *)data : "";

	pieces_check(text, size, 1);
	pieces_check(text, size, 7);
	return 0;
}
