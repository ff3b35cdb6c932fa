# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016,SC2154
# deploy/lib.sh: what the demo, the checks and the tests share. Sourced by POSIX shells on Debian and Ubuntu.
#
#   say, ok, die, step        progress: one line a step, with its seconds; a spinner on a terminal
#   at_exit                   clean-up that also runs after Ctrl-C, last in first out
#   as_root                   as root already, or through sudo
#   need_packages             installs what is missing, and nothing starts by being installed
#   engine_find, engine_reach is there a Docker Engine that answers us?
#   engine_start, engine_stop a private one, when there is none
#   dockerd_start, _stop      the same by hand, for tests
#   source_copy, source_configure    a copy of the sources to build in
#
# The caller sets `root` to the top of the sources before it sources this file.

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
: "${step_log:=/dev/null}"

# ---- progress -------------------------------------------------------------------------------------------

if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
	on_terminal=1 mark_ok='✓' mark_bad='✗'
else
	on_terminal='' mark_ok='ok ' mark_bad='BAD'
fi

say() { printf '%s\n' "$*"; }
ok() { printf '%s %s\n' "$mark_ok" "$*"; }
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Hundredths of a second since the machine started.
now_cs() {
	read -r uptime_s _ </proc/uptime
	echo "${uptime_s%.*}${uptime_s#*.}"
}

# elapsed_text CS: "3.2 s"
elapsed_text() { printf '%d.%d s' "$(($1 / 100))" "$(($1 / 10 % 10))"; }

spinner() {
	trap 'exit 0' TERM
	beat=0
	while :; do
		for glyph in '⠋' '⠙' '⠸' '⠴' '⠦' '⠇'; do
			printf '\r%s %s  %d s ' "$glyph" "$1" $((beat / 5))
			beat=$((beat + 1))
			sleep 0.2
		done
	done
}

spinner_stop() {
	[ -n "${spinner_pid:-}" ] || return 0
	kill "$spinner_pid" 2>/dev/null
	wait "$spinner_pid" 2>/dev/null
	spinner_pid=''
	printf '\r\033[K'
}

# step TEXT COMMAND...: runs it with its output in $step_log; says how it went and how long it took.
step() {
	step_text=$1
	shift
	step_from=$(now_cs)
	printf '\n== %s: %s\n' "$step_text" "$*" >>"$step_log"
	if [ -n "$on_terminal" ]; then
		spinner "$step_text" &
		spinner_pid=$!
	fi
	"$@" >>"$step_log" 2>&1 </dev/null
	step_rc=$?
	spinner_stop
	step_cs=$(($(now_cs) - step_from))
	if [ "$step_rc" -eq 0 ]; then
		ok "$step_text  ($(elapsed_text "$step_cs"))"
	else
		printf '%s %s  (%s)\n' "$mark_bad" "$step_text" "$(elapsed_text "$step_cs")"
	fi
	return "$step_rc"
}

# step_or_die TEXT COMMAND...: a step that nothing can go on without; shows the end of its output.
step_or_die() {
	step "$@" && return 0
	[ "$step_log" = /dev/null ] || tail -n 25 "$step_log" | sed 's/^/    /' >&2
	die "stopped: $1; all output is in $step_log"
}

# ---- clean-up -------------------------------------------------------------------------------------------

exit_stack=''

# at_exit FUNCTION: called when the script ends, however it ends.
at_exit() { exit_stack="$1 $exit_stack"; }

exit_unwind() {
	exit_rc=$?
	trap '' INT TERM HUP
	trap - EXIT
	set +e
	spinner_stop
	for exit_function in $exit_stack; do "$exit_function"; done
	exit "$exit_rc"
}

