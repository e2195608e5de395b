#pragma once
/// The bodies that saved_model.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/impl/cancellation.ipp>
#include <distribute/base/impl/cpu_share.ipp>
#include <distribute/base/impl/error.ipp>
#include <distribute/base/impl/library_metrics.ipp>
#include <distribute/base/impl/log_state.ipp>
#include <distribute/base/impl/logging.ipp>
#include <distribute/base/impl/monitoring.ipp>
#include <distribute/base/impl/status.ipp>

#include <distribute/device/impl/backend.ipp>
#include <distribute/device/impl/buffer.ipp>
#include <distribute/device/impl/cpu_eigen.ipp>
#include <distribute/device/impl/cpu_onednn.ipp>
#include <distribute/device/impl/cpu_onednn_layout.ipp>
#include <distribute/device/impl/cpu_onednn_plan.ipp>
#include <distribute/device/impl/cpu_onednn_product.ipp>
#include <distribute/device/impl/cpu_onednn_stub.ipp>
#include <distribute/device/impl/cuda_backend.ipp>
#include <distribute/device/impl/cuda_backend_stub.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_device.ipp>
#include <distribute/device/impl/cuda_dnn_descriptor.ipp>
#include <distribute/device/impl/cuda_dnn_graph.ipp>
#include <distribute/device/impl/cuda_dnn_library.ipp>
#include <distribute/device/impl/cuda_dnn_operations.ipp>
#include <distribute/device/impl/cuda_dnn_operations_stub.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_dnn_plan.ipp>
#include <distribute/device/impl/cuda_dnn_plans.ipp>
#include <distribute/device/impl/cuda_driver.ipp>
#include <distribute/device/impl/cuda_feed.ipp>
#include <distribute/device/impl/cuda_graph.ipp>
#include <distribute/device/impl/cuda_library.ipp>
#include <distribute/device/impl/cuda_library_stub.ipp>
#include <distribute/device/impl/cuda_memory.ipp>
#include <distribute/device/impl/cuda_module.ipp>
#include <distribute/device/impl/cuda_module_stub.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_staging.ipp>
#include <distribute/device/impl/cuda_stream.ipp>
#include <distribute/device/impl/device.ipp>
#include <distribute/device/impl/device_spec.ipp>
#include <distribute/device/impl/dtype.ipp>
#include <distribute/device/impl/host_arena.ipp>
#include <distribute/device/impl/placement.ipp>
#include <distribute/device/impl/prepared_values.ipp>

#include <distribute/io/impl/atomic_file.ipp>
#include <distribute/io/impl/crc32c.ipp>
#include <distribute/io/impl/data_type.ipp>
#include <distribute/io/impl/file_system.ipp>
#include <distribute/io/impl/local_file_system.ipp>
#include <distribute/io/impl/path.ipp>
#include <distribute/io/impl/protobuf.ipp>
#include <distribute/io/impl/wire.ipp>

#include <distribute/tensor/impl/shape.ipp>
#include <distribute/tensor/impl/tensor.ipp>

#include <distribute/autograd/impl/accumulate.ipp>
#include <distribute/autograd/impl/gradient_tape.ipp>
#include <distribute/autograd/impl/lazy_product.ipp>
#include <distribute/autograd/impl/op_trace.ipp>
#include <distribute/autograd/impl/recorded_step.ipp>
#include <distribute/autograd/impl/scatter.ipp>
#include <distribute/autograd/impl/trackable.ipp>
#include <distribute/autograd/impl/variable.ipp>

#include <distribute/ops/impl/broadcast.ipp>
#include <distribute/ops/impl/cast.ipp>
#include <distribute/ops/impl/concat.ipp>
#include <distribute/ops/impl/elementwise.ipp>
#include <distribute/ops/impl/flat_loop.ipp>
#include <distribute/ops/impl/gather.ipp>
#include <distribute/ops/impl/gpu_lines.ipp>
#include <distribute/ops/impl/gpu_loops.ipp>
#include <distribute/ops/impl/random.ipp>
#include <distribute/ops/impl/reduce.ipp>
#include <distribute/ops/impl/reshape.ipp>
#include <distribute/ops/impl/slice.ipp>
#include <distribute/ops/impl/strided_copy.ipp>
#include <distribute/ops/impl/transpose.ipp>
#include <distribute/ops/impl/unary.ipp>
#include <distribute/ops/impl/window.ipp>

#include <distribute/replica/impl/reduce_op.ipp>
#include <distribute/replica/impl/replica_context.ipp>
#include <distribute/replica/impl/single_replica.ipp>

#include <distribute/nn/impl/initializers.ipp>
#include <distribute/nn/impl/module.ipp>
#include <distribute/nn/impl/module_saver.ipp>
#include <distribute/nn/impl/policy.ipp>

#include <distribute/data/impl/auto_shard.ipp>
#include <distribute/data/impl/batch.ipp>
#include <distribute/data/impl/batching.ipp>
#include <distribute/data/impl/combine.ipp>
#include <distribute/data/impl/dataset.ipp>
#include <distribute/data/impl/distribute_options.ipp>
#include <distribute/data/impl/element_spec.ipp>
#include <distribute/data/impl/gpu_fetch.ipp>
#include <distribute/data/impl/gpu_fetch_stub.ipp>
#include <distribute/data/impl/input_context.ipp>
#include <distribute/data/impl/interleave.ipp>
#include <distribute/data/impl/iterator.ipp>
#include <distribute/data/impl/node.ipp>
#include <distribute/data/impl/options.ipp>
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

#include <distribute/collective/impl/nccl_library.ipp>

#include <distribute/strategy/impl/all_workers.ipp>
#include <distribute/strategy/impl/device_copies.ipp>
#include <distribute/strategy/impl/devices.ipp>
#include <distribute/strategy/impl/distributed_dataset.ipp>
#include <distribute/strategy/impl/distributed_variable.ipp>
#include <distribute/strategy/impl/one_device_strategy.ipp>
#include <distribute/strategy/impl/reduce_arguments.ipp>
#include <distribute/strategy/impl/reduction.ipp>
#include <distribute/strategy/impl/scope.ipp>
#include <distribute/strategy/impl/strategy.ipp>
#include <distribute/strategy/impl/strategy_extended.ipp>
#include <distribute/strategy/impl/tensor_places.ipp>

#include <distribute/checkpoint/impl/bundle_entry.ipp>
#include <distribute/checkpoint/impl/bundle_reader.ipp>
#include <distribute/checkpoint/impl/bundle_table.ipp>
#include <distribute/checkpoint/impl/bundle_writer.ipp>
#include <distribute/checkpoint/impl/checkpoint_state.ipp>
#include <distribute/checkpoint/impl/flat_checkpoint.ipp>
#include <distribute/checkpoint/impl/tensor_slice.ipp>
#include <distribute/checkpoint/impl/worker_path.ipp>

#include <distribute/saved_model/impl/graph_def.ipp>
#include <distribute/saved_model/impl/inference_graph.ipp>
#include <distribute/saved_model/impl/onnx.ipp>
#include <distribute/saved_model/impl/onnx_arrays.ipp>
#include <distribute/saved_model/impl/onnx_builder.ipp>
#include <distribute/saved_model/impl/onnx_graph.ipp>
#include <distribute/saved_model/impl/onnx_images.ipp>
#include <distribute/saved_model/impl/onnx_math.ipp>
#include <distribute/saved_model/impl/operation_names.ipp>
#include <distribute/saved_model/impl/registration.ipp>
#include <distribute/saved_model/impl/saved_model.ipp>
