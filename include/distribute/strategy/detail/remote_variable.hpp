#pragma once
/// A handle to a variable that a parameter server keeps.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/parameter_server/variable_spec.hpp>
#include <distribute/strategy/detail/server_access.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace distribute {

class Strategy;

namespace strategy_internal {
class DeviceCopies;
}

/// The chief creates the variable on its server; other tasks look it up when they first need it.
/// Reads of one step see one value (see ServerAccess). Thread-safe.
/// Source  tf.distribute ParameterServerStrategyV2's variables (CachingVariable)
class RemoteVariable final : public VariableImpl {
 public:
  RemoteVariable(parameter_server::VariableSpec spec, parameter_server::InitialValue initial_value,
                 VariableOptions options, Strategy& owner,
                 std::shared_ptr<strategy_internal::ServerAccess> link);
  DISTRIBUTE_INLINE ~RemoteVariable() override;

  /// Returns the strategy in whose scope it was created, only for comparison, as it may be
  /// destroyed.
  const Strategy* owner() const { return owner_; }
  const strategy_internal::ServerAccess* link() const { return link_.get(); }
  const std::string& key() const { return spec_.key; }
  /// Returns the client's number of the variable.
  /// Blocks  until it exists.
  /// Throws  DeadlineExceededError; FailedPreconditionError on a server.
  int64_t remote_id() const;

  DISTRIBUTE_INLINE Tensor read() const override;
  /// In one of several local replicas the values of all replicas are aggregated first.
  /// Throws  InvalidArgumentError there for aggregation None.
  DISTRIBUTE_INLINE void check_number(bool is_zero) const override;
  void assign(const Tensor& value) override { write(Write::Assign, value); }
  void assign_add(const Tensor& delta) override { write(Write::Add, delta); }
  void assign_sub(const Tensor& delta) override { write(Write::Subtract, delta); }
  /// Returns the value in host memory, which is the same for every replica.
  Tensor component(int) const override { return read_host(); }
  DISTRIBUTE_INLINE void set_component(int, Tensor value) override;
  /// Supports addition only, as servers know no other operation on rows.
  DISTRIBUTE_INLINE void scatter(ScatterOp op, const IndexedSlices& slices) override;

  Shape shape() const override { return spec_.shape; }
  DType dtype() const override { return spec_.dtype; }
  DISTRIBUTE_INLINE std::string device() const override;
  bool reads_rows() const override { return spec_.shape.rank() > 0; }
  DISTRIBUTE_INLINE Tensor read_rows(const Tensor& flat) const override;

 private:
  enum class Write { Assign, Add, Subtract };
  void write(Write kind, const Tensor& value);
  void send(Write kind, const Tensor& value);
  Tensor read_host() const;
  /// Returns, on a parameter server, whose program may call its model before Server::join(), the
  /// variable's initial value or what was assigned there. The value is local: it is not the one
  /// that the server keeps, and is not sent.
  Tensor& value_of_server() const;

  const parameter_server::VariableSpec spec_;
  Strategy* const owner_;
  const std::shared_ptr<strategy_internal::ServerAccess> link_;
  const std::unique_ptr<strategy_internal::DeviceCopies> copies_;  // null: no device is a GPU
  mutable std::mutex mutex_;                                       // guards the members below
  // until the variable has been found or made on the server
  mutable std::optional<parameter_server::InitialValue> initial_value_;
  mutable std::optional<int64_t> id_;
  mutable Tensor value_of_server_ = {};
};

namespace strategy_internal {
/// Returns the client's number of a variable.
/// Throws  InvalidArgumentError for a variable that is not on the servers of `link`.
int64_t remote_id(const Variable& variable, const ServerAccess& link);
/// Returns the first reads of the calling thread's CacheVariableReads, by variable; null if none is
/// alive.
std::unique_ptr<std::unordered_map<uint64_t, Tensor>>& cached_reads();
}  // namespace strategy_internal

}  // namespace distribute
