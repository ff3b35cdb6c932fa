/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/parts.h: shared by the methods in this directory: the caller's project, conditions, resources, errors.
 * Handlers are named like the API's methods, in the plural (objects_list for objects.list); functions of the store are
 * in the singular (object_get).
 * Thread: any, for every function here. */
#include <stdbool.h>
#include <stdint.h>

#include "api/http/http.h"
#include "store/objects/objects.h"

struct storage_context;

/* ---- the caller ---- */

/* Call first in every handler, or in the begin() of a row that has one. An access token of trainyard must be valid,
 * and of the gateway's job; other tokens, or none, are accepted, because an emulator cannot verify them.
 * UNAUTHENTICATED. */
enum status caller_admit(const struct call *call, struct error *err);

/* ---- conditions ---- */

/* Returns the number in the member @name of @given, an object or NULL; -1: there is none. */
int64_t condition_of(const json_t *given, const char *name);
/* Reads ifGenerationMatch, ifGenerationNotMatch, ifMetagenerationMatch and ifMetagenerationNotMatch of call->query. */
struct conditions conditions_read(const struct call *call);
/* ifSourceGenerationMatch … */
struct conditions source_conditions_read(const struct call *call);
/* Reads the query parameter generation or sourceGeneration; 0: the live generation. */
int64_t generation_read(const struct call *call, const char *parameter);

/* Checks the conditions of a read. FAILED_PRECONDITION (412), or STATUS_OK with *ret_unchanged: the answer is 304,
 * call->http_status is set, and the handler must return. */
enum status conditions_answer(struct call *call, const struct conditions *conditions,
			      const struct object *object, bool *ret_unchanged, struct error *err);

/* ---- buckets ---- */

/* Call first in all writes, because a write may make its bucket. INVALID_ARGUMENT: the name is invalid. */
enum status bucket_name_check(const char *name, struct error *err);

/* ---- an object's resource from a client ---- */

/* The members of an Object resource in a request's body that clients may write. */
struct object_form {
	char *name;         /* NULL: not said */
	char *content_type; /* NULL: not said */
	json_t *metadata;   /* the other members to store, as JSON: see metadata in struct object; never NULL */
	bool expects_crc32c, expects_md5;
	uint32_t crc32c;
	unsigned char md5[16];
};
#define AUTO_OBJECT_FORM __attribute__((cleanup(object_form_deinit)))
void object_form_deinit(struct object_form *form);

/* Parses the resource of an upload; no bytes count as {}. Members that clients cannot write, and unknown ones, are
 * ignored. INVALID_ARGUMENT: not JSON, wrong types, more than 8 KiB of custom metadata, an invalid checksum. */
enum status object_form_parse(const char *data, size_t length, struct object_form *ret_form,
			      struct error *err);
/* As object_form_parse(), from parsed JSON (the member "destination" of a body); NULL counts as {}. */
enum status object_form_read(const json_t *resource, struct object_form *ret_form, struct error *err);
/* Limits the members that become headers of downloads (content type, Cache-Control …) to 4 KiB. INVALID_ARGUMENT. */
enum status headers_size_check(const json_t *resource, const char *content_type, struct error *err);
/* Copies the form's members to an upload's target, which borrows from @form; bucket, name and conditions are not
 * changed. */
void object_form_target(const struct object_form *form, struct object_target *target);
/* As object_form_target(), without the expected checksums: gcloud describes a composed object by its first source,
 * including the source's checksums. */
void object_form_metadata(const struct object_form *form, struct object_target *target);

/* Decode base64: of 4 bytes, big-endian, for crc32c; of 16 bytes for md5Hash. False: the text is not of that form. */
bool crc32c_decode(const char *text, uint32_t *ret_crc32c);
bool md5_decode(const char *text, unsigned char ret_md5[16]);
enum { CRC32C_TEXT_SIZE = 9, MD5_TEXT_SIZE = 25 };
void crc32c_encode(uint32_t crc32c, char ret_text[CRC32C_TEXT_SIZE]);
void md5_encode(const unsigned char md5[16], char ret_text[MD5_TEXT_SIZE]);

/* ---- resources ---- */

/* Appends the Object resource; its links contain the host of the request. */
void object_write(struct text *text, const struct call *call, const struct object *object);
/* Makes the Object resource the whole answer. */
enum status object_answer(struct call *call, const struct object *object, struct error *err);
void bucket_write(struct text *text, const struct call *call, const struct bucket *bucket);
/* Size of an etag like "CJDk…=", which encodes generation and metageneration; in JSON and in the ETag header. */
enum { ETAG_SIZE = 36 };
void object_etag(const struct object *object, char ret_etag[ETAG_SIZE]);

/* ---- errors ---- */

/* Sets errors[]: @reason ("required"), and the wrong parameter, or NULL. INVALID_ARGUMENT. */
enum status error_parameter(struct error *err, const char *reason, const char *parameter, const char *format,
			    ...) __attribute__((format(printf, 4, 5)));

/* True if the error's reason is a code of the XML API ("NoSuchKey"), which the JSON API does not show. Reasons of
 * the JSON API begin with a lowercase letter. */
bool storage_error_has_code(const struct error *err);

/* ---- methods of routes.c that transfer bytes: upload*, download*, batch* ---- */

enum status objects_insert_begin(struct call *call,
				 struct error *err); /* POST /upload/…/o, /resumable/upload/…/o */
enum status objects_insert(struct call *call, struct error *err);
enum status objects_resume_begin(struct call *call, struct error *err); /* PUT there, with upload_id */
enum status objects_resume(struct call *call, struct error *err);
enum status objects_resume_cancel(struct call *call, struct error *err); /* DELETE there */
/* GET /download/…/o/{object}; also for objects_get with alt=media, after caller_admit(). */
enum status objects_media_get(struct call *call, struct error *err);
enum status batch_run(struct call *call, struct error *err); /* POST /batch/storage/v1, /batch */

/* The messages of the queries, in messages_object.c. */
extern const struct message
	storage_object_insert_query; /* name, uploadType, upload_id, contentEncoding, if… */
extern const struct message storage_object_get_query; /* alt, generation, projection, if… */
