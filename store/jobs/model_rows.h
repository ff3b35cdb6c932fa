/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/model_rows.h: models stored together with the pipelines and jobs that make them. */
#include "store/connection.h"
#include "store/jobs/pipelines.h"

struct change_scope;

/* Writes down what pipeline number @pipeline is to upload, out of clients' sight. NOT_FOUND, ALREADY_EXISTS as
 * pipeline_insert(). */
enum status model_row_insert(struct change_scope *scope, int64_t pipeline, const struct pipeline_draft *draft,
			     struct error *err);
/* Job number @job has succeeded: the model that its pipeline is to upload, if any, is there from now on. */
enum status model_row_upload(struct change_scope *scope, int64_t job, struct error *err);
