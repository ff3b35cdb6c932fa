/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/part_claims.h"

#include <expat.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

/* The depths of elements. Unknown elements, which are ignored, may be deeper than DEPTH_PART_MEMBER. */
enum { DEPTH_DOCUMENT = 1, DEPTH_PART, DEPTH_PART_MEMBER, DEPTH_MOST = 16 };
enum { VALUE_SIZE = 64 };

enum member { MEMBER_NONE, MEMBER_NUMBER, MEMBER_ETAG };

struct part_claims {
	XML_Parser parser;
	size_t came_bytes;
	unsigned depth;
	bool in_part, has_number, has_etag;
	enum member member; /* the member that is being read */
	char value[VALUE_SIZE];
	size_t value_length; /* VALUE_SIZE: it is too long */
	struct part_claim *list;
	size_t count, room;
	bool no_memory;
	const char *fault; /* a fault of the document that the XML parser does not find itself */
};

/* expat reports the name of an element as "namespace SEPARATOR name", and refuses namespaces that contain
 * SEPARATOR. */
enum { SEPARATOR = '\n' };

static const char *local_name(const char *name)
{
	const char *end = strrchr(name, SEPARATOR);

	return end ? end + 1 : name;
}

static void stop(struct part_claims *claims, const char *fault)
{
	if (!claims->fault)
		claims->fault = fault;
	XML_StopParser(claims->parser, XML_FALSE);
}

static void on_doctype(void *arg, const char *name, const char *system_id, const char *public_id,
		       int has_internal)
{
	(void)name, (void)system_id, (void)public_id, (void)has_internal;
	stop(arg, "A document type is not allowed.");
}

static bool claim_add(struct part_claims *claims)
{
	const size_t room = claims->room ? 2 * claims->room : 16;
	struct part_claim *list = claims->list;

	if (claims->count == PART_NUMBER_MOST) {
		stop(claims, "There are more than 10000 parts.");
		return false;
	}
	if (claims->count == claims->room) {
		claims->list = list = memory_resize(list, room, sizeof(*list));
		claims->room = room;
	}
	list[claims->count++] = (struct part_claim){ .number = 0 };
	return true;
}

static void part_start(struct part_claims *claims, const char *name)
{
	if (strcmp(name, "Part") != 0)
		return;
	claims->in_part = claim_add(claims);
	claims->has_number = claims->has_etag = false;
}

static void member_start(struct part_claims *claims, const char *name)
{
	if (strcmp(name, "PartNumber") == 0)
		claims->member = MEMBER_NUMBER;
	else if (strcmp(name, "ETag") == 0)
		claims->member = MEMBER_ETAG;
	claims->value_length = 0;
}

static void on_start(void *arg, const char *qualified, const char **attributes)
{
	struct part_claims *claims = arg;
	const char *name = local_name(qualified);

	(void)attributes;
	claims->depth++;
	if (claims->depth > DEPTH_MOST)
		stop(claims, "Elements are nested too deeply.");
	else if (claims->depth == DEPTH_DOCUMENT && strcmp(name, "CompleteMultipartUpload") != 0)
		stop(claims, "The document is no CompleteMultipartUpload.");
	else if (claims->depth == DEPTH_PART)
		part_start(claims, name);
	else if (claims->depth == DEPTH_PART_MEMBER && claims->in_part)
		member_start(claims, name);
}

static void on_text(void *arg, const char *text, int length)
{
	struct part_claims *claims = arg;

	if (claims->member == MEMBER_NONE || claims->depth != DEPTH_PART_MEMBER)
		return;
	if ((size_t)length >= VALUE_SIZE - claims->value_length) {
		claims->value_length = VALUE_SIZE;
		return;
	}
	memcpy(claims->value + claims->value_length, text, (size_t)length);
	claims->value_length += (size_t)length;
}

/* The value without space around it; NULL: it is too long, or has a NUL. */
static char *value_end(struct part_claims *claims)
{
	char *begin = claims->value;
	char *end = begin + claims->value_length;

	if (claims->value_length == VALUE_SIZE)
		return NULL;
	while (begin < end && strchr(" \t\r\n", *begin))
		begin++;
	while (end > begin && strchr(" \t\r\n", end[-1]))
		end--;
	*end = '\0';
	return begin;
}

