# SPDX-License-Identifier: Apache-2.0
# Code that test programs share: each links the parts that it uses.
check_LIBRARIES = tests/libtesting.a
tests_libtesting_a_SOURCES = \
	tests/fuzz/replay.c \
	tests/support/asked_server.c \
	tests/support/asked_server.h \
	tests/support/fake_engine.c \
	tests/support/fake_engine.h \
	tests/support/fake_engine_state.h \
	tests/support/fake_orders.c
LDADD = tests/libtesting.a libtrainyard.a $(DEPS_LIBS) $(GRPC_LIBS) $(FUSE_LIBS) $(CMOCKA_LIBS)
# One file for each subject, in the same folders as the product; each prints TAP. All files of a room are linked into one
# program (tests/unit/main.c), which runs each file by a symbolic link.
unit_tests =
if HAVE_CMOCKA
tests_libtesting_a_SOURCES += \
	tests/unit/scheduler/engine/docker_testing.c \
	tests/unit/scheduler/engine/docker_testing.h \
	tests/unit/scheduler/scheduler_testing.c \
	tests/unit/scheduler/scheduler_testing.h \
	tests/unit/scheduler/world_acts_testing.h \
	tests/unit/scheduler/world_engine_testing.h \
	tests/unit/scheduler/world_search_testing.h \
	tests/unit/scheduler/world_store_testing.h \
	tests/unit/scheduler/world_testing.h
check_PROGRAMS += tests/unit/api/aiplatform/run
unit_api_aiplatform = \
	tests/unit/api/aiplatform/test_custom_job_render.c \
	tests/unit/api/aiplatform/test_custom_job_rules.c \
	tests/unit/api/aiplatform/test_messages.c \
	tests/unit/api/aiplatform/test_pipeline_render.c \
	tests/unit/api/aiplatform/test_pipeline_rules.c \
	tests/unit/api/aiplatform/test_read_mask.c \
	tests/unit/api/aiplatform/test_resource_look.c \
	tests/unit/api/aiplatform/test_routes.c \
	tests/unit/api/aiplatform/test_spec_defaults.c \
	tests/unit/api/aiplatform/test_to_plan.c \
	tests/unit/api/aiplatform/test_tuning_job_render.c \
	tests/unit/api/aiplatform/test_tuning_job_rules.c
tests_unit_api_aiplatform_run_SOURCES = tests/unit/main.c $(unit_api_aiplatform)
$(unit_api_aiplatform:.c=): tests/unit/api/aiplatform/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/api/aiplatform/run$(EXEEXT) $@
unit_tests += $(unit_api_aiplatform:.c=)
check_PROGRAMS += tests/unit/api/http/run
unit_api_http = \
	tests/unit/api/http/test_body.c \
	tests/unit/api/http/test_connections.c \
	tests/unit/api/http/test_error_body.c \
	tests/unit/api/http/test_exchange.c \
	tests/unit/api/http/test_guard.c \
	tests/unit/api/http/test_hold.c \
	tests/unit/api/http/test_inner.c \
	tests/unit/api/http/test_intake.c \
	tests/unit/api/http/test_ledger.c \
	tests/unit/api/http/test_listener.c \
	tests/unit/api/http/test_path_socket.c \
	tests/unit/api/http/test_pretty.c \
	tests/unit/api/http/test_request.c \
	tests/unit/api/http/test_router.c \
	tests/unit/api/http/test_stream.c
