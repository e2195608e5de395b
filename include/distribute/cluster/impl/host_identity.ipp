#pragma once
#include <distribute/cluster/detail/host_identity.hpp>

#include <fstream>
#include <map>

#include <unistd.h>

namespace distribute {

DISTRIBUTE_INLINE std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

DISTRIBUTE_INLINE std::string host_identity() {
  char network[64];
  const ssize_t size = ::readlink("/proc/self/ns/net", network, sizeof(network));
  const std::string boot = boot_id();
  if (boot.empty() || size <= 0) return "";
  return boot + " " + std::string(network, size_t(size));
}

DISTRIBUTE_INLINE std::vector<int> number_hosts(const std::vector<std::string>& host_of_rank) {
  std::map<std::string, int> numbers;
  std::vector<int> result;
  int next = 0;
  for (const std::string& host : host_of_rank) {
    if (host.empty()) {
      result.push_back(next++);
      continue;
    }
    const auto [number, fresh] = numbers.try_emplace(host, next);
    next += fresh;
    result.push_back(number->second);
  }
  return result;
}

}  // namespace distribute
