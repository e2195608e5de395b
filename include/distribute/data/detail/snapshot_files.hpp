#pragma once
/// The files in which elements are saved, in tf.data's format.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::data::data_internal {

/// Encodes the contents of dataset_spec.pb.
std::string encode_spec(const ElementSpec& spec);
/// Encodes the contents of snapshot.metadata, for `count` elements in the directory `run_id`.
std::string encode_snapshot_metadata(const std::string& run_id, const ElementSpec& spec,
                                     int64_t count);
/// Whether a writer has finished a snapshot in the directory `path`.
bool has_snapshot(const std::string& path);
/// Decodes the contents of dataset_spec.pb.
/// Throws  InvalidArgumentError for something else than dense tensors.
ElementSpec decode_element_spec(std::string_view bytes);

}  // namespace distribute::data::data_internal
