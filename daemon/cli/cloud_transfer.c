/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/cloud_transfer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "daemon/base/base64.h"
#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/cli/client.h"
#include "daemon/cli/cloud_objects.h"
#include "daemon/cli/terminal.h"
#include "store/objects/hasher.h"

/* A piece of a resumable upload is a multiple of 256 KiB.
 * Source: https://cloud.google.com/storage/docs/performing-resumable-uploads#chunked-upload */
enum {
	PIECE_BYTES = 8 << 20,
	RETRY_MS = 200,
	RETRIES = 6,
	UNPACKED_BYTES = 64 << 10,
	SHOW_US = 100000,
	WINDOW_BITS_GZIP = 15 + 16
};

/* ---- progress ---- */

static void progress_draw(struct cloud_progress *progress)
{
	const int64_t now_us = clock_mono_us(&system_clock);
	const int64_t spent_us = now_us - progress->begun_us;
	struct text line AUTO_TEXT = { 0 };

	if (now_us - progress->shown_us < SHOW_US)
		return;
	progress->shown_us = now_us;
	if (progress->file_count > 1)
		text_printf(&line, "%zu of %zu files, ", progress->files_done, progress->file_count);
	size_append(&line, progress->done_bytes);
	if (progress->total_bytes >= 0) {
		text_puts(&line, " of ");
		size_append(&line, progress->total_bytes);
		if (progress->total_bytes)
			text_printf(
				&line, " (%d%%)",
				(int)(100.0 * (double)progress->done_bytes / (double)progress->total_bytes));
	}
	if (spent_us > 0) {
		text_puts(&line, ", ");
		size_append(&line, (int64_t)((double)progress->done_bytes * 1e6 / (double)spent_us));
		text_puts(&line, "/s");
	}
	progress_show("%s", line.data);
}

void cloud_progress_begin(struct cloud_progress *progress)
{
	progress->begun_us = clock_mono_us(&system_clock);
	progress->shown_us = progress->begun_us;
}

void cloud_progress_end(const struct cloud_progress *progress)
{
	struct text line AUTO_TEXT = { 0 };

	progress_clear();
	if (!terminal_width(stderr) || !progress->files_done)
		return;
	text_printf(&line, "%zu file%s, ", progress->files_done, progress->files_done == 1 ? "" : "s");
	size_append(&line, progress->done_bytes);
	text_puts(&line, " in ");
	duration_append(&line, clock_mono_us(&system_clock) - progress->begun_us);
	fprintf(stderr, "%s%s%s\n", terminal_style(stderr, STYLE_DIM), line.data,
		terminal_style(stderr, STYLE_NONE));
}

static void progress_add(struct cloud_progress *progress, int64_t bytes)
{
	progress->done_bytes += bytes;
	progress_draw(progress);
}

/* ---- checksums ---- */

static void sums_write(const struct hasher *hasher, struct text *crc32c, struct text *md5)
{
	struct checksums sums;
	uint32_t highest_first;

	hasher_sums(hasher, &sums);
	highest_first = htonl(sums.crc32c);
	base64_append(crc32c, &highest_first, sizeof(highest_first), sodium_base64_VARIANT_ORIGINAL);
	base64_append(md5, sums.md5, sizeof(sums.md5), sodium_base64_VARIANT_ORIGINAL);
}

/* Compares the checksums that the daemon reports; NULL: not reported, as the MD5 of composed objects. */
static bool sums_are(const struct hasher *hasher, const char *crc32c, const char *md5)
{
	struct text own_crc32c AUTO_TEXT = { 0 }, own_md5 AUTO_TEXT = { 0 };

	sums_write(hasher, &own_crc32c, &own_md5);
	return (!crc32c || strcmp(crc32c, own_crc32c.data) == 0) && (!md5 || strcmp(md5, own_md5.data) == 0);
}

static enum status loss_set(const char *bucket, const char *object, const char *done, struct error *err)
{
	AUTO(string) char *reported = cloud_url_text(bucket, object);

	return error_set(err, STATUS_DATA_LOSS, NULL,
			 "the checksum of %s is not that of the bytes that were %s", reported, done);
}

/* ---- uploads ---- */

struct upload {
	struct client *client;
	int fd;
	const struct cloud_url *to;
	struct cloud_progress *progress;
	struct hasher hasher;
	char *piece;
	size_t piece_bytes;
	int64_t sent_bytes; /* bytes that the daemon has stored from earlier pieces */
	char *session;      /* the path of the resumable upload; NULL: there is none */
	json_t *object;     /* the resource of the uploaded object */
};

