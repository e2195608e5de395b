#pragma once
/// tf.train.Example records: named lists of byte strings, floats or integers.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace distribute::data {

using BytesList = std::vector<std::string>;
using FloatList = std::vector<float>;
using Int64List = std::vector<int64_t>;
/// The values of one feature; monostate means that no kind is set, which counts as missing. Source
/// tf.train.Feature
using Feature = std::variant<std::monostate, BytesList, FloatList, Int64List>;
/// The features of a record by name. Source  tf.train.Features
using Features = std::map<std::string, Feature>;

/// Encodes a record with sorted names. Source
/// tf.train.Example(...).SerializeToString(deterministic=True)
std::string encode_example(const Features& features);

/// Decodes all features of a record. `where` begins error messages.
/// Throws  DataLossError when the bytes are no Example.
/// Source  tf.train.Example.FromString
Features decode_example(std::string_view record, const std::string& where);

enum class FeatureKind { Bytes, Float, Int64 };  // type of the values in a feature
/// Gives "bytes", "float" or "int64".
const char* name_of(FeatureKind kind);

/// Describes the feature that a reader expects: its type and its shape.
struct FeatureSpec {
  enum class Length { Fixed, Variable };

  FeatureKind kind = FeatureKind::Int64;
  Length length = Length::Fixed;
  std::vector<int64_t> shape = {};  // shape of one example; [] is one value. Fixed only
  Feature default_value = {};       // has as many values as `shape`; unset: the feature is required
};

/// Requires elements of this shape in every example. Source  tf.io.FixedLenFeature
FeatureSpec fixed_len_feature(FeatureKind kind, std::vector<int64_t> shape = {},
                              Feature default_value = {});
/// Allows any number of elements, none if the feature is missing. The result is dense: all values
/// in order, and their number in each example (tf.io.RaggedFeature). Source  tf.io.VarLenFeature
FeatureSpec var_len_feature(FeatureKind kind);

using FeatureSpecs = std::map<std::string, FeatureSpec>;

/// The values of one feature in one example, or in all examples of a batch in order.
struct ParsedFeature {
  Tensor values = {};                        // Float: float32, Int64: int64
  std::vector<std::string_view> bytes = {};  // Bytes: views into the records (or the spec)
  Tensor row_lengths = {};                   // int64 [batch], for a batch with variable length
};

using ParsedExample = std::map<std::string, ParsedFeature>;

/// Parses a record. A fixed feature has values of the spec's shape (byte strings in row-major
/// order), a variable one [count]. Lists may be packed or not; the last of several features with
/// one name counts.
/// Throws  InvalidArgumentError that names `where`, the feature and the mismatch: missing without a
///         default, another kind, another number of values. DataLossError when the bytes are no
///         Example.
/// Source  tf.io.parse_single_example
ParsedExample parse_single_example(std::string_view record, const FeatureSpecs& specs,
                                   const std::string& where);

/// Parses a batch of records; fixed features get a first axis [batch, ...].
/// Throws  what parse_single_example() throws; the message adds the number within the batch.
/// Source  tf.io.parse_example
ParsedExample parse_example(std::span<const std::string_view> records, const FeatureSpecs& specs,
                            const std::string& where);

}  // namespace distribute::data
