# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# deploy/image.sh: how our scripts bring images into a Docker Engine: over its socket, without the docker command and
# without a registry. Sourced by POSIX shells. Needs curl.
#
#   die TEXT                        ends the script
#   engine_check                    ends it unless the engine answers that $DOCKER_HOST names
#   engine PATH [CURL-FLAG...]      calls it, prints the body of the answer
#   is_current IMAGE CONTENT        was the image made of CONTENT, a word that stands for all that went into it?
#   build IMAGE DOCKERFILE CONTENT  makes it from $work/context.tar
#
# The caller sets `work` to a directory of its own before it builds.

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

engine() {
	path=$1
	shift
	case ${DOCKER_HOST:-unix:///var/run/docker.sock} in
	unix://*)
		socket=${DOCKER_HOST:-unix:///var/run/docker.sock}
		curl -sS --unix-socket "${socket#unix://}" "$@" "http://engine$path"
		;;
	tcp://*) curl -sS "$@" "http://${DOCKER_HOST#tcp://}$path" ;;
	*) die "DOCKER_HOST=$DOCKER_HOST: only unix:// and tcp:// are known here" ;;
	esac
}

engine_check() {
	engine /_ping >/dev/null || die "no engine answers at ${DOCKER_HOST:-unix:///var/run/docker.sock}"
}

image_label=trainyard.example.content

is_current() { engine "/images/$1/json" | grep -q "\"$image_label\":\"$2\""; }

build() {
	labels="%7B%22$image_label%22%3A%22$3%22%7D" # {"label":"content"}
	said=$(engine "/build?t=$1&dockerfile=$2&labels=$labels&forcerm=1&networkmode=none" -X POST \
		-H 'Content-Type: application/x-tar' -H 'Expect:' -T "$work/context.tar")
	is_current "$1" "$3" || die "cannot build $1: $said"
}
