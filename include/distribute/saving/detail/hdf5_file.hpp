#pragma once
/// HDF5 files as bytes: groups, their attributes of text, and arrays of numbers.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace distribute::saving_internal {

/// False in a build without libhdf5.
bool has_hdf5();

/// Type and size of an array.
struct Hdf5Array {
  Shape shape;
  DType dtype = DType::Float32;   // float64 is read as float32
  std::string unknown_type = {};  // what it is where no tensor can be that
};

/// Reads from memory. Links to other files and arrays that lie in other files count as absent.
/// Thread-compatible; the library itself is used by one thread at a time.
class Hdf5Reader {
 public:
  /// Errors call the file `name`.
  /// Throws  DataLossError for bytes that are no HDF5 file, or cut off; UnimplementedError in a
  ///         build without libhdf5.
  Hdf5Reader(std::string bytes, std::string name);
  ~Hdf5Reader();
  Hdf5Reader(Hdf5Reader&&) noexcept;

  const std::string& name() const;
  /// The arrays by their paths, "layers/dense/vars/0".
  const std::map<std::string, Hdf5Array>& arrays() const;
  /// Paths of groups; the root's is "".
  const std::vector<std::string>& groups() const;
  /// An attribute that is a text or a list of texts; none where it is missing or something else.
  std::vector<std::string> texts(const std::string& group, const std::string& attribute) const;
  /// Throws  DataLossError for a damaged array; UnimplementedError for one of an unknown type.
  Tensor read(const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a file is made of. Arrays keep their dtype; bfloat16 is written as Keras does.
struct Hdf5Contents {
  std::map<std::string, Tensor> arrays;
  /// Attributes of groups, which are made with those above them: group, name, text. The root's
  /// group is "".
  std::map<std::string, std::map<std::string, std::string>> attributes;
  /// The same, lists of texts.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> lists = {};
};

/// Throws  UnimplementedError in a build without libhdf5.
std::string encode_hdf5(const Hdf5Contents& contents);

}  // namespace distribute::saving_internal
