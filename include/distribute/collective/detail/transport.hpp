#pragma once
/// Base of the classes that move the bytes of collectives: for threads, shared memory, TCP, ...

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/departures.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace distribute {
class CudaGraphLife;
}

namespace distribute::collective {

/// One rank's end of a group. A Communicator uses it, which has checked the operation and calls
/// execute() from one thread at a time.
class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Returns "threads", "shm", "tcp", ...
  virtual const char* name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Takes part in one collective until it is complete. Every rank gets the same bits.
  /// Throws  FailedPreconditionError when the ranks run different operations; DeadlineExceededError
  ///          that names ranks that did not come; UnavailableError when a peer's connection broke;
  ///          the error of abort().
  virtual void execute(const Operation& operation) = 0;

  /// Called at once by the thread that requests an operation which another thread will execute.
  virtual void announce(const Operation& operation) { (void)operation; }

  /// Makes the operation a part of the CUDA graph that the calling thread records: it begins after
  /// the work that the thread's stream was given before, and runs beside later work until
  /// join_recorded(). `graph` is dropped before the group ends. It does not wait for other ranks.
  virtual void record(const Operation& operation, const std::shared_ptr<CudaGraphLife>& graph) {
    (void)graph;
    throw FailedPreconditionError(
        str_cat(name_of(operation.kind), " over ", name(), " cannot be part of a CUDA graph"));
  }
  virtual void join_recorded() {}

  /// Makes execute(), running or later, throw an error of this code and message soon. Any thread
  /// may call it; only the first call counts.
  virtual void abort(StatusCode code, const std::string& message) = 0;

  /// Notes that `rank` takes part in nothing more; any thread may call it. Operations that wait for
  /// it, and do not find data that it has sent before, throw RankLeftError with this reason.
  virtual void depart(int rank, const std::string& reason) { departures_.add(rank, reason); }

  /// Returns memory of `rank` that all ranks read and write in place: reductions of arrays in it
  /// need no copies. Empty unless the whole group shares memory. It lives as long as the transport.
  virtual std::span<std::byte> shared_memory(int rank) const {
    (void)rank;
    return {};
  }

 protected:
  Departures departures_;
};

}  // namespace distribute::collective
