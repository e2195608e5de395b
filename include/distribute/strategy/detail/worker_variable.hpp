#pragma once
/// A variable that is local in a worker's own loop, and on the servers in a coordinator's
/// functions.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/server_access.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute::strategy_internal {

/// The sums of a metric. A worker that makes its own steps adds to its own numbers, as those of
/// several workers would race; functions that a coordinator sends add to the one variable that the
/// coordinator reads. Thread-safe.
class WorkerVariable final : public VariableImpl {
 public:
  /// `shared` lives on the servers, or is looked up there when it is first needed.
  WorkerVariable(std::shared_ptr<VariableImpl> own, std::shared_ptr<VariableImpl> shared)
      : VariableImpl(own->options()), own_(std::move(own)), shared_(std::move(shared)) {}

  const std::shared_ptr<VariableImpl>& own() const { return own_; }
  Tensor read() const override { return here().read(); }
  Tensor read_in_own_strategy() const override { return here().read_in_own_strategy(); }
  void assign(const Tensor& value) override { here().assign(value); }
  void assign_add(const Tensor& delta) override { here().assign_add(delta); }
  void assign_sub(const Tensor& delta) override { here().assign_sub(delta); }
  void check_number(bool is_zero) const override { here().check_number(is_zero); }
  void accumulate(const Tensor& delta) override { here().accumulate(delta); }
  int num_components() const override { return here().num_components(); }
  Tensor component(int replica) const override { return here().component(replica); }
  void set_component(int replica, Tensor value) override {
    here().set_component(replica, std::move(value));
  }
  Shape shape() const override { return own_->shape(); }
  DType dtype() const override { return own_->dtype(); }
  std::string device() const override { return here().device(); }
  std::vector<std::string> devices() const override { return here().devices(); }
  const std::vector<Variable>& parts() const override { return here().parts(); }
  bool reads_rows() const override { return here().reads_rows(); }
  Tensor read_rows(const Tensor& flat) const override { return here().read_rows(flat); }
  void scatter(ScatterOp op, const IndexedSlices& slices) override { here().scatter(op, slices); }

 private:
  VariableImpl& here() const { return ServerAccess::in_closure() ? *shared_ : *own_; }

  const std::shared_ptr<VariableImpl> own_, shared_;
};

}  // namespace distribute::strategy_internal
