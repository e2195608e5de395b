#pragma once
/// All bodies of the core, for one file of a program.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/strategy_bodies.hpp>

#include <distribute/base/impl/ordered_json.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_feed.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/io/impl/growing_file.ipp>

#include <distribute/cluster/impl/network_lines.ipp>
#include <distribute/cluster/impl/task_ways.ipp>

#include <distribute/nn/impl/sequence_convolution.ipp>
#include <distribute/nn/impl/volumes.ipp>

#include <distribute/summary/impl/event.ipp>
#include <distribute/summary/impl/file_writer.ipp>
#include <distribute/summary/impl/graph.ipp>
#include <distribute/summary/impl/hparams.ipp>
#include <distribute/summary/impl/png.ipp>
#include <distribute/summary/impl/store_event_file.ipp>

#include <distribute/coordinator/impl/closure.ipp>
#include <distribute/coordinator/impl/closure_argument.ipp>
#include <distribute/coordinator/impl/closure_queue.ipp>
#include <distribute/coordinator/impl/cluster_coordinator.ipp>
#include <distribute/coordinator/impl/coordinator_options.ipp>
#include <distribute/coordinator/impl/coordinator_watch.ipp>
#include <distribute/coordinator/impl/dataset_function.ipp>
#include <distribute/coordinator/impl/outcome.ipp>
#include <distribute/coordinator/impl/per_worker_values.ipp>
#include <distribute/coordinator/impl/registry.ipp>
#include <distribute/coordinator/impl/remote_dataset.ipp>
#include <distribute/coordinator/impl/remote_value.ipp>
#include <distribute/coordinator/impl/rpc_worker_link.ipp>
#include <distribute/coordinator/impl/server.ipp>
#include <distribute/coordinator/impl/worker_index.ipp>
#include <distribute/coordinator/impl/worker_pool.ipp>
#include <distribute/coordinator/impl/worker_service.ipp>
#include <distribute/coordinator/impl/worker_thread.ipp>

#include <distribute/train/impl/backup_and_restore.ipp>
#include <distribute/train/impl/callback.ipp>
#include <distribute/train/impl/callback_list.ipp>
#include <distribute/train/impl/callback_state.ipp>
#include <distribute/train/impl/checkpoint_files.ipp>
#include <distribute/train/impl/checkpoints_iterator.ipp>
#include <distribute/train/impl/chief_preemption_handler.ipp>
#include <distribute/train/impl/class_names.ipp>
#include <distribute/train/impl/class_weights.ipp>
#include <distribute/train/impl/compiled_metric.ipp>
#include <distribute/train/impl/coordinated_steps.ipp>
#include <distribute/train/impl/counter.ipp>
#include <distribute/train/impl/csv_logger.ipp>
#include <distribute/train/impl/dataset_creator.ipp>
#include <distribute/train/impl/early_stopping.ipp>
#include <distribute/train/impl/elastic_iterator.ipp>
#include <distribute/train/impl/elastic_loop.ipp>
#include <distribute/train/impl/exit_preempted.ipp>
#include <distribute/train/impl/exponential_moving_average.ipp>
#include <distribute/train/impl/finite_checks.ipp>
#include <distribute/train/impl/fit_loop.ipp>
#include <distribute/train/impl/fit_options.ipp>
#include <distribute/train/impl/follow_checkpoints.ipp>
#include <distribute/train/impl/format_figures.ipp>
#include <distribute/train/impl/gradient_accumulator.ipp>
#include <distribute/train/impl/learning_rate_scheduler.ipp>
#include <distribute/train/impl/logs.ipp>
#include <distribute/train/impl/loss_function.ipp>
#include <distribute/train/impl/metric_lines.ipp>
#include <distribute/train/impl/model.ipp>
#include <distribute/train/impl/model_checkpoint.ipp>
#include <distribute/train/impl/model_compile.ipp>
#include <distribute/train/impl/model_predict.ipp>
#include <distribute/train/impl/module_graph.ipp>
#include <distribute/train/impl/monitor.ipp>
#include <distribute/train/impl/named_outputs.ipp>
#include <distribute/train/impl/output_paths.ipp>
#include <distribute/train/impl/preemption_checkpoint_handler.ipp>
#include <distribute/train/impl/preemption_watcher.ipp>
#include <distribute/train/impl/progress.ipp>
#include <distribute/train/impl/progress_logger.ipp>
#include <distribute/train/impl/reduce_lr_on_plateau.ipp>
#include <distribute/train/impl/run_length.ipp>
#include <distribute/train/impl/run_pace.ipp>
#include <distribute/train/impl/run_report.ipp>
#include <distribute/train/impl/save_frequency.ipp>
#include <distribute/train/impl/seconds_or_steps.ipp>
#include <distribute/train/impl/sidecar_evaluator.ipp>
#include <distribute/train/impl/state_exchange.ipp>
#include <distribute/train/impl/step_means.ipp>
#include <distribute/train/impl/swap_ema_weights.ipp>
#include <distribute/train/impl/tensor_board.ipp>
#include <distribute/train/impl/terminate_on_nan.ipp>

#include <distribute/launch/impl/attempt.ipp>
#include <distribute/launch/impl/host_list.ipp>
#include <distribute/launch/impl/job.ipp>
#include <distribute/launch/impl/job_token.ipp>
#include <distribute/launch/impl/launcher.ipp>
#include <distribute/launch/impl/line_buffer.ipp>
#include <distribute/launch/impl/outputs.ipp>
#include <distribute/launch/impl/process.ipp>
#include <distribute/launch/impl/process_guard.ipp>
#include <distribute/launch/impl/remote_shell.ipp>
#include <distribute/launch/impl/restart_budget.ipp>
#include <distribute/launch/impl/running_task.ipp>
#include <distribute/launch/impl/signal_watch.ipp>
#include <distribute/launch/impl/stray_processes.ipp>

#include <distribute/testing/impl/cluster_channel.ipp>
#include <distribute/testing/impl/cluster_function.ipp>
#include <distribute/testing/impl/cluster_member.ipp>
#include <distribute/testing/impl/latch.ipp>
#include <distribute/testing/impl/network_namespaces.ipp>
#include <distribute/testing/impl/process_cluster.ipp>
#include <distribute/testing/impl/thread_cluster.ipp>
#include <distribute/testing/impl/wait_until.ipp>

#include <distribute/base/detail/macros_back.inc>
