/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/messages.h"
#include "api/storage/parts.h"

#define END                                                                                                  \
	{                                                                                                    \
		NULL, FIELD_STRING, 0, NULL, NULL, NULL                                                      \
	}
#define PLAIN(name, type, help)                                                                              \
	{                                                                                                    \
		name, type, 0, NULL, NULL, help                                                              \
	}
/* A field for which 0 and false differ from unset. */
#define SET(name, type, help)                                                                                \
	{                                                                                                    \
		name, type, FIELD_PRESENCE, NULL, NULL, help                                                 \
	}
#define OUTPUT(name, type, help)                                                                             \
	{                                                                                                    \
		name, type, FIELD_OUTPUT_ONLY, NULL, NULL, help                                              \
	}
#define CHOICE(name, type, help)                                                                             \
	{                                                                                                    \
		name, FIELD_ENUM, 0, type, NULL, help                                                        \
	}
#define OBJECT(name, flags, message, help)                                                                   \
	{                                                                                                    \
		name, FIELD_MESSAGE, flags, NULL, message, help                                              \
	}

static const struct field object_fields[] = {
	OUTPUT("kind", FIELD_STRING, "storage#object."),
	OUTPUT("id", FIELD_STRING, "Bucket, name and generation, with slashes between them."),
	OUTPUT("selfLink", FIELD_STRING, "URL of this resource."),
	OUTPUT("mediaLink", FIELD_STRING, "URL of the bytes."),
	PLAIN("name", FIELD_STRING, "Name in the bucket: 1 to 1024 bytes of UTF-8."),
	OUTPUT("bucket", FIELD_STRING, "Bucket that has it."),
	OUTPUT("generation", FIELD_INT64, "Which content this is: a later one has a greater number."),
	OUTPUT("metageneration", FIELD_INT64,
	       "Which metadata of this generation: 1, and one more for every change."),
	PLAIN("contentType", FIELD_STRING, "Content-Type that the bytes are served with."),
	PLAIN("storageClass", FIELD_STRING, "STANDARD, NEARLINE, COLDLINE, ARCHIVE: kept, without effect."),
	OUTPUT("size", FIELD_INT64, "Number of bytes."),
	PLAIN("md5Hash", FIELD_STRING, "MD5 of the bytes, base64; what an upload says here is checked."),
	PLAIN("cacheControl", FIELD_STRING, "Cache-Control that the bytes are served with."),
	PLAIN("contentDisposition", FIELD_STRING, "Content-Disposition that the bytes are served with."),
	PLAIN("contentEncoding", FIELD_STRING, "Content-Encoding that the bytes are served with."),
	PLAIN("contentLanguage", FIELD_STRING, "Content-Language that the bytes are served with."),
	PLAIN("crc32c", FIELD_STRING,
	      "CRC32C of the bytes, base64 of four bytes, the highest first; what an upload says here is checked."),
	OUTPUT("componentCount", FIELD_INT32, "Of a composed object: how many it was made of."),
	OUTPUT("etag", FIELD_STRING, "A new value after every change."),
	PLAIN("customTime", FIELD_TIMESTAMP, "A time that means something to the user."),
	SET("temporaryHold", FIELD_BOOL, "Kept, without effect."),
	SET("eventBasedHold", FIELD_BOOL, "Kept, without effect."),
	{ "metadata", FIELD_STRING, FIELD_MAP, NULL, NULL,
	  "Whatever else the user wants to be known: at most 8 KiB of names and values." },
	OUTPUT("timeCreated", FIELD_TIMESTAMP, "When this generation was made."),
	OUTPUT("updated", FIELD_TIMESTAMP, "When the metadata changed last."),
	OUTPUT("timeStorageClassUpdated", FIELD_TIMESTAMP, "When the storage class changed last."),
	OUTPUT("timeFinalized", FIELD_TIMESTAMP, "When the last byte was written."),
	END,
};
static const char *const object_unset[] = {
	"acl",          "contexts",  "customerEncryption",      "hardDeleteTime", "kmsKeyName",  "owner",
	"restoreToken", "retention", "retentionExpirationTime", "softDeleteTime", "timeDeleted", NULL
};
const struct message storage_object = { "google.storage.v1.Object", object_fields,
					"An object: bytes with a name, and what is known of them.",
					object_unset };

