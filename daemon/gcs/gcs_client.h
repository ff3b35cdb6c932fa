/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_client.h: the changes that the file system asks the daemon for: Cloud Storage's JSON API over the
 * daemon's own socket (gcs_endpoint.h).
 *
 * While no daemon is there, or it is about to end, a call waits for the next one and is repeated; all of them may be
 * repeated safely. One that is answered with an error that passes, or not at all, is repeated as well, after pauses that
 * grow; and while the container that asks has no network, it waits for that. How long, and how many: gcs_wait.h.
 * Thread: any. Results are 0 or a negative errno. */
#include <stdbool.h>
#include <stdint.h>

struct gcs_call;
struct gcs_client;

/* @state_fd: the state directory, borrowed. NULL: libcurl cannot be used. */
struct gcs_client *gcs_client_new(int state_fd, unsigned patience_s);
void gcs_client_free(struct gcs_client *client);

/* All that wait, the client's. */
struct gcs_waits *gcs_client_waits(struct gcs_client *client);

/* What an object is made of. */
struct gcs_content {
	int fd; /* its first size_bytes; -1 and 0: nothing */
	int64_t size_bytes;
	const char *key, *value; /* of the object's custom metadata; NULL: none */
};
/* EINVAL: the value is no UTF-8. */
int gcs_upload(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	       const struct gcs_content *content, int64_t *ret_generation);
/* Sets a key of the custom metadata. ENOENT; EBUSY: it has another generation (0: any). */
int gcs_note(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	     const char *key, const char *value, int64_t generation);
/* ENOENT; EBUSY: it has another generation, where one is given (0: any). One that was repeated takes what is not there for
 * deleted. */
int gcs_delete(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	       int64_t generation);
int gcs_copy(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	     const char *to_bucket, const char *to_object);

/* What is read is read from the store, not from the daemon. Before it is opened, these ask the daemon while there
 * are rules of faults (gcs_endpoint.h), so that calls which rules are about are made: storage.objects.get and
 * storage.objects.list. Without a daemon, reading goes on. */
int gcs_ask_object(struct gcs_client *client, const struct gcs_call *call, const char *bucket,
		   const char *object);
int gcs_ask_list(struct gcs_client *client, const struct gcs_call *call, const char *bucket);
