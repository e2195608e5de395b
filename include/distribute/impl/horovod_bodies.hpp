#pragma once
/// The bodies that horovod.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/impl/cluster_shared.hpp>
#include <distribute/impl/horovod_src.hpp>

#include <distribute/base/impl/cancellation.ipp>
#include <distribute/base/impl/cpu_share.ipp>
#include <distribute/base/impl/termination_signal.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_feed.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/io/impl/crc32c.ipp>
#include <distribute/io/impl/data_type.ipp>
#include <distribute/io/impl/protobuf.ipp>
#include <distribute/io/impl/wire.ipp>

#include <distribute/autograd/impl/trackable.ipp>

#include <distribute/ops/impl/activation.ipp>
#include <distribute/ops/impl/clip.ipp>
#include <distribute/ops/impl/cross_entropy.ipp>
#include <distribute/ops/impl/draw_log.ipp>
#include <distribute/ops/impl/random.ipp>
#include <distribute/ops/impl/search.ipp>
#include <distribute/ops/impl/softmax.ipp>

#include <distribute/nn/impl/auc.ipp>
#include <distribute/nn/impl/confusion_counts.ipp>
#include <distribute/nn/impl/confusion_metrics.ipp>
#include <distribute/nn/impl/hinge_losses.ipp>
#include <distribute/nn/impl/hinge_metrics.ipp>
#include <distribute/nn/impl/initializers.ipp>
#include <distribute/nn/impl/loss.ipp>
#include <distribute/nn/impl/loss_parts.ipp>
#include <distribute/nn/impl/losses.ipp>
#include <distribute/nn/impl/metric_inputs.ipp>
#include <distribute/nn/impl/metrics.ipp>
#include <distribute/nn/impl/module.ipp>
#include <distribute/nn/impl/module_names.ipp>
#include <distribute/nn/impl/module_saver.ipp>
#include <distribute/nn/impl/named_module.ipp>
#include <distribute/nn/impl/policy.ipp>
#include <distribute/nn/impl/probability_losses.ipp>
#include <distribute/nn/impl/probability_metrics.ipp>
#include <distribute/nn/impl/regression_losses.ipp>
#include <distribute/nn/impl/regression_metrics.ipp>
#include <distribute/nn/impl/summary_table.ipp>

#include <distribute/optim/impl/optimizer.ipp>
#include <distribute/optim/impl/optimizer_config.ipp>
#include <distribute/optim/impl/optimizer_step.ipp>
#include <distribute/optim/impl/slot_table.ipp>
#include <distribute/optim/impl/step_updates.ipp>

#include <distribute/data/impl/auto_shard.ipp>
#include <distribute/data/impl/batch.ipp>
#include <distribute/data/impl/batching.ipp>
#include <distribute/data/impl/combine.ipp>
#include <distribute/data/impl/dataset.ipp>
#include <distribute/data/impl/distribute_options.ipp>
#include <distribute/data/impl/element_spec.ipp>
#include <distribute/data/impl/gpu_fetch.ipp>
#include <distribute/data/impl/gpu_fetch_stub.ipp>
#include <distribute/data/impl/interleave.ipp>
#include <distribute/data/impl/iterator.ipp>
#include <distribute/data/impl/node.ipp>
#include <distribute/data/impl/options.ipp>
#include <distribute/data/impl/padding.ipp>
#include <distribute/data/impl/parallel_interleave.ipp>
#include <distribute/data/impl/pipeline_statistics.ipp>
#include <distribute/data/impl/prefetch.ipp>
#include <distribute/data/impl/random.ipp>
#include <distribute/data/impl/rebatch.ipp>
#include <distribute/data/impl/row_table.ipp>
#include <distribute/data/impl/selection.ipp>
#include <distribute/data/impl/shuffle.ipp>
#include <distribute/data/impl/sources.ipp>
#include <distribute/data/impl/stream.ipp>
#include <distribute/data/impl/transform.ipp>

#include <distribute/strategy/impl/cluster_place.ipp>
#include <distribute/strategy/impl/distributed_dataset.ipp>
#include <distribute/strategy/impl/function.ipp>

#include <distribute/checkpoint/impl/bundle_entry.ipp>
#include <distribute/checkpoint/impl/bundle_reader.ipp>
#include <distribute/checkpoint/impl/bundle_table.ipp>
#include <distribute/checkpoint/impl/bundle_writer.ipp>
#include <distribute/checkpoint/impl/checkpoint_state.ipp>
#include <distribute/checkpoint/impl/flat_checkpoint.ipp>
#include <distribute/checkpoint/impl/object_graph.ipp>
#include <distribute/checkpoint/impl/program_graph.ipp>
#include <distribute/checkpoint/impl/restoration.ipp>
#include <distribute/checkpoint/impl/tensor_slice.ipp>

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
#include <distribute/train/impl/class_names.ipp>
#include <distribute/train/impl/class_weights.ipp>
#include <distribute/train/impl/compiled_metric.ipp>
#include <distribute/train/impl/coordinated_steps.ipp>
#include <distribute/train/impl/dataset_creator.ipp>
#include <distribute/train/impl/elastic_iterator.ipp>
#include <distribute/train/impl/elastic_loop.ipp>
#include <distribute/train/impl/fit_loop.ipp>
#include <distribute/train/impl/fit_options.ipp>
#include <distribute/train/impl/gradient_accumulator.ipp>
#include <distribute/train/impl/logs.ipp>
#include <distribute/train/impl/loss_function.ipp>
#include <distribute/train/impl/model.ipp>
#include <distribute/train/impl/named_outputs.ipp>
#include <distribute/train/impl/progress.ipp>
#include <distribute/train/impl/progress_logger.ipp>
#include <distribute/train/impl/state_exchange.ipp>
#include <distribute/train/impl/step_means.ipp>
