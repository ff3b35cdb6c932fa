#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/check_words.sh: words that the product's C does not use. Prints each line that has one.
#
# Comments name the thread, process, file or job; pronouns for persons are at most in ALLOWED lines. Names have one word for
# one concept: the left column is what was used before, the right one is used instead. Texts in quotes are not looked at: they
# may be the words of the emulated service, or names of columns and members.
cd "$(dirname "$0")/.." || exit 2
ALLOWED=5

# shellcheck disable=SC2016  # a program of awk
find daemon api scheduler store -name '*.[ch]' | sort | ALLOWED=$ALLOWED xargs awk '
BEGIN {
	persons = "(^|[^A-Za-z_])([Ww]ho|[Ww]hom|[Ww]hose|[Ww]hoever|[Nn]obody|[Ss]omebody|[Aa]nybody|[Ee]verybody|[Ss]omeone|[Aa]nyone)([^A-Za-z_]|$)"
	count = split("outlook=start_estimate,decision_context verdict=outcome judgement=outcome sighting=estimation " \
		"sighted=observed sight=observed unsee=invalidate aftermath=post_commit happening=event tripwire=host_filter " \
		"fault_book=fault_registry fault_scene=fault_context fault_hit=fault_injection told=reported,logged untold=unreported " \
		"wish=upload_target,options stray=orphan leftovers=orphans outlet=log_stream presence_rule=instance_rule " \
		"chance_draw=seeded_random_draw spare_network=pooled_network,network_pool gcs_door=gcs_endpoint admittance=admission door=endpoint scene=context book=registry chance=random settle=on_commit,resolve strike=apply differences=deviations", \
		row, " ")
	for (i = 1; i <= count; i++) {
		split(row[i], word, "=")
		instead[word[1]] = word[2]
	}
}
{
	line = $0
	gsub(/"([^"\\]|\\.)*"/, "", line)
	gsub(/\047"\047/, "", line)
	if (line ~ persons) {
		found[++person_lines] = FILENAME ":" FNR ": " $0
		next
	}
	# Names are words of code, not of comments, where "told" is a verb.
	sub(/\/\*.*/, "", line)
	if (line ~ /^[ \t]*\*/)
		next
	while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
		name = tolower(substr(line, RSTART, RLENGTH))
		line = substr(line, RSTART + RLENGTH)
		for (old in instead)
			if ("_" name "_" ~ "_" old "_") {
				printf "%s:%d: the name \"%s\": %s is the word instead of %s\n", FILENAME, FNR, name, instead[old], old
				bad++
			}
	}
}
END {
	if (person_lines > ENVIRON["ALLOWED"]) {
		for (i = 1; i <= person_lines; i++)
			print found[i]
		printf "%d lines have a word for persons; %d may\n", person_lines, ENVIRON["ALLOWED"]
		bad++
	}
	exit bad > 0
}'
