# SPDX-License-Identifier: Apache-2.0
# The sources, compiled once for fuzzers, and the fuzz targets: make -f tests/fuzz/fuzz.mk FUZZ_BUILD/fuzz_NAME.
# Its own makefile, because clang alone has libFuzzer and every object needs other flags than the program's.
FUZZ_BUILD ?= build/fuzz
CLANG ?= clang
LIBRARIES := libmicrohttpd jansson libcurl sqlite3 libsodium libpcre2-8 zlib gnutls libcrypto \
	libnghttp2 libisal expat nlopt yaml-0.1
FLAGS := -std=gnu17 -D_GNU_SOURCE -DPACKAGE_VERSION='"fuzz"' -g -O1 -fno-sanitize-recover=all -I. -MMD -MP \
	$(shell pkg-config --cflags $(LIBRARIES))
# With SANITIZERS= it tries two to eight times as many inputs a second; try the inputs that it finds with sanitizers
# afterwards.
SANITIZERS ?= address,undefined
comma := ,
INSTRUMENTS := $(addprefix $(comma),$(SANITIZERS))
SOURCES := $(shell find daemon api scheduler store -name '*.c' ! -path daemon/main.c ! -name front_absent.c \
	! -path 'scheduler/engine/throttle/*' ! -path scheduler/engine/tunnel/tunnel.c)
WEB_FILES := $(shell find api/emulator/web_shell -type f | sort)
EMBEDDED := migrations_data launcher_data throttle_data tunnel_data web_shell_data
OBJECTS := $(SOURCES:%.c=$(FUZZ_BUILD)/objects/%.o) $(EMBEDDED:%=$(FUZZ_BUILD)/objects/%.o)
TARGETS := $(patsubst tests/fuzz/%.c,$(FUZZ_BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))

# Targets with messages of the APIs as their input.
MUTATED := fault message message_binary resource storage_body
MUTATION := $(FUZZ_BUILD)/objects/tests/fuzz/message_mutation.o

all: $(TARGETS)

$(MUTATED:%=$(FUZZ_BUILD)/fuzz_%): $(MUTATION)
$(TARGETS): $(FUZZ_BUILD)/%: tests/fuzz/%.c $(FUZZ_BUILD)/sources.a
	$(CLANG) $(FLAGS) -fsanitize=fuzzer$(INSTRUMENTS) -MF $@.d -MT $@ $(filter %.c %.o,$^) \
		$(FUZZ_BUILD)/sources.a -o $@ $(shell pkg-config --libs $(LIBRARIES)) -lm -pthread

$(FUZZ_BUILD)/sources.a: $(OBJECTS)
	rm -f $@
	ar rcs $@ $^

$(FUZZ_BUILD)/objects/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(FLAGS) -fsanitize=fuzzer-no-link$(INSTRUMENTS) -c $< -o $@

$(FUZZ_BUILD)/objects/%.o: $(FUZZ_BUILD)/%.c
	@mkdir -p $(@D)
	$(CLANG) $(FLAGS) -c $< -o $@

$(FUZZ_BUILD)/migrations_data.c: $(wildcard store/migrations/*/*.sql)
	@mkdir -p $(@D)
	sh deploy/build-aux/embed-sql.sh $^ >$@
$(FUZZ_BUILD)/launcher_data.c: scheduler/launcher/launcher.py
	@mkdir -p $(@D)
	sh deploy/build-aux/embed-files.sh launcher_files $^ >$@
$(FUZZ_BUILD)/web_shell_data.c: $(WEB_FILES)
	@mkdir -p $(@D)
	sh deploy/build-aux/embed-files.sh web_shell_files $^ >$@
$(FUZZ_BUILD)/throttle_data.c: scheduler/engine/throttle/throttle.c scheduler/engine/bare/bare.h
	@mkdir -p $(@D)
	sh deploy/build-aux/embed-program.sh throttle_files $< $(CLANG) >$@
$(FUZZ_BUILD)/tunnel_data.c: scheduler/engine/tunnel/tunnel.c $(wildcard scheduler/engine/tunnel/*.[ch]) scheduler/engine/bare/bare.h
	@mkdir -p $(@D)
	sh deploy/build-aux/embed-program.sh tunnel_files $< $(CLANG) >$@

.PHONY: all
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(FUZZ_BUILD) -name '*.d' 2>/dev/null)
