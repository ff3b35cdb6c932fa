/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/search_decide.h: the next step of a tuning job and its trials; tuner.h has the table. Pure: depends
 * on the look alone, and writes its result there. Thread: any. */
struct look;

void search_decide(struct look *look);
