/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/service_agent.h: the account that a project's jobs go by where they name none. Pure. Thread: any.
 * Source: https://cloud.google.com/ai-platform/training/docs/custom-service-account (read 2026-11-22) */
#include "daemon/base/text.h"

/* Appends "service-123456789012@cloud-ml.google.com.iam.gserviceaccount.com". */
void service_agent_write(struct text *text, const char *project_number);
