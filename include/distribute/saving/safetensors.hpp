#pragma once
/// Files of named tensors in the safetensors format.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <map>
#include <string>
#include <string_view>

namespace distribute::saving::safetensors {

using Tensors = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

/// What a file holds.
struct Contents {
  Tensors tensors;
  Metadata metadata;  // "__metadata__" of the header
};

/// Source  https://huggingface.co/docs/safetensors, safetensors.serialize
std::string serialize(const Tensors& tensors, const Metadata& metadata = {});

/// The way back. Every offset is checked: the tensors fill the file without gap or overlap.
/// Errors call the file `name`.
/// Throws  DataLossError for bytes that are no such file, or damaged; UnimplementedError for an
///         element type that tensors here cannot have.
/// Source  safetensors.deserialize
Contents deserialize(std::string_view bytes, const std::string& name);

/// The file appears whole or not at all.
/// Throws  what files throw (PermissionDeniedError, ResourceExhaustedError, ...).
/// Source  safetensors.numpy.save_file
void save_file(const Tensors& tensors, const std::string& path, const Metadata& metadata = {});

/// Throws  NotFoundError; as deserialize.
/// Source  safetensors.numpy.load_file
Contents load_file(const std::string& path);

}  // namespace distribute::saving::safetensors
