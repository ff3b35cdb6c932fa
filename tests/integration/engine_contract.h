/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/integration/engine_contract.h: the parts of what scheduler/engine/engine.h promises; each ends with a NULL name. */
#include "tests/unit/testing.h"

extern const struct CMUnitTest contract_replicas[];
extern const struct CMUnitTest contract_files[];
extern const struct CMUnitTest contract_terminals[];
extern const struct CMUnitTest contract_logs[];
extern const struct CMUnitTest contract_networks[];
extern const struct CMUnitTest contract_images[];
extern const struct CMUnitTest contract_overlays[];
