/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/models.h: the models that pipelines upload: projects/PROJECT/locations/LOCATION/models/ID[@VERSION].
 *
 * A version is stored with its pipeline and becomes visible in the commit in which the pipeline's job succeeds.
 * Versions are numbered from 1 in the order in which they become visible. An alias belongs to the version that
 * claimed it last; the first version always claims "default". Thread: any.
 * Source: https://cloud.google.com/vertex-ai/docs/model-registry/versioning and .../model-alias (read 2026-11-22) */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "store/jobs/operations.h"

struct store;

struct trained_model {
	int64_t id; /* the store's number */
	char *project, *location, *model_id;
	unsigned version;
	char *input;        /* canonical Model from the client, without a name */
	char *artifact_uri; /* NULL: the model directory of the best trial of @job */
	char *aliases;      /* JSON array of strings */
	int64_t created_us; /* when this version was uploaded */
	int64_t first_us;   /* when the first version was uploaded */
	char *pipeline_id;
	int64_t job; /* the store's number of the job that trained it */
};
void trained_model_deinit(struct trained_model *model);
#define AUTO_TRAINED_MODEL __attribute__((cleanup(trained_model_deinit)))

struct trained_model_list {
	struct trained_model *models;
	size_t count;
	char *next_page_token; /* NULL on the last page */
};
void trained_model_list_deinit(struct trained_model_list *list);
#define AUTO_TRAINED_MODEL_LIST __attribute__((cleanup(trained_model_list_deinit)))

/* Identifies a model, or a list of models. Borrowed. */
struct model_name {
	const char *project, *location;
	const char *id;      /* NULL: all of the location */
	const char *version; /* a number or an alias; NULL: default */
};

/* Reads a model, or a version of it. NOT_FOUND: 'The Model "projects/P/locations/L/models/m@2" does not exist.' */
enum status model_get(struct store *store, const struct model_name *name, struct trained_model *ret_model,
		      struct error *err);
/* Deletes all versions, with their aliases; the id can be used again. NOT_FOUND. @ret_operation: operation_deinit(). */
enum status model_delete(struct store *store, const struct model_name *name, struct operation *ret_operation,
			 struct error *err);
/* Reads a page, newest first: the default versions of all models, or with an id all versions of that model (NOT_FOUND).
 * @filter: model, display_name, create_time and labels.KEY in the grammar of store/filter/filter.h. INVALID_ARGUMENT:
 * field filter or page_token. */
enum status model_list_page(struct store *store, const struct model_name *name, const char *filter,
			    unsigned page_size, const char *page_token, struct trained_model_list *ret_list,
			    struct error *err);
