/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/log.h: the daemon's own log on stderr, one line for each event.
 *
 *     log_event(LOG_INFO, "replica-started", "job=%s replica=%s", job_id, replica);
 *
 * An event is a name and key=value pairs, the same keys everywhere; never a token, an environment or a whole
 * request. The caller quotes each value that may have spaces; a text that does not come from the caller itself, such
 * as a client's or the engine's, comes last, as error="%s". Control characters in the whole line are replaced.
 * Thread: any. */

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/* Sets level and format. To be called before threads start. */
void log_configure(enum log_level level, enum log_format format);
void log_event(enum log_level level, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