static void number_take(struct part_claims *claims, struct part_claim *claim)
{
	const char *value = value_end(claims);
	const long number =
		value && *value && strlen(value) <= 5 && strspn(value, "0123456789") == strlen(value)
			? strtol(value, NULL, 10)
			: 0;

	if (number < 1 || number > PART_NUMBER_MOST || claims->has_number) {
		stop(claims, "A PartNumber must be an integer between 1 and 10000, inclusive.");
		return;
	}
	claims->has_number = true;
	claim->number = (unsigned)number;
}

/* Reads an ETag, with or without quotes. A text that is not an MD5 cannot match a part, which is reported when the
 * part is looked up. */
static void etag_take(struct part_claims *claims, struct part_claim *claim)
{
	char *value = value_end(claims);
	size_t length = value ? strlen(value) : 0;
	size_t decoded = 0;

	if (length >= 2 && value[0] == '"' && value[length - 1] == '"') {
		value++;
		length -= 2;
	}
	claims->has_etag = true;
	claim->has_md5 =
		length == 2 * sizeof(claim->md5) &&
		sodium_hex2bin(claim->md5, sizeof(claim->md5), value, length, NULL, &decoded, NULL) == 0 &&
		decoded == sizeof(claim->md5);
}

static void member_end(struct part_claims *claims)
{
	struct part_claim *claim = &claims->list[claims->count - 1];

	if (claims->member == MEMBER_NUMBER)
		number_take(claims, claim);
	else if (claims->member == MEMBER_ETAG)
		etag_take(claims, claim);
	claims->member = MEMBER_NONE;
}

static void on_end(void *arg, const char *name)
{
	struct part_claims *claims = arg;

	(void)name;
	if (claims->depth == DEPTH_PART_MEMBER && claims->in_part) {
		member_end(claims);
	} else if (claims->depth == DEPTH_PART && claims->in_part) {
		claims->in_part = false;
		if (!claims->has_number || !claims->has_etag)
			stop(claims, "A Part has a PartNumber and an ETag.");
	}
	claims->depth--;
}

struct part_claims *part_claims_new(void)
{
	AUTO(part_claims) struct part_claims *claims = memory_calloc(1, sizeof(*claims));

	claims->parser = XML_ParserCreateNS(NULL, SEPARATOR);
	if (!claims->parser)
		return NULL;
	XML_SetUserData(claims->parser, claims);
	XML_SetElementHandler(claims->parser, on_start, on_end);
	XML_SetCharacterDataHandler(claims->parser, on_text);
	XML_SetStartDoctypeDeclHandler(claims->parser, on_doctype);
	return TAKE(claims);
}

void part_claims_free(struct part_claims *claims)
{
	if (!claims)
		return;
	if (claims->parser)
		XML_ParserFree(claims->parser);
	free(claims->list);
	free(claims);
}

static enum status malformed(struct error *err, const char *details)
{
	error_set(
		err, STATUS_INVALID_ARGUMENT, NULL,
		"The XML you provided was not well-formed or did not validate against our published schema.");
	error_add_reason(err, "MalformedXML", "details", details);
	return STATUS_INVALID_ARGUMENT;
}

static enum status piece_parse(struct part_claims *claims, const char *data, size_t length, bool is_last,
			       struct error *err)
{
	if (XML_Parse(claims->parser, data, (int)length, is_last) == XML_STATUS_OK)
		return STATUS_OK;
	if (XML_GetErrorCode(claims->parser) == XML_ERROR_NO_MEMORY)
		return error_no_memory(err);
	return malformed(err,
			 claims->fault ? claims->fault : XML_ErrorString(XML_GetErrorCode(claims->parser)));
}

enum status part_claims_receive(struct part_claims *claims, const char *data, size_t length,
				struct error *err)
{
	if (length > PART_CLAIMS_MOST_BYTES - claims->came_bytes)
		return malformed(err, "The document is longer than 1 MiB.");
	claims->came_bytes += length;
	return piece_parse(claims, data, length, false, err);
}

enum status part_claims_finish(struct part_claims *claims, const struct part_claim **ret_list,
			       size_t *ret_count, struct error *err)
{
	enum status rc = piece_parse(claims, "", 0, true, err);

	if (!rc && claims->count == 0)
		rc = malformed(err, "There is no part.");
	if (rc)
		return rc;
	*ret_list = claims->list;
	*ret_count = claims->count;
	return STATUS_OK;
}
