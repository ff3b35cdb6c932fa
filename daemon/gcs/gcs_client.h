/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_client.h: sends changes of files to the daemon: Cloud Storage's JSON API over the daemon's own socket
 * (gcs_endpoint.h).
 *
 * While no daemon runs, or the daemon is ending, a call waits for the next daemon and is repeated, which is safe for
 * all calls. A call that gets no answer, or a temporary error, is repeated as well, after growing pauses. While the
 * calling container has no network, the call waits for the network. gcs_wait.h lists the limits. Thread: any.
 * Results are 0 or a negative errno. */
#include <stdbool.h>
#include <stdint.h>

struct gcs_call;
struct gcs_client;

/* Makes a client. @state_fd: the state directory, borrowed. Returns NULL if libcurl cannot be used. */
struct gcs_client *gcs_client_new(int state_fd, unsigned patience_s);
void gcs_client_free(struct gcs_client *client);

/* The client's waits. */
struct gcs_waits *gcs_client_waits(struct gcs_client *client);

/* The contents of an object. */
struct gcs_content {
	int fd; /* the contents are its first size_bytes; -1 with size_bytes 0: empty */
	int64_t size_bytes;
	const char *key, *value; /* of the object's custom metadata; NULL: none */
};
/* Makes or replaces an object. EINVAL: @content->value is not UTF-8. */
int gcs_upload(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	       const struct gcs_content *content, int64_t *ret_generation);
/* Sets one key of the object's custom metadata. ENOENT: there is no such object; EBUSY: the object has another
 * generation than @generation (0: any). */
int gcs_note(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	     const char *key, const char *value, int64_t generation);
/* Deletes an object. ENOENT: there is no such object; EBUSY: it has another generation than @generation (0: any). In
 * a repeated call, a missing object counts as deleted. */
int gcs_delete(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	       int64_t generation);
int gcs_copy(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	     const char *to_bucket, const char *to_object);

/* Reads go to the store, not to the daemon. While there are fault rules (gcs_endpoint.h), these calls ask the daemon
 * before an object or a directory is opened, so that rules about storage.objects.get and storage.objects.list can
 * apply. Without a daemon, they succeed. */
int gcs_ask_object(struct gcs_client *client, const struct gcs_call *call, const char *bucket,
		   const char *object);
int gcs_ask_list(struct gcs_client *client, const struct gcs_call *call, const char *bucket);