tests_unit_api_http_run_SOURCES = tests/unit/main.c $(unit_api_http)
$(unit_api_http:.c=): tests/unit/api/http/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/api/http/run$(EXEEXT) $@
unit_tests += $(unit_api_http:.c=)
check_PROGRAMS += tests/unit/api/ml/run
unit_api_ml = \
	tests/unit/api/ml/test_builtin.c \
	tests/unit/api/ml/test_gcloud_bodies.c \
	tests/unit/api/ml/test_input_deviations.c \
	tests/unit/api/ml/test_job_create.c \
	tests/unit/api/ml/test_job_plan.c \
	tests/unit/api/ml/test_job_render.c \
	tests/unit/api/ml/test_job_report.c \
	tests/unit/api/ml/test_job_rules.c \
	tests/unit/api/ml/test_job_study.c \
	tests/unit/api/ml/test_messages.c \
	tests/unit/api/ml/test_plan_property.c \
	tests/unit/api/ml/test_policy.c \
	tests/unit/api/ml/test_policy_rules.c \
	tests/unit/api/ml/test_resumption.c \
	tests/unit/api/ml/test_rules_cluster.c \
	tests/unit/api/ml/test_rules_container.c \
	tests/unit/api/ml/test_rules_labels.c \
	tests/unit/api/ml/test_rules_package.c \
	tests/unit/api/ml/test_rules_tuning.c \
	tests/unit/api/ml/test_samples.c \
	tests/unit/api/ml/test_to_plan.c \
	tests/unit/api/ml/test_trials_render.c
tests_unit_api_ml_run_SOURCES = tests/unit/main.c $(unit_api_ml)
$(unit_api_ml:.c=): tests/unit/api/ml/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/api/ml/run$(EXEEXT) $@
unit_tests += $(unit_api_ml:.c=)
check_PROGRAMS += tests/unit/api/storage/run
unit_api_storage = \
	tests/unit/api/storage/test_blank_parameters.c \
	tests/unit/api/storage/test_buckets.c \
	tests/unit/api/storage/test_callers.c \
	tests/unit/api/storage/test_copies.c \
	tests/unit/api/storage/test_gunzip.c \
	tests/unit/api/storage/test_http_date.c \
	tests/unit/api/storage/test_multipart.c \
	tests/unit/api/storage/test_objects.c \
	tests/unit/api/storage/test_part_claims.c \
	tests/unit/api/storage/test_parts.c \
	tests/unit/api/storage/test_range.c \
	tests/unit/api/storage/test_uploads.c
tests_unit_api_storage_run_SOURCES = tests/unit/main.c $(unit_api_storage)
$(unit_api_storage:.c=): tests/unit/api/storage/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/api/storage/run$(EXEEXT) $@
unit_tests += $(unit_api_storage:.c=)
check_PROGRAMS += tests/unit/api/training/run
unit_api_training = \
	tests/unit/api/training/test_field_help.c \
	tests/unit/api/training/test_image_map.c \
	tests/unit/api/training/test_image_name.c \
	tests/unit/api/training/test_job_times.c \
	tests/unit/api/training/test_project.c \
	tests/unit/api/training/test_quota.c \
	tests/unit/api/training/test_regions.c \
	tests/unit/api/training/test_replica_json.c \
	tests/unit/api/training/test_runtime_map.c \
	tests/unit/api/training/test_shells_render.c \
	tests/unit/api/training/test_start_estimate.c \
	tests/unit/api/training/test_storage_use.c
tests_unit_api_training_run_SOURCES = tests/unit/main.c $(unit_api_training)
$(unit_api_training:.c=): tests/unit/api/training/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/api/training/run$(EXEEXT) $@
unit_tests += $(unit_api_training:.c=)
check_PROGRAMS += tests/unit/api/run
unit_api = \
	tests/unit/api/emulator/test_discovery.c \
	tests/unit/api/emulator/test_fault_gate.c \
	tests/unit/api/emulator/test_job_log.c \
	tests/unit/api/emulator/test_job_text.c \
	tests/unit/api/emulator/test_web_shell.c \
	tests/unit/api/grpc/test_rpc.c \
	tests/unit/api/logging/test_entry_list.c \
	tests/unit/api/logging/test_entry_tail.c \
	tests/unit/api/logging/test_entry_write.c \
	tests/unit/api/logging/test_log_list.c \
	tests/unit/api/message/test_discovery.c \
	tests/unit/api/message/test_fields_mask.c \
	tests/unit/api/message/test_message_binary.c \
	tests/unit/api/message/test_message_names.c \
	tests/unit/api/message/test_message_parse.c \
	tests/unit/api/message/test_message_query.c \
	tests/unit/api/message/test_message_read.c \
	tests/unit/api/message/test_message_write.c \
	tests/unit/api/metadata/test_identity.c \
	tests/unit/api/metadata/test_metadata.c
