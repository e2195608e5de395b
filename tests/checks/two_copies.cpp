// A plugin with a copy of the library of its own (PLUGIN), or a program that opens one: the second
// copy refuses to work, and says where the first is. See two_copies.py.
#include <distribute/base/impl/error.ipp>
#include <distribute/base/impl/thread_context.ipp>

#include <cstdio>

using namespace distribute;

struct Part final : base_internal::ContextPart {
  std::unique_ptr<ContextPart> for_other_thread() const override { return nullptr; }
};

extern "C" __attribute__((visibility("default"))) int use_copy() {
  try {
    base_internal::add_context_part(0, std::make_unique<Part>());
    return 0;
  } catch (const FailedPreconditionError& error) {
    std::puts(error.what());
    return 1;
  }
}

#ifndef PLUGIN
#include <dlfcn.h>
int main(int, char** arguments) {
  void* const plugin = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!plugin) return 2;
  auto* const in_plugin = reinterpret_cast<int (*)()>(::dlsym(plugin, "use_copy"));
  const int first = use_copy(), second = in_plugin(), again = use_copy();
  std::printf("first %d, second %d, again %d\n", first, second, again);
}
#endif
