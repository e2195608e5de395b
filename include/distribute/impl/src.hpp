#pragma once
/// All bodies of the core, for one file of a program.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/coordinator_shared.hpp>
#include <distribute/impl/strategy_bodies.hpp>

#include <distribute/base/impl/ordered_json.ipp>

#include <distribute/io/impl/growing_file.ipp>

#include <distribute/cluster/impl/network_lines.ipp>
#include <distribute/cluster/impl/task_ways.ipp>

#include <distribute/nn/impl/conv_lstm.ipp>
#include <distribute/nn/impl/convolve.ipp>
#include <distribute/nn/impl/recurrent_cells.ipp>
#include <distribute/nn/impl/recurrent_cells_run.ipp>
#include <distribute/nn/impl/sequence_convolution.ipp>
#include <distribute/nn/impl/volumes.ipp>

#include <distribute/data/impl/chunked_snapshot.ipp>

#include <distribute/summary/impl/event.ipp>
#include <distribute/summary/impl/file_writer.ipp>
#include <distribute/summary/impl/graph.ipp>
#include <distribute/summary/impl/hparams.ipp>
#include <distribute/summary/impl/png.ipp>
#include <distribute/summary/impl/store_event_file.ipp>

#include <distribute/coordinator/impl/coordinator_watch.ipp>
#include <distribute/coordinator/impl/server.ipp>

#include <distribute/train/impl/backup_and_restore.ipp>
#include <distribute/train/impl/checkpoint_files.ipp>
#include <distribute/train/impl/checkpoints_iterator.ipp>
#include <distribute/train/impl/chief_preemption_handler.ipp>
#include <distribute/train/impl/counter.ipp>
#include <distribute/train/impl/early_stopping.ipp>
#include <distribute/train/impl/exit_preempted.ipp>
#include <distribute/train/impl/exponential_moving_average.ipp>
#include <distribute/train/impl/finite_checks.ipp>
#include <distribute/train/impl/follow_checkpoints.ipp>
#include <distribute/train/impl/format_figures.ipp>
#include <distribute/train/impl/metric_lines.ipp>
#include <distribute/train/impl/model_checkpoint.ipp>
#include <distribute/train/impl/module_graph.ipp>
#include <distribute/train/impl/monitor.ipp>
#include <distribute/train/impl/output_paths.ipp>
#include <distribute/train/impl/preemption_checkpoint_handler.ipp>
#include <distribute/train/impl/preemption_watcher.ipp>
#include <distribute/train/impl/reduce_lr_on_plateau.ipp>
#include <distribute/train/impl/run_length.ipp>
#include <distribute/train/impl/run_report.ipp>
#include <distribute/train/impl/save_frequency.ipp>
#include <distribute/train/impl/seconds_or_steps.ipp>
#include <distribute/train/impl/sidecar_evaluator.ipp>
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
