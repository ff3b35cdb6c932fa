# SPDX-License-Identifier: Apache-2.0
# What programs of tests share: each takes what it calls.
noinst_LIBRARIES += tests/libtesting.a
tests_libtesting_a_SOURCES = \
	tests/fuzz/replay.c \
	tests/support/asked_server.c \
	tests/support/asked_server.h \
	tests/support/fake_engine.c \
	tests/support/fake_engine.h \
	tests/support/fake_engine_state.h \
	tests/support/fake_orders.c
LDADD = tests/libtesting.a libtrainyard.a $(DEPS_LIBS) $(GRPC_LIBS) $(FUSE_LIBS) $(CMOCKA_LIBS)
# One program per subject, mirroring the tree, made of the one file of its name; each speaks TAP.
if HAVE_CMOCKA
check_PROGRAMS += \
	tests/unit/api/aiplatform/test_custom_job_render \
	tests/unit/api/aiplatform/test_custom_job_rules \
	tests/unit/api/aiplatform/test_messages \
	tests/unit/api/aiplatform/test_pipeline_render \
	tests/unit/api/aiplatform/test_pipeline_rules \
	tests/unit/api/aiplatform/test_read_mask \
	tests/unit/api/aiplatform/test_resource_look \
	tests/unit/api/aiplatform/test_routes \
	tests/unit/api/aiplatform/test_spec_defaults \
	tests/unit/api/aiplatform/test_to_plan \
	tests/unit/api/aiplatform/test_tuning_job_render \
	tests/unit/api/aiplatform/test_tuning_job_rules \
	tests/unit/api/emulator/test_discovery \
	tests/unit/api/emulator/test_fault_gate \
	tests/unit/api/emulator/test_web_shell \
	tests/unit/api/grpc/test_rpc \
	tests/unit/api/http/test_body \
	tests/unit/api/http/test_connections \
	tests/unit/api/http/test_error_body \
	tests/unit/api/http/test_exchange \
	tests/unit/api/http/test_guard \
	tests/unit/api/http/test_hold \
	tests/unit/api/http/test_inner \
	tests/unit/api/http/test_intake \
	tests/unit/api/http/test_listener \
	tests/unit/api/http/test_path_socket \
	tests/unit/api/http/test_pretty \
	tests/unit/api/http/test_request \
	tests/unit/api/http/test_router \
	tests/unit/api/http/test_stream \
	tests/unit/api/logging/test_entry_list \
	tests/unit/api/logging/test_entry_write \
	tests/unit/api/logging/test_log_list \
	tests/unit/api/message/test_discovery \
	tests/unit/api/message/test_fields_mask \
	tests/unit/api/message/test_message_binary \
	tests/unit/api/message/test_message_names \
	tests/unit/api/message/test_message_parse \
	tests/unit/api/message/test_message_query \
	tests/unit/api/message/test_message_read \
	tests/unit/api/message/test_message_write \
	tests/unit/api/metadata/test_identity \
	tests/unit/api/metadata/test_metadata \
	tests/unit/api/ml/test_builtin \
	tests/unit/api/ml/test_gcloud_bodies \
	tests/unit/api/ml/test_input_differences \
	tests/unit/api/ml/test_job_create \
	tests/unit/api/ml/test_job_plan \
	tests/unit/api/ml/test_job_render \
	tests/unit/api/ml/test_job_report \
	tests/unit/api/ml/test_job_rules \
	tests/unit/api/ml/test_job_study \
	tests/unit/api/ml/test_messages \
	tests/unit/api/ml/test_plan_property \
	tests/unit/api/ml/test_policy \
	tests/unit/api/ml/test_policy_rules \
	tests/unit/api/ml/test_resumption \
	tests/unit/api/ml/test_rules_cluster \
	tests/unit/api/ml/test_rules_container \
	tests/unit/api/ml/test_rules_labels \
	tests/unit/api/ml/test_rules_package \
	tests/unit/api/ml/test_rules_tuning \
	tests/unit/api/ml/test_samples \
	tests/unit/api/ml/test_to_plan \
	tests/unit/api/ml/test_trials_render \
	tests/unit/api/storage/test_blank_parameters \
	tests/unit/api/storage/test_buckets \
	tests/unit/api/storage/test_callers \
	tests/unit/api/storage/test_copies \
	tests/unit/api/storage/test_gunzip \
	tests/unit/api/storage/test_http_date \
	tests/unit/api/storage/test_multipart \
	tests/unit/api/storage/test_objects \
	tests/unit/api/storage/test_part_claims \
	tests/unit/api/storage/test_parts \
	tests/unit/api/storage/test_range \
	tests/unit/api/storage/test_uploads \
	tests/unit/api/training/test_field_help \
	tests/unit/api/training/test_image_map \
	tests/unit/api/training/test_image_name \
	tests/unit/api/training/test_job_times \
	tests/unit/api/training/test_project \
	tests/unit/api/training/test_quota \
	tests/unit/api/training/test_regions \
	tests/unit/api/training/test_replica_json \
	tests/unit/api/training/test_runtime_map \
	tests/unit/api/training/test_shells_render \
	tests/unit/api/training/test_start_estimate \
	tests/unit/api/training/test_storage_use \
	tests/unit/daemon/test_client_hello \
	tests/unit/daemon/cli/test_invocation \
	tests/unit/daemon/gateway/test_forward \
	tests/unit/daemon/gateway/test_host_routes \
	tests/unit/daemon/gateway/test_job_gateway \
	tests/unit/daemon/gateway/test_relay \
	tests/unit/daemon/gateway/test_sni_filter \
	tests/unit/daemon/test_terminal_door \
	tests/unit/daemon/gcs/test_gcs_caller \
	tests/unit/daemon/gcs/test_gcs_client \
	tests/unit/daemon/gcs/test_gcs_log \
	tests/unit/daemon/gcs/test_gcs_notes \
	tests/unit/daemon/gcs/test_gcs_path \
	tests/unit/daemon/gcs/test_gcs_sight \
	tests/unit/daemon/gcs/test_gcs_turns \
	tests/unit/daemon/test_base64 \
	tests/unit/daemon/test_chance \
	tests/unit/daemon/test_config \
	tests/unit/daemon/test_crc32c \
	tests/unit/daemon/test_credentials \
	tests/unit/daemon/test_emulator_clock \
	tests/unit/daemon/test_env \
	tests/unit/daemon/test_error \
	tests/unit/daemon/test_families \
	tests/unit/daemon/test_given_file \
	tests/unit/daemon/test_instance_lock \
	tests/unit/daemon/test_json \
	tests/unit/daemon/test_log \
	tests/unit/daemon/test_memory \
	tests/unit/daemon/test_text \
	tests/unit/daemon/test_token \
	tests/unit/daemon/test_tree \
	tests/unit/daemon/test_work \
	tests/unit/scheduler/engine/test_docker \
	tests/unit/scheduler/engine/test_docker_attachment \
	tests/unit/scheduler/engine/test_docker_clean \
	tests/unit/scheduler/engine/test_docker_credentials \
	tests/unit/scheduler/engine/test_docker_exits \
	tests/unit/scheduler/engine/test_docker_frames \
	tests/unit/scheduler/engine/test_docker_history \
	tests/unit/scheduler/engine/test_docker_host \
	tests/unit/scheduler/engine/test_docker_http \
	tests/unit/scheduler/engine/test_docker_image \
	tests/unit/scheduler/engine/test_docker_json \
	tests/unit/scheduler/engine/test_docker_json_read \
	tests/unit/scheduler/engine/test_docker_lanes \
	tests/unit/scheduler/engine/test_docker_link \
	tests/unit/scheduler/engine/test_docker_listing \
	tests/unit/scheduler/engine/test_docker_logs \
	tests/unit/scheduler/engine/test_docker_network \
	tests/unit/scheduler/engine/test_docker_progress \
	tests/unit/scheduler/engine/test_docker_reading \
	tests/unit/scheduler/engine/test_docker_replica \
	tests/unit/scheduler/engine/test_docker_subnet \
	tests/unit/scheduler/engine/test_docker_terminal \
	tests/unit/scheduler/engine/test_docker_throttle \
	tests/unit/scheduler/engine/test_docker_orphans \
	tests/unit/scheduler/faults/test_fault \
	tests/unit/scheduler/faults/test_fault_book \
	tests/unit/scheduler/faults/test_faults \
	tests/unit/scheduler/launcher/test_launcher \
	tests/unit/scheduler/logs/test_log_line \
	tests/unit/scheduler/logs/test_log_pump \
	tests/unit/scheduler/plan/test_accelerator \
	tests/unit/scheduler/plan/test_assignment \
	tests/unit/scheduler/plan/test_command_line \
	tests/unit/scheduler/plan/test_devices \
	tests/unit/scheduler/plan/test_dialect_aiplatform \
	tests/unit/scheduler/plan/test_dialect_ml \
	tests/unit/scheduler/plan/test_difference \
	tests/unit/scheduler/plan/test_expansion \
	tests/unit/scheduler/plan/test_host \
	tests/unit/scheduler/plan/test_limits \
	tests/unit/scheduler/plan/test_machine \
	tests/unit/scheduler/plan/test_ml_units \
	tests/unit/scheduler/plan/test_placement \
	tests/unit/scheduler/plan/test_placement_random \
	tests/unit/scheduler/plan/test_plan \
	tests/unit/scheduler/plan/test_trial_plan \
	tests/unit/scheduler/plan/test_verdict \
	tests/unit/scheduler/search/test_earlier_trials \
	tests/unit/scheduler/search/test_study_end \
	tests/unit/scheduler/search/test_study_limits \
	tests/unit/scheduler/search/test_suggester \
	tests/unit/scheduler/search/test_trial_events \
	tests/unit/scheduler/search/test_trial_lines \
	tests/unit/scheduler/search/test_trial_metrics \
	tests/unit/scheduler/search/test_trial_reports \
	tests/unit/scheduler/search/test_tuner \
	tests/unit/scheduler/search/test_tuner_networks \
	tests/unit/scheduler/search/test_tuner_queue \
	tests/unit/scheduler/search/test_tuner_resumption \
	tests/unit/scheduler/search/test_tuner_thought \
	tests/unit/scheduler/test_clock_jumps \
	tests/unit/scheduler/test_clock_watch \
	tests/unit/scheduler/test_custom_job_runs \
	tests/unit/scheduler/test_engine_doubt \
	tests/unit/scheduler/test_engine_trouble \
	tests/unit/scheduler/test_found_ended \
	tests/unit/scheduler/test_gateway \
	tests/unit/scheduler/test_gateway_keep \
	tests/unit/scheduler/test_gcs_keep \
	tests/unit/scheduler/test_queue \
	tests/unit/scheduler/test_queue_words \
	tests/unit/scheduler/test_reconcile \
	tests/unit/scheduler/test_restart \
	tests/unit/scheduler/test_scheduler \
	tests/unit/scheduler/test_spare_network \
	tests/unit/scheduler/test_told_differences \
	tests/unit/scheduler/test_wakes \
	tests/unit/scheduler/tuning/test_event_file \
	tests/unit/scheduler/tuning/test_gaussian_process \
	tests/unit/scheduler/tuning/test_measurement_list \
	tests/unit/scheduler/tuning/test_measurements \
	tests/unit/scheduler/tuning/test_metric_file \
	tests/unit/scheduler/tuning/test_metric_report \
	tests/unit/scheduler/tuning/test_search \
	tests/unit/scheduler/tuning/test_space \
	tests/unit/scheduler/tuning/test_stopping \
	tests/unit/scheduler/tuning/test_warp \
	tests/unit/store/filter/test_filter \
	tests/unit/store/filter/test_log_functions \
	tests/unit/store/filter/test_time_zone \
	tests/unit/store/jobs/test_job_filter \
	tests/unit/store/jobs/test_jobs \
	tests/unit/store/jobs/test_leases \
	tests/unit/store/jobs/test_pipelines \
	tests/unit/store/jobs/test_policies \
	tests/unit/store/jobs/test_resources \
	tests/unit/store/jobs/test_trials \
	tests/unit/store/keys/test_access_token \
	tests/unit/store/keys/test_authority \
	tests/unit/store/keys/test_signing_key \
	tests/unit/store/logs/test_dated_logs \
	tests/unit/store/logs/test_log_filter \
	tests/unit/store/logs/test_logs \
	tests/unit/store/objects/test_assemblies \
	tests/unit/store/objects/test_buckets \
	tests/unit/store/objects/test_conditions \
	tests/unit/store/objects/test_file_tree \
	tests/unit/store/objects/test_object_copies \
	tests/unit/store/objects/test_object_list \
	tests/unit/store/objects/test_object_names \
	tests/unit/store/objects/test_objects \
	tests/unit/store/objects/test_objects_crash \
	tests/unit/store/objects/test_outbox \
	tests/unit/store/objects/test_sessions \
	tests/unit/store/test_page_token \
	tests/unit/store/test_reader_pool \
	tests/unit/store/test_small_file \
	tests/unit/store/test_state_dir \
	tests/unit/store/test_store
