#pragma once
/// The bodies that saved_model.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/nn_shared.hpp>
#include <distribute/impl/saved_model_src.hpp>

#include <distribute/base/impl/simd_sqrt.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_trace.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/net/impl/message.ipp>
#include <distribute/net/impl/wake_up.ipp>

#include <distribute/cluster/impl/lone_process.ipp>

#include <distribute/ops/impl/conv2d.ipp>
#include <distribute/ops/impl/conv2d_transpose.ipp>
#include <distribute/ops/impl/pool.ipp>
#include <distribute/ops/impl/window.ipp>

#include <distribute/replica/impl/single_replica.ipp>

#include <distribute/nn/impl/adaptive_pooling.ipp>
#include <distribute/nn/impl/attention.ipp>
#include <distribute/nn/impl/attention_axes.ipp>
#include <distribute/nn/impl/attention_layers.ipp>
#include <distribute/nn/impl/bidirectional.ipp>
#include <distribute/nn/impl/convolution.ipp>
#include <distribute/nn/impl/convolution_1d.ipp>
#include <distribute/nn/impl/convolution_transpose.ipp>
#include <distribute/nn/impl/functional.ipp>
#include <distribute/nn/impl/gated_cell.ipp>
#include <distribute/nn/impl/keras_graph.ipp>
#include <distribute/nn/impl/merging.ipp>
#include <distribute/nn/impl/module_saver.ipp>
#include <distribute/nn/impl/named_module.ipp>
#include <distribute/nn/impl/pooling.ipp>
#include <distribute/nn/impl/recurrent.ipp>
#include <distribute/nn/impl/recurrent_base.ipp>
#include <distribute/nn/impl/resnet.ipp>
#include <distribute/nn/impl/sequential.ipp>
#include <distribute/nn/impl/transposed_axis.ipp>
#include <distribute/nn/impl/volume_pooling.ipp>

#include <distribute/optim/impl/adadelta.ipp>
#include <distribute/optim/impl/adagrad.ipp>
#include <distribute/optim/impl/adam.ipp>
#include <distribute/optim/impl/adamax.ipp>
#include <distribute/optim/impl/ftrl.ipp>
#include <distribute/optim/impl/lamb.ipp>
#include <distribute/optim/impl/lion.ipp>
#include <distribute/optim/impl/loss_scale_optimizer.ipp>
#include <distribute/optim/impl/nadam.ipp>
#include <distribute/optim/impl/optimizer.ipp>
#include <distribute/optim/impl/optimizer_config.ipp>
#include <distribute/optim/impl/optimizer_step.ipp>
#include <distribute/optim/impl/optimizer_text.ipp>
#include <distribute/optim/impl/rmsprop.ipp>
#include <distribute/optim/impl/schedule_text.ipp>
#include <distribute/optim/impl/schedules.ipp>
#include <distribute/optim/impl/serialization.ipp>
#include <distribute/optim/impl/sgd.ipp>
#include <distribute/optim/impl/slot_table.ipp>
#include <distribute/optim/impl/step_updates.ipp>

#include <distribute/data/impl/input_context.ipp>

#include <distribute/collective/impl/combine.ipp>
#include <distribute/collective/impl/nccl_communicator.ipp>
#include <distribute/collective/impl/nccl_library.ipp>
#include <distribute/collective/impl/operation.ipp>

#include <distribute/strategy/impl/all_workers.ipp>
#include <distribute/strategy/impl/cross_device_ops.ipp>
#include <distribute/strategy/impl/device_copies.ipp>
#include <distribute/strategy/impl/devices.ipp>
#include <distribute/strategy/impl/distributed_variable.ipp>
#include <distribute/strategy/impl/gradient_packs.ipp>
#include <distribute/strategy/impl/nccl_all_reduce.ipp>
#include <distribute/strategy/impl/one_device_strategy.ipp>
#include <distribute/strategy/impl/partitioners.ipp>
#include <distribute/strategy/impl/reduce_arguments.ipp>
#include <distribute/strategy/impl/reduction.ipp>
#include <distribute/strategy/impl/run_options.ipp>
#include <distribute/strategy/impl/run_spans.ipp>
#include <distribute/strategy/impl/scope.ipp>
#include <distribute/strategy/impl/sharded_variable.ipp>
#include <distribute/strategy/impl/strategy.ipp>
#include <distribute/strategy/impl/strategy_extended.ipp>
#include <distribute/strategy/impl/tensor_places.ipp>

#include <distribute/checkpoint/impl/background_job.ipp>
#include <distribute/checkpoint/impl/bundle_entry.ipp>
#include <distribute/checkpoint/impl/bundle_merge.ipp>
#include <distribute/checkpoint/impl/bundle_reader.ipp>
#include <distribute/checkpoint/impl/bundle_table.ipp>
#include <distribute/checkpoint/impl/bundle_writer.ipp>
#include <distribute/checkpoint/impl/checkpoint.ipp>
#include <distribute/checkpoint/impl/checkpoint_manager.ipp>
#include <distribute/checkpoint/impl/checkpoint_state.ipp>
#include <distribute/checkpoint/impl/directory_lock.ipp>
#include <distribute/checkpoint/impl/flat_checkpoint.ipp>
#include <distribute/checkpoint/impl/load_status.ipp>
#include <distribute/checkpoint/impl/named_weights.ipp>
#include <distribute/checkpoint/impl/object_graph.ipp>
#include <distribute/checkpoint/impl/program_graph.ipp>
#include <distribute/checkpoint/impl/program_graph_keras.ipp>
#include <distribute/checkpoint/impl/restoration.ipp>
#include <distribute/checkpoint/impl/tensor_slice.ipp>
#include <distribute/checkpoint/impl/worker_path.ipp>

#include <distribute/base/detail/macros_back.inc>
