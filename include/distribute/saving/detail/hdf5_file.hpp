#pragma once
/// HDF5 files as bytes: groups, their attributes of text, and arrays of numbers.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace distribute::saving_internal {

/// Returns false in a build without libhdf5.
bool has_hdf5();

/// Type and size of an array.
struct Hdf5Array {
  Shape shape;
  DType dtype = DType::Float32;   // float64 is read as float32
  std::string unknown_type = {};  // name of the type if no tensor can have it
};

/// Reads from memory. Links to other files, and arrays that lie in other files, count as absent.
/// Thread-compatible; one thread at a time uses the library itself.
class Hdf5Reader {
 public:
  /// Reads the index; errors call the file `name`.
  /// Throws  DataLossError for bytes that are no HDF5 file, or truncated; UnimplementedError in a
  ///          build without libhdf5.
  Hdf5Reader(std::string bytes, std::string name);
  ~Hdf5Reader();
  Hdf5Reader(Hdf5Reader&&) noexcept;

  const std::string& name() const;
  /// Returns the arrays by their paths, "layers/dense/vars/0".
  const std::map<std::string, Hdf5Array>& arrays() const;
  /// Returns the paths of groups; the root's is "".
  const std::vector<std::string>& groups() const;
  /// Returns an attribute that is a text or a list of texts; empty if it is missing or something
  /// else.
  std::vector<std::string> texts(const std::string& group, const std::string& attribute) const;
  /// Throws  DataLossError for a damaged array; UnimplementedError for one of an unknown type.
  Tensor read(const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Contents of a file to write. Arrays keep their dtype; bfloat16 is written as Keras does.
struct Hdf5Contents {
  std::map<std::string, Tensor> arrays;
  /// Attributes that are texts, by group and name; groups are made with their parents. The root's
  /// group is "".
  std::map<std::string, std::map<std::string, std::string>> attributes;
  /// Attributes that are lists of texts.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> lists = {};
};

/// Returns the file's bytes.
/// Throws  UnimplementedError in a build without libhdf5.
std::string encode_hdf5(const Hdf5Contents& contents);

}  // namespace distribute::saving_internal