if HAVE_GRPC
unit_api += tests/unit/api/grpc/test_session.c
endif
if HAVE_CONSOLE
unit_api += tests/unit/api/console/test_session.c
endif
tests_unit_api_run_SOURCES = tests/unit/main.c $(unit_api)
$(unit_api:.c=): tests/unit/api/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/api/run$(EXEEXT) $@
unit_tests += $(unit_api:.c=)
check_PROGRAMS += tests/unit/daemon/run
unit_daemon = \
	tests/unit/daemon/cli/test_invocation.c \
	tests/unit/daemon/cli/test_pack.c \
	tests/unit/daemon/cli/test_plot.c \
	tests/unit/daemon/gateway/test_forward.c \
	tests/unit/daemon/gateway/test_host_filter.c \
	tests/unit/daemon/gateway/test_host_routes.c \
	tests/unit/daemon/gateway/test_relay.c \
	tests/unit/daemon/gcs/test_gcs_caller.c \
	tests/unit/daemon/gcs/test_gcs_client.c \
	tests/unit/daemon/gcs/test_gcs_log.c \
	tests/unit/daemon/gcs/test_gcs_notes.c \
	tests/unit/daemon/gcs/test_gcs_path.c \
	tests/unit/daemon/gcs/test_gcs_turns.c \
	tests/unit/daemon/test_address_file.c \
	tests/unit/daemon/test_amount.c \
	tests/unit/daemon/test_archive.c \
	tests/unit/daemon/test_base64.c \
	tests/unit/daemon/test_seeded_random.c \
	tests/unit/daemon/test_client_hello.c \
	tests/unit/daemon/test_config.c \
	tests/unit/daemon/test_crc32c.c \
	tests/unit/daemon/test_credentials.c \
	tests/unit/daemon/test_emulator_clock.c \
	tests/unit/daemon/test_env.c \
	tests/unit/daemon/test_error.c \
	tests/unit/daemon/test_families.c \
	tests/unit/daemon/test_given_file.c \
	tests/unit/daemon/test_host_header.c \
	tests/unit/daemon/test_instance_lock.c \
	tests/unit/daemon/test_json.c \
	tests/unit/daemon/test_log.c \
	tests/unit/daemon/test_retention.c \
	tests/unit/daemon/test_shell_terminals.c \
	tests/unit/daemon/test_swarm_nodes.c \
	tests/unit/daemon/test_text.c \
	tests/unit/daemon/test_timestamp.c \
	tests/unit/daemon/test_token.c \
	tests/unit/daemon/test_tree.c \
	tests/unit/daemon/test_work.c \
	tests/unit/daemon/test_yaml.c