/* Reads the next piece; a piece shorter than PIECE_BYTES is the last one. */
static enum status piece_read(struct upload *upload, struct error *err)
{
	upload->piece_bytes = 0;
	while (upload->piece_bytes < PIECE_BYTES) {
		const ssize_t length = read(upload->fd, upload->piece + upload->piece_bytes,
					    PIECE_BYTES - upload->piece_bytes);

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return error_set(err, STATUS_ABORTED, NULL, "it cannot be read: %s", strerror(errno));
		if (length == 0)
			break;
		hasher_add(&upload->hasher, upload->piece + upload->piece_bytes, (size_t)length);
		upload->piece_bytes += (size_t)length;
	}
	return STATUS_OK;
}

static char *hash_header(const struct upload *upload)
{
	struct text crc32c AUTO_TEXT = { 0 }, md5 AUTO_TEXT = { 0 };

	sums_write(&upload->hasher, &crc32c, &md5);
	return memory_printf("X-Goog-Hash: crc32c=%s,md5=%s", crc32c.data, md5.data);
}

static enum status small_send(struct upload *upload, struct error *err)
{
	AUTO(string) char *hash = hash_header(upload);
	const char *const headers[] = { "Content-Type: application/octet-stream", hash, NULL };
	struct client_response response AUTO_RESPONSE = { 0 };
	struct text path AUTO_TEXT = { 0 };
	enum status rc;

	cloud_path_write(&path, "/upload", upload->to->bucket, NULL);
	text_puts(&path, "?uploadType=media&name=");
	text_percent(&path, upload->to->object, URL_UNRESERVED);
	rc = client_send(upload->client,
			 &(struct client_request){ .method = "POST",
						   .path = path.data,
						   .headers = headers,
						   .body = upload->piece,
						   .body_bytes = upload->piece_bytes },
			 &response, err);
	if (rc)
		return rc;
	upload->object = TAKE(response.json);
	progress_add(upload->progress, (int64_t)upload->piece_bytes);
	return STATUS_OK;
}

static enum status session_open(struct upload *upload, struct error *err)
{
	static const char *const headers[] = { "Content-Type: application/json",
					       "X-Upload-Content-Type: application/octet-stream", NULL };
	struct client_response response AUTO_RESPONSE = { 0 };
	struct text path AUTO_TEXT = { 0 };
	const char *host;
	enum status rc;

	cloud_path_write(&path, "/upload", upload->to->bucket, NULL);
	text_puts(&path, "?uploadType=resumable&name=");
	text_percent(&path, upload->to->object, URL_UNRESERVED);
	rc = client_send(upload->client,
			 &(struct client_request){ .method = "POST",
						   .path = path.data,
						   .headers = headers,
						   .body = "{}",
						   .body_bytes = 2 },
			 &response, err);
	if (rc)
		return rc;
	host = response.location ? strstr(response.location, "://") : NULL;
	host = host ? strchr(host + 3, '/') : NULL;
	if (!host)
		return error_set(err, STATUS_INTERNAL, NULL,
				 "the daemon's answer has no address for the upload");
	upload->session = memory_strdup(host);
	return STATUS_OK;
}

/* Sends one request of the resumable upload; @last: it also gives the total size. Returns the object, or in *ret_kept
 * the number of bytes that the daemon has stored. */
static enum status session_put(struct upload *upload, int64_t at, const char *body, size_t length, bool last,
			       int64_t *ret_kept, struct error *err)
{
	AUTO(string) char *hash = last ? hash_header(upload) : NULL;
	AUTO(string)
	char *total = last ? memory_printf("%" PRId64, upload->hasher.bytes) : memory_strdup("*");
	AUTO(string)
	char *range = length ? memory_printf("Content-Range: bytes %" PRId64 "-%" PRId64 "/%s", at,
					     at + (int64_t)length - 1, total)
			     : memory_printf("Content-Range: bytes */%s", total);
	const char *const headers[] = { "Content-Type: application/octet-stream", range, hash, NULL };
	struct client_response response AUTO_RESPONSE = { 0 };
	long long kept = -1;
	enum status rc = client_send(upload->client,
				     &(struct client_request){ .method = "PUT",
							       .path = upload->session,
							       .headers = headers,
							       .body = body,
							       .body_bytes = length },
				     &response, err);

	if (rc)
		return rc;
	if (response.http_status == 200 || response.http_status == 201) {
		upload->object = TAKE(response.json);
		*ret_kept = upload->hasher.bytes;
		return STATUS_OK;
	}
	if (response.range && sscanf(response.range, "bytes=0-%lld", &kept) != 1)
		return error_set(err, STATUS_INTERNAL, NULL,
				 "the daemon's answer does not say how many bytes it has stored");
	*ret_kept = kept + 1;
	return STATUS_OK;
}

