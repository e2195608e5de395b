#pragma once
/// Reads a whole HDF5 file and writes it as bytes that Hdf5Reader parses.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::saving_internal {

/// An attribute of a group that is a text or a list of texts.
struct Hdf5Texts {
  std::string group;
  std::string attribute;
  std::vector<std::string> texts;

  void fields(auto& visit) { visit("group", group)("attribute", attribute)("texts", texts); }
};

/// An array without its elements.
struct Hdf5Described {
  std::string path;
  uint8_t dtype = 0;  // DType
  std::vector<int64_t> sizes;
  std::string unknown_type;  // name of the type if no tensor can have it

  void fields(auto& visit) {
    visit("path", path)("dtype", dtype)("sizes", sizes)("unknown_type", unknown_type);
  }
};

/// Contents of a file without the elements of its arrays.
struct Hdf5Index {
  std::vector<std::string> groups;
  std::vector<Hdf5Texts> texts;
  std::vector<Hdf5Described> arrays;

  void fields(auto& visit) { visit("groups", groups)("texts", texts)("arrays", arrays); }
};

/// Passes to `write` the index, with its length in 8 bytes in front, and then for each array of a
/// known type, in the order of the index, one byte, 1, and its elements, or 0 for a damaged one.
/// `image` is the file. Returns false if the bytes are no HDF5 file, or damaged. A damaged file can
/// make libhdf5 crash or run for ever: call it in a separate process.
bool scan_hdf5(std::string& image, const std::function<void(std::string_view)>& write);

}  // namespace distribute::saving_internal
