#pragma once
/// The one place where flags and strategy decide how a run trains.

#include "way.hpp"

#include <memory>

namespace examples {

/// Throws  dist::UsageError for --coordinator=true without a chief.
std::unique_ptr<Way> choose_way(Training& training);

}  // namespace examples