/* Continues after the connection broke: waits for the daemon and asks how many bytes it has stored. */
static enum status session_resume(struct upload *upload, int64_t *ret_kept, struct error *err)
{
	enum status rc = STATUS_UNAVAILABLE;

	for (int i = 0; rc == STATUS_UNAVAILABLE && i < RETRIES; i++) {
		progress_show("the connection broke: trying again");
		poll(NULL, 0, RETRY_MS << i);
		rc = session_put(upload, 0, "", 0, false, ret_kept, err);
	}
	return rc;
}

/* Sends one piece, again if necessary, until the daemon has stored all of it; @last: it is the last piece. */
static enum status piece_send(struct upload *upload, bool last, struct error *err)
{
	const int64_t begin = upload->sent_bytes, end = begin + (int64_t)upload->piece_bytes;
	unsigned broken = 0;

	while (!upload->object) {
		const int64_t at = upload->sent_bytes;
		int64_t kept = at;
		struct error failure AUTO_ERROR = { 0 };
		enum status rc = session_put(upload, at, upload->piece + (at - begin), (size_t)(end - at),
					     last, &kept, &failure);

		if (rc == STATUS_UNAVAILABLE && broken++ < RETRIES)
			rc = session_resume(upload, &kept, err);
		else if (rc)
			return error_set(err, rc, NULL, "%s", failure.text);
		if (rc)
			return rc;
		if (kept < begin || kept > end)
			return error_set(err, STATUS_INTERNAL, NULL,
					 "the daemon has %" PRId64 " bytes, of which %" PRId64 " to %" PRId64
					 " were sent",
					 kept, begin, end);
		if (kept == at && !broken && !upload->object && end > at)
			return error_set(err, STATUS_INTERNAL, NULL,
					 "the daemon stores none of the bytes that are sent");
		progress_add(upload->progress, kept - at);
		upload->sent_bytes = kept;
		if (kept == end && !last)
			return STATUS_OK;
	}
	return STATUS_OK;
}

static enum status large_send(struct upload *upload, struct error *err)
{
	enum status rc = session_open(upload, err);

	while (!rc && !upload->object) {
		rc = piece_send(upload, upload->piece_bytes < PIECE_BYTES, err);
		if (!rc && !upload->object)
			rc = piece_read(upload, err);
	}
	if (rc && upload->session) /* an unfinished upload must leave nothing */
		client_send(upload->client,
			    &(struct client_request){ .method = "DELETE", .path = upload->session },
			    &(struct client_response){ 0 }, NULL);
	return rc;
}

enum status cloud_upload(struct client *client, int fd, const struct cloud_url *to,
			 struct cloud_progress *progress, struct error *err)
{
	struct upload upload = { .client = client, .fd = fd, .to = to, .progress = progress };
	AUTO(string) char *piece = memory_alloc(PIECE_BYTES);
	enum status rc;

	upload.piece = piece;
	hasher_init(&upload.hasher);
	rc = piece_read(&upload, err);
	if (!rc)
		rc = upload.piece_bytes < PIECE_BYTES ? small_send(&upload, err) : large_send(&upload, err);
	if (!rc && !sums_are(&upload.hasher, json_text_at(upload.object, "crc32c"),
			     json_text_at(upload.object, "md5Hash"))) {
		cloud_delete(client, to->bucket, to->object, json_int_at(upload.object, "generation", 0),
			     NULL);
		rc = loss_set(to->bucket, to->object, "sent; it is removed", err);
	}
	progress->files_done += !rc;
	json_decref(upload.object);
	free(upload.session);
	return rc;
}

/* ---- downloads ---- */

struct download {
	int fd;
	struct cloud_progress *progress;
	struct hasher hasher; /* checksums of the stored bytes */
	bool packed, unpacked_end;
	z_stream unpacking;
	int write_error; /* errno */
	bool broken;     /* the bytes are not valid gzip */
};

static bool all_write(struct download *download, const char *data, size_t length)
{
	while (length) {
		const ssize_t written = write(download->fd, data, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			download->write_error = errno;
			return false;
		}
		data += written;
		length -= (size_t)written;
	}
	return true;
}

