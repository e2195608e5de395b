#pragma once
/// Numbers of strings and integers in a vocabulary, and back.

#include <distribute/preprocessing/detail/index_lookup.hpp>
#include <distribute/preprocessing/strings.hpp>

namespace distribute::preprocessing {

/// `StringLookup colours({.vocabulary = {"red", "green"}, .num_oov_indices = 0});`
/// Source  tf.keras.layers.StringLookup
using StringLookupOptions = LookupOptions<std::string>;
using StringLookup = IndexLookup<std::string>;

/// Source  tf.keras.layers.IntegerLookup
using IntegerLookupOptions = LookupOptions<int64_t>;
using IntegerLookup = IndexLookup<int64_t>;

}  // namespace distribute::preprocessing
