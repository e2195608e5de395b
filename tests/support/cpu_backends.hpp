#pragma once
/// Every CPU backend of this build, for contract tests.

#include <distribute/device/detail/backend.hpp>
#include <distribute/device/detail/cpu_eigen.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>

#include <vector>

inline std::vector<distribute::Backend*> cpu_backends() {
  std::vector<distribute::Backend*> all{&distribute::eigen_backend()};
  if (auto* onednn = distribute::onednn_backend()) all.push_back(onednn);
  return all;
}
