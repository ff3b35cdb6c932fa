# SPDX-License-Identifier: Apache-2.0
libtrainyard_a_SOURCES += \
	api/grpc/failure.c \
	api/grpc/failure.h \
	api/grpc/feed.c \
	api/grpc/feed.h \
	api/grpc/front.h \
	api/grpc/rpc.c \
	api/grpc/outcome.h \
	api/grpc/rpc.h \
	api/grpc/session.h \
	api/grpc/stream_socket.h

WITH_GRPC = \
	api/grpc/front.c \
	api/grpc/outcome.c \
	api/grpc/session.c \
	api/grpc/stream_socket.c
WITHOUT_GRPC = \
	api/grpc/front_absent.c
EXTRA_DIST += $(WITH_GRPC) $(WITHOUT_GRPC)
if HAVE_GRPC
libtrainyard_a_SOURCES += $(WITH_GRPC)
else
libtrainyard_a_SOURCES += $(WITHOUT_GRPC)
endif