static const struct field list_fields[] = {
	PLAIN("kind", FIELD_STRING, "storage#objects."),
	PLAIN("nextPageToken", FIELD_STRING, "Asks for the next page; absent on the last."),
	{ "prefixes", FIELD_STRING, FIELD_REPEATED, NULL, NULL,
	  "What names have in common up to the delimiter, once each." },
	OBJECT("items", FIELD_REPEATED, &storage_object, "The objects, by name."),
	END,
};
const struct message storage_object_list = { "google.storage.v1.Objects", list_fields, "A page of objects." };

static const struct field preconditions_fields[] = {
	SET("ifGenerationMatch", FIELD_INT64, "The source has this generation, or nothing is done."),
	END,
};
static const struct message preconditions = { "google.storage.v1.ComposeRequest.ObjectPreconditions",
					      preconditions_fields, "What has to hold of a source." };
static const struct field source_fields[] = {
	PLAIN("name", FIELD_STRING, "Name of the source in the same bucket."),
	PLAIN("generation", FIELD_INT64, "Its generation; the live one unless given."),
	OBJECT("objectPreconditions", 0, &preconditions, "What has to hold of it."),
	END,
};
static const struct message source = { "google.storage.v1.ComposeRequest.SourceObject", source_fields,
				       "One of the objects that are joined." };
static const struct field compose_fields[] = {
	PLAIN("kind", FIELD_STRING, "storage#composeRequest."),
	OBJECT("destination", 0, &storage_object, "Metadata of the new object."),
	OBJECT("sourceObjects", FIELD_REPEATED, &source, "What is joined, in this order: 1 to 32 objects."),
	SET("deleteSourceObjects", FIELD_BOOL, "Delete the sources afterwards."),
	END,
};
const struct message storage_compose_request = { "google.storage.v1.ComposeRequest", compose_fields,
						 "Joins objects." };

static const struct field rewrite_fields[] = {
	PLAIN("kind", FIELD_STRING, "storage#rewriteResponse."),
	PLAIN("totalBytesRewritten", FIELD_INT64, "Bytes written so far."),
	PLAIN("objectSize", FIELD_INT64, "Bytes in all."),
	PLAIN("done", FIELD_BOOL, "True: trainyard copies in one call."),
	PLAIN("rewriteToken", FIELD_STRING, "Never set: nothing is left to do."),
	OBJECT("resource", 0, &storage_object, "The copy."),
	END,
};
const struct message storage_rewrite_response = { "google.storage.v1.RewriteResponse", rewrite_fields,
						  "What became of a copy." };

static const struct field no_fields[] = { END };
const struct message storage_no_fields = { "google.storage.v1.Empty", no_fields, "Holds nothing." };

/* ---- queries ---- */

#define CONDITIONS_OF(prefix, of)                                                                            \
	SET(prefix "GenerationMatch", FIELD_INT64,                                                           \
	    "Only if this is the generation of the " of "; 0: only if there is none."),                      \
		SET(prefix "GenerationNotMatch", FIELD_INT64,                                                \
		    "Only if this is not the generation of the " of "."),                                    \
		SET(prefix "MetagenerationMatch", FIELD_INT64,                                               \
		    "Only if this is the metageneration of the " of "."),                                    \
		SET(prefix "MetagenerationNotMatch", FIELD_INT64,                                            \
		    "Only if this is not the metageneration of the " of ".")
#define PROJECTION                                                                                           \
	CHOICE("projection", &storage_projection, "Accepted: there are no access control lists to leave out."), \
		PLAIN("userProject", FIELD_STRING, "Accepted: nothing is billed.")
#define GENERATION   SET("generation", FIELD_INT64, "Generation of the object; the live one unless given.")
#define ACCESS(name) CHOICE(name, &storage_object_acl, "Accepted: there are no access control lists.")

static const struct field get_query_fields[] = {
	PLAIN("alt", FIELD_STRING, "json: the resource; media: the bytes."),
	GENERATION,
	CONDITIONS_OF("if", "object"),
	PROJECTION,
	PLAIN("softDeleted", FIELD_BOOL, "Refused: what is deleted is gone."),
	END,
};
const struct message storage_object_get_query = { "google.storage.v1.GetObjectRequest", get_query_fields,
						  "Which object." };

