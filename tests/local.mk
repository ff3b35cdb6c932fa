# SPDX-License-Identifier: Apache-2.0
# One program per subject, mirroring the tree; each speaks TAP.
# What those are made of and linked with in which memory cannot be had.
memory_faults = tests/support/memory_faults.c tests/support/memory_faults.h
memory_faults_wrap = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray \
	-Wl,--wrap=strdup,--wrap=strndup,--wrap=asprintf,--wrap=vasprintf,--wrap=__asprintf_chk,--wrap=__vasprintf_chk
if HAVE_CMOCKA
check_PROGRAMS += \
	tests/unit/api/aiplatform/test_custom_job_render \
	tests/unit/api/aiplatform/test_read_mask \
	tests/unit/api/aiplatform/test_resource_look \
	tests/unit/api/aiplatform/test_rpcs \
	tests/unit/api/aiplatform/test_spec_defaults \
	tests/unit/api/aiplatform/test_custom_job_rules \
	tests/unit/api/aiplatform/test_messages \
	tests/unit/api/aiplatform/test_pipeline_render \
	tests/unit/api/aiplatform/test_pipeline_rules \
	tests/unit/api/aiplatform/test_to_plan \
	tests/unit/api/aiplatform/test_tuning_job_render \
	tests/unit/api/aiplatform/test_tuning_job_rules \
	tests/unit/api/emulator/test_discovery \
	tests/unit/api/emulator/test_web_shell \
	tests/unit/api/grpc/test_rpc \
	tests/unit/api/http/test_connections \
	tests/unit/api/http/test_error_body \
	tests/unit/api/http/test_guard \
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
	tests/unit/api/training/test_project \
	tests/unit/api/training/test_quota \
	tests/unit/api/training/test_regions \
	tests/unit/api/ml/test_resumption \
	tests/unit/api/ml/test_rules_cluster \
	tests/unit/api/ml/test_rules_container \
	tests/unit/api/ml/test_rules_labels \
	tests/unit/api/ml/test_rules_package \
	tests/unit/api/ml/test_rules_tuning \
	tests/unit/api/ml/test_samples \
	tests/unit/api/ml/test_to_plan \
	tests/unit/api/ml/test_trials_render \
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
	tests/unit/api/training/test_image_map \
	tests/unit/api/training/test_image_name \
	tests/unit/api/training/test_job_times \
	tests/unit/api/training/test_outlook \
	tests/unit/api/training/test_replica_json \
	tests/unit/api/training/test_runtime_map \
	tests/unit/api/training/test_shells_render \
	tests/unit/daemon/gcs/test_gcs_path \
	tests/unit/daemon/gcs/test_gcs_sight \
	tests/unit/daemon/test_base64 \
	tests/unit/daemon/test_chance \
	tests/unit/daemon/test_client_hello \
	tests/unit/daemon/test_config \
	tests/unit/daemon/test_credentials \
	tests/unit/daemon/test_emulator_clock \
	tests/unit/daemon/test_env \
	tests/unit/daemon/test_error \
	tests/unit/daemon/test_given_file \
	tests/unit/daemon/test_job_gateway \
	tests/unit/daemon/test_json \
	tests/unit/daemon/test_log \
	tests/unit/daemon/test_memory \
	tests/unit/daemon/test_presence \
	tests/unit/daemon/test_relay \
	tests/unit/daemon/test_terminal_door \
	tests/unit/daemon/test_text \
	tests/unit/daemon/test_token \
	tests/unit/daemon/test_tripwire \
	tests/unit/scheduler/engine/test_docker \
	tests/unit/scheduler/engine/test_docker_attachment \
	tests/unit/scheduler/engine/test_docker_clean \
	tests/unit/scheduler/engine/test_docker_credentials \
	tests/unit/scheduler/engine/test_docker_frames \
	tests/unit/scheduler/engine/test_docker_host \
	tests/unit/scheduler/engine/test_docker_image \
	tests/unit/scheduler/engine/test_docker_json \
	tests/unit/scheduler/engine/test_docker_listing \
	tests/unit/scheduler/engine/test_docker_logs \
	tests/unit/scheduler/engine/test_docker_network \
	tests/unit/scheduler/engine/test_docker_progress \
	tests/unit/scheduler/engine/test_docker_replica \
	tests/unit/scheduler/engine/test_docker_subnet \
	tests/unit/scheduler/engine/test_docker_terminal \
	tests/unit/scheduler/engine/test_leftovers \
	tests/unit/scheduler/test_accelerator \
	tests/unit/scheduler/test_admission \
	tests/unit/scheduler/test_admission_random \
	tests/unit/scheduler/test_assignment \
	tests/unit/scheduler/test_dialect_aiplatform \
	tests/unit/scheduler/test_dialect_ml \
	tests/unit/scheduler/test_command_line \
	tests/unit/scheduler/test_expansion \
	tests/unit/scheduler/test_custom_job_runs \
	tests/unit/scheduler/test_devices \
	tests/unit/scheduler/test_difference \
	tests/unit/scheduler/test_earlier_trials \
	tests/unit/scheduler/test_fault \
	tests/unit/scheduler/test_fault_book \
	tests/unit/scheduler/test_faults \
	tests/unit/scheduler/test_gateway \
	tests/unit/scheduler/test_gateway_keep \
	tests/unit/scheduler/test_gcs_keep \
	tests/unit/scheduler/test_host \
	tests/unit/scheduler/test_launcher \
	tests/unit/scheduler/test_limits \
	tests/unit/scheduler/test_log_line \
	tests/unit/scheduler/test_machine \
	tests/unit/scheduler/test_ml_units \
	tests/unit/scheduler/test_no_memory \
	tests/unit/scheduler/test_plan \
	tests/unit/scheduler/test_queue \
	tests/unit/scheduler/test_reconcile \
	tests/unit/scheduler/test_restart \
	tests/unit/scheduler/test_clock_jumps \
	tests/unit/scheduler/test_scheduler \
	tests/unit/scheduler/test_trial_events \
	tests/unit/scheduler/test_suggester \
	tests/unit/scheduler/test_trial_metrics \
	tests/unit/scheduler/test_study_end \
	tests/unit/scheduler/test_study_limits \
	tests/unit/scheduler/test_trial_plan \
	tests/unit/scheduler/test_trial_reports \
	tests/unit/scheduler/test_spare_network \
	tests/unit/scheduler/test_tuner \
	tests/unit/scheduler/test_tuner_networks \
	tests/unit/scheduler/test_tuner_queue \
	tests/unit/scheduler/test_tuner_resumption \
	tests/unit/scheduler/test_tuner_thought \
	tests/unit/scheduler/test_verdict \
	tests/unit/store/test_access_token \
	tests/unit/store/test_assemblies \
	tests/unit/store/test_authority \
	tests/unit/store/test_faults_no_memory \
	tests/unit/store/test_file_tree \
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
	tests/unit/store/test_filter \
	tests/unit/store/test_job_filter \
	tests/unit/store/test_jobs \
	tests/unit/store/test_jobs_no_memory \
	tests/unit/store/test_leases \
	tests/unit/store/test_log_filter \
	tests/unit/store/test_logs \
	tests/unit/store/test_object_list \
	tests/unit/store/test_objects \
	tests/unit/store/test_objects_crash \
	tests/unit/store/test_objects_no_memory \
	tests/unit/store/test_outbox \
	tests/unit/store/test_page_token \
	tests/unit/store/test_pipelines \
	tests/unit/store/test_pipelines_no_memory \
	tests/unit/store/test_policies \
	tests/unit/store/test_reader_pool \
	tests/unit/store/test_resources \
	tests/unit/store/test_resources_no_memory \
	tests/unit/store/test_sessions \
	tests/unit/store/test_signing_key \
	tests/unit/store/test_store \
	tests/unit/store/test_trials \
	tests/unit/store/test_trials_no_memory
