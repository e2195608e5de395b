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
/// Holds the values of one feature. With monostate no kind is set, and the feature counts as
/// missing.
/// Source  tf.train.Feature
using Feature = std::variant<std::monostate, BytesList, FloatList, Int64List>;
/// The features of a record by name. Source  tf.train.Features
using Features = std::map<std::string, Feature>;

/// Encodes a record with sorted names. Source
/// tf.train.Example(...).SerializeToString(deterministic=True)
std::string encode_example(const Features& features);

/// Decodes all features of a record. `where` begins error messages.
/// Throws  DataLossError when the bytes are not an Example.
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

/// One feature for each step. Source  tf.train.FeatureList
using FeatureList = std::vector<Feature>;
/// Lists by name. Source  tf.train.FeatureLists
using FeatureLists = std::map<std::string, FeatureList>;

/// A sequence: features of all of it, and lists of features of its steps.
/// Source  tf.train.SequenceExample
struct SequenceExample {
  Features context = {};
  FeatureLists feature_lists = {};
};

/// Encodes a record with sorted names.
/// Source  tf.train.SequenceExample(...).SerializeToString(deterministic=True)
std::string encode_sequence_example(const SequenceExample& example);

/// Decodes all features of a record. `where` begins error messages.
/// Throws  DataLossError when the bytes are not a SequenceExample.
/// Source  tf.train.SequenceExample.FromString
SequenceExample decode_sequence_example(std::string_view record, const std::string& where);

/// Describes the list of features that a reader expects.
struct SequenceFeatureSpec {
  FeatureSpec step = {};       // of one step
  bool allow_missing = false;  // whether a missing list is one without steps
};

/// Requires values of this shape in every step. Source  tf.io.FixedLenSequenceFeature
SequenceFeatureSpec fixed_len_sequence_feature(FeatureKind kind, std::vector<int64_t> shape = {},
                                               bool allow_missing = false);
/// Allows any number of values in every step, and no list at all.
/// Source  tf.io.VarLenFeature, tf.io.RaggedFeature among sequence_features
SequenceFeatureSpec var_len_sequence_feature(FeatureKind kind);

using SequenceFeatureSpecs = std::map<std::string, SequenceFeatureSpec>;

/// The values of one list in one example, or in all examples of a batch.
struct ParsedFeatureList {
  Tensor values = {};                        // Float: float32, Int64: int64
  std::vector<std::string_view> bytes = {};  // Bytes: views into the records
  Tensor row_lengths = {};  // int64: values of each step, of all examples; variable lists only
  Tensor lengths = {};      // int64 [batch]: steps of each example; batches only
};

/// A parsed record, or all records of a batch.
struct ParsedSequenceExample {
  ParsedExample context = {};
  std::map<std::string, ParsedFeatureList> feature_lists = {};
};

/// Parses a record. A list of fixed steps has values [steps, shape...], one of variable steps all
/// values in order, [count], with their numbers in `row_lengths`.
/// Throws  InvalidArgumentError that names `where`, the feature, the step and the mismatch; what
///         parse_single_example() throws for the context.
/// Source  tf.io.parse_single_sequence_example
ParsedSequenceExample parse_single_sequence_example(std::string_view record,
                                                    const FeatureSpecs& context_features,
                                                    const SequenceFeatureSpecs& sequence_features,
                                                    const std::string& where);

/// Parses a batch of records. Lists of fixed steps are filled up with zeros (and empty bytes) to
/// the longest, [batch, steps, shape...]; those of variable steps stay flat.
/// Throws  what parse_single_sequence_example() throws; the message adds the number in the batch.
/// Source  tf.io.parse_sequence_example
ParsedSequenceExample parse_sequence_example(std::span<const std::string_view> records,
                                             const FeatureSpecs& context_features,
                                             const SequenceFeatureSpecs& sequence_features,
                                             const std::string& where);

}  // namespace distribute::data
