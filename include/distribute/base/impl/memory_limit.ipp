#pragma once
#include <distribute/base/control_groups.hpp>
#include <distribute/base/detail/process_stat.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/memory_limit.hpp>

#include <cstdio>
#include <vector>

#include <sys/resource.h>

namespace distribute {

DISTRIBUTE_INLINE std::optional<MemoryRoom> memory_room(const std::string& root) {
  const ControlGroups groups(root);
  const auto limit = groups.memory();
  if (!limit) return std::nullopt;
  return MemoryRoom{limit->value, groups.memory_used().value_or(0), limit->file};
}

DISTRIBUTE_INLINE std::optional<MemoryRoom> address_room() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::vector<double> stat = base_internal::process_stat();
  const double used = stat.size() > 19 ? stat[19] : 0;
  return MemoryRoom{int64_t(limit.rlim_cur), int64_t(used), "ulimit -v"};
}

DISTRIBUTE_INLINE std::string memory_text(int64_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value,
                units[unit]);
  return text;
}

DISTRIBUTE_INLINE std::string memory_text(const MemoryRoom& room) {
  return str_cat(memory_text(room.used), " of ", memory_text(room.limit), " are in use (",
                 room.source, ")");
}

}  // namespace distribute
