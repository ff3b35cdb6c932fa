/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/uploads.h: shared by uploads and sessions. */
#include "store/objects/live_sessions.h"
#include "store/objects/object_rows.h"
#include "store/objects/objects_parts.h"

/* A target with its own copies. */
struct upload_target {
	char *bucket, *name;
	struct conditions conditions;
	char *content_type; /* NULL: none */
	char *metadata;     /* JSON */
	bool expects_crc32c, expects_md5;
	uint32_t crc32c;
	unsigned char md5[16];
};
void upload_target_deinit(struct upload_target *wanted);
void upload_target_copy(const struct object_target *target, struct upload_target *ret_wanted);
/* Whether an upload could become this object now: name, bucket (made if allowed, and if nothing else is wrong),
 * conditions. */
enum status upload_target_check(struct objects *objects, const struct object_target *target,
				struct error *err);
/* Checks the conditions alone. NOT_FOUND: there is no such bucket. */
enum status target_look(struct objects *objects, const struct object_target *target, struct error *err);

/* Compares the checksum with the wanted one. INVALID_ARGUMENT with Cloud Storage's text: they differ. */
enum status crc32c_check(const struct upload_target *wanted, uint32_t crc32c, struct error *err);

/* The checksums of an upload with a writer of its own, when it has all bytes. INVALID_ARGUMENT as above. */
enum status upload_sums(struct upload *upload, struct checksums *ret_sums, struct error *err);

struct upload {
	struct objects *objects;
	struct upload_target wanted;
	struct blob_writer own;       /* used unless it is a session's */
	struct live_session *session; /* NULL: none */
	uint64_t turn;
	int64_t position;               /* of the next byte */
	char assembly[SESSION_ID_SIZE]; /* a part's; "": none */
	unsigned part_number;
	bool finished;
	struct error failure; /* of an earlier call; the upload can no longer be used */
};