tests_unit_daemon_run_SOURCES = tests/unit/main.c $(unit_daemon)
$(unit_daemon:.c=): tests/unit/daemon/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/daemon/run$(EXEEXT) $@
unit_tests += $(unit_daemon:.c=)
check_PROGRAMS += tests/unit/scheduler/engine/run
unit_scheduler_engine = \
	tests/unit/scheduler/engine/test_docker.c \
	tests/unit/scheduler/engine/test_docker_attachment.c \
	tests/unit/scheduler/engine/test_docker_claims.c \
	tests/unit/scheduler/engine/test_docker_claims_weigh.c \
	tests/unit/scheduler/engine/test_docker_clean.c \
	tests/unit/scheduler/engine/test_docker_credentials.c \
	tests/unit/scheduler/engine/test_docker_elsewhere.c \
	tests/unit/scheduler/engine/test_docker_endpoint.c \
	tests/unit/scheduler/engine/test_docker_exits.c \
	tests/unit/scheduler/engine/test_docker_frames.c \
	tests/unit/scheduler/engine/test_docker_given.c \
	tests/unit/scheduler/engine/test_docker_history.c \
	tests/unit/scheduler/engine/test_docker_host.c \
	tests/unit/scheduler/engine/test_docker_http.c \
	tests/unit/scheduler/engine/test_docker_image.c \
	tests/unit/scheduler/engine/test_docker_json.c \
	tests/unit/scheduler/engine/test_docker_json_read.c \
	tests/unit/scheduler/engine/test_docker_lanes.c \
	tests/unit/scheduler/engine/test_docker_listing.c \
	tests/unit/scheduler/engine/test_docker_logs.c \
	tests/unit/scheduler/engine/test_docker_network.c \
	tests/unit/scheduler/engine/test_docker_orphans.c \
	tests/unit/scheduler/engine/test_docker_mounts.c \
	tests/unit/scheduler/engine/test_docker_progress.c \
	tests/unit/scheduler/engine/test_docker_reading.c \
	tests/unit/scheduler/engine/test_docker_readings.c \
	tests/unit/scheduler/engine/test_docker_replica.c \
	tests/unit/scheduler/engine/test_docker_route.c \
	tests/unit/scheduler/engine/test_docker_subnet.c \
	tests/unit/scheduler/engine/test_docker_terminal.c \
	tests/unit/scheduler/engine/test_docker_throttle.c \
	tests/unit/scheduler/engine/test_mux.c \
	tests/unit/scheduler/engine/test_swarm.c \
	tests/unit/scheduler/engine/test_swarm_agents.c \
	tests/unit/scheduler/engine/test_swarm_service.c
tests_unit_scheduler_engine_run_SOURCES = tests/unit/main.c $(unit_scheduler_engine)
$(unit_scheduler_engine:.c=): tests/unit/scheduler/engine/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/scheduler/engine/run$(EXEEXT) $@
unit_tests += $(unit_scheduler_engine:.c=)
check_PROGRAMS += tests/unit/scheduler/plan/run
unit_scheduler_plan = \
	tests/unit/scheduler/plan/test_accelerator.c \
	tests/unit/scheduler/plan/test_assignment.c \
	tests/unit/scheduler/plan/test_command_line.c \
	tests/unit/scheduler/plan/test_devices.c \
	tests/unit/scheduler/plan/test_dialect_aiplatform.c \
	tests/unit/scheduler/plan/test_dialect_ml.c \
	tests/unit/scheduler/plan/test_deviation.c \
	tests/unit/scheduler/plan/test_expansion.c \
	tests/unit/scheduler/plan/test_fleet.c \
	tests/unit/scheduler/plan/test_fleet_random.c \
	tests/unit/scheduler/plan/test_fleet_whole.c \
	tests/unit/scheduler/plan/test_host.c \
	tests/unit/scheduler/plan/test_limits.c \
	tests/unit/scheduler/plan/test_machine.c \
	tests/unit/scheduler/plan/test_ml_units.c \
	tests/unit/scheduler/plan/test_packing.c \
	tests/unit/scheduler/plan/test_placement.c \
	tests/unit/scheduler/plan/test_placement_random.c \
	tests/unit/scheduler/plan/test_plan.c \
	tests/unit/scheduler/plan/test_trial_plan.c \
	tests/unit/scheduler/plan/test_outcome.c
