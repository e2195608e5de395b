#pragma once
/// Elements as records of a file, one TensorProto per component: what tf.data's `save` writes.

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

/// The type that a tensor of this number in TensorFlow's files gets; none where there is none.
std::optional<DType> dtype_of_number(int64_t number);

/// An encoded TensorProto.
std::string tensor_record(const Tensor& tensor);
/// Strings become bytes: uint8 with a last axis of the longest one's size, filled up with 0.
/// Throws  DataLossError when `record` is no TensorProto; InvalidArgumentError for an element type
///         that tensors do not have. `where` is for the message.
Tensor tensor_of_record(std::string_view record, const std::string& where);

/// The elements of a file of such records. A position is the number of elements given.
std::unique_ptr<BatchStream> record_elements(std::string path, ElementSpec spec,
                                             io::Compression compression);

/// The same of a file that ends with seal_record(): without it elements are missing.
/// Throws  DataLossError at the end of a file that is cut, also where a record ends.
std::unique_ptr<BatchStream> sealed_elements(std::string path, ElementSpec spec);
/// The last record of a file of `count` elements; no TensorProto looks like it.
std::string seal_record(int64_t count);

}  // namespace distribute::data::data_internal
