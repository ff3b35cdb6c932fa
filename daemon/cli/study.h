/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/study.h: `trainyard study`: shows the search of a tuning job. */
struct invocation;

int study_main(struct invocation *invocation);