if HAVE_GRPC
check_PROGRAMS += tests/unit/api/grpc/test_session
endif
endif
tests_unit_api_aiplatform_test_custom_job_render_SOURCES = tests/unit/api/aiplatform/test_custom_job_render.c
tests_unit_api_aiplatform_test_read_mask_SOURCES = tests/unit/api/aiplatform/test_read_mask.c
tests_unit_api_aiplatform_test_resource_look_SOURCES = tests/unit/api/aiplatform/test_resource_look.c
tests_unit_api_aiplatform_test_rpcs_SOURCES = tests/unit/api/aiplatform/test_rpcs.c
tests_unit_api_aiplatform_test_spec_defaults_SOURCES = tests/unit/api/aiplatform/test_spec_defaults.c
tests_unit_api_aiplatform_test_custom_job_rules_SOURCES = tests/unit/api/aiplatform/test_custom_job_rules.c
tests_unit_api_aiplatform_test_messages_SOURCES = tests/unit/api/aiplatform/test_messages.c
tests_unit_api_aiplatform_test_pipeline_render_SOURCES = tests/unit/api/aiplatform/test_pipeline_render.c
tests_unit_api_aiplatform_test_pipeline_rules_SOURCES = tests/unit/api/aiplatform/test_pipeline_rules.c
tests_unit_api_aiplatform_test_to_plan_SOURCES = tests/unit/api/aiplatform/test_to_plan.c
tests_unit_api_aiplatform_test_tuning_job_render_SOURCES = tests/unit/api/aiplatform/test_tuning_job_render.c
tests_unit_api_aiplatform_test_tuning_job_rules_SOURCES = tests/unit/api/aiplatform/test_tuning_job_rules.c
tests_unit_api_emulator_test_discovery_SOURCES = tests/unit/api/emulator/test_discovery.c
tests_unit_api_emulator_test_web_shell_SOURCES = tests/unit/api/emulator/test_web_shell.c
tests_unit_api_grpc_test_rpc_SOURCES = tests/unit/api/grpc/test_rpc.c
tests_unit_api_grpc_test_session_SOURCES = tests/unit/api/grpc/test_session.c
tests_unit_api_http_test_connections_SOURCES = tests/unit/api/http/test_connections.c
tests_unit_api_http_test_error_body_SOURCES = tests/unit/api/http/test_error_body.c
tests_unit_api_http_test_guard_SOURCES = tests/unit/api/http/test_guard.c
tests_unit_api_http_test_inner_SOURCES = tests/unit/api/http/test_inner.c
tests_unit_api_http_test_intake_SOURCES = tests/unit/api/http/test_intake.c
tests_unit_api_http_test_listener_SOURCES = tests/unit/api/http/test_listener.c
tests_unit_api_http_test_path_socket_SOURCES = tests/unit/api/http/test_path_socket.c
tests_unit_api_http_test_pretty_SOURCES = tests/unit/api/http/test_pretty.c
tests_unit_api_http_test_request_SOURCES = tests/unit/api/http/test_request.c
tests_unit_api_http_test_router_SOURCES = tests/unit/api/http/test_router.c
tests_unit_api_http_test_stream_SOURCES = tests/unit/api/http/test_stream.c
tests_unit_api_logging_test_entry_list_SOURCES = tests/unit/api/logging/test_entry_list.c
tests_unit_api_logging_test_entry_write_SOURCES = tests/unit/api/logging/test_entry_write.c
tests_unit_api_logging_test_log_list_SOURCES = tests/unit/api/logging/test_log_list.c
tests_unit_api_message_test_discovery_SOURCES = tests/unit/api/message/test_discovery.c
tests_unit_api_message_test_fields_mask_SOURCES = tests/unit/api/message/test_fields_mask.c
tests_unit_api_message_test_message_binary_SOURCES = tests/unit/api/message/test_message_binary.c
tests_unit_api_message_test_message_names_SOURCES = tests/unit/api/message/test_message_names.c
tests_unit_api_message_test_message_parse_SOURCES = tests/unit/api/message/test_message_parse.c
tests_unit_api_message_test_message_query_SOURCES = tests/unit/api/message/test_message_query.c
tests_unit_api_message_test_message_read_SOURCES = tests/unit/api/message/test_message_read.c
tests_unit_api_metadata_test_identity_SOURCES = tests/unit/api/metadata/test_identity.c
tests_unit_api_metadata_test_metadata_SOURCES = tests/unit/api/metadata/test_metadata.c
tests_unit_api_ml_test_builtin_SOURCES = tests/unit/api/ml/test_builtin.c
tests_unit_api_ml_test_gcloud_bodies_SOURCES = tests/unit/api/ml/test_gcloud_bodies.c
tests_unit_api_ml_test_input_differences_SOURCES = tests/unit/api/ml/test_input_differences.c
tests_unit_api_ml_test_job_create_SOURCES = tests/unit/api/ml/test_job_create.c
tests_unit_api_ml_test_job_plan_SOURCES = tests/unit/api/ml/test_job_plan.c
tests_unit_api_ml_test_job_render_SOURCES = tests/unit/api/ml/test_job_render.c
tests_unit_api_ml_test_job_report_SOURCES = tests/unit/api/ml/test_job_report.c
tests_unit_api_ml_test_job_study_SOURCES = tests/unit/api/ml/test_job_study.c tests/unit/api/ml/tuning_testing.h
tests_unit_api_ml_test_resumption_SOURCES = tests/unit/api/ml/test_resumption.c tests/unit/api/ml/tuning_testing.h
tests_unit_api_ml_test_trials_render_SOURCES = tests/unit/api/ml/test_trials_render.c tests/unit/api/ml/tuning_testing.h
tests_unit_api_ml_test_job_rules_SOURCES = tests/unit/api/ml/test_job_rules.c
tests_unit_api_ml_test_messages_SOURCES = tests/unit/api/ml/test_messages.c
tests_unit_api_ml_test_plan_property_SOURCES = tests/unit/api/ml/test_plan_property.c
tests_unit_api_ml_test_policy_SOURCES = tests/unit/api/ml/test_policy.c
tests_unit_api_ml_test_policy_rules_SOURCES = tests/unit/api/ml/test_policy_rules.c
tests_unit_api_training_test_project_SOURCES = tests/unit/api/training/test_project.c
tests_unit_api_training_test_quota_SOURCES = tests/unit/api/training/test_quota.c
tests_unit_api_training_test_regions_SOURCES = tests/unit/api/training/test_regions.c
tests_unit_api_ml_test_rules_cluster_SOURCES = tests/unit/api/ml/test_rules_cluster.c
tests_unit_api_ml_test_rules_container_SOURCES = tests/unit/api/ml/test_rules_container.c
tests_unit_api_ml_test_rules_labels_SOURCES = tests/unit/api/ml/test_rules_labels.c
tests_unit_api_ml_test_rules_package_SOURCES = tests/unit/api/ml/test_rules_package.c
tests_unit_api_ml_test_rules_tuning_SOURCES = tests/unit/api/ml/test_rules_tuning.c
tests_unit_api_ml_test_samples_SOURCES = tests/unit/api/ml/test_samples.c
tests_unit_api_ml_test_to_plan_SOURCES = tests/unit/api/ml/test_to_plan.c
tests_unit_api_storage_test_buckets_SOURCES = tests/unit/api/storage/test_buckets.c
tests_unit_api_storage_test_callers_SOURCES = tests/unit/api/storage/test_callers.c
tests_unit_api_storage_test_copies_SOURCES = tests/unit/api/storage/test_copies.c
tests_unit_api_storage_test_gunzip_SOURCES = tests/unit/api/storage/test_gunzip.c
tests_unit_api_storage_test_http_date_SOURCES = tests/unit/api/storage/test_http_date.c
tests_unit_api_storage_test_multipart_SOURCES = tests/unit/api/storage/test_multipart.c
tests_unit_api_storage_test_objects_SOURCES = tests/unit/api/storage/test_objects.c
tests_unit_api_storage_test_part_claims_SOURCES = tests/unit/api/storage/test_part_claims.c
tests_unit_api_storage_test_parts_SOURCES = tests/unit/api/storage/test_parts.c
tests_unit_api_storage_test_range_SOURCES = tests/unit/api/storage/test_range.c
tests_unit_api_storage_test_uploads_SOURCES = tests/unit/api/storage/test_uploads.c
tests_unit_api_training_test_image_map_SOURCES = tests/unit/api/training/test_image_map.c
tests_unit_api_training_test_image_name_SOURCES = tests/unit/api/training/test_image_name.c
tests_unit_api_training_test_job_times_SOURCES = tests/unit/api/training/test_job_times.c
tests_unit_api_training_test_outlook_SOURCES = tests/unit/api/training/test_outlook.c
tests_unit_api_training_test_replica_json_SOURCES = tests/unit/api/training/test_replica_json.c
tests_unit_api_training_test_runtime_map_SOURCES = tests/unit/api/training/test_runtime_map.c
tests_unit_api_training_test_shells_render_SOURCES = tests/unit/api/training/test_shells_render.c
tests_unit_daemon_gcs_test_gcs_path_SOURCES = tests/unit/daemon/gcs/test_gcs_path.c
tests_unit_daemon_gcs_test_gcs_sight_SOURCES = tests/unit/daemon/gcs/test_gcs_sight.c
tests_unit_daemon_test_base64_SOURCES = tests/unit/daemon/test_base64.c
tests_unit_daemon_test_chance_SOURCES = tests/unit/daemon/test_chance.c
tests_unit_daemon_test_client_hello_SOURCES = tests/unit/daemon/test_client_hello.c
tests_unit_daemon_test_config_SOURCES = tests/unit/daemon/test_config.c
tests_unit_daemon_test_credentials_SOURCES = tests/unit/daemon/test_credentials.c
tests_unit_daemon_test_emulator_clock_SOURCES = tests/unit/daemon/test_emulator_clock.c
tests_unit_daemon_test_env_SOURCES = tests/unit/daemon/test_env.c
tests_unit_daemon_test_error_SOURCES = tests/unit/daemon/test_error.c $(memory_faults)
tests_unit_daemon_test_error_LDFLAGS = $(memory_faults_wrap)
tests_unit_daemon_test_given_file_SOURCES = tests/unit/daemon/test_given_file.c
tests_unit_daemon_test_job_gateway_SOURCES = tests/unit/daemon/test_job_gateway.c
tests_unit_daemon_test_json_SOURCES = tests/unit/daemon/test_json.c
tests_unit_daemon_test_log_SOURCES = tests/unit/daemon/test_log.c
tests_unit_daemon_test_memory_SOURCES = tests/unit/daemon/test_memory.c
tests_unit_daemon_test_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=free
tests_unit_daemon_test_presence_SOURCES = tests/unit/daemon/test_presence.c
tests_unit_daemon_test_relay_SOURCES = tests/unit/daemon/test_relay.c
tests_unit_daemon_test_terminal_door_SOURCES = tests/unit/daemon/test_terminal_door.c
tests_unit_daemon_test_text_SOURCES = tests/unit/daemon/test_text.c
tests_unit_daemon_test_token_SOURCES = tests/unit/daemon/test_token.c
tests_unit_daemon_test_tripwire_SOURCES = tests/unit/daemon/test_tripwire.c
tests_unit_scheduler_engine_test_docker_SOURCES = tests/unit/scheduler/engine/test_docker.c
tests_unit_scheduler_engine_test_docker_attachment_SOURCES = tests/unit/scheduler/engine/test_docker_attachment.c
tests_unit_scheduler_engine_test_docker_clean_SOURCES = tests/unit/scheduler/engine/test_docker_clean.c
tests_unit_scheduler_engine_test_docker_credentials_SOURCES = tests/unit/scheduler/engine/test_docker_credentials.c
tests_unit_scheduler_engine_test_docker_frames_SOURCES = tests/unit/scheduler/engine/test_docker_frames.c
tests_unit_scheduler_engine_test_docker_host_SOURCES = tests/unit/scheduler/engine/test_docker_host.c
tests_unit_scheduler_engine_test_docker_image_SOURCES = tests/unit/scheduler/engine/test_docker_image.c
tests_unit_scheduler_engine_test_docker_json_SOURCES = tests/unit/scheduler/engine/test_docker_json.c
tests_unit_scheduler_engine_test_docker_listing_SOURCES = tests/unit/scheduler/engine/test_docker_listing.c
tests_unit_scheduler_engine_test_docker_logs_SOURCES = tests/unit/scheduler/engine/test_docker_logs.c
tests_unit_scheduler_engine_test_docker_network_SOURCES = tests/unit/scheduler/engine/test_docker_network.c
tests_unit_scheduler_engine_test_docker_progress_SOURCES = tests/unit/scheduler/engine/test_docker_progress.c
tests_unit_scheduler_engine_test_docker_replica_SOURCES = tests/unit/scheduler/engine/test_docker_replica.c
tests_unit_scheduler_engine_test_docker_subnet_SOURCES = tests/unit/scheduler/engine/test_docker_subnet.c
tests_unit_scheduler_engine_test_docker_terminal_SOURCES = tests/unit/scheduler/engine/test_docker_terminal.c
tests_unit_scheduler_engine_test_leftovers_SOURCES = tests/unit/scheduler/engine/test_leftovers.c
tests_unit_scheduler_test_accelerator_SOURCES = tests/unit/scheduler/test_accelerator.c
tests_unit_scheduler_test_admission_SOURCES = tests/unit/scheduler/test_admission.c
tests_unit_scheduler_test_admission_random_SOURCES = tests/unit/scheduler/test_admission_random.c
tests_unit_scheduler_test_assignment_SOURCES = tests/unit/scheduler/test_assignment.c
tests_unit_scheduler_test_dialect_aiplatform_SOURCES = tests/unit/scheduler/test_dialect_aiplatform.c
tests_unit_scheduler_test_dialect_ml_SOURCES = tests/unit/scheduler/test_dialect_ml.c
tests_unit_scheduler_test_command_line_SOURCES = tests/unit/scheduler/test_command_line.c
tests_unit_scheduler_test_expansion_SOURCES = tests/unit/scheduler/test_expansion.c
tests_unit_scheduler_test_custom_job_runs_SOURCES = tests/unit/scheduler/test_custom_job_runs.c
tests_unit_scheduler_test_devices_SOURCES = tests/unit/scheduler/test_devices.c
tests_unit_scheduler_test_difference_SOURCES = tests/unit/scheduler/test_difference.c
tests_unit_scheduler_test_earlier_trials_SOURCES = tests/unit/scheduler/test_earlier_trials.c tests/unit/scheduler/tuning/tuning_testing.h
tests_unit_scheduler_test_fault_SOURCES = tests/unit/scheduler/test_fault.c
tests_unit_scheduler_test_fault_book_SOURCES = tests/unit/scheduler/test_fault_book.c
tests_unit_scheduler_test_faults_SOURCES = tests/unit/scheduler/test_faults.c
tests_unit_scheduler_test_gateway_SOURCES = tests/unit/scheduler/test_gateway.c
tests_unit_scheduler_test_gateway_keep_SOURCES = tests/unit/scheduler/test_gateway_keep.c
tests_unit_scheduler_test_gcs_keep_SOURCES = tests/unit/scheduler/test_gcs_keep.c
tests_unit_scheduler_test_host_SOURCES = tests/unit/scheduler/test_host.c
tests_unit_scheduler_test_launcher_SOURCES = tests/unit/scheduler/test_launcher.c
tests_unit_scheduler_test_limits_SOURCES = tests/unit/scheduler/test_limits.c
tests_unit_scheduler_test_log_line_SOURCES = tests/unit/scheduler/test_log_line.c
tests_unit_scheduler_test_machine_SOURCES = tests/unit/scheduler/test_machine.c
tests_unit_scheduler_test_ml_units_SOURCES = tests/unit/scheduler/test_ml_units.c
tests_unit_scheduler_test_no_memory_SOURCES = tests/unit/scheduler/test_no_memory.c tests/support/fake_engine.c $(memory_faults)
tests_unit_scheduler_test_no_memory_LDFLAGS = $(memory_faults_wrap)
tests_unit_scheduler_test_plan_SOURCES = tests/unit/scheduler/test_plan.c
tests_unit_scheduler_test_queue_SOURCES = tests/unit/scheduler/test_queue.c
tests_unit_scheduler_test_reconcile_SOURCES = tests/unit/scheduler/test_reconcile.c
tests_unit_scheduler_test_restart_SOURCES = tests/unit/scheduler/test_restart.c
tests_unit_scheduler_test_scheduler_SOURCES = tests/unit/scheduler/test_scheduler.c
tests_unit_scheduler_test_clock_jumps_SOURCES = tests/unit/scheduler/test_clock_jumps.c
tests_unit_scheduler_test_trial_events_SOURCES = tests/unit/scheduler/test_trial_events.c
tests_unit_scheduler_test_trial_metrics_SOURCES = tests/unit/scheduler/test_trial_metrics.c
tests_unit_scheduler_test_suggester_SOURCES = tests/unit/scheduler/test_suggester.c tests/unit/scheduler/gate_testing.h tests/unit/scheduler/tuning/tuning_testing.h
tests_unit_scheduler_test_study_end_SOURCES = tests/unit/scheduler/test_study_end.c tests/support/fake_engine.c
tests_unit_scheduler_test_study_limits_SOURCES = tests/unit/scheduler/test_study_limits.c
tests_unit_scheduler_test_trial_plan_SOURCES = tests/unit/scheduler/test_trial_plan.c
tests_unit_scheduler_test_spare_network_SOURCES = tests/unit/scheduler/test_spare_network.c
tests_unit_scheduler_test_trial_reports_SOURCES = tests/unit/scheduler/test_trial_reports.c tests/support/fake_engine.c
tests_unit_scheduler_test_tuner_SOURCES = tests/unit/scheduler/test_tuner.c
tests_unit_scheduler_test_tuner_thought_SOURCES = tests/unit/scheduler/test_tuner_thought.c tests/support/fake_engine.c tests/unit/scheduler/gate_testing.h
tests_unit_scheduler_test_tuner_resumption_SOURCES = tests/unit/scheduler/test_tuner_resumption.c tests/support/fake_engine.c
tests_unit_scheduler_test_tuner_queue_SOURCES = tests/unit/scheduler/test_tuner_queue.c tests/support/fake_engine.c tests/unit/scheduler/gate_testing.h
tests_unit_scheduler_test_tuner_networks_SOURCES = tests/unit/scheduler/test_tuner_networks.c tests/support/fake_engine.c
tests_unit_scheduler_test_verdict_SOURCES = tests/unit/scheduler/test_verdict.c
tests_unit_store_test_access_token_SOURCES = tests/unit/store/test_access_token.c
tests_unit_store_test_assemblies_SOURCES = tests/unit/store/test_assemblies.c
tests_unit_store_test_authority_SOURCES = tests/unit/store/test_authority.c
tests_unit_store_test_file_tree_SOURCES = tests/unit/store/test_file_tree.c
tests_unit_scheduler_tuning_test_event_file_SOURCES = tests/unit/scheduler/tuning/test_event_file.c
tests_unit_scheduler_tuning_test_gaussian_process_SOURCES = tests/unit/scheduler/tuning/test_gaussian_process.c tests/unit/scheduler/tuning/tuning_testing.h
tests_unit_scheduler_tuning_test_measurement_list_SOURCES = tests/unit/scheduler/tuning/test_measurement_list.c
tests_unit_scheduler_tuning_test_metric_file_SOURCES = tests/unit/scheduler/tuning/test_metric_file.c
tests_unit_scheduler_tuning_test_metric_report_SOURCES = tests/unit/scheduler/tuning/test_metric_report.c
tests_unit_scheduler_tuning_test_search_SOURCES = tests/unit/scheduler/tuning/test_search.c tests/unit/scheduler/tuning/tuning_testing.h
tests_unit_scheduler_tuning_test_space_SOURCES = tests/unit/scheduler/tuning/test_space.c tests/unit/scheduler/tuning/tuning_testing.h
tests_unit_scheduler_tuning_test_measurements_SOURCES = tests/unit/scheduler/tuning/test_measurements.c tests/unit/scheduler/tuning/tuning_testing.h
tests_unit_scheduler_tuning_test_stopping_SOURCES = tests/unit/scheduler/tuning/test_stopping.c tests/unit/scheduler/tuning/tuning_testing.h
tests_unit_scheduler_tuning_test_warp_SOURCES = tests/unit/scheduler/tuning/test_warp.c tests/unit/scheduler/tuning/tuning_testing.h
tests_unit_store_test_faults_no_memory_SOURCES = tests/unit/store/test_faults_no_memory.c $(memory_faults)
tests_unit_store_test_faults_no_memory_LDFLAGS = $(memory_faults_wrap)
tests_unit_store_test_filter_SOURCES = tests/unit/store/test_filter.c
tests_unit_store_test_job_filter_SOURCES = tests/unit/store/test_job_filter.c
tests_unit_store_test_jobs_SOURCES = tests/unit/store/test_jobs.c
tests_unit_store_test_jobs_no_memory_SOURCES = tests/unit/store/test_jobs_no_memory.c $(memory_faults)
tests_unit_store_test_jobs_no_memory_LDFLAGS = $(memory_faults_wrap)
tests_unit_store_test_leases_SOURCES = tests/unit/store/test_leases.c
tests_unit_store_test_log_filter_SOURCES = tests/unit/store/test_log_filter.c
tests_unit_store_test_logs_SOURCES = tests/unit/store/test_logs.c
tests_unit_store_test_object_list_SOURCES = tests/unit/store/test_object_list.c
tests_unit_store_test_objects_SOURCES = tests/unit/store/test_objects.c
tests_unit_store_test_objects_crash_SOURCES = tests/unit/store/test_objects_crash.c
tests_unit_store_test_objects_no_memory_SOURCES = tests/unit/store/test_objects_no_memory.c $(memory_faults)
tests_unit_store_test_objects_no_memory_LDFLAGS = $(memory_faults_wrap)
tests_unit_store_test_outbox_SOURCES = tests/unit/store/test_outbox.c
tests_unit_store_test_page_token_SOURCES = tests/unit/store/test_page_token.c
tests_unit_store_test_pipelines_SOURCES = tests/unit/store/test_pipelines.c
tests_unit_store_test_pipelines_no_memory_SOURCES = tests/unit/store/test_pipelines_no_memory.c $(memory_faults)
tests_unit_store_test_pipelines_no_memory_LDFLAGS = $(memory_faults_wrap)
tests_unit_store_test_policies_SOURCES = tests/unit/store/test_policies.c
tests_unit_store_test_reader_pool_SOURCES = tests/unit/store/test_reader_pool.c
tests_unit_store_test_resources_SOURCES = tests/unit/store/test_resources.c
tests_unit_store_test_resources_no_memory_SOURCES = tests/unit/store/test_resources_no_memory.c $(memory_faults)
tests_unit_store_test_resources_no_memory_LDFLAGS = $(memory_faults_wrap)
tests_unit_store_test_sessions_SOURCES = tests/unit/store/test_sessions.c
tests_unit_store_test_signing_key_SOURCES = tests/unit/store/test_signing_key.c
tests_unit_store_test_store_SOURCES = tests/unit/store/test_store.c
tests_unit_store_test_trials_SOURCES = tests/unit/store/test_trials.c
tests_unit_store_test_trials_no_memory_SOURCES = tests/unit/store/test_trials_no_memory.c $(memory_faults)
tests_unit_store_test_trials_no_memory_LDFLAGS = $(memory_faults_wrap)
tests_unit_scheduler_test_queue_SOURCES += tests/support/fake_engine.c
tests_unit_scheduler_test_gateway_keep_SOURCES += tests/support/fake_engine.c
tests_unit_scheduler_test_custom_job_runs_SOURCES += tests/support/fake_engine.c
tests_unit_scheduler_test_gcs_keep_SOURCES += tests/support/fake_engine.c
tests_unit_scheduler_test_restart_SOURCES += tests/support/fake_engine.c
tests_unit_scheduler_test_faults_SOURCES += tests/support/fake_engine.c
tests_unit_scheduler_test_scheduler_SOURCES += tests/support/fake_engine.c
tests_unit_scheduler_test_clock_jumps_SOURCES += tests/support/fake_engine.c
tests_unit_scheduler_test_spare_network_SOURCES += tests/support/fake_engine.c
tests_unit_scheduler_test_tuner_SOURCES += tests/support/fake_engine.c

