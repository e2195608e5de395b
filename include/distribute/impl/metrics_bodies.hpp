#pragma once
/// The bodies that metrics.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/metrics_src.hpp>

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
#include <distribute/base/impl/json.ipp>
#include <distribute/base/impl/library_metrics.ipp>
#include <distribute/base/impl/log_state.ipp>
#include <distribute/base/impl/logging.ipp>
#include <distribute/base/impl/memory_limit.ipp>
#include <distribute/base/impl/metric_maker.ipp>
#include <distribute/base/impl/metrics_sink.ipp>
#include <distribute/base/impl/monitoring.ipp>
#include <distribute/base/impl/number_text.ipp>
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
#include <distribute/base/impl/untrusted_json.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_device.ipp>
#include <distribute/device/impl/cuda_driver.ipp>
#include <distribute/device/impl/cuda_library.ipp>
#include <distribute/device/impl/cuda_library_stub.ipp>
#include <distribute/device/impl/cuda_stream.ipp>
#include <distribute/device/impl/device.ipp>
#include <distribute/device/impl/device_spec.ipp>
#include <distribute/device/impl/math_mode.ipp>
#include <distribute/device/impl/memory_growth.ipp>
#include <distribute/device/impl/placement.ipp>

#include <distribute/net/impl/address.ipp>
#include <distribute/net/impl/connect.ipp>
#include <distribute/net/impl/fast_gcm.ipp>
#include <distribute/net/impl/fast_gcm_stub.ipp>
#include <distribute/net/impl/hmac.ipp>
#include <distribute/net/impl/hmac_stub.ipp>
#include <distribute/net/impl/job_token.ipp>
#include <distribute/net/impl/listener.ipp>
#include <distribute/net/impl/message.ipp>
#include <distribute/net/impl/resolve.ipp>
#include <distribute/net/impl/socket.ipp>
#include <distribute/net/impl/tls.ipp>
#include <distribute/net/impl/tls_records.ipp>
#include <distribute/net/impl/tls_stub.ipp>
#include <distribute/net/impl/tls_wire.ipp>
#include <distribute/net/impl/wake_up.ipp>

#include <distribute/cluster/impl/cluster_options.ipp>
#include <distribute/cluster/impl/cluster_resolver.ipp>
#include <distribute/cluster/impl/cluster_role.ipp>
#include <distribute/cluster/impl/cluster_spec.ipp>
#include <distribute/cluster/impl/cluster_tasks.ipp>
#include <distribute/cluster/impl/lone_process.ipp>
#include <distribute/cluster/impl/multi_worker_util.ipp>

#include <distribute/base/detail/macros_back.inc>
