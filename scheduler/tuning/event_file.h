/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/event_file.h: reads TensorBoard's event files while they grow.
 *
 * A file is a sequence of records: the length of the data (64 bits, little-endian), its checksum (32 bits), the data,
 * the data's checksum. The checksums are masked CRC-32Cs. The data is an event (event.h); the first one has the
 * version.
 * Source: tensorflow/core/lib/io/record_writer.cc, tensorboard/summary/writer/record_writer.py in
 * https://github.com/tensorflow (read 2026-11-22)
 *
 * Pure: the caller reads the file, piece by piece. Thread: any, one at a time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct metric_report;

enum {
	EVENT_BYTES_MAX = 16 * 1024 * 1024, /* a longer one (a graph, pictures) is skipped */
	EVENT_HEADER_BYTES = 12,
	EVENT_FOOTER_BYTES = 4,
};
/* The maximum for a protobuf message; a longer record is broken. */
#define EVENT_RECORD_BYTES_MAX INT64_C(0x7fffffff)

enum event_file_part { EVENT_FILE_HEADER, EVENT_FILE_DATA, EVENT_FILE_FOOTER };

struct event_file {
	int64_t offset;       /* offset of the next byte */
	int64_t whole_bytes;  /* up to here all records were complete and were passed on */
	const char *breakage; /* the fault of the record at whole_bytes; NULL: there is none */

	/* The record that is being read. */
	enum event_file_part part;
	uint64_t part_bytes;              /* bytes read of the part */
	uint64_t data_bytes;              /* length of the data, from the header */
	uint32_t crc;                     /* checksum of the data so far */
	uint8_t edge[EVENT_HEADER_BYTES]; /* the header, or the footer */
	struct text data;                 /* the data; empty if it is too long */
};

/* Begins to read a file. @offset: 0, or whole_bytes of an earlier reader of this file. */
void event_file_init(struct event_file *file, int64_t offset);
void event_file_deinit(struct event_file *file);

/* Receives the data of a complete record that is not too long. */
typedef void (*event_record_taker)(void *arg, const uint8_t *data, size_t length);

/* Reads @length bytes from @offset of the file, and passes the records that they complete to @take. An incomplete
 * record waits for the next piece.
 *
 * Outcomes: OUT_OF_RANGE: @offset is not file->offset (the file was replaced, or a piece left out); nothing was read;
 *           DATA_LOSS: a record is broken, or the file is not an event file: the records before it were passed on, and
 *           no more will be; the text says where and why. */
enum status event_file_read(struct event_file *file, event_record_taker take, void *arg, int64_t offset,
			    const void *bytes, size_t length, struct error *err);
/* As event_file_read(); adds the measurements to @report, which notes a broken record. */
enum status event_file_feed(struct event_file *file, struct metric_report *report, int64_t offset,
			    const void *bytes, size_t length, struct error *err);
