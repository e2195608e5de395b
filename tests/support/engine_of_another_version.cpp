// An engine module as a later version of the library may build it.
#include <distribute/collective/engine_module.h>

const distribute_engine_module* distribute_engine() {
  static const distribute_engine_module module = [] {
    distribute_engine_module later{};
    later.abi = DISTRIBUTE_ENGINE_ABI + 1;
    later.bytes = sizeof later + 64;
    later.name = "ucx";
    return later;
  }();
  return &module;
}