# Fuzz targets replay their corpora; tests/fuzz/run fuzzes.
fuzz_targets = \
	tests/fuzz/fuzz_client_hello \
	tests/fuzz/fuzz_config \
	tests/fuzz/fuzz_docker_json \
	tests/fuzz/fuzz_event_file \
	tests/fuzz/fuzz_expansion \
	tests/fuzz/fuzz_fault \
	tests/fuzz/fuzz_filter \
	tests/fuzz/fuzz_frames \
	tests/fuzz/fuzz_image \
	tests/fuzz/fuzz_log_line \
	tests/fuzz/fuzz_message \
	tests/fuzz/fuzz_message_binary \
	tests/fuzz/fuzz_metric_file \
	tests/fuzz/fuzz_multipart \
	tests/fuzz/fuzz_part_claims \
	tests/fuzz/fuzz_request \
	tests/fuzz/fuzz_resource \
	tests/fuzz/fuzz_session \
	tests/fuzz/fuzz_token \
	tests/fuzz/fuzz_upload_headers
check_PROGRAMS += $(fuzz_targets)
tests_fuzz_fuzz_client_hello_SOURCES = tests/fuzz/fuzz_client_hello.c tests/fuzz/replay.c
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c tests/fuzz/replay.c
tests_fuzz_fuzz_docker_json_SOURCES = tests/fuzz/fuzz_docker_json.c tests/fuzz/replay.c
tests_fuzz_fuzz_event_file_SOURCES = tests/fuzz/fuzz_event_file.c tests/fuzz/replay.c
tests_fuzz_fuzz_expansion_SOURCES = tests/fuzz/fuzz_expansion.c tests/fuzz/replay.c
tests_fuzz_fuzz_fault_SOURCES = tests/fuzz/fuzz_fault.c tests/fuzz/replay.c
tests_fuzz_fuzz_filter_SOURCES = tests/fuzz/fuzz_filter.c tests/fuzz/replay.c
tests_fuzz_fuzz_frames_SOURCES = tests/fuzz/fuzz_frames.c tests/fuzz/replay.c
tests_fuzz_fuzz_image_SOURCES = tests/fuzz/fuzz_image.c tests/fuzz/replay.c
tests_fuzz_fuzz_log_line_SOURCES = tests/fuzz/fuzz_log_line.c tests/fuzz/replay.c
tests_fuzz_fuzz_message_SOURCES = tests/fuzz/fuzz_message.c tests/fuzz/replay.c
tests_fuzz_fuzz_message_binary_SOURCES = tests/fuzz/fuzz_message_binary.c tests/fuzz/replay.c
tests_fuzz_fuzz_metric_file_SOURCES = tests/fuzz/fuzz_metric_file.c tests/fuzz/replay.c
tests_fuzz_fuzz_multipart_SOURCES = tests/fuzz/fuzz_multipart.c tests/fuzz/replay.c
tests_fuzz_fuzz_part_claims_SOURCES = tests/fuzz/fuzz_part_claims.c tests/fuzz/replay.c
tests_fuzz_fuzz_request_SOURCES = tests/fuzz/fuzz_request.c tests/fuzz/replay.c
tests_fuzz_fuzz_resource_SOURCES = tests/fuzz/fuzz_resource.c tests/fuzz/replay.c
tests_fuzz_fuzz_session_SOURCES = tests/fuzz/fuzz_session.c tests/fuzz/replay.c
tests_fuzz_fuzz_token_SOURCES = tests/fuzz/fuzz_token.c tests/fuzz/replay.c
tests_fuzz_fuzz_upload_headers_SOURCES = tests/fuzz/fuzz_upload_headers.c tests/fuzz/replay.c

