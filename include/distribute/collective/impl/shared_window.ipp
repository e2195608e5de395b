#pragma once
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/detail/shared_window.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/detail/descriptor_listener.hpp>

#include <cstdio>
#include <string_view>

#include <unistd.h>

namespace distribute::collective {

DISTRIBUTE_INLINE int fetch_descriptor(const std::string& name, net::Deadline deadline) {
  const net::Socket socket = value_or_throw(net::connect_to_descriptors(name, deadline));
  return value_or_throw(net::receive_descriptor(socket, deadline));
}

/// The first task sends it in place of the socket's name when there is no shared memory.
inline constexpr std::string_view kNoWindow = "none: ";

/// The part of a host's first task. When it fails before the others have the socket's name, they
/// get the reason in its place; those that have the name see the socket close.
DISTRIBUTE_INLINE std::shared_ptr<Window> offer_window(ClusterRuntime& runtime,
                                                       const std::string& key, size_t clients,
                                                       int ranks, net::Deadline deadline) {
  bool told = false;
  try {
    char prefix[64];
    std::snprintf(prefix, sizeof prefix, "distribute-%d-%016llx-%d", int(::getpid()),
                  static_cast<unsigned long long>(runtime.incarnation()), ranks);
    const std::string unique = str_cat(prefix, "-", key).substr(0, 100);
    const net::DescriptorListener listener = value_or_throw(net::DescriptorListener::open(unique));
    auto window = Window::create(ranks);
    told = true;
    runtime.set(key, unique);
    for (size_t client = 0; client < clients; ++client)
      throw_if_error(
          net::send_descriptor(value_or_throw(listener.accept(deadline)), window->descriptor()));
    return window;
  } catch (const Error& error) {
    if (!told) runtime.set(key, str_cat(kNoWindow, error.what()));
    throw;
  }
}

/// Opens one task's window; throws if that fails.
DISTRIBUTE_INLINE std::shared_ptr<Window> open_window(ClusterRuntime& runtime,
                                                      const std::string& name,
                                                      const std::vector<int>& tasks, int ranks) {
  if (tasks.size() == 1) return Window::in_process(ranks);
  const auto deadline = net::Deadline::after_seconds(10);
  const std::string key = str_cat(name, "/", tasks[0]);
  if (runtime.rank() == tasks[0])
    return offer_window(runtime, key, tasks.size() - 1, ranks, deadline);
  const std::string where = runtime.get(key, deadline);
  if (where.starts_with(kNoWindow)) throw UnavailableError(where.substr(kNoWindow.size()));
  return Window::attach(fetch_descriptor(where, deadline), ranks);
}

DISTRIBUTE_INLINE std::shared_ptr<Window> share_window(ClusterRuntime& runtime,
                                                       const std::string& name,
                                                       const std::vector<int>& tasks,
                                                       int ranks_per_task, std::string& reason) {
  std::shared_ptr<Window> window;
  std::string failure;
  try {
    window = open_window(runtime, "window/" + name, tasks, int(tasks.size()) * ranks_per_task);
    std::vector<std::string> names;
    for (const int task : tasks)
      names.insert(names.end(), size_t(ranks_per_task), runtime.describe(task));
    window->set_tasks(std::move(names));
  } catch (const Error& error) {
    runtime.throw_if_lost();
    failure = str_cat(runtime.describe(runtime.rank()), ": ", error.what());
  }
  for (const std::string& other : runtime.all_gather("window/" + name, failure))
    if (!other.empty()) {
      reason = other;
      return nullptr;
    }
  return window;
}

}  // namespace distribute::collective