static bool packed_write(struct download *download, const char *data, size_t length)
{
	char buffer[UNPACKED_BYTES];
	z_stream *stream = &download->unpacking;

	stream->next_in = (unsigned char *)data;
	stream->avail_in = (unsigned)length;
	do {
		int rc;

		if (download->unpacked_end &&
		    stream->avail_in) { /* gzip data may consist of several streams, one after the other */
			inflateReset(stream);
			download->unpacked_end = false;
		}
		stream->next_out = (unsigned char *)buffer;
		stream->avail_out = sizeof(buffer);
		rc = inflate(stream, Z_NO_FLUSH);
		download->unpacked_end = rc == Z_STREAM_END;
		download->broken = rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR;
		if (download->broken || !all_write(download, buffer, sizeof(buffer) - stream->avail_out))
			return false;
	} while (stream->avail_in || (!stream->avail_out && !download->unpacked_end));
	return true;
}

static bool bytes_take(void *arg, const char *data, size_t length)
{
	struct download *download = arg;

	hasher_add(&download->hasher, data, length);
	progress_add(download->progress, (int64_t)length);
	return download->packed ? packed_write(download, data, length) : all_write(download, data, length);
}

static enum status download_end(const struct download *download, const char *bucket,
				const struct cloud_found *from, struct error *err)
{
	if (download->write_error)
		return error_set(err, STATUS_ABORTED, NULL, "it cannot be written: %s",
				 strerror(download->write_error));
	if (download->broken || (download->packed && !download->unpacked_end && from->size_bytes))
		return error_set(err, STATUS_DATA_LOSS, NULL,
				 "its Content-Encoding is gzip, but its bytes are not gzip");
	return sums_are(&download->hasher, from->crc32c, from->md5)
		       ? STATUS_OK
		       : loss_set(bucket, from->name, "read", err);
}

enum status cloud_download(struct client *client, const char *bucket, const struct cloud_found *from, int fd,
			   struct cloud_progress *progress, struct error *err)
{
	static const char *const headers[] = { "Accept-Encoding: gzip",
					       NULL }; /* ask for the bytes as they are stored */
	struct download download = { .fd = fd, .progress = progress, .packed = from->packed };
	struct client_response response AUTO_RESPONSE = { 0 };
	struct text path AUTO_TEXT = { 0 };
	enum status rc;

	hasher_init(&download.hasher);
	if (download.packed && inflateInit2(&download.unpacking, WINDOW_BITS_GZIP) != Z_OK)
		memory_exhausted(sizeof(download.unpacking));
	cloud_path_write(&path, "/download", bucket, from->name);
	text_printf(&path, "?alt=media&generation=%" PRId64, from->generation);
	rc = client_send(client,
			 &(struct client_request){ .method = "GET",
						   .path = path.data,
						   .headers = headers,
						   .take = bytes_take,
						   .arg = &download },
			 &response, err);
	if (!rc)
		rc = download_end(&download, bucket, from, err);
	if (download.packed)
		inflateEnd(&download.unpacking);
	progress->files_done += !rc;
	return rc;
}

/* ---- changes without a transfer of bytes ---- */

enum status cloud_delete(struct client *client, const char *bucket, const char *object, int64_t generation,
			 struct error *err)
{
	struct text path AUTO_TEXT = { 0 };

	cloud_path_write(&path, "", bucket, object);
	if (generation)
		text_printf(&path, "?ifGenerationMatch=%" PRId64, generation);
	return client_call(client, "DELETE", path.data, NULL, NULL, err);
}

enum status cloud_copy(struct client *client, const char *bucket, const struct cloud_found *from,
		       const struct cloud_url *to, struct cloud_progress *progress, struct error *err)
{
	AUTO(json) json_t *body = json_object();
	AUTO(json) json_t *answer = NULL;
	struct text path AUTO_TEXT = { 0 }, target AUTO_TEXT = { 0 };
	const char *crc32c;
	enum status rc;

	cloud_path_write(&path, "", bucket, from->name);
	cloud_path_write(&target, "", to->bucket, to->object);
	text_printf(&path, "/rewriteTo/%s?sourceGeneration=%" PRId64, target.data + strlen("/storage/v1/"),
		    from->generation);
	rc = client_call(client, "POST", path.data, body, &answer,
			 err); /* the daemon copies the whole object in one call */
	if (rc)
		return rc;
	crc32c = json_text_at(json_object_get(answer, "resource"), "crc32c");
	if (from->crc32c && crc32c && strcmp(crc32c, from->crc32c) != 0) {
		cloud_delete(client, to->bucket, to->object,
			     json_int_at(json_object_get(answer, "resource"), "generation", 0), NULL);
		return loss_set(to->bucket, to->object, "copied; the copy is removed", err);
	}
	progress->files_done++;
	progress_add(progress, from->size_bytes);
	return STATUS_OK;
}
