#pragma once
/// The bodies that all lists with tensor/impl/tensor.ipp have.
/// Written by tools/check_umbrella.py.

#include <distribute/base/impl/control_groups.ipp>
#include <distribute/base/impl/core_watch.ipp>
#include <distribute/base/impl/cores.ipp>
#include <distribute/base/impl/error.ipp>
#include <distribute/base/impl/exit_status.ipp>
#include <distribute/base/impl/file_size_signal.ipp>
#include <distribute/base/impl/library_metrics.ipp>
#include <distribute/base/impl/log_state.ipp>
#include <distribute/base/impl/logging.ipp>
#include <distribute/base/impl/memory_limit.ipp>
#include <distribute/base/impl/monitoring.ipp>
#include <distribute/base/impl/process_stat.ipp>
#include <distribute/base/impl/run_queue.ipp>
#include <distribute/base/impl/safe_text.ipp>
#include <distribute/base/impl/sleeping_team.ipp>
#include <distribute/base/impl/span_recorder.ipp>
#include <distribute/base/impl/start_thread.ipp>
#include <distribute/base/impl/status.ipp>
#include <distribute/base/impl/thread_chooser.ipp>
#include <distribute/base/impl/thread_context.ipp>

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
#include <distribute/device/impl/cuda_device.ipp>
#include <distribute/device/impl/cuda_dnn_attention.ipp>
#include <distribute/device/impl/cuda_dnn_graph.ipp>
#include <distribute/device/impl/cuda_dnn_graph_descriptor.ipp>
#include <distribute/device/impl/cuda_dnn_library.ipp>
#include <distribute/device/impl/cuda_dnn_norm_passes.ipp>
#include <distribute/device/impl/cuda_dnn_operations.ipp>
#include <distribute/device/impl/cuda_dnn_operations_stub.ipp>
#include <distribute/device/impl/cuda_dnn_plan.ipp>
#include <distribute/device/impl/cuda_dnn_plans.ipp>
#include <distribute/device/impl/cuda_dnn_recurrent.ipp>
#include <distribute/device/impl/cuda_driver.ipp>
#include <distribute/device/impl/cuda_graph.ipp>
#include <distribute/device/impl/cuda_library.ipp>
#include <distribute/device/impl/cuda_library_stub.ipp>
#include <distribute/device/impl/cuda_memory.ipp>
#include <distribute/device/impl/cuda_module.ipp>
#include <distribute/device/impl/cuda_module_stub.ipp>
#include <distribute/device/impl/cuda_staging.ipp>
#include <distribute/device/impl/cuda_stream.ipp>
#include <distribute/device/impl/cuda_trace.ipp>
#include <distribute/device/impl/device.ipp>
#include <distribute/device/impl/device_spec.ipp>
#include <distribute/device/impl/dtype.ipp>
#include <distribute/device/impl/filter_book.ipp>
#include <distribute/device/impl/host_arena.ipp>
#include <distribute/device/impl/math_mode.ipp>
#include <distribute/device/impl/placement.ipp>
#include <distribute/device/impl/plain_product.ipp>
#include <distribute/device/impl/prepared_values.ipp>

#include <distribute/io/impl/atomic_file.ipp>
#include <distribute/io/impl/file_system.ipp>
#include <distribute/io/impl/local_file_system.ipp>
#include <distribute/io/impl/path.ipp>
#include <distribute/io/impl/ram_file_system.ipp>

#include <distribute/tensor/impl/shape.ipp>
#include <distribute/tensor/impl/tensor.ipp>

#include <distribute/autograd/impl/accumulate.ipp>
#include <distribute/autograd/impl/backward_walk.ipp>
#include <distribute/autograd/impl/backward_walk_jacobian.ipp>
#include <distribute/autograd/impl/gradient_placer.ipp>
#include <distribute/autograd/impl/gradient_tape.ipp>
#include <distribute/autograd/impl/lazy_product.ipp>
#include <distribute/autograd/impl/op_trace.ipp>
#include <distribute/autograd/impl/recorded_step.ipp>
#include <distribute/autograd/impl/scatter.ipp>
#include <distribute/autograd/impl/tape_state.ipp>
#include <distribute/autograd/impl/variable.ipp>

#include <distribute/ops/impl/broadcast.ipp>
#include <distribute/ops/impl/cast.ipp>
#include <distribute/ops/impl/concat.ipp>
#include <distribute/ops/impl/elementwise.ipp>
#include <distribute/ops/impl/flat_loop.ipp>
#include <distribute/ops/impl/gather.ipp>
#include <distribute/ops/impl/gpu_lines.ipp>
#include <distribute/ops/impl/gpu_loops.ipp>
#include <distribute/ops/impl/reduce.ipp>
#include <distribute/ops/impl/reshape.ipp>
#include <distribute/ops/impl/slice.ipp>
#include <distribute/ops/impl/strided_copy.ipp>
#include <distribute/ops/impl/unary.ipp>

#include <distribute/replica/impl/gradient_reducer.ipp>
#include <distribute/replica/impl/nest.ipp>
#include <distribute/replica/impl/reduce_op.ipp>
#include <distribute/replica/impl/replica_context.ipp>
#include <distribute/replica/impl/single_replica.ipp>
#include <distribute/replica/impl/values.ipp>

#include <distribute/data/impl/input_context.ipp>

#include <distribute/collective/impl/nccl_library.ipp>

#include <distribute/strategy/impl/current_strategy.ipp>
#include <distribute/strategy/impl/device_copies.ipp>
#include <distribute/strategy/impl/devices.ipp>
#include <distribute/strategy/impl/distributed_variable.ipp>
#include <distribute/strategy/impl/one_device_strategy.ipp>
#include <distribute/strategy/impl/reduce_arguments.ipp>
#include <distribute/strategy/impl/reduction.ipp>
#include <distribute/strategy/impl/run_options.ipp>
#include <distribute/strategy/impl/run_spans.ipp>
#include <distribute/strategy/impl/scope.ipp>
#include <distribute/strategy/impl/strategy.ipp>
#include <distribute/strategy/impl/strategy_extended.ipp>
#include <distribute/strategy/impl/tensor_places.ipp>