static const struct field write_query_fields[] = {
	GENERATION, CONDITIONS_OF("if", "object"), PROJECTION, ACCESS("predefinedAcl"), END,
};
const struct message storage_object_write_query = { "google.storage.v1.WriteObjectRequest",
						    write_query_fields,
						    "Which object is changed, and when." };

static const struct field insert_query_fields[] = {
	PLAIN("uploadType", FIELD_STRING, "media, multipart or resumable."),
	PLAIN("name", FIELD_STRING, "Name of the object, where the metadata does not say it."),
	PLAIN("contentEncoding", FIELD_STRING, "Content-Encoding of the object."),
	PLAIN("upload_id", FIELD_STRING, "The resumable upload to go on with."),
	CONDITIONS_OF("if", "object"),
	PROJECTION,
	ACCESS("predefinedAcl"),
	PLAIN("kmsKeyName", FIELD_STRING, "Accepted: nothing is encrypted."),
	END,
};
const struct message storage_object_insert_query = { "google.storage.v1.InsertObjectRequest",
						     insert_query_fields, "Where the bytes go." };

static const struct field list_query_fields[] = {
	PLAIN("prefix", FIELD_STRING, "Only names that begin with this."),
	PLAIN("delimiter", FIELD_STRING,
	      "Names that contain it behind the prefix are given once, up to it, as prefixes."),
	PLAIN("includeTrailingDelimiter", FIELD_BOOL,
	      "Objects with the delimiter at the end of their names are items as well."),
	PLAIN("includeFoldersAsPrefixes", FIELD_BOOL, "Accepted: there are no managed folders."),
	PLAIN("startOffset", FIELD_STRING, "Only names that are equal to this or behind it."),
	PLAIN("endOffset", FIELD_STRING, "Only names that are before this."),
	PLAIN("matchGlob", FIELD_STRING, "Only names that match; ** crosses slashes."),
	SET("maxResults", FIELD_INT64,
	    "The maximum number of items and prefixes in an answer: 1000 unless given, never more."),
	PLAIN("pageToken", FIELD_STRING, "nextPageToken of the previous answer."),
	PLAIN("versions", FIELD_BOOL, "Accepted: only live objects are kept."),
	PLAIN("softDeleted", FIELD_BOOL, "Refused: what is deleted is gone."),
	PLAIN("filter", FIELD_STRING, "Refused: objects have no contexts."),
	PROJECTION,
	END,
};
const struct message storage_object_list_query = { "google.storage.v1.ListObjectsRequest", list_query_fields,
						   "Asks for a page of objects." };

static const struct field copy_query_fields[] = {
	SET("sourceGeneration", FIELD_INT64, "Generation of the source; the live one unless given."),
	CONDITIONS_OF("ifSource", "source"),
	CONDITIONS_OF("if", "destination"),
	PLAIN("rewriteToken", FIELD_STRING, "Accepted: there is never anything left to do."),
	PLAIN("maxBytesRewrittenPerCall", FIELD_INT64, "Accepted: a call copies all."),
	PROJECTION,
	ACCESS("destinationPredefinedAcl"),
	PLAIN("destinationKmsKeyName", FIELD_STRING, "Accepted: nothing is encrypted."),
	END,
};
const struct message storage_object_copy_query = { "google.storage.v1.CopyObjectRequest", copy_query_fields,
						   "What has to hold of source and destination." };

static const struct field compose_query_fields[] = {
	SET("ifGenerationMatch", FIELD_INT64,
	    "Only if this is the generation of the destination; 0: only if there is none."),
	SET("ifMetagenerationMatch", FIELD_INT64, "Only if this is the metageneration of the destination."),
	PLAIN("userProject", FIELD_STRING, "Accepted: nothing is billed."),
	ACCESS("destinationPredefinedAcl"),
	PLAIN("kmsKeyName", FIELD_STRING, "Accepted: nothing is encrypted."),
	END,
};
const struct message storage_compose_query = { "google.storage.v1.ComposeObjectRequest", compose_query_fields,
					       "What has to hold of the destination." };