# exit_arm: from here on at_exit works. Not for shells that only borrow a function.
exit_arm() {
	trap exit_unwind EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# A zombie counts as dead: not every machine has an init that reaps.
process_alive() { grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"; }

# process_await_end PID SECONDS
process_await_end() {
	await_tries=$(($2 * 20))
	while process_alive "$1"; do
		await_tries=$((await_tries - 1))
		[ "$await_tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# ---- packages -------------------------------------------------------------------------------------------

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		die "needs root for: $*  (and there is no sudo)"
	fi
}

package_present() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# packages_missing NAME... | NAME=COMMAND...: prints those that are not there. With =COMMAND, having the
# command is enough, wherever it came from.
packages_missing() {
	for package in "$@"; do
		case $package in
		*=*) command -v "${package#*=}" >/dev/null || printf '%s ' "${package%%=*}" ;;
		*) package_present "$package" || printf '%s ' "$package" ;;
		esac
	done
}

# While packages are installed, this file tells them not to start their daemons. One that was there
# already comes back as it was.
policy_file=/usr/sbin/policy-rc.d
policy_mark='# by trainyard, for the time of an installation'

policy_set() {
	as_root sh -c '
		if [ -e "$1" ] || [ -h "$1" ]; then
			grep -qs "$2" "$1" || mv "$1" "$1.before-trainyard"
		fi
		printf "#!/bin/sh\n%s\nexit 101\n" "$2" >"$1" && chmod 755 "$1"' sh "$policy_file" "$policy_mark"
}

policy_restore() {
	grep -qs "$policy_mark" "$policy_file" || return 0
	as_root sh -c '
		rm -f "$1"
		if [ -e "$1.before-trainyard" ] || [ -h "$1.before-trainyard" ]; then
			mv "$1.before-trainyard" "$1"
		fi' sh "$policy_file"
}

apt_get() {
	as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
		apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"
}

packages_install() {
	policy_set || return 1
	# The lists of a fresh machine are empty or old: fetch them when the first try fails.
	apt_get install --no-install-recommends "$@" ||
		{ apt_get update && apt_get install --no-install-recommends "$@"; }
	install_rc=$?
	policy_restore
	return $install_rc
}

# need_packages NAME...: see packages_missing for the form of a name.
need_packages() {
	policy_restore # left by one that was killed
	missing=$(packages_missing "$@")
	[ -n "$missing" ] || return 0
	command -v apt-get >/dev/null || die "please install: $missing (this is no Debian or Ubuntu: no apt-get)"
	at_exit policy_restore
	as_root true # sudo asks now, if it has to
	# shellcheck disable=SC2086  # a list
	step_or_die "install $(echo "$missing" | wc -w) packages: $missing" packages_install $missing
}

# The package of the engine, unless the machine has or reaches one of whatever source.
engine_package() {
	if [ -n "${DOCKER_HOST:-}" ] || [ -S /var/run/docker.sock ] || command -v dockerd >/dev/null; then
		return 0
	fi
	echo docker.io
}

# ---- engine ---------------------------------------------------------------------------------------------

private_run=${TRAINYARD_ENGINE_RUN:-/run/trainyard-engine}
private_data=${TRAINYARD_ENGINE_DATA:-/var/lib/trainyard-engine}

# engine_answers SOCKET
engine_answers() {
	[ "$(curl -s --max-time 5 --unix-socket "$1" http://engine/_ping 2>/dev/null)" = OK ]
}

# engine_find: sets DOCKER_HOST to an engine that answers, or fails. Looks at DOCKER_HOST, the usual
# socket, and at a private engine that another demo or check has started.
engine_find() {
	case ${DOCKER_HOST:-} in
	'') ;;
	unix://*) engine_answers "${DOCKER_HOST#unix://}" && return 0
		die "no engine answers at DOCKER_HOST=$DOCKER_HOST (unset it to use another)" ;;
	*) die "DOCKER_HOST=$DOCKER_HOST: only engines at unix:// can be used (unset it to use another)" ;;
	esac
	for engine_socket in /var/run/docker.sock "$private_run/docker.sock"; do
		if engine_answers "$engine_socket"; then
			DOCKER_HOST=unix://$engine_socket
			export DOCKER_HOST
			return 0
		fi
	done
	return 1
}

