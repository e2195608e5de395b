#pragma once
/// Writes elements as records of a file, one TensorProto for each component, as tf.data's `save`
/// does.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/io/tfrecord.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace distribute::data::data_internal {

/// The dtype for a type number of TensorFlow's files; empty when tensors have no such type.
std::optional<DType> dtype_of_number(int64_t number);

/// Encodes a tensor as TensorProto.
std::string tensor_record(const Tensor& tensor);
/// Decodes a TensorProto. Strings become bytes: uint8 with a last axis as long as the longest
/// string, filled up with 0.
/// Throws  DataLossError when `record` is no TensorProto; InvalidArgumentError for an element type
///         that tensors do not have. `where` is for the message.
Tensor tensor_of_record(std::string_view record, const std::string& where);

/// Reads the elements of a file of such records. A position is the number of elements given.
std::unique_ptr<BatchStream> record_elements(std::string path, ElementSpec spec,
                                             io::Compression compression);

/// Does the same for a file that ends with seal_record(). A file without this record lacks
/// elements.
/// Throws  DataLossError at the end of a file that is cut, even between records.
std::unique_ptr<BatchStream> sealed_elements(std::string path, ElementSpec spec);
/// Makes the last record of a file of `count` elements; no TensorProto looks like it.
std::string seal_record(int64_t count);

}  // namespace distribute::data::data_internal