# Where threads meet: `deploy/check threads` runs these under ThreadSanitizer.
# Broken: block_done() of store/hasher.c without its lock: test_objects failed.
threaded_tests = \
	tests/unit/api/http/test_connections \
	tests/unit/api/http/test_intake \
	tests/unit/api/http/test_listener \
	tests/unit/api/http/test_path_socket \
	tests/unit/api/http/test_stream \
	tests/unit/api/storage/test_copies \
	tests/unit/api/training/test_quota \
	tests/unit/daemon/test_memory \
	tests/unit/daemon/test_relay \
	tests/unit/scheduler/engine/test_docker_logs \
	tests/unit/scheduler/engine/test_docker_terminal \
	tests/unit/scheduler/test_clock_jumps \
	tests/unit/scheduler/test_faults \
	tests/unit/scheduler/test_queue \
	tests/unit/scheduler/test_restart \
	tests/unit/scheduler/test_scheduler \
	tests/unit/scheduler/test_suggester \
	tests/unit/scheduler/test_tuner_thought \
	tests/unit/store/test_authority \
	tests/unit/store/test_jobs \
	tests/unit/store/test_logs \
	tests/unit/store/test_objects \
	tests/unit/store/test_policies \
	tests/unit/store/test_signing_key \
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
if HAVE_CMOCKA
noinst_PROGRAMS += tests/integration/engine_contract
endif
tests_integration_engine_contract_SOURCES = \
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
tests_fault_fake_yard_SOURCES = tests/fault/fake_yard.c tests/support/fake_engine.c
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
bench_helpers = tests/bench/bare_files tests/bench/bare_server tests/bench/bare_trials tests/bench/seed tests/bench/suggest_bench
EXTRA_PROGRAMS += $(bench_helpers)
CLEANFILES += $(bench_helpers)
tests_bench_seed_SOURCES = tests/bench/seed.c
tests_bench_bare_files_SOURCES = tests/bench/bare_files.c
tests_bench_suggest_bench_SOURCES = tests/bench/suggest_bench.c
tests_bench_bare_trials_SOURCES = tests/bench/bare_trials.c
tests_bench_bare_server_SOURCES = tests/bench/bare_server.c
.PHONY: bench
bench: trainyard $(bench_helpers)
	$(srcdir)/tests/bench/bench.py --build $(abs_builddir) $(BENCH_ROWS)

EXTRA_DIST += \
	tests/attack \
	tests/bench/bench.py \
	tests/bench/search.py \
	tests/check_includes.sh \
	tests/clients \
	tests/conftest.py \
	tests/coverage.json \
	tests/coverage.md \
	tests/cppcheck.cfg \
	tests/cppcheck.txt \
	tests/crash \
	tests/fault \
	tests/fuzz/corpus \
	tests/fuzz/fuzz.mk \
	tests/fuzz/run \
	tests/integration \
	tests/print_coverage \
	tests/support \
	tests/threads.txt \
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
	tests/unit/scheduler/admission_testing.h \
	tests/unit/scheduler/engine/docker_testing.h \
	tests/unit/scheduler/plan_testing.h \
	tests/unit/scheduler/scheduler_testing.h \
	tests/unit/scheduler/search_testing.h \
	tests/unit/scheduler/tuning/reader_testing.h \
	tests/unit/store/eye_testing.h \
	tests/unit/store/no_memory_testing.h \
	tests/unit/store/objects_testing.h \
	tests/unit/store/store_testing.h \
	tests/unit/testing.h