tests_unit_scheduler_plan_run_SOURCES = tests/unit/main.c $(unit_scheduler_plan)
$(unit_scheduler_plan:.c=): tests/unit/scheduler/plan/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/scheduler/plan/run$(EXEEXT) $@
unit_tests += $(unit_scheduler_plan:.c=)
check_PROGRAMS += tests/unit/scheduler/search/run
unit_scheduler_search = \
	tests/unit/scheduler/search/test_earlier_trials.c \
	tests/unit/scheduler/search/test_study_end.c \
	tests/unit/scheduler/search/test_study_limits.c \
	tests/unit/scheduler/search/test_suggester.c \
	tests/unit/scheduler/search/test_trial_events.c \
	tests/unit/scheduler/search/test_trial_lines.c \
	tests/unit/scheduler/search/test_trial_metrics.c \
	tests/unit/scheduler/search/test_trial_reports.c \
	tests/unit/scheduler/search/test_search_decide.c \
	tests/unit/scheduler/search/test_tuner.c \
	tests/unit/scheduler/search/test_tuner_networks.c \
	tests/unit/scheduler/search/test_tuner_queue.c \
	tests/unit/scheduler/search/test_tuner_resumption.c \
	tests/unit/scheduler/search/test_tuner_thought.c \
	tests/unit/scheduler/tuning/test_event_file.c \
	tests/unit/scheduler/tuning/test_gaussian_process.c \
	tests/unit/scheduler/tuning/test_measurement_list.c \
	tests/unit/scheduler/tuning/test_measurements.c \
	tests/unit/scheduler/tuning/test_metric_file.c \
	tests/unit/scheduler/tuning/test_metric_report.c \
	tests/unit/scheduler/tuning/test_scalars.c \
	tests/unit/scheduler/tuning/test_search.c \
	tests/unit/scheduler/tuning/test_space.c \
	tests/unit/scheduler/tuning/test_stopping.c \
	tests/unit/scheduler/tuning/test_warp.c
tests_unit_scheduler_search_run_SOURCES = tests/unit/main.c $(unit_scheduler_search)
$(unit_scheduler_search:.c=): tests/unit/scheduler/search/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/scheduler/search/run$(EXEEXT) $@
unit_tests += $(unit_scheduler_search:.c=)
check_PROGRAMS += tests/unit/scheduler/run
unit_scheduler = \
	tests/unit/scheduler/faults/test_fault.c \
	tests/unit/scheduler/faults/test_fault_registry.c \
	tests/unit/scheduler/launcher/test_launcher.c \
	tests/unit/scheduler/logs/test_log_line.c \
	tests/unit/scheduler/logs/test_log_pump.c \
	tests/unit/scheduler/test_clock_jumps.c \
	tests/unit/scheduler/test_clock_watch.c \
	tests/unit/scheduler/test_custom_job_runs.c \
	tests/unit/scheduler/test_engine_doubt.c \
	tests/unit/scheduler/test_engine_trouble.c \
	tests/unit/scheduler/test_found_ended.c \
	tests/unit/scheduler/test_gateway.c \
	tests/unit/scheduler/test_gateway_keep.c \
	tests/unit/scheduler/test_gcs_keep.c \
	tests/unit/scheduler/test_node_losses.c \
	tests/unit/scheduler/test_nodes.c \
	tests/unit/scheduler/test_queue.c \
	tests/unit/scheduler/test_admission.c \
	tests/unit/scheduler/test_queue_words.c \
	tests/unit/scheduler/test_decide.c \
	tests/unit/scheduler/test_device_claims.c \
	tests/unit/scheduler/test_restart.c \
	tests/unit/scheduler/test_scheduler.c \
	tests/unit/scheduler/test_network_pool.c \
	tests/unit/scheduler/test_wakes.c
