# SPDX-License-Identifier: Apache-2.0
libtrainyard_a_SOURCES += \
	daemon/base/cleanup.h \
	daemon/base/clock.c \
	daemon/base/clock.h \
	daemon/base/error.c \
	daemon/base/error.h \
	daemon/base/json.c \
	daemon/base/json.h \
	daemon/base/log.c \
	daemon/base/log.h \
	daemon/base/text.c \
	daemon/base/text.h \
	daemon/config.c \
	daemon/config.h \
	daemon/config_items.c \
	daemon/config_items.h \
	daemon/env.c \
	daemon/env.h \
	daemon/main.h \
	daemon/serve.c \
	daemon/serve.h \
	daemon/terminal_door.c \
	daemon/terminal_door.h \
	daemon/version.c \
	daemon/version.h \
	daemon/wiring.c \
	daemon/wiring.h
