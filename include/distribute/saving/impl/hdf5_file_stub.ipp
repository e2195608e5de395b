#pragma once
#if !DISTRIBUTE_HAS_HDF5
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>

namespace distribute::saving_internal {

struct Hdf5Reader::State {};

DISTRIBUTE_INLINE bool has_hdf5() { return false; }

[[noreturn]] DISTRIBUTE_INLINE void refuse_hdf5() {
  throw UnimplementedError(
      "this build reads and writes no HDF5 files, such as .weights.h5 and "
      ".keras; " DISTRIBUTE_GET_HDF5);
}

DISTRIBUTE_INLINE Hdf5Reader::Hdf5Reader(std::string, std::string) { refuse_hdf5(); }
DISTRIBUTE_INLINE Hdf5Reader::~Hdf5Reader() = default;
DISTRIBUTE_INLINE Hdf5Reader::Hdf5Reader(Hdf5Reader&&) noexcept = default;
DISTRIBUTE_INLINE const std::string& Hdf5Reader::name() const { refuse_hdf5(); }
DISTRIBUTE_INLINE const std::map<std::string, Hdf5Array>& Hdf5Reader::arrays() const {
  refuse_hdf5();
}
DISTRIBUTE_INLINE const std::vector<std::string>& Hdf5Reader::groups() const { refuse_hdf5(); }
DISTRIBUTE_INLINE std::vector<std::string> Hdf5Reader::texts(const std::string&,
                                                             const std::string&) const {
  refuse_hdf5();
}
DISTRIBUTE_INLINE Tensor Hdf5Reader::read(const std::string&) const { refuse_hdf5(); }
DISTRIBUTE_INLINE std::string encode_hdf5(const Hdf5Contents&) { refuse_hdf5(); }

}  // namespace distribute::saving_internal
#endif