tests_unit_scheduler_run_SOURCES = tests/unit/main.c $(unit_scheduler)
$(unit_scheduler:.c=): tests/unit/scheduler/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/scheduler/run$(EXEEXT) $@
unit_tests += $(unit_scheduler:.c=)
check_PROGRAMS += tests/unit/store/run
unit_store = \
	tests/unit/store/filter/test_filter.c \
	tests/unit/store/filter/test_log_functions.c \
	tests/unit/store/filter/test_time_zone.c \
	tests/unit/store/jobs/test_job_filter.c \
	tests/unit/store/jobs/test_jobs.c \
	tests/unit/store/jobs/test_leases.c \
	tests/unit/store/jobs/test_pipelines.c \
	tests/unit/store/jobs/test_policies.c \
	tests/unit/store/jobs/test_resources.c \
	tests/unit/store/jobs/test_summaries.c \
	tests/unit/store/jobs/test_trials.c \
	tests/unit/store/keys/test_access_token.c \
	tests/unit/store/keys/test_authority.c \
	tests/unit/store/keys/test_signing_key.c \
	tests/unit/store/logs/test_dated_logs.c \
	tests/unit/store/logs/test_entry_watch.c \
	tests/unit/store/logs/test_log_filter.c \
	tests/unit/store/logs/test_log_purge.c \
	tests/unit/store/logs/test_log_tail.c \
	tests/unit/store/logs/test_logs.c \
	tests/unit/store/objects/test_assemblies.c \
	tests/unit/store/objects/test_buckets.c \
	tests/unit/store/objects/test_conditions.c \
	tests/unit/store/objects/test_file_tree.c \
	tests/unit/store/objects/test_object_copies.c \
	tests/unit/store/objects/test_object_list.c \
	tests/unit/store/objects/test_object_names.c \
	tests/unit/store/objects/test_objects.c \
	tests/unit/store/objects/test_objects_crash.c \
	tests/unit/store/objects/test_outbox.c \
	tests/unit/store/objects/test_sessions.c \
	tests/unit/store/test_job_changes.c \
	tests/unit/store/test_job_progress.c \
	tests/unit/store/test_page_token.c \
	tests/unit/store/test_reader_pool.c \
	tests/unit/store/test_small_file.c \
	tests/unit/store/test_state_dir.c \
	tests/unit/store/test_state_import.c \
	tests/unit/store/test_store.c
tests_unit_store_run_SOURCES = tests/unit/main.c $(unit_store)
$(unit_store:.c=): tests/unit/store/run$(EXEEXT)
	$(AM_V_at)ln -sf $(abs_builddir)/tests/unit/store/run$(EXEEXT) $@
unit_tests += $(unit_store:.c=)
# Tests with programs of their own, in which functions of the test replace others (--wrap).
wrapping_tests = \
	tests/unit/daemon/gateway/test_job_gateway \
	tests/unit/daemon/test_memory \
	tests/unit/scheduler/engine/test_docker_link \
	tests/unit/scheduler/faults/test_faults \
	tests/unit/scheduler/test_histories \
	tests/unit/scheduler/test_reported_deviations
check_PROGRAMS += $(wrapping_tests)
unit_tests += $(wrapping_tests)
endif
tests_unit_daemon_gateway_test_job_gateway_SOURCES = tests/unit/daemon/gateway/test_job_gateway.c tests/unit/main.c
tests_unit_daemon_gateway_test_job_gateway_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=listener_close,--wrap=pthread_cond_timedwait
tests_unit_daemon_test_memory_SOURCES = tests/unit/daemon/test_memory.c tests/unit/main.c
tests_unit_daemon_test_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=vasprintf,--wrap=__vasprintf_chk
tests_unit_scheduler_engine_test_docker_link_SOURCES = tests/unit/scheduler/engine/test_docker_link.c tests/unit/main.c
tests_unit_scheduler_engine_test_docker_link_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=system_clock
tests_unit_scheduler_faults_test_faults_SOURCES = tests/unit/scheduler/faults/test_faults.c tests/unit/main.c
tests_unit_scheduler_faults_test_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=log_pump_line
tests_unit_scheduler_test_histories_SOURCES = tests/unit/scheduler/test_histories.c tests/unit/main.c
tests_unit_scheduler_test_histories_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=job_apply,--wrap=job_get_by_id,--wrap=job_list_attended,--wrap=job_each_waiting,--wrap=lease_list,--wrap=fault_injections_open,--wrap=journal_read \
	-Wl,--wrap=log_barrier,--wrap=log_position_get,--wrap=log_stderr_tail,--wrap=log_pump_open,--wrap=log_pump_offered \
	-Wl,--wrap=fault_registry_is_empty,--wrap=fault_registry_has,--wrap=fault_registry_take,--wrap=fault_registry_return,--wrap=log_event,--wrap=store_progress \
	-Wl,--wrap=trial_list_read,--wrap=trials_start,--wrap=trial_end,--wrap=trial_stop,--wrap=trial_curves_put,--wrap=trial_curves_visit \
	-Wl,--wrap=job_cancel_by_id,--wrap=suggester_new,--wrap=suggester_free,--wrap=suggester_ask,--wrap=suggester_take,--wrap=suggester_forget \
	-Wl,--wrap=trial_directory_path,--wrap=trial_directory_make,--wrap=trial_directory_remove,--wrap=trial_metrics_new,--wrap=trial_metrics_free \
	-Wl,--wrap=trial_metrics_resume,--wrap=trial_metrics_finish,--wrap=trial_metrics_read,--wrap=trial_metrics_all,--wrap=trial_metrics_from_events \
	-Wl,--wrap=trial_metrics_text,--wrap=trial_metrics_stored,--wrap=trial_metrics_changed,--wrap=trial_metrics_absence,--wrap=trial_metrics_caveat \
	-Wl,--wrap=study_should_stop
