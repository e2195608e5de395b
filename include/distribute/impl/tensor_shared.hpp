#pragma once
/// The bodies that all lists with tensor/impl/tensor.ipp have.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/base/impl/control_groups.ipp>
#include <distribute/base/impl/core_watch.ipp>
#include <distribute/base/impl/cores.ipp>
#include <distribute/base/impl/cpu_share.ipp>
#include <distribute/base/impl/descriptors.ipp>
#include <distribute/base/impl/environment.ipp>
#include <distribute/base/impl/error.ipp>
#include <distribute/base/impl/exit_status.ipp>
#include <distribute/base/impl/file_size_signal.ipp>
#include <distribute/base/impl/first_exception.ipp>
#include <distribute/base/impl/library_metrics.ipp>
#include <distribute/base/impl/log_state.ipp>
#include <distribute/base/impl/logging.ipp>
#include <distribute/base/impl/memory_limit.ipp>
#include <distribute/base/impl/metric_maker.ipp>
#include <distribute/base/impl/metrics_sink.ipp>
#include <distribute/base/impl/monitoring.ipp>
#include <distribute/base/impl/process_stat.ipp>
#include <distribute/base/impl/process_stats.ipp>
#include <distribute/base/impl/run_queue.ipp>
#include <distribute/base/impl/safe_text.ipp>
#include <distribute/base/impl/sleeping_team.ipp>
#include <distribute/base/impl/span_recorder.ipp>
#include <distribute/base/impl/start_thread.ipp>
#include <distribute/base/impl/status.ipp>
#include <distribute/base/impl/thread_chooser.ipp>
#include <distribute/base/impl/thread_context.ipp>
#include <distribute/base/impl/threads.ipp>
#include <distribute/base/impl/type_names.ipp>

#include <distribute/device/impl/buffer.ipp>
#include <distribute/device/impl/cuda_device.ipp>
#include <distribute/device/impl/cuda_driver.ipp>
#include <distribute/device/impl/cuda_library.ipp>
#include <distribute/device/impl/cuda_library_stub.ipp>
#include <distribute/device/impl/cuda_memory.ipp>
#include <distribute/device/impl/cuda_module.ipp>
#include <distribute/device/impl/cuda_module_stub.ipp>
#include <distribute/device/impl/cuda_staging.ipp>
#include <distribute/device/impl/cuda_stream.ipp>
#include <distribute/device/impl/device.ipp>
#include <distribute/device/impl/device_spec.ipp>
#include <distribute/device/impl/dtype.ipp>
#include <distribute/device/impl/host_arena.ipp>
#include <distribute/device/impl/kernel_files.ipp>
#include <distribute/device/impl/math_mode.ipp>
#include <distribute/device/impl/memory_growth.ipp>
#include <distribute/device/impl/placement.ipp>
#include <distribute/device/impl/transposed_filter_cache.ipp>

#include <distribute/io/impl/atomic_file.ipp>
#include <distribute/io/impl/file_system.ipp>
#include <distribute/io/impl/local_file_system.ipp>
#include <distribute/io/impl/ram_file_system.ipp>

#include <distribute/tensor/impl/shape.ipp>
#include <distribute/tensor/impl/tensor.ipp>

#include <distribute/base/detail/macros_back.inc>
