/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/logging/handlers.h: the handlers of the methods, one file each. Their rows are in routes.c. */
#include "api/http/http.h"

enum status entry_list(struct call *call, struct error *err);
enum status entry_tail(struct call *call, struct error *err);
enum status entry_write(struct call *call, struct error *err);
enum status log_delete(struct call *call, struct error *err);
enum status log_list(struct call *call, struct error *err);
enum status descriptor_list(struct call *call, struct error *err);