tests_unit_scheduler_test_reported_deviations_SOURCES = tests/unit/scheduler/test_reported_deviations.c tests/unit/main.c
tests_unit_scheduler_test_reported_deviations_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=job_apply
CLEANFILES += $(unit_tests)

# Fuzz targets, which here only replay their corpora; tests/fuzz/run fuzzes.
fuzz_targets = \
	tests/fuzz/fuzz_archive \
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
	tests/fuzz/fuzz_log_cursor \
	tests/fuzz/fuzz_log_line \
	tests/fuzz/fuzz_log_name \
	tests/fuzz/fuzz_message \
	tests/fuzz/fuzz_message_binary \
	tests/fuzz/fuzz_metric_file \
	tests/fuzz/fuzz_multipart \
	tests/fuzz/fuzz_mux \
	tests/fuzz/fuzz_packed_body \
	tests/fuzz/fuzz_part_claims \
	tests/fuzz/fuzz_query \
	tests/fuzz/fuzz_request \
	tests/fuzz/fuzz_resource \
	tests/fuzz/fuzz_storage_body \
	tests/fuzz/fuzz_token \
	tests/fuzz/fuzz_upload_headers \
	tests/fuzz/fuzz_yaml
if HAVE_GRPC
fuzz_targets += tests/fuzz/fuzz_session
endif
check_PROGRAMS += $(fuzz_targets)

# Tests with several threads: `deploy/check threads` runs these under ThreadSanitizer. Fails with: block_done() of
# store/objects/hasher.c without its lock: test_objects failed.
threaded_tests = \
	tests/unit/api/http/test_body \
	tests/unit/api/http/test_connections \
	tests/unit/api/http/test_exchange \
	tests/unit/api/http/test_intake \
	tests/unit/api/http/test_ledger \
	tests/unit/api/http/test_listener \
	tests/unit/api/http/test_path_socket \
	tests/unit/api/http/test_stream \
	tests/unit/api/storage/test_copies \
	tests/unit/api/training/test_quota \
	tests/unit/daemon/gateway/test_relay \
	tests/unit/daemon/test_retention \
	tests/unit/scheduler/engine/test_docker_logs \
	tests/unit/scheduler/engine/test_docker_terminal \
	tests/unit/scheduler/test_clock_jumps \
	tests/unit/scheduler/test_engine_doubt \
	tests/unit/scheduler/test_engine_trouble \
	tests/unit/scheduler/faults/test_faults \
	tests/unit/scheduler/test_queue \
	tests/unit/scheduler/test_admission \
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

# The unit tests of one room: make check-room ROOM=store, ROOM=api/ml
.PHONY: check-room
check-room:
	@tests=$$(printf '%s\n' $(unit_tests) | grep '^tests/unit/$(ROOM)/') || { \
		echo 'Name one of these rooms, as in make check-room ROOM=store:'; \
		printf '%s\n' $(unit_tests) | sed 's|^tests/unit/||; s|/[^/]*$$||' | sort -u; exit 2; }; \
	$(MAKE) $$tests && $(MAKE) check-TESTS TESTS="$$(echo $$tests)" check_PROGRAMS=

