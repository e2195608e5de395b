#pragma once
/// How a task reaches parameter servers.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/variable_spec.hpp>

#include <cstdint>

namespace distribute::parameter_server {

enum class Transport : uint8_t { Auto, SharedMemory, Tcp };  // how values travel to servers

struct ClientOptions {  // of a client of servers
  Placement placement = Placement::RoundRobin;
  /// float32 values and gradients travel as bfloat16; not through shared memory.
  bool bf16_on_wire = false;
  /// Auto: shared memory with servers on the same host.
  Transport transport = Transport::Auto;
  /// TCP connections to each server; variables are dealt to them by bytes. 0: 1 on this host,
  /// else 4.
  int flows = 0;
};

}  // namespace distribute::parameter_server
