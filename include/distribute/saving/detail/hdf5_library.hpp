#pragma once
/// libhdf5 with one caller at a time, and identifiers that close themselves.

#if DISTRIBUTE_HAS_HDF5
#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

#include <mutex>
#include <string>
#include <utility>

#include <hdf5.h>

namespace distribute::saving_internal {

/// Mutex of the library, whose state one thread at a time may use.
struct Hdf5Mutex {
  std::recursive_mutex mutex;
};

/// Scope of calls into the library: locked, and with its own error messages turned off.
class Hdf5Lock {
 public:
  Hdf5Lock() : lock_(in_process<Hdf5Mutex>().mutex) {
    H5Eget_auto2(H5E_DEFAULT, &report_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Lock() { H5Eset_auto2(H5E_DEFAULT, report_, data_); }
  Hdf5Lock(const Hdf5Lock&) = delete;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t report_ = nullptr;
  void* data_ = nullptr;
};

/// Owns an identifier of the library.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Id(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&&) = delete;
  ~Hdf5Id() {
    if (id_ >= 0) close_(id_);
  }
  explicit operator bool() const { return id_ >= 0; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

/// Makes a file in memory that holds a copy of `image`, or nothing for null.
Hdf5Id memory_file_access(std::string* image);

}  // namespace distribute::saving_internal
#endif