# How much of the code the unit tests and corpora run, by gcov, in a build below this one.
.PHONY: coverage
coverage:
	mkdir -p coverage-build
	cd coverage-build && { test -f Makefile || $(abs_srcdir)/configure -q CC='$(CC)' \
		CFLAGS='-O0 -g --coverage -fprofile-update=atomic' LDFLAGS=--coverage; }
	find coverage-build -name '*.gcda' -exec rm -f {} +
	$(MAKE) -C coverage-build all
	$(MAKE) -C coverage-build check
	$(srcdir)/tests/print_coverage $(srcdir) coverage-build

# Programs that the Python tests run besides the daemon; `make test-helpers` builds them and the daemon. In order: the daemon
# with an engine without containers, for tests/fault; two that kill a process, for tests/crash; print_tables, which prints the
# tables of options and commands, from which `make reference` makes parts of the manual and of docs/configuration.md.
test_helpers = tests/fault/fake_yard tests/crash/kill_at.so tests/crash/store_crash deploy/build-aux/print_tables
# engine_contract tests a real engine: deploy/check runs it, and DOCKER_HOST names the engine. print_routes prints all rows of
# the API, for tests/attack.
if HAVE_CMOCKA
test_helpers += tests/integration/engine_contract tests/support/print_routes
endif
check_PROGRAMS += $(test_helpers)
.PHONY: test-helpers
test-helpers: trainyard $(test_helpers)
deploy_build_aux_print_tables_SOURCES = deploy/build-aux/print_tables.c
tests_integration_engine_contract_SOURCES = \
	tests/integration/contract_files.c \
	tests/integration/contract_images.c \
	tests/integration/contract_logs.c \
	tests/integration/contract_networks.c \
	tests/integration/contract_overlays.c \
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

tests_fault_fake_yard_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=docker_open
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
bench_helpers = tests/bench/bare_commits tests/bench/bare_files tests/bench/bare_server tests/bench/bare_trials tests/bench/fleet_bench tests/bench/queue_bench tests/bench/seed \
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
	tests/bench/create.lua \
	tests/bench/engine_floor.py \
	tests/bench/measure.py \
	tests/bench/rows_api.py \
	tests/bench/rows_console.py \
	tests/bench/rows_files.py \
	tests/bench/rows_forms.py \
	tests/bench/rows_gateway.py \
	tests/bench/rows_jobs.py \
	tests/bench/rows_logs.py \
	tests/bench/rows_search.py \
	tests/bench/rows_start.py \
	tests/bench/rows_storage.py \
	tests/bench/search.py \
	tests/check_calls \
	tests/check_includes.sh \
	tests/check_words.sh \
	tests/clients \
	tests/console \
	tests/conftest.py \
	tests/coverage.md \
	tests/cppcheck.cfg \
	tests/cppcheck.txt \
	tests/crash \
	tests/fault \
	tests/forms \
	tests/fuzz/corpus \
	tests/fuzz/fuzz.mk \
	tests/fuzz/message_mutation.c \
	tests/fuzz/message_mutation.h \
	tests/fuzz/run \
	tests/integration \
	tests/packages \
	tests/print_coverage \
	tests/states \
	tests/support \
	tests/threads.txt \
	tests/tidy \
	tests/unit/api/aiplatform/aiplatform_testing.h \
	tests/unit/api/emulator/test_screen.js \
	tests/unit/api/emulator/web_shell_testing.h \
	tests/unit/api/grpc/session_testing.h \
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
	tests/unit/scheduler/engine/docker_logs_testing.h \
	tests/unit/scheduler/engine/terminal_testing.h \
	tests/unit/scheduler/gate_testing.h \
	tests/unit/scheduler/mark_testing.h \
	tests/unit/scheduler/nodes_testing.h \
	tests/unit/scheduler/plan/fleet_testing.h \
	tests/unit/scheduler/plan/plan_testing.h \
	tests/unit/scheduler/search/search_testing.h \
	tests/unit/scheduler/tuning/reader_testing.h \
	tests/unit/scheduler/tuning/tuning_testing.h \
	tests/unit/store/eye_testing.h \
	tests/unit/store/objects/objects_testing.h \
	tests/unit/store/store_testing.h \
	tests/unit/testing.h
