#pragma once
/// What a trainer needs: strategies, tensors, layers, optimizers, datasets, checkpoints.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/base/exit_status.hpp>

#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>

#include <distribute/tensor/dlpack.hpp>
#include <distribute/tensor/shape.hpp>
#include <distribute/tensor/tensor.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <distribute/autograd/custom_gradient.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/autograd/trackable.hpp>
#include <distribute/autograd/variable.hpp>

#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/map_fn.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/sequence.hpp>
#include <distribute/ops/slicing.hpp>

#include <distribute/replica/nest.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/replica/values.hpp>

#include <distribute/nn/activation.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/initializers.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/nn/reshaping.hpp>

#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/lamb.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/optim/optimizer_config.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/optim/serialization.hpp>
#include <distribute/optim/sgd.hpp>

#include <distribute/data/batch.hpp>
#include <distribute/data/csv.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/example.hpp>
#include <distribute/data/files.hpp>
#include <distribute/data/grouping.hpp>
#include <distribute/data/image.hpp>
#include <distribute/data/input_context.hpp>
#include <distribute/data/iterator.hpp>
#include <distribute/data/mnist_and_cifar.hpp>
#include <distribute/data/node.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/data/pipeline_statistics.hpp>
#include <distribute/data/random.hpp>

#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/function.hpp>
#include <distribute/strategy/make_strategy.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/multi_worker_mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/strategy/parameter_server_job.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/sharded_variable.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/strategy/strategy_extended.hpp>

#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/strategy_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