if HAVE_GRPC
check_PROGRAMS += tests/unit/api/grpc/test_session
endif
endif
tests_unit_daemon_gateway_test_job_gateway_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=listener_close,--wrap=pthread_cond_timedwait
tests_unit_daemon_test_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=vasprintf,--wrap=__vasprintf_chk
tests_unit_scheduler_engine_test_docker_link_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=system_clock
tests_unit_scheduler_faults_test_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=log_pump_line
tests_unit_scheduler_test_told_differences_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=job_apply

# Fuzz targets replay their corpora; tests/fuzz/run fuzzes.
fuzz_targets = \
	tests/fuzz/fuzz_client_hello \
	tests/fuzz/fuzz_config \
	tests/fuzz/fuzz_credentials \
	tests/fuzz/fuzz_docker_json \
	tests/fuzz/fuzz_event_file \
	tests/fuzz/fuzz_expansion \
	tests/fuzz/fuzz_fault \
	tests/fuzz/fuzz_filter \
	tests/fuzz/fuzz_frames \
	tests/fuzz/fuzz_framing \
	tests/fuzz/fuzz_gcs_path \
	tests/fuzz/fuzz_hijack \
	tests/fuzz/fuzz_image \
	tests/fuzz/fuzz_inner \
	tests/fuzz/fuzz_log_line \
	tests/fuzz/fuzz_log_name \
	tests/fuzz/fuzz_message \
	tests/fuzz/fuzz_message_binary \
	tests/fuzz/fuzz_metric_file \
	tests/fuzz/fuzz_multipart \
	tests/fuzz/fuzz_packed_body \
	tests/fuzz/fuzz_part_claims \
	tests/fuzz/fuzz_query \
	tests/fuzz/fuzz_request \
	tests/fuzz/fuzz_resource \
	tests/fuzz/fuzz_session \
	tests/fuzz/fuzz_storage_body \
	tests/fuzz/fuzz_token \
	tests/fuzz/fuzz_upload_headers
