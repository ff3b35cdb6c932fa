/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/uploads.h: what uploads and sessions share. */
#include "store/objects/object_rows.h"
#include "store/objects/objects_parts.h"
#include "store/objects/sink.h"

/* A target of one's own. */
struct wish {
	char *bucket, *name;
	struct conditions conditions;
	char *content_type; /* NULL: none */
	char *metadata;     /* JSON */
	bool expects_crc32c, expects_md5;
	uint32_t crc32c;
	unsigned char md5[16];
};
void wish_deinit(struct wish *wish);
enum status wish_copy(const struct object_target *target, struct wish *ret_wish, struct error *err);
/* Whether an upload could become this object, as things are: name, bucket (made when it may be), conditions. */
enum status wish_check(struct objects *objects, const struct object_target *target, struct error *err);

/* INVALID_ARGUMENT in Cloud Storage's words when the bytes are not what was said. */
enum status crc32c_check(const struct wish *wish, uint32_t crc32c, struct error *err);

/* Of an upload with a sink of its own whose bytes are complete: what they come to. INVALID_ARGUMENT as above. */
enum status upload_sums(struct upload *upload, struct checksums *ret_sums, struct error *err);

/* A session that this process has written to. */
struct live_session {
	struct live_session *next;
	char id[SESSION_ID_SIZE];
	unsigned references; /* under the lock of the objects */
	bool ended;          /* likewise: no longer in the list, freed with the last reference */
	int64_t created_us;
	pthread_mutex_t lock; /* of all below */
	uint64_t turn;        /* whose upload may write: the last one that was begun */
	bool is_known;        /* the sink is set up */
	bool has_object;      /* the file is an object's now */
	struct sink sink;
};

struct upload {
	struct objects *objects;
	struct wish wish;
	struct sink own;              /* unless it is a session's */
	struct live_session *session; /* NULL: none */
	uint64_t turn;
	int64_t position;               /* of the next byte that will be given */
	char assembly[SESSION_ID_SIZE]; /* a part's; "": none */
	unsigned part_number;
	bool finished;
	struct error failure; /* of an earlier call: nothing more can be done */
};

/* Ends the session: its row was deleted, or answered. */
void live_session_end(struct objects *objects, struct live_session *session);
/* Gives a reference back. */
void live_session_leave(struct objects *objects, struct live_session *session);

/* Inside a change: the session has become this object. ABORTED: it was deleted or has ended otherwise. */
enum status session_row_answer(struct connection *connection, const char *id, const struct object *object,
			       struct error *err);
