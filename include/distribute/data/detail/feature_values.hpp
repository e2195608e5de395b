#pragma once
/// The encoded features of tf.train.Example and SequenceExample, and their values.

#include <distribute/base/config.hpp>
#include <distribute/data/example.hpp>
#include <distribute/io/protobuf.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::data::data_internal {

[[noreturn]] void throw_no_example(const std::string& where);

/// Calls function(field) for each field of a message.
template <typename Function>
void for_each_field(std::string_view message, const std::string& where, Function function) {
  if (!io::read_fields(message, function)) throw_no_example(where);
}

/// One feature's list, still encoded.
struct ListView {
  bool present = false;
  FeatureKind kind = FeatureKind::Int64;
  std::string_view list = {};
};

/// Finds the list of a feature. Of the members of a oneof the last one is valid.
ListView list_of(std::string_view feature, const std::string& where);

/// The values of one feature over all examples that are parsed together.
struct Collected {
  std::vector<std::string_view> bytes = {};
  std::vector<float> floats = {};
  std::vector<int64_t> integers = {};
  std::vector<int64_t> row_lengths = {};

  size_t size() const { return bytes.size() + floats.size() + integers.size(); }
  void append(const ListView& view, const std::string& where);
  void append(const Feature& value);
  /// Appends `count` zeros or empty texts.
  void append_zeros(FeatureKind kind, int64_t count);
};

/// Returns the type and shape that a spec asks for, such as "float [2]".
std::string wish(const FeatureSpec& spec);
int64_t wanted_count(const FeatureSpec& spec);

/// Makes a tensor of this shape of the values; texts stay views.
ParsedFeature parsed_values(Collected all, FeatureKind kind, const std::vector<int64_t>& dims);

/// Encodes and decodes a Feature message.
std::string encode_feature(const Feature& feature);
Feature decode_feature(std::string_view feature, const std::string& where);

}  // namespace distribute::data::data_internal
