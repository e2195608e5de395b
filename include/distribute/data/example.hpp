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
/// Source  tf.train.Feature; monostate: no kind is set, which counts as missing
using Feature = std::variant<std::monostate, BytesList, FloatList, Int64List>;
/// The features of a record by name. Source  tf.train.Features
using Features = std::map<std::string, Feature>;

/// The record, names sorted. Source  tf.train.Example(...).SerializeToString(deterministic=True)
std::string encode_example(const Features& features);

/// All features of a record, whatever they are. `where` is for messages.
/// Throws  DataLossError when the bytes are no Example.
/// Source  tf.train.Example.FromString
Features decode_example(std::string_view record, const std::string& where);

enum class FeatureKind { Bytes, Float, Int64 };  // what a list of an Example holds
/// "bytes", "float" or "int64".
const char* name_of(FeatureKind kind);

/// What a reader wants of one feature.
struct FeatureSpec {
  enum class Length { Fixed, Variable };

  FeatureKind kind = FeatureKind::Int64;
  Length length = Length::Fixed;
  std::vector<int64_t> shape = {};  // of one example; [] is one value. Fixed only
  Feature default_value = {};  // as many values as `shape` has; none: the feature must be there
};

/// Every example has elements of this shape. Source  tf.io.FixedLenFeature
FeatureSpec fixed_len_feature(FeatureKind kind, std::vector<int64_t> shape = {},
                              Feature default_value = {});
/// Any number of elements, none where the feature is missing. Source  tf.io.VarLenFeature, but
/// dense: the values one after the other and their number in each example (tf.io.RaggedFeature)
FeatureSpec var_len_feature(FeatureKind kind);

using FeatureSpecs = std::map<std::string, FeatureSpec>;

/// The values of one feature in one example, or of a batch behind each other.
struct ParsedFeature {
  Tensor values = {};                        // Float: float32, Int64: int64
  std::vector<std::string_view> bytes = {};  // Bytes: views into the records (or the spec)
  Tensor row_lengths = {};                   // int64 [batch]; only of a batch, of variable length
};

using ParsedExample = std::map<std::string, ParsedFeature>;

/// Fixed features: values of the spec's shape (byte strings in row-major order). Variable ones:
/// [count]. Lists may be packed or not; of a name that occurs twice the last counts.
/// Throws  InvalidArgumentError that names `where` and the feature, what was wanted and what came:
///         missing without a default, another kind, another number of values; DataLossError when
///         the bytes are no Example.
/// Source  tf.io.parse_single_example
ParsedExample parse_single_example(std::string_view record, const FeatureSpecs& specs,
                                   const std::string& where);

/// The same for a batch: fixed features get a first axis [batch, ...].
/// Throws  as parse_single_example; the message adds the number within the batch.
/// Source  tf.io.parse_example
ParsedExample parse_example(std::span<const std::string_view> records, const FeatureSpecs& specs,
                            const std::string& where);

}  // namespace distribute::data
