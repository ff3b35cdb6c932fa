/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/parts.h: what the methods of this room share: the caller's project, conditions, resources, errors.
 * Handlers are called as the API calls its methods (objects.list: objects_list), the store's functions in the
 * singular. Thread: any, for every function here. */
#include <stdbool.h>
#include <stdint.h>

#include "api/http/http.h"
#include "store/objects/objects.h"

struct storage_context;

/* ---- the caller ---- */

/* Every handler, and every begin of a row that has one, asks this first. Our own access tokens must be good, and of
 * this gateway's job; other tokens and none at all are let in: an emulator has no one to ask about them.
 * UNAUTHENTICATED. */
enum status caller_admit(const struct call *call, struct error *err);

/* ---- conditions ---- */

/* ifGenerationMatch, ifGenerationNotMatch, ifMetagenerationMatch, ifMetagenerationNotMatch of call->query. */
struct conditions conditions_read(const struct call *call);
/* ifSourceGenerationMatch … */
struct conditions source_conditions_read(const struct call *call);
/* The parameter generation, or sourceGeneration; 0: the live one. */
int64_t generation_read(const struct call *call, const char *parameter);

/* What a reader's conditions come to. FAILED_PRECONDITION (412), or STATUS_OK with *ret_unchanged: the handler leaves
 * at once, for the answer is a 304, which call->http_status says already. */
enum status conditions_answer(struct call *call, const struct conditions *conditions,
			      const struct object *object, bool *ret_unchanged, struct error *err);

/* ---- buckets ---- */

/* What all uploads ask before they begin: NOT_FOUND "The specified bucket does not exist." unless it is there, or is
 * made now because buckets appear on first use. INVALID_ARGUMENT: no name of a bucket. */
enum status bucket_require(const struct call *call, const char *bucket, struct error *err);

/* ---- what a client says of an object ---- */

/* The Object resource of a request's body, as far as clients may write it. */
struct object_form {
	char *name;         /* NULL: not said */
	char *content_type; /* NULL: not said */
	json_t *metadata;   /* the other members that are kept, as struct object has them; never NULL */
	bool expects_crc32c, expects_md5;
	uint32_t crc32c;
	unsigned char md5[16];
};
#define AUTO_OBJECT_FORM __attribute__((cleanup(object_form_deinit)))
void object_form_deinit(struct object_form *form);

/* Of an upload: zero bytes are {}. Members that no client may write, and unknown ones, are passed over.
 * INVALID_ARGUMENT: no JSON, wrong types, more than 8 KiB of custom metadata, a checksum that is none. */
enum status object_form_parse(const char *data, size_t length, struct object_form *ret_form,
			      struct error *err);
/* The same of JSON already read (a member "destination"); NULL is {}. */
enum status object_form_read(const json_t *resource, struct object_form *ret_form, struct error *err);
/* 4 KiB at most of what the bytes are served with: the content type, Cache-Control … INVALID_ARGUMENT. */
enum status headers_size_check(const json_t *resource, const char *content_type, struct error *err);
/* Its parts as a target's; bucket, name and conditions stay as they are. Borrowed from @form. */
void object_form_target(const struct object_form *form, struct object_target *target);
/* The same without what is expected of the bytes: gcloud describes what it composes by its first source, checksums
 * and all. */
void object_form_metadata(const struct object_form *form, struct object_target *target);

/* Base64 of 4 bytes, big-endian, as crc32c travels; of 16 as md5Hash does. False when it is none. */
bool crc32c_decode(const char *text, uint32_t *ret_crc32c);
bool md5_decode(const char *text, unsigned char ret_md5[16]);
enum { CRC32C_TEXT_SIZE = 9, MD5_TEXT_SIZE = 25 };
void crc32c_encode(uint32_t crc32c, char ret_text[CRC32C_TEXT_SIZE]);
void md5_encode(const unsigned char md5[16], char ret_text[MD5_TEXT_SIZE]);

/* ---- resources ---- */

/* Appends the Object resource. Its links lead to the host that the request was sent to. */
void object_write(struct text *text, const struct call *call, const struct object *object);
/* The same as the whole answer. */
enum status object_answer(struct call *call, const struct object *object, struct error *err);
void bucket_write(struct text *text, const struct call *call, const struct bucket *bucket);
/* "CJDk…=": tells generations and metagenerations apart, nothing more. In JSON and in the ETag header. */
enum { ETAG_SIZE = 36 };
void object_etag(const struct object *object, char ret_etag[ETAG_SIZE]);

/* ---- errors ---- */

/* What stands in errors[]: @reason ("required"), and the parameter at fault, or NULL. INVALID_ARGUMENT. */
enum status error_parameter(struct error *err, const char *reason, const char *parameter, const char *format,
			    ...) __attribute__((format(printf, 4, 5)));

/* ---- methods in routes.c that move bytes: upload*, download*, batch* ---- */

enum status objects_insert_begin(struct call *call,
				 struct error *err); /* POST /upload/…/o, /resumable/upload/…/o */
enum status objects_insert(struct call *call, struct error *err);
enum status objects_resume_begin(struct call *call, struct error *err); /* PUT there, with upload_id */
enum status objects_resume(struct call *call, struct error *err);
enum status objects_resume_cancel(struct call *call, struct error *err); /* DELETE there */
/* GET /download/…/o/{object}; and what objects_get does with alt=media, after caller_admit(). */
enum status objects_media_get(struct call *call, struct error *err);
enum status batch_run(struct call *call, struct error *err); /* POST /batch/storage/v1, /batch */

/* Their queries, in messages_object.c. */
extern const struct message
	storage_object_insert_query; /* name, uploadType, upload_id, contentEncoding, if… */
extern const struct message storage_object_get_query; /* alt, generation, projection, if… */