check_PROGRAMS += $(fuzz_targets)

# Where threads meet: `deploy/check threads` runs these under ThreadSanitizer.
# Broken: block_done() of store/objects/hasher.c without its lock: test_objects failed.
threaded_tests = \
	tests/unit/api/http/test_body \
	tests/unit/api/http/test_connections \
	tests/unit/api/http/test_exchange \
	tests/unit/api/http/test_intake \
	tests/unit/api/http/test_listener \
	tests/unit/api/http/test_path_socket \
	tests/unit/api/http/test_stream \
	tests/unit/api/storage/test_copies \
	tests/unit/api/training/test_quota \
	tests/unit/daemon/gateway/test_relay \
	tests/unit/scheduler/engine/test_docker_logs \
	tests/unit/scheduler/engine/test_docker_terminal \
	tests/unit/scheduler/test_clock_jumps \
	tests/unit/scheduler/test_engine_doubt \
	tests/unit/scheduler/test_engine_trouble \
	tests/unit/scheduler/faults/test_faults \
	tests/unit/scheduler/test_queue \
	tests/unit/scheduler/test_restart \
	tests/unit/scheduler/test_scheduler \
	tests/unit/scheduler/search/test_suggester \
	tests/unit/scheduler/search/test_tuner_thought \
	tests/unit/store/keys/test_authority \
	tests/unit/store/jobs/test_jobs \
	tests/unit/store/logs/test_logs \
	tests/unit/store/objects/test_objects \
	tests/unit/store/jobs/test_policies \
	tests/unit/store/keys/test_signing_key \
	tests/unit/store/test_store
