#pragma once
/// The bodies that all lists with coordinator/impl/closure.ipp have.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/cluster_shared.hpp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_feed.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/coordinator/impl/closure.ipp>
#include <distribute/coordinator/impl/closure_argument.ipp>
#include <distribute/coordinator/impl/closure_queue.ipp>
#include <distribute/coordinator/impl/cluster_coordinator.ipp>
#include <distribute/coordinator/impl/coordinator_options.ipp>
#include <distribute/coordinator/impl/dataset_function.ipp>
#include <distribute/coordinator/impl/outcome.ipp>
#include <distribute/coordinator/impl/per_worker_values.ipp>
#include <distribute/coordinator/impl/registry.ipp>
#include <distribute/coordinator/impl/remote_dataset.ipp>
#include <distribute/coordinator/impl/remote_value.ipp>
#include <distribute/coordinator/impl/rpc_worker_link.ipp>
#include <distribute/coordinator/impl/worker_index.ipp>
#include <distribute/coordinator/impl/worker_pool.ipp>
#include <distribute/coordinator/impl/worker_service.ipp>
#include <distribute/coordinator/impl/worker_thread.ipp>

#include <distribute/train/impl/callback.ipp>
#include <distribute/train/impl/callback_list.ipp>
#include <distribute/train/impl/callback_state.ipp>
#include <distribute/train/impl/class_names.ipp>
#include <distribute/train/impl/class_weights.ipp>
#include <distribute/train/impl/compiled_metric.ipp>
#include <distribute/train/impl/coordinated_steps.ipp>
#include <distribute/train/impl/csv_logger.ipp>
#include <distribute/train/impl/dataset_creator.ipp>
#include <distribute/train/impl/elastic_iterator.ipp>
#include <distribute/train/impl/elastic_loop.ipp>
#include <distribute/train/impl/fit_loop.ipp>
#include <distribute/train/impl/fit_options.ipp>
#include <distribute/train/impl/gradient_accumulator.ipp>
#include <distribute/train/impl/learning_rate_scheduler.ipp>
#include <distribute/train/impl/logs.ipp>
#include <distribute/train/impl/loss_function.ipp>
#include <distribute/train/impl/model.ipp>
#include <distribute/train/impl/model_compile.ipp>
#include <distribute/train/impl/model_predict.ipp>
#include <distribute/train/impl/named_outputs.ipp>
#include <distribute/train/impl/progress.ipp>
#include <distribute/train/impl/progress_logger.ipp>
#include <distribute/train/impl/run_pace.ipp>
#include <distribute/train/impl/state_exchange.ipp>
#include <distribute/train/impl/step_means.ipp>

#include <distribute/base/detail/macros_back.inc>
