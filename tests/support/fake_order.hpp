#pragma once
/// Watches over a fake driver: which work of its streams is known to be done before which, whose
/// context is current, and that host memory is left alone while it is copied.

#include <distribute/device/detail/cuda_driver.hpp>

#include <span>
#include <string>

namespace distribute::testing {

/// Elements of device memory that work reads or writes.
struct FakeRange {
  const void* begin;
  size_t bytes;
  bool writes;
};

/// `driver` with a guard before it. Work that touches what another stream may still be using, a
/// stream of a GPU that is not current, or memory that does not exist is refused, with a line on
/// stderr that says why; a real GPU would compute nonsense. Copies from page-locked memory read it
/// as late as the calls allow.
///
/// Each stream and the host have a vector clock. All threads of the host count as one: a missing
/// wait between them is not found. Kernels count as readers of what their arguments point to, and
/// as writers where they change the first bytes of it.
/// A graph counts as one piece of work at each launch.
CudaDriver watched(const CudaDriver& driver);

/// A library's work on `stream`; false: it is refused. A range of 0 bytes stands for some at its
/// beginning, those in host memory do not count.
bool watch_work(CudaHandle stream, const std::string& what, std::span<const FakeRange> ranges);
/// What these streams are given from now on comes after all that they have been given.
void watch_meeting(std::span<const CudaHandle> streams);
/// Does what copies from page-locked memory still have to do.
void watch_copies();

}  // namespace distribute::testing
