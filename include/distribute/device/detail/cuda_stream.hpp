#pragma once
/// Streams and events of a GPU: owning classes, and references that borrow.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_driver.hpp>
#include <distribute/device/device_spec.hpp>

#include <cstddef>

namespace distribute {

class CudaStreamRef;

/// A borrowed event. It can be copied.
class CudaEventRef {
 public:
  CudaEventRef(CudaHandle native, Device device) : native_(native), device_(device) {}
  CudaEventRef(std::nullptr_t, Device) = delete;
  CudaHandle native() const { return native_; }
  Device device() const { return device_; }

  /// Marks the point that `stream` has reached.
  void record(CudaStreamRef stream) const;
  /// True when all work before the mark is done.
  bool is_done() const;
  /// Blocks  the calling thread until all work before the mark is done.
  void synchronize() const;
  /// Milliseconds of device time from `start`'s mark to this one. Both marks must be done, and
  /// their events made with timing.
  float elapsed_ms(CudaEventRef start) const;

 private:
  CudaHandle native_;
  Device device_;
};

/// An event that is destroyed with the object. Moved-from is empty.
class CudaEvent {
 public:
  explicit CudaEvent(Device device, bool timing = false);
  CudaEvent(CudaEvent&& other) noexcept;
  CudaEvent& operator=(CudaEvent&& other) noexcept;
  ~CudaEvent();
  CudaHandle release();
  CudaEventRef ref() const { return {native_, device_}; }
  operator CudaEventRef() const { return ref(); }
  void record(CudaStreamRef stream) const;

 private:
  CudaHandle native_ = nullptr;
  Device device_;
};

/// A borrowed stream. It can be copied.
class CudaStreamRef {
 public:
  CudaStreamRef(CudaHandle native, Device device) : native_(native), device_(device) {}
  CudaStreamRef(std::nullptr_t, Device) = delete;
  CudaHandle native() const { return native_; }
  Device device() const { return device_; }

  /// Makes later work of this stream wait for the event; the host does not wait.
  void wait(CudaEventRef event) const;
  /// Makes later work of this stream wait for all work that `other` has been given so far.
  void wait(CudaStreamRef other) const;
  /// Blocks  the calling thread until the stream is empty.
  void synchronize() const;
  bool is_done() const;
  bool is_capturing() const;
  bool operator==(const CudaStreamRef&) const = default;

 private:
  CudaHandle native_;
  Device device_;
};

enum class StreamPriority { Normal, High };  // which stream goes first

/// A stream that is destroyed with the object. Moved-from is empty.
class CudaStream {
 public:
  explicit CudaStream(Device device, StreamPriority priority = StreamPriority::Normal);
  CudaStream(CudaStream&& other) noexcept;
  CudaStream& operator=(CudaStream&& other) noexcept;
  ~CudaStream();
  CudaHandle release();
  CudaStreamRef ref() const { return {native_, device_}; }
  operator CudaStreamRef() const { return ref(); }

 private:
  CudaHandle native_ = nullptr;
  Device device_;
};

/// The stream on which the calling thread queues its work for `device`: the device's compute
/// stream, unless a CudaStreamScope replaces it.
CudaStreamRef current_stream(Device device);
/// The stream for collectives and copies that run beside the computation.
CudaStreamRef communication_stream(Device device);

/// While it lives, work of the calling thread on the stream's device goes to `stream`. Memory used
/// on it must live until the compute stream has been made to wait for it, as the cache reuses
/// blocks in the order of the compute stream.
class [[nodiscard]] CudaStreamScope {
 public:
  explicit CudaStreamScope(CudaStreamRef stream);
  ~CudaStreamScope();
  CudaStreamScope(const CudaStreamScope&) = delete;
  CudaStreamScope& operator=(const CudaStreamScope&) = delete;
};

}  // namespace distribute
