#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/check_words.sh: words that the product's C does not use, and functions that notes of tests name but that do not exist.
# Prints each line that has one.
#
# Comments name the thread, process, file or job; at most ALLOWED lines have a pronoun for a person. Names have one word for one
# concept: NAMES has an old word and the word to use instead. Texts in quotes are not read: they may be the emulated service's
# own words, or names of columns and members.
cd "$(dirname "$0")/.." || exit 2
ALLOWED=5
NAMES='admittance      admission
aftermath       post_commit
book            registry
chance          random
chance_draw     seeded_random_draw
differences     deviations
door            endpoint
fault_book      fault_registry
fault_hit       fault_injection
fault_scene     fault_context
gcs_door        gcs_endpoint
happening       event
judgement       outcome
leftovers       orphans
outlet          log_stream
outlook         start_estimate or decision_context
presence_rule   instance_rule
scene           context
settle          on_commit or resolve
sight           observed
sighted         observed
sighting        estimation
spare_network   pooled_network or network_pool
stray           orphan
strike          apply
told            reported or logged
tripwire        host_filter
unsee           invalidate
untold          unreported
verdict         outcome
wish            upload_target or options'

# A note "Fails with: job_cancel() without its commit" names a change of the code with which a test was seen to fail. Each
# name() in such a note is a function of the product or of the tests, or one of these functions of libraries, which the
# product does not call.
FOREIGN='decodeURI( fstatfs( insertAdjacentHTML( json_object_update_recursive( nghttp2_option_set_no_http_messaging( setpgid('

# shellcheck disable=SC2016,SC2086  # a program of awk; a list
{
	export LC_ALL=C # grep is then ten times as fast
	printf '%s\n' $FOREIGN
	grep -rohE --include='*.[ch]' --include='*.js' --include='*.py' '[A-Za-z_][A-Za-z0-9_]*\(' api daemon deploy scheduler store
	grep -rohE --include='*.[ch]' --include='*.py' '[A-Za-z_][A-Za-z0-9_]*\(([^)]|$)' tests
	find tests -name '*.py' -o -name '*.[ch]' | sort | xargs awk '
		/Fails with:/ { left = 6; is_docstring = !/#.*Fails with:/ }
		!/Fails with:/ && !is_docstring && !/^ *#/ { left = 0 }
		left > 0 {
			line = $0
			sub(/.*Fails with:/, "", line)
			if (sub(/(\*\/|""").*/, "", line))
				left = 0
			while (match(line, /[A-Za-z_][A-Za-z0-9_]*\(\)/)) {
				print substr(line, RSTART, RLENGTH), FILENAME ":" FNR
				line = substr(line, RSTART + RLENGTH)
			}
			left--
		}'
} | awk '
NF == 1 {
	sub(/\(.*/, "")
	exists[$1] = 1
	next
}
!(substr($1, 1, length($1) - 2) in exists) {
	printf "%s: a note of a test names %s, which does not exist\n", $2, $1
	bad++
}
END { exit bad > 0 }'
notes=$?

# shellcheck disable=SC2016  # a program of awk
find daemon api scheduler store -name '*.[ch]' | sort | ALLOWED=$ALLOWED NAMES=$NAMES xargs awk '
BEGIN {
	persons = "(^|[^A-Za-z_])([Ww]ho|[Ww]hom|[Ww]hose|[Ww]hoever|[Nn]obody|[Ss]omebody|[Aa]nybody|[Ee]verybody|[Ss]omeone|[Aa]nyone)([^A-Za-z_]|$)"
	count = split(ENVIRON["NAMES"], rows, "\n")
	for (i = 1; i <= count; i++) {
		old = rows[i]
		sub(/ .*/, "", old)
		instead[old] = rows[i]
		sub(/^[^ ]+ +/, "", instead[old])
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
}' || exit 1
exit $notes
