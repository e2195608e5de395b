#pragma once
/// The bodies that platforms.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/impl/control_groups.ipp>
#include <distribute/base/impl/core_watch.ipp>
#include <distribute/base/impl/cores.ipp>
#include <distribute/base/impl/cpu_share.ipp>
#include <distribute/base/impl/error.ipp>
#include <distribute/base/impl/exit_status.ipp>
#include <distribute/base/impl/file_size_signal.ipp>
#include <distribute/base/impl/json.ipp>
#include <distribute/base/impl/library_metrics.ipp>
#include <distribute/base/impl/log_state.ipp>
#include <distribute/base/impl/logging.ipp>
#include <distribute/base/impl/memory_limit.ipp>
#include <distribute/base/impl/monitoring.ipp>
#include <distribute/base/impl/number_text.ipp>
#include <distribute/base/impl/ordered_json.ipp>
#include <distribute/base/impl/pipe_signal.ipp>
#include <distribute/base/impl/process_stat.ipp>
#include <distribute/base/impl/process_stats.ipp>
#include <distribute/base/impl/run_queue.ipp>
#include <distribute/base/impl/safe_text.ipp>
#include <distribute/base/impl/sleeping_team.ipp>
#include <distribute/base/impl/span_recorder.ipp>
#include <distribute/base/impl/start_thread.ipp>
#include <distribute/base/impl/status.ipp>
#include <distribute/base/impl/termination_signal.ipp>
#include <distribute/base/impl/thread_chooser.ipp>
#include <distribute/base/impl/thread_context.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_cupti.ipp>
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
#include <distribute/net/impl/bytes.ipp>
#include <distribute/net/impl/resolve.ipp>

#include <distribute/io/impl/file_system.ipp>
#include <distribute/io/impl/local_file_system.ipp>
#include <distribute/io/impl/path.ipp>
#include <distribute/io/impl/ram_file_system.ipp>

#include <distribute/cluster/impl/cluster_resolver.ipp>
#include <distribute/cluster/impl/cluster_spec.ipp>
#include <distribute/cluster/impl/default_resolver.ipp>
#include <distribute/cluster/impl/environment.ipp>
#include <distribute/cluster/impl/flags_cluster_resolver.ipp>
#include <distribute/cluster/impl/foreign_text.ipp>
#include <distribute/cluster/impl/json_value.ipp>
#include <distribute/cluster/impl/leader_cluster_resolver.ipp>
#include <distribute/cluster/impl/open_mpi_cluster_resolver.ipp>
#include <distribute/cluster/impl/partial_environment.ipp>
#include <distribute/cluster/impl/resolver_registry.ipp>
#include <distribute/cluster/impl/tf_config_cluster_resolver.ipp>
#include <distribute/cluster/impl/torchrun_cluster_resolver.ipp>
#include <distribute/cluster/impl/union_resolver.ipp>

#include <distribute/http/impl/aws_profile.ipp>
#include <distribute/http/impl/digest_rsa.ipp>
#include <distribute/http/impl/digest_rsa_stub.ipp>
#include <distribute/http/impl/google_auth_provider.ipp>
#include <distribute/http/impl/http_client.ipp>
#include <distribute/http/impl/http_client_stub.ipp>
#include <distribute/http/impl/http_message.ipp>
#include <distribute/http/impl/http_retry.ipp>
#include <distribute/http/impl/url.ipp>

#include <distribute/platforms/impl/boot_script.ipp>
#include <distribute/platforms/impl/gce_cluster_resolver.ipp>
#include <distribute/platforms/impl/job_paths.ipp>
#include <distribute/platforms/impl/kubernetes_cluster_resolver.ipp>
#include <distribute/platforms/impl/make_cluster.ipp>
#include <distribute/platforms/impl/preemption_notice.ipp>
#include <distribute/platforms/impl/registration.ipp>
#include <distribute/platforms/impl/sagemaker_cluster_resolver.ipp>
#include <distribute/platforms/impl/slurm_cluster_resolver.ipp>
#include <distribute/platforms/impl/slurm_hostlist.ipp>
#include <distribute/platforms/impl/vertex_cluster_resolver.ipp>