.PHONY: check-threads
check-threads: $(threaded_tests)
	$(MAKE) check-TESTS TESTS='$(threaded_tests)' check_PROGRAMS=

# What unit tests and corpora run of the code, by gcov: in a build of its own, below this one.
.PHONY: coverage
coverage:
	mkdir -p coverage-build
	cd coverage-build && { test -f Makefile || $(abs_srcdir)/configure -q CC='$(CC)' \
		CFLAGS='-O0 -g --coverage -fprofile-update=atomic' LDFLAGS=--coverage; }
	find coverage-build -name '*.gcda' -exec rm -f {} +
	$(MAKE) -C coverage-build all
	$(MAKE) -C coverage-build check
	$(srcdir)/tests/print_coverage $(srcdir) coverage-build

# Against a real engine: deploy/check runs it, DOCKER_HOST names the engine.
# The latter prints all rows of the API: tests/attack tries them.
if HAVE_CMOCKA
noinst_PROGRAMS += tests/integration/engine_contract tests/support/print_routes
endif
tests_integration_engine_contract_SOURCES = \
	tests/integration/contract_files.c \
	tests/integration/contract_images.c \
	tests/integration/contract_logs.c \
	tests/integration/contract_networks.c \
	tests/integration/contract_replicas.c \
	tests/integration/contract_terminals.c \
	tests/integration/engine_api.c \
	tests/integration/engine_api.h \
	tests/integration/engine_bench.c \
	tests/integration/engine_bench.h \
	tests/integration/engine_contract.c \
	tests/integration/engine_contract.h \
	tests/integration/engine_relay.c \
	tests/integration/engine_relay.h

