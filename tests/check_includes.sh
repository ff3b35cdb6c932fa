#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/check_includes.sh: who may include whom. Prints each include that the table does not allow.
#
# A row: the files it is about (a pattern of awk; the first that fits counts), then what they may include
# of ours (patterns, one of which must fit). No file of C, tests included, has more than 600 lines, and no SQL uses -> or ->>, which
# SQLite of Ubuntu 22.04 lacks (json_extract() does the same). With --table it prints the table, which tests/check_calls reads, too.
cd "$(dirname "$0")/.." || exit 2

# What every family of the API may use.
family="^api/http/ ^api/message/ ^store/ ^scheduler/plan/ ^daemon/base/"
# What of the search the families check and show; all of it is pure.
search="^scheduler/tuning/(measurements|study)[.]h$ ^scheduler/search/(earlier_trials|study_limits|trial_metrics)[.]h$"

rules="
^daemon/base/         ^daemon/base/
^daemon/gcs/          ^daemon/gcs/ ^daemon/main[.]h$ ^api/http/http[.]h$ ^scheduler/(gcs|faults/fault_registry)[.]h$ ^store/(objects/objects|small_file)[.]h$ ^daemon/base/
^daemon/gateway/      ^daemon/gateway/ ^api/(grpc|http|logging|metadata|storage)/ ^api/aiplatform/aiplatform[.]h$ ^api/training/regions[.]h$ ^scheduler/(plan/|gateway[.]h$|logs/log_pump[.]h$) ^store/(keys/|logs/logs[.]h$|store[.]h$) ^daemon/base/
^daemon/              .
^store/               ^store/ ^daemon/base/
^scheduler/plan/      ^scheduler/plan/ ^scheduler/tuning/study[.]h$ ^store/jobs/(job_state|leases)[.]h$ ^daemon/base/
^scheduler/tuning/    ^scheduler/tuning/ ^daemon/base/
^scheduler/engine/    ^scheduler/engine/ ^scheduler/plan/(host|image_facts|plan)[.]h$ ^daemon/base/
^scheduler/logs/      ^scheduler/(logs|plan)/ ^scheduler/engine/engine[.]h$ ^store/ ^daemon/base/
^scheduler/           ^scheduler/[a-z_]+[.]h$ ^scheduler/(faults|launcher|logs|plan|search|tuning)/ ^scheduler/engine/engine[.]h$ ^store/ ^daemon/base/
^api/message/         ^api/message/ ^daemon/base/
^api/http/            ^api/http/ ^api/message/ ^daemon/base/
^api/grpc/            ^api/grpc/ ^api/http/ ^api/message/ ^daemon/base/
^api/console/         ^api/console/ ^api/http/ ^daemon/base/
^api/training/        ^api/training/ $search $family
^api/ml/              ^api/ml/ ^api/training/ $search $family
^api/aiplatform/      ^api/aiplatform/ ^api/training/ ^api/grpc/rpc[.]h$ $search $family
^api/logging/         ^api/logging/ ^api/grpc/rpc[.]h$ $family
^api/storage/         ^api/storage/ $family
^api/metadata/        ^api/metadata/ $family
^api/emulator/        ^api/emulator/ ^api/training/(context|job_name|quota|start_estimate)[.]h$ ^scheduler/faults/(fault|fault_registry)[.]h$ ^scheduler/tuning/(event_file|scalars)[.]h$ $family
"
[ "${1:-}" != --table ] || { printf '%s\n' "$rules" && exit 0; }

# A library that only one room may see; a name that ends with a slash stands for all below it.
alone='
sqlite3.h     ^store/
curl/curl.h   ^(scheduler/engine|daemon/(cli|gcs))/
fuse3/        ^daemon/gcs/gcs_operations[.]h$
microhttpd.h  ^api/http/
openssl/      ^store/objects/
isa-l/        ^daemon/base/crc32c[.]c$
gnutls/       ^(store/keys|api/grpc)/|^daemon/gateway/forward[.]c$|^scheduler/engine/docker_wire[.][ch]$
nghttp2/      ^api/grpc/
expat.h       ^api/storage/
nlopt.h       ^scheduler/tuning/
yaml.h        ^daemon/base/yaml[.]c$
'

# Of the system, commands that only talk to a daemon include headers of C and POSIX, and two that macOS has as well. Files that
# start a daemon, or look at its machine, may include any.
commands='^daemon/cli/'
starting='^daemon/cli/(exec|doctor_checks)[.]c$'
portable='^(arpa/inet|ctype|dirent|errno|fcntl|inttypes|limits|math|netdb|poll|pthread|regex|signal|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|sys/(socket|stat|types|wait)|termios|time|unistd|fts|sys/ioctl|curl/curl|jansson|sodium|zlib)[.]h$'

# shellcheck disable=SC2016  # a program of awk
find daemon api scheduler store -name '*.[ch]' | sort | RULES=$rules ALONE=$alone COMMANDS=$commands STARTING=$starting PORTABLE=$portable xargs awk '
function complain(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad++
}
BEGIN {
	rows = split(ENVIRON["RULES"], rule, "\n")
	count = split(ENVIRON["ALONE"], line, "\n")
	for (i = 1; i <= count; i++)
		if (split(line[i], word, /[ \t]+/) == 2)
			owner[word[1]] = word[2]
}
FNR == 1 {
	if ($0 !~ /SPDX-License-Identifier: Apache-2.0/)
		complain("does not begin with its SPDX line")
	allowed = ""
	for (i = 1; i <= rows && !allowed; i++)
		if (split(rule[i], word, /[ \t]+/) > 1 && FILENAME ~ word[1])
			allowed = rule[i]
	if (!allowed)
		complain("no row of the table in tests/check_includes.sh is about this file")
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	match($0, /[<"][^>"]*/)
	name = substr($0, RSTART + 1, RLENGTH - 1)
	library = name in owner ? name : substr(name, 1, index(name, "/"))
	if (library in owner && FILENAME !~ owner[library])
		complain(name " may be included below " substr(owner[library], 2) " only")
	if ($0 !~ /"/ && FILENAME ~ ENVIRON["COMMANDS"] && FILENAME !~ ENVIRON["STARTING"] && name !~ ENVIRON["PORTABLE"])
		complain(name " is not of POSIX: a command that talks to a daemon is to build on any Unix")
	if ($0 !~ /"/ || !allowed)
		next
	fits = 0
	count = split(allowed, word, /[ \t]+/)
	for (i = 2; i <= count; i++)
		if (name ~ word[i])
			fits = 1
	if (!fits)
		complain("may not include \"" name "\"")
}
END { exit bad > 0 }'
rc=$?
bad=$(find daemon api scheduler store tests -name '*.[ch]' -exec awk 'FNR == 601 { print FILENAME " has more than 600 lines" }' {} +
	grep -rn -e '->>' -e "-> '" --include='*.[ch]' --include='*.sql' store)
[ -z "$bad" ] || { printf '%s\n' "$bad"; rc=1; }
exit $rc
