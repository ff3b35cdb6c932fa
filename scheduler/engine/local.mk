# SPDX-License-Identifier: Apache-2.0
libtrainyard_a_SOURCES += \
	scheduler/engine/docker.c \
	scheduler/engine/docker_credentials.c \
	scheduler/engine/docker_credentials.h \
	scheduler/engine/docker_emit.c \
	scheduler/engine/docker_frames.c \
	scheduler/engine/docker_frames.h \
	scheduler/engine/docker_helper.c \
	scheduler/engine/docker_helper.h \
	scheduler/engine/docker_hijack.c \
	scheduler/engine/docker_hijack.h \
	scheduler/engine/docker_host.c \
	scheduler/engine/docker_host.h \
	scheduler/engine/docker_http.c \
	scheduler/engine/docker_http.h \
	scheduler/engine/docker_image.c \
	scheduler/engine/docker_json.c \
	scheduler/engine/docker_json.h \
	scheduler/engine/docker_link.c \
	scheduler/engine/docker_listing.c \
	scheduler/engine/docker_logs.c \
	scheduler/engine/docker_network.c \
	scheduler/engine/docker_parts.h \
	scheduler/engine/docker_progress.c \
	scheduler/engine/docker_progress.h \
	scheduler/engine/docker_replica.c \
	scheduler/engine/docker_subnet.c \
	scheduler/engine/docker_subnet.h \
	scheduler/engine/docker_terminal.c \
	scheduler/engine/docker_terminal.h \
	scheduler/engine/engine.h \
	scheduler/engine/nvidia_gpus.c \
	scheduler/engine/nvidia_gpus.h
