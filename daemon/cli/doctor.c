/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/cli/doctor_checks.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"
#include "daemon/swarm_nodes.h"
#include "scheduler/engine/engine.h"

enum { NAME_WIDTH = 11, MARK_WIDTH = 6 };

static const char *const outcome_names[] = { [OUTCOME_GOOD] = "good",
					     [OUTCOME_NOTE] = "note",
					     [OUTCOME_BAD] = "bad" };

/* ---- the facts to check ---- */

static void engine_ask(struct doctor *doctor)
{
	const char *engine = doctor->config->engine;
	struct error err AUTO_ERROR = { 0 };

	if (engine_kind_of(engine)->describe(engine, &doctor->engine, &err))
		doctor->engine_fault = memory_strdup(main_words(&err));
}

static void doctor_deinit(struct doctor *doctor)
{
	json_decref(doctor->engine);
	free(doctor->engine_fault);
	address_deinit(&doctor->address);
}

/* ---- output ---- */

static void finding_write(struct text *text, const char *name, const struct finding *finding)
{
	static const enum style styles[] = { [OUTCOME_GOOD] = STYLE_GOOD,
					     [OUTCOME_NOTE] = STYLE_BUSY,
					     [OUTCOME_BAD] = STYLE_BAD };

	text_printf(text, "%s%-*s%s%-*s", terminal_style(stdout, styles[finding->outcome]), MARK_WIDTH,
		    outcome_names[finding->outcome], terminal_style(stdout, STYLE_NONE), NAME_WIDTH, name);
	text_wrap(text, finding->reported.data ? finding->reported.data : "", MARK_WIDTH + NAME_WIDTH);
	text_putc(text, '\n');
	if (!finding->advice.length)
		return;
	text_printf(text, "%*s", MARK_WIDTH + NAME_WIDTH, "");
	text_printf(text, "%s", terminal_style(stdout, STYLE_BOLD));
	text_wrap(text, finding->advice.data, MARK_WIDTH + NAME_WIDTH);
	text_printf(text, "%s\n", terminal_style(stdout, STYLE_NONE));
}

static json_t *finding_json(const char *name, const struct finding *finding)
{
	return json_pack("{s:s, s:s, s:s, s:s*}", "check", name, "verdict", outcome_names[finding->outcome],
			 "text", finding->reported.data ? finding->reported.data : "", "advice",
			 finding->advice.length ? finding->advice.data : NULL);
}

static void end_write(struct text *text, unsigned bad, unsigned notes)
{
	if (bad)
		text_printf(text, "\n%u thing%s to mend.\n", bad, bad == 1 ? "" : "s");
	else
		text_printf(text, "\n%s\n",
			    notes ? "Jobs can run; the notes name the gaps." : "All is good.");
}

int doctor_main(struct invocation *invocation)
{
	const bool is_json = invocation_prints(invocation, "json"), is_name = invocation_prints(invocation, "name");
	struct doctor doctor __attribute__((cleanup(doctor_deinit))) = { .config = &invocation->config };
	AUTO(json) json_t *findings = json_array();
	struct text text AUTO_TEXT = { 0 };
	unsigned counts[OUTCOME_BAD + 1] = { 0 };
	struct error err AUTO_ERROR = { 0 };
	int written;

	address_file_read(doctor.config->state_dir, &doctor.address);
	doctor.daemon_runs = address_is_live(&doctor.address, doctor.config->state_dir);
	engine_ask(&doctor);
	doctor.nodes_fault = swarm_nodes_add(&invocation->config, &err) ? err.text : NULL;
	for (const struct check *check = doctor_checks; check->name; check++) {
		struct finding finding = { OUTCOME_GOOD, { 0 }, { 0 } };

		check->run(&doctor, &finding);
		counts[finding.outcome]++;
		json_array_append_new(findings, finding_json(check->name, &finding));
		if (is_name && finding.outcome == OUTCOME_BAD)
			text_printf(&text, "%s\n", check->name);
		else if (!is_json && !is_name)
			finding_write(&text, check->name, &finding);
		text_deinit(&finding.reported);
		text_deinit(&finding.advice);
	}
	if (is_json) {
		json_write(&text, findings);
		text_putc(&text, '\n');
	} else if (!is_name) {
		end_write(&text, counts[OUTCOME_BAD], counts[OUTCOME_NOTE]);
	}
	written = main_output(&text);
	return counts[OUTCOME_BAD] ? EXIT_FAILED : written;
}
