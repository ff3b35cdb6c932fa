/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/model_rows.h: models that are stored together with their pipelines and jobs. */
#include "store/connection.h"
#include "store/jobs/pipelines.h"

struct change_scope;

/* Stores the model that pipeline number @pipeline is going to upload, hidden from clients. NOT_FOUND, ALREADY_EXISTS as
 * pipeline_insert(). */
enum status model_row_insert(struct change_scope *scope, int64_t pipeline, const struct pipeline_draft *draft,
			     struct error *err);
/* Job number @job has succeeded: the model of its pipeline, if any, becomes visible. */
enum status model_row_upload(struct change_scope *scope, int64_t job, struct error *err);
