/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/accelerator.h: the types of accelerators, and the texts of quota errors about them. Pure. Thread:
 * any. */
#include <limits.h>
#include <stdbool.h>

/* The types in the order in which the service's quota errors list them. */
enum accelerator {
	ACCELERATOR_A100,
	ACCELERATOR_K80,
	ACCELERATOR_P100,
	ACCELERATOR_P4,
	ACCELERATOR_T4,
	ACCELERATOR_TPU_V2,
	ACCELERATOR_TPU_V2_POD,
	ACCELERATOR_TPU_V3,
	ACCELERATOR_TPU_V3_POD,
	ACCELERATOR_V100,
	ACCELERATOR_COUNT
};

/* The value of a maximum that means no limit; no real quota is this large. */
#define ACCELERATOR_UNLIMITED UINT_MAX

/* Reads a type's name: "NVIDIA_TESLA_K80", "TPU_V2". False: no quota has this type. */
bool accelerator_parse(const char *type, enum accelerator *ret_accelerator);
/* Whether a type is a TPU: TPUs are never attached to a container. */
bool accelerator_is_tpu(const char *type);
/* The type's name. */
const char *accelerator_name(enum accelerator accelerator);
/* The type's name in quota errors: "K80" for "NVIDIA_TESLA_K80", "TPU_V2" for itself. Points into @type. */
const char *accelerator_short_name(const char *type);

/* Returns the sentence "Quota failure for project P. The request for 2 K80 accelerators exceeds the allowed
 * maximum of 0 A100, 0 K80, … accelerators." The caller frees.
 * Choice: "unlimited K80" where there is no maximum, so that all types are named as the service does.
 * Source: answers of the service to jobs beyond their quota, in transcripts of real jobs */
char *accelerator_quota_text(const char *project, const char *type, unsigned count,
			     const unsigned maxima[ACCELERATOR_COUNT]);
