#pragma once
/// The bodies that all lists with cluster/impl/cluster_runtime.ipp have.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/data_shared.hpp>

#include <distribute/base/impl/json.ipp>
#include <distribute/base/impl/leave_notice.ipp>
#include <distribute/base/impl/number_text.ipp>
#include <distribute/base/impl/untrusted_json.ipp>

#include <distribute/net/impl/address.ipp>
#include <distribute/net/impl/connect.ipp>
#include <distribute/net/impl/encrypt.ipp>
#include <distribute/net/impl/fast_gcm.ipp>
#include <distribute/net/impl/fast_gcm_stub.ipp>
#include <distribute/net/impl/frame.ipp>
#include <distribute/net/impl/handshake.ipp>
#include <distribute/net/impl/hmac.ipp>
#include <distribute/net/impl/hmac_stub.ipp>
#include <distribute/net/impl/job_token.ipp>
#include <distribute/net/impl/listener.ipp>
#include <distribute/net/impl/message.ipp>
#include <distribute/net/impl/resolve.ipp>
#include <distribute/net/impl/socket.ipp>
#include <distribute/net/impl/tls.ipp>
#include <distribute/net/impl/tls_handshake.ipp>
#include <distribute/net/impl/tls_handshake_stub.ipp>
#include <distribute/net/impl/tls_layer.ipp>
#include <distribute/net/impl/tls_records.ipp>
#include <distribute/net/impl/tls_stub.ipp>
#include <distribute/net/impl/tls_wire.ipp>
#include <distribute/net/impl/wake_up.ipp>

#include <distribute/cluster/impl/agreement.ipp>
#include <distribute/cluster/impl/announce_task.ipp>
#include <distribute/cluster/impl/cluster_options.ipp>
#include <distribute/cluster/impl/cluster_resolver.ipp>
#include <distribute/cluster/impl/cluster_role.ipp>
#include <distribute/cluster/impl/cluster_runtime.ipp>
#include <distribute/cluster/impl/cluster_runtime_sockets.ipp>
#include <distribute/cluster/impl/cluster_spec.ipp>
#include <distribute/cluster/impl/cluster_tasks.ipp>
#include <distribute/cluster/impl/control_link.ipp>
#include <distribute/cluster/impl/control_message.ipp>
#include <distribute/cluster/impl/half_open.ipp>
#include <distribute/cluster/impl/host_identity.ipp>
#include <distribute/cluster/impl/leader_membership.ipp>
#include <distribute/cluster/impl/lone_process.ipp>
#include <distribute/cluster/impl/member_membership.ipp>
#include <distribute/cluster/impl/membership.ipp>
#include <distribute/cluster/impl/multi_worker_util.ipp>
#include <distribute/cluster/impl/own_port.ipp>
#include <distribute/cluster/impl/partition.ipp>
#include <distribute/cluster/impl/peer_sockets.ipp>
#include <distribute/cluster/impl/peer_table.ipp>
#include <distribute/cluster/impl/progress_board.ipp>
#include <distribute/cluster/impl/reach_check.ipp>
#include <distribute/cluster/impl/ready_file.ipp>
#include <distribute/cluster/impl/rendezvous.ipp>
#include <distribute/cluster/impl/request_table.ipp>
#include <distribute/cluster/impl/standstill.ipp>
#include <distribute/cluster/impl/task_server.ipp>

#include <distribute/rpc/impl/job_task.ipp>
#include <distribute/rpc/impl/peer.ipp>
#include <distribute/rpc/impl/peer_monitor.ipp>
#include <distribute/rpc/impl/rpc_channel.ipp>
#include <distribute/rpc/impl/rpc_server.ipp>
#include <distribute/rpc/impl/tensor_codec.ipp>
#include <distribute/rpc/impl/tensor_parts.ipp>

#include <distribute/base/detail/macros_back.inc>