# The daemon for tests/fault, with an engine without containers.
noinst_PROGRAMS += tests/fault/fake_yard
tests_fault_fake_yard_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=docker_open
# Kills: tests/crash runs them.
noinst_PROGRAMS += tests/crash/kill_at.so tests/crash/store_crash
tests_crash_kill_at_so_SOURCES = tests/crash/kill_at.c tests/crash/kill_at.h
tests_crash_kill_at_so_CFLAGS = -std=gnu17 -Wall -Wextra -fPIC
tests_crash_kill_at_so_LDFLAGS = -shared
tests_crash_kill_at_so_LDADD =
tests_crash_store_crash_SOURCES = \
	tests/crash/crash_jobs.c \
	tests/crash/crash_objects.c \
	tests/crash/crash_world.c \
	tests/crash/crash_world.h \
	tests/crash/kill_at.c \
	tests/crash/kill_at.h \
	tests/crash/store_crash.c

# Measurements: `make bench`, with an engine and wrk.
bench_helpers = tests/bench/bare_files tests/bench/bare_server tests/bench/bare_trials tests/bench/queue_bench tests/bench/seed \
	tests/bench/suggest_bench
EXTRA_PROGRAMS += $(bench_helpers)
CLEANFILES += $(bench_helpers)
.PHONY: bench
bench: trainyard $(bench_helpers)
	$(srcdir)/tests/bench/bench.py --build $(abs_builddir) $(BENCH_ROWS)

EXTRA_DIST += \
	tests/.clang-tidy \
	tests/attack \
	tests/bench/bench.py \
	tests/bench/search.py \
	tests/calls.txt \
	tests/check_calls \
	tests/check_includes.sh \
	tests/clients \
	tests/conftest.py \
	tests/coverage.md \
	tests/cppcheck.cfg \
	tests/cppcheck.txt \
	tests/crash \
	tests/fault \
	tests/fuzz/corpus \
	tests/fuzz/fuzz.mk \
	tests/fuzz/message_mutation.c \
	tests/fuzz/message_mutation.h \
	tests/fuzz/run \
	tests/integration \
	tests/print_coverage \
	tests/support \
	tests/threads.txt \
	tests/tidy \
	tests/unit/api/aiplatform/aiplatform_testing.h \
	tests/unit/api/emulator/test_screen.js \
	tests/unit/api/http/http_testing.h \
	tests/unit/api/logging/logging_testing.h \
	tests/unit/api/message/json_testing.h \
	tests/unit/api/message/sample_message.h \
	tests/unit/api/metadata/metadata_testing.h \
	tests/unit/api/ml/job_testing.h \
	tests/unit/api/ml/ml_testing.h \
	tests/unit/api/ml/tuning_testing.h \
	tests/unit/api/storage/storage_testing.h \
	tests/unit/full_disk_testing.h \
	tests/unit/scheduler/plan/placement_testing.h \
	tests/unit/scheduler/engine/docker_json_testing.h \
	tests/unit/scheduler/engine/docker_testing.h \
	tests/unit/scheduler/gate_testing.h \
	tests/unit/scheduler/mark_testing.h \
	tests/unit/scheduler/plan/plan_testing.h \
	tests/unit/scheduler/scheduler_testing.h \
	tests/unit/scheduler/search/search_testing.h \
	tests/unit/scheduler/tuning/reader_testing.h \
	tests/unit/scheduler/tuning/tuning_testing.h \
	tests/unit/store/eye_testing.h \
	tests/unit/store/objects/objects_testing.h \
	tests/unit/store/store_testing.h \
	tests/unit/testing.h
