#pragma once
/// The bodies that http.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/http_src.hpp>

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
#include <distribute/base/impl/start_thread.ipp>
#include <distribute/base/impl/status.ipp>
#include <distribute/base/impl/thread_chooser.ipp>
#include <distribute/base/impl/thread_context.ipp>
#include <distribute/base/impl/threads.ipp>
#include <distribute/base/impl/untrusted_json.ipp>

#include <distribute/io/impl/atomic_file.ipp>
#include <distribute/io/impl/file_system.ipp>
#include <distribute/io/impl/local_file_system.ipp>
#include <distribute/io/impl/ram_file_system.ipp>

#include <distribute/base/detail/macros_back.inc>
