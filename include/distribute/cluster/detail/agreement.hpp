#pragma once
/// Finds differences between the ranks' descriptions of an operation.

#include <distribute/base/config.hpp>

#include <map>
#include <string>
#include <vector>

namespace distribute::cluster_internal {

/// Returns the JSON value in canonical form: no white space, keys in order.
/// Throws  InvalidArgumentError when `text` is not JSON.
std::string canonical_json(const std::string& text);

/// Compares texts of canonical_json(), one for each name, and describes the first difference:
///   "/variables/3/shape differs: [3,3] in worker 0, worker 1; [5,5] in worker 2"
/// Returns an empty text when all are equal.
std::string first_difference(const std::vector<std::string>& names,
                             const std::vector<std::string>& texts);

}  // namespace distribute::cluster_internal
