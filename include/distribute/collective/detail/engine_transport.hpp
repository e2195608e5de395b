#pragma once
/// Collectives over an engine module.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/engine_messages.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>
#include <distribute/collective/detail/transport.hpp>
#include <distribute/collective/engine.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace distribute::collective {

/// Size of the pieces of large arrays. With its own head a message of this size fits the pieces in
/// which the module for UCX sends over TCP; for larger ones UCX asks the receiver first, which
/// costs two wake-ups of a rank that sleeps.
inline constexpr int64_t kEngineSegmentBytes = 192 << 10;

/// Runs this library's algorithms over the engine's messages; large all-reduces use the engine's
/// own if it has one and the options allow it. Ranks compare their operations in both.
class EngineTransport final : public Transport {
 public:
  explicit EngineTransport(std::unique_ptr<EngineMessages> messages,
                           const EngineTransportOptions& options = {});

  const char* name() const override { return messages_->name(); }
  int rank() const override { return messages_->rank(); }
  int size() const override { return messages_->size(); }
  DISTRIBUTE_INLINE void execute(const Operation& operation) override;
  DISTRIBUTE_INLINE void abort(StatusCode code, const std::string& message) override;
  void depart(int rank, const std::string& reason) override { messages_->depart(rank, reason); }

 private:
  bool engine_reduces(const Operation& operation) const;
  void all_reduce(const Operation& operation);

  const std::unique_ptr<EngineMessages> messages_;
  const EngineTransportOptions options_;
  MessageAlgorithms algorithms_;
};

/// Makes the transport of a process whose rank is MPI's.
std::unique_ptr<Transport> make_mpi_transport(const Engine& engine,
                                              const EngineTransportOptions& options);

}  // namespace distribute::collective