# engine_reach "$@": for a user who may not open the socket of an engine that runs, starts the script
# again as the same user with the socket's group. Otherwise does nothing.
engine_reach() {
	for engine_socket in "${DOCKER_HOST:-/var/run/docker.sock}" "$private_run/docker.sock"; do
		engine_socket=${engine_socket#unix://}
		if [ ! -S "$engine_socket" ] || [ -w "$engine_socket" ]; then continue; fi
		as_root curl -s -o /dev/null --max-time 5 --unix-socket "$engine_socket" http://engine/_ping || continue
		[ -z "${TRAINYARD_REACHING:-}" ] || die "may not use the engine at $engine_socket"
		# shellcheck disable=SC2093  # goes on only where there is nothing to do
		exec sudo -u "$(id -un)" -g "$(stat -L -c %G "$engine_socket")" TRAINYARD_REACHING=1 "HOME=$HOME" \
			"TERM=${TERM:-dumb}" ${DOCKER_HOST:+"DOCKER_HOST=$DOCKER_HOST"} -- "$0" "$@"
	done
}

# On a machine that was not started by systemd, nothing may have mounted the control groups.
cgroups_mount() {
	grep -q ' /sys/fs/cgroup' /proc/mounts && return 0
	as_root sh -c '
		at=/sys/fs/cgroup
		mount -t cgroup2 none $at && grep -qw memory $at/cgroup.controllers && exit 0
		umount $at
		mount -t tmpfs -o mode=755 none $at || exit 1
		while read -r name _ _ enabled; do
			[ "$enabled" = 1 ] || continue
			mkdir $at/$name && mount -t cgroup -o $name none $at/$name || rmdir $at/$name
		done </proc/cgroups'
}

# dockerd_start DIR DATA [netns|'' [NAME=VALUE]...]: a dockerd whose socket, pid, log and running state are
# in DIR and whose images and containers are in DATA. With `netns` it has a network of its own, apart from the
# machine's and without a way out. NAME=VALUE are in its environment. Returns when it answers. Its socket is
# open to the calling user's group. DIR/daemon.json configures it; each line of DIR/hosts is an address more; with `netns`,
# DIR/hostname has its host name.
dockerd_start() {
	cgroups_mount || return 1
	start_dir=$1 start_data=$2 start_netns=${3:-}
	start_ended=$start_dir/ended.$(now_cs) # appears if it ends
	shift $(($# < 3 ? $# : 3))
	as_root setsid -f sh -c '
		dir=$1 data=$2 netns=$3 group=$4 ended=$5
		shift 5
		mkdir -p "$dir" "$data" && chmod 755 "$dir" && exec >>"$dir/dockerd.log" 2>&1 || exit 1
		[ -s "$dir/daemon.json" ] || echo "{}" >"$dir/daemon.json"
		rm -f "$dir/dockerd.pid" "$dir"/ended.* "$dir/docker.sock"
		# dockerd waits long for a containerd whose pid file names a zombie.
		containerd=$dir/exec/containerd/containerd.pid
		if [ -s "$containerd" ] && ! grep -qs "^State:[[:space:]]*[^ZX[:space:]]" "/proc/$(cat "$containerd")/status"; then
			rm -f "$containerd"
		fi
		name=trainyard-$(printf %s "$dir" | cksum | cut -d" " -f1)
		set -- env "$@" dockerd --config-file "$dir/daemon.json" -H "unix://$dir/docker.sock" --group "$group" \
			--data-root "$data" --exec-root "$dir/exec" --pidfile "$dir/dockerd.pid" \
			--containerd-namespace "$name" --containerd-plugins-namespace "$name-plugins"
		while read -r host; do set -- "$@" -H "$host"; done 2>/dev/null <"$dir/hosts"
		[ -z "$netns" ] || set -- unshare --net --uts sh -c "
			ip link set lo up; [ ! -s \"$dir/hostname\" ] || hostname -F \"$dir/hostname\"; exec \"\$@\"" sh "$@"
		"$@"
		echo $? >"$ended"' \
		sh "$start_dir" "$start_data" "$start_netns" "$(id -g)" "$start_ended" "$@" \
		</dev/null >/dev/null 2>&1 8>&- 9>&- || return 1
	start_tries=600
	until engine_answers "$start_dir/docker.sock"; do
		start_tries=$((start_tries - 1))
		if [ $start_tries -eq 0 ] || [ -e "$start_ended" ]; then
			as_root tail -n 20 "$start_dir/dockerd.log"
			echo "dockerd did not start; its log is $start_dir/dockerd.log"
			return 1
		fi
		sleep 0.1
	done
}

# dockerd_stop DIR [SIGNAL]: ends the one that dockerd_start began there, and unmounts what it left.
# After KILL, the containers and containerd go on, as after a crash.
dockerd_stop() {
	stop_pid=$(cat "$1/dockerd.pid" 2>/dev/null) || return 0
	if process_alive "$stop_pid"; then
		as_root sh -c 'kill -s "$1" "$2"' sh "${2:-TERM}" "$stop_pid"
		process_await_end "$stop_pid" 60 || return 1
	fi
	[ "${2:-TERM}" != KILL ] || return 0
	as_root sh -c '
		pid=$(cat "$1/exec/containerd/containerd.pid" 2>/dev/null) && kill "$pid" 2>/dev/null
		cut -d" " -f2 /proc/mounts | grep -F "$1/exec/" | sort -r | while read -r mount; do umount -l "$mount"; done
		rm -rf "$1/exec" "$1/dockerd.pid" "$1/docker.sock"' sh "$1"
}

# dockerd_delete DIR DATA: stops it and deletes all it had.
dockerd_delete() {
	dockerd_stop "$1"
	as_root sh -c '
		awk -v a="$1" -v b="$2" "\$2 == a || \$2 == b || index(\$2, a \"/\") == 1 || index(\$2, b \"/\") == 1 { print \$2 }" \
			/proc/mounts | sort -r | while read -r mount; do umount -l "$mount"; done
		rm -rf "$1" "$2"' sh "$1" "$2"
}

# An engine changes the machine's packet filter and keeps it so after its end. These remember what was
# before the first start and put it back, keeping what others changed meanwhile.
network_remember() {
	as_root sh -c '
		iptables -S 2>/dev/null | grep -q DOCKER && exit 0
		{ cat /proc/sys/net/ipv4/ip_forward; iptables -S FORWARD | sed -n "s/^-P FORWARD //p"; } >"$1/network.before"' \
		sh "$private_run"
}

network_restore() {
	as_root sh -c '
		[ -s "$1/network.before" ] || exit 0
		# Another engine has come meanwhile: it needs what is there.
		for process in /proc/[0-9]*; do
			[ "$(cat "$process/comm" 2>/dev/null)" != dockerd ] ||
				[ "$(readlink "$process/ns/net")" != "$(readlink /proc/self/ns/net)" ] || exit 0
		done
		{ read -r forward; read -r policy; } <"$1/network.before"
		iptables-save | grep -v -e DOCKER -e docker0 | sed "s/^:FORWARD [A-Z]*/:FORWARD $policy/" | iptables-restore
		echo "$forward" >/proc/sys/net/ipv4/ip_forward
		ip link delete docker0 2>/dev/null
		rm -f "$1/network.before"' sh "$private_run"
}

# engine_start: sets DOCKER_HOST to an engine that answers: one that is there already (left alone at the
# end), else a private one. Several scripts may share that one; the last of them ends it.
engine_start() {
	if engine_find && [ "$DOCKER_HOST" != "unix://$private_run/docker.sock" ]; then
		ok "use the engine at $DOCKER_HOST"
		return 0
	fi
	as_root sh -c 'mkdir -p "$1" && touch "$1.turn" "$1.use" && chmod 666 "$1.turn" "$1.use"' sh "$private_run" ||
		die "cannot write $private_run"
	exec 8>"$private_run.turn" # held while the engine is started or ended
	flock 8
	at_exit engine_stop
	if ! engine_answers "$private_run/docker.sock"; then
		step_or_die "start a private Docker Engine" engine_start_private
	fi
	exec 9>"$private_run.use" # held as long as it is used
	flock -s 9
	exec 8>&-
	DOCKER_HOST=unix://$private_run/docker.sock
	export DOCKER_HOST
}

engine_start_private() {
	if ! command -v dockerd >/dev/null; then
		echo "no engine answers at /var/run/docker.sock, and there is no dockerd to start one"
		return 1
	fi
	network_remember
	# For each container dockerd runs itself four times, a fifth of which is garbage collection.
	dockerd_start "$private_run" "$private_data" '' GOGC=400
}

# engine_stop: ends the private engine, unless others use it or it is to be kept.
engine_stop() {
	[ ! -e "$private_run/keep" ] || return 0
	exec 9>&- 8>"$private_run.turn" && flock 8 || return 0
	exec 9>"$private_run.use" && flock -n 9 || return 0
	dockerd_stop "$private_run"
	network_restore
	exec 8>&- 9>&-
}

# engine_keep: leaves the private engine running after this script; engine_release takes that back.
engine_keep() { [ "$DOCKER_HOST" != "unix://$private_run/docker.sock" ] || as_root touch "$private_run/keep"; }
engine_release() { [ ! -e "$private_run/keep" ] || as_root rm -f "$private_run/keep"; }

# ---- building -------------------------------------------------------------------------------------------

# What a build needs; for tests more.
# shellcheck disable=SC2034  # for the scripts that source this
build_packages='build-essential autoconf automake autoconf-archive pkg-config libmicrohttpd-dev libjansson-dev
 libcurl4-openssl-dev libsqlite3-dev libsodium-dev libpcre2-dev zlib1g-dev libgnutls28-dev libssl-dev libnghttp2-dev libisal-dev libexpat1-dev libnlopt-dev libyaml-dev libfuse3-dev'

# For the files of an image beside.
# shellcheck disable=SC2034
image_packages='ca-certificates python3'

# build_dir_find NAME: a directory to build in, below the sources or, where those are read-only, in the cache.
build_dir_find() {
	if mkdir -p "$root/build/$1" 2>/dev/null && [ -w "$root/build/$1" ]; then
		echo "$root/build/$1"
	else
		cache=${XDG_CACHE_HOME:-$HOME/.cache}/trainyard/$1
		mkdir -p "$cache" && echo "$cache"
	fi
}

# source_copy DIR: brings DIR up to date with the sources, file times kept. Building in a copy leaves the
# tree as it is, whatever state it is in.
source_copy() {
	mkdir -p "$1" || return 1
	(
		cd "$root" || exit 1
		find .clang-tidy .dockerignore configure.ac Makefile.am README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md LICENSE docs api daemon deploy scheduler store tests m4 \
			\( -name node_modules -o -name __pycache__ -o -name .deps -o -path deploy/build-aux/m4 \) -prune -o \
			-type f ! -name '*.o' ! -name '*.a' ! -name '*.log' ! -name '*.trs' ! -name .dirstamp -print 2>/dev/null |
			sort >"$1/.files.new"
		# A file that is gone here goes there too.
		if [ -f "$1/.files" ]; then
			comm -23 "$1/.files" "$1/.files.new" | while read -r gone; do rm -f "$1/$gone"; done
		fi
		mv "$1/.files.new" "$1/.files"
		tar -cf - -T "$1/.files" | tar -xf - -C "$1"
	) || return 1
	# The build system's own files, when what they are made of has changed.
	inputs=$(cd "$1" && find . \( -name '*.mk' -o -name configure.ac -o -name Makefile.am \) -type f | sort |
		xargs cat | cksum)
	if [ ! -f "$1/configure" ] || [ "$inputs" != "$(cat "$1/.inputs" 2>/dev/null)" ]; then
		(cd "$1" && mkdir -p deploy/build-aux/m4 && autoreconf -fi) || return 1
		echo "$inputs" >"$1/.inputs"
	fi
}

# source_configure SOURCE DIR [FLAGS...]: configures a build of a copy, once.
source_configure() {
	configure_source=$1 configure_dir=$2
	shift 2
	mkdir -p "$configure_dir"
	if [ ! -f "$configure_dir/Makefile" ] ||
		[ -n "$(find "$configure_source/configure" -newer "$configure_dir/config.status")" ]; then
		(cd "$configure_dir" && "$configure_source/configure" -q "$@")
	fi
}

cores() { nproc 2>/dev/null || echo 2; }
