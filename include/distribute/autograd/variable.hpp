#pragma once
/// A tensor that can be assigned; created through a hook so that strategies can distribute it.

#include <distribute/autograd/detail/scatter.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// When copies on replicas become equal: at writes or at reads. Source  tf.VariableSynchronization
enum class VariableSynchronization { Auto, None, OnWrite, OnRead };
/// How the values that replicas write become one. Source  tf.VariableAggregation
enum class VariableAggregation { None, Sum, Mean, OnlyFirstReplica };

class VariableImpl;

/// Which rows of a larger variable a shard holds.
/// Source  tf.Variable.SaveSliceInfo
struct SaveSliceInfo {
  std::string full_name;
  Shape full_shape;
  int64_t begin = 0;  // first row
};

struct VariableOptions {  // options of Variable
  std::string name = "Variable";
  std::optional<bool> trainable = {};  // unset: false when synchronized on read, else true
  VariableSynchronization synchronization = VariableSynchronization::Auto;
  VariableAggregation aggregation = VariableAggregation::None;
  /// Shape of the first value, known before the value is made.
  std::optional<Shape> shape = {};
  DType dtype = DType::Float32;  // used when `shape` is given
  /// Makes rows [begin, end) of the first value, so that the whole need not be in memory.
  std::function<Tensor(int64_t begin, int64_t end)> initial_rows = {};
  /// The value of all elements, where the first value is one number.
  std::optional<float> initial_number = {};
  /// A parameter server's variable is placed on the server that has this variable.
  std::shared_ptr<VariableImpl> colocate_with = {};
  /// Turns the value that an optimizer has computed into the value that is kept, such as one
  /// without negative numbers. assign() does not call it.
  std::function<Tensor(const Tensor& value)> constraint = {};
};

class Variable;

/// A number in the program's text rather than a tensor.
template <typename T>
concept PlainNumber = std::same_as<T, double> || std::same_as<T, float> ||
    std::same_as<T, int64_t> || std::same_as<T, int32_t> || std::same_as<T, bool>;

/// The variable that a handle refers to. Strategies derive their distributed forms from it.
/// Thread-compatible unless the strategy says more.
class VariableImpl {
 public:
  explicit VariableImpl(VariableOptions options);
  virtual ~VariableImpl() = default;
  VariableImpl(const VariableImpl&) = delete;
  VariableImpl& operator=(const VariableImpl&) = delete;

  /// Returns the options it was made with, and a number that no other variable of the process has.
  const VariableOptions& options() const { return options_; }
  uint64_t id() const { return id_; }

  /// Returns the value that the calling context sees.
  virtual Tensor read() const = 0;
  /// Does what Variable::read_value() says: the same as read() unless a strategy is stricter.
  virtual Tensor read_in_own_strategy() const { return read(); }
  virtual void assign(const Tensor& value) = 0;
  virtual void assign_add(const Tensor& delta) = 0;
  virtual void assign_sub(const Tensor& delta) = 0;
  /// Checks that all replicas may write one plain number, which is the same on each.
  /// Throws  InvalidArgumentError
  virtual void check_number(bool is_zero) const { (void)is_zero; }
  /// Adds `delta` to what reading gives, also where assign_add() is refused.
  virtual void accumulate(const Tensor& delta) { assign_add(delta); }

  /// Returns the number of local copies: one for each local replica; a plain variable has one.
  virtual int num_components() const { return 1; }
  virtual Tensor component(int replica) const = 0;
  /// Replaces the copy of one replica without any synchronization.
  virtual void set_component(int replica, Tensor value) = 0;

  /// Shape and dtype of the first local copy.
  virtual Shape shape() const { return component(0).shape(); }
  virtual DType dtype() const { return component(0).dtype(); }
  /// "/job:ps/replica:0/task:1/device:CPU:0".
  DISTRIBUTE_INLINE virtual std::string device() const;
  /// Returns the device of each copy or shard, as device() names it.
  DISTRIBUTE_INLINE virtual std::vector<std::string> devices() const;
  /// Returns the shards of a variable that is cut along its first axis; empty for others.
  DISTRIBUTE_INLINE virtual const std::vector<Variable>& parts() const;
  /// Returns true when rows can be read without the whole value; `flat` is int64 [n], in range.
  virtual bool reads_rows() const { return false; }
  DISTRIBUTE_INLINE virtual Tensor read_rows(const Tensor& flat) const;
  /// Changes rows. The caller has checked that the slices fit.
  /// Throws  UnimplementedError for operations that this kind of variable does not know.
  DISTRIBUTE_INLINE virtual void scatter(ScatterOp op, const IndexedSlices& slices);
  /// Changes rows of the value, seen as a tensor of shape slices.dense_shape. The caller has
  /// checked that the slices fit.
  /// Throws  UnimplementedError for all but plain variables, as TensorFlow does.
  DISTRIBUTE_INLINE virtual void scatter_nd(ScatterOp op, const IndexedSlices& slices);

  /// Says which rows a shard holds; set after the shard was created.
  const std::optional<SaveSliceInfo>& save_slice_info() const { return slice_info_; }
  void set_save_slice_info(SaveSliceInfo info);

 private:
  VariableOptions options_;
  uint64_t id_;
  std::optional<SaveSliceInfo> slice_info_;
};

/// A variable with one copy on one device.
class PlainVariable : public VariableImpl {
 public:
  PlainVariable(Tensor initial_value, VariableOptions options);
  Tensor read() const override { return value_; }
  DISTRIBUTE_INLINE void assign(const Tensor& value) override;
  DISTRIBUTE_INLINE void assign_add(const Tensor& delta) override;
  DISTRIBUTE_INLINE void assign_sub(const Tensor& delta) override;
  Tensor component(int) const override { return value_; }
  void set_component(int, Tensor value) override { value_ = std::move(value); }
  DISTRIBUTE_INLINE void scatter(ScatterOp op, const IndexedSlices& slices) override;
  DISTRIBUTE_INLINE void scatter_nd(ScatterOp op, const IndexedSlices& slices) override;

 private:
  Tensor value_;
};

/// A handle to a variable; copies share the variable. A default-constructed handle refers to no
/// variable.
/// Source  tf.Variable
class Variable {
 public:
  using Initializer = std::function<Tensor()>;

  Variable() = default;
  /// Creates the variable in the way that the current strategy asks for.
  /// Throws  InvalidArgumentError for a synchronization or aggregation the strategy cannot give.
  Variable(Initializer initial_value, VariableOptions options = {});
  explicit Variable(const Tensor& initial_value, VariableOptions options = {});
  explicit Variable(std::shared_ptr<VariableImpl> impl) : impl_(std::move(impl)) {}

  explicit operator bool() const { return impl_ != nullptr; }
  /// Gives the value. Active tapes watch a trainable variable. Inside another strategy's scope a
  /// mirrored variable gives its first copy.
  /// Throws  FailedPreconditionError for a mirrored variable in another strategy's replica, and for
  ///         one synchronized on read anywhere inside another strategy.
  Tensor value() const;
  operator Tensor() const { return value(); }
  /// Gives value(), but throws inside another strategy's scope.
  Tensor read_value() const;

  /// Gives value()[index].
  Tensor operator[](int64_t index) const { return value()[index]; }

  /// Sets the value, adds to it, subtracts from it, and gives the variable, as all functions that
  /// change it do. In a replica, the values of all replicas for a distributed variable are first
  /// combined by its aggregation.
  /// Throws  InvalidArgumentError when shape or dtype differ.
  const Variable& assign(const Tensor& value) const;
  const Variable& assign_add(const Tensor& delta) const;
  const Variable& assign_sub(const Tensor& delta) const;
  /// A plain number takes the dtype of the variable, which must be a scalar. The number is the same
  /// on all replicas; so no replica may write a number other than 0 to a variable with aggregation
  /// Sum.
  /// Throws  InvalidArgumentError for that, and when the dtype cannot hold this type.
  template <PlainNumber T>
  const Variable& assign(T value) const {
    return assign(from_number("assign", value));
  }
  template <PlainNumber T>
  const Variable& assign_add(T delta) const {
    return assign_add(from_number("assign_add", delta));
  }
  template <PlainNumber T>
  const Variable& assign_sub(T delta) const {
    return assign_sub(from_number("assign_sub", delta));
  }

  /// Change the rows slices.indices; a row that occurs twice is changed twice, in order.
  /// Distributed variables follow the rules of assign(). Each call copies the whole value.
  /// Shapes  indices int64 [n], values [n, ...] with the variable's other axes.
  /// Throws  InvalidArgumentError when shapes or dtypes do not fit and for rows that do not exist;
  ///         UnimplementedError for variables synchronized on read, and for scatter_min,
  ///         scatter_max and scatter_update of mirrored ones with aggregation Sum or Mean.
  const Variable& scatter_sub(const IndexedSlices& slices) const {
    return scatter(ScatterOp::Sub, slices);
  }
  const Variable& scatter_add(const IndexedSlices& slices) const {
    return scatter(ScatterOp::Add, slices);
  }
  const Variable& scatter_mul(const IndexedSlices& slices) const {
    return scatter(ScatterOp::Mul, slices);
  }
  const Variable& scatter_div(const IndexedSlices& slices) const {
    return scatter(ScatterOp::Div, slices);
  }
  const Variable& scatter_min(const IndexedSlices& slices) const {
    return scatter(ScatterOp::Min, slices);
  }
  const Variable& scatter_max(const IndexedSlices& slices) const {
    return scatter(ScatterOp::Max, slices);
  }
  const Variable& scatter_update(const IndexedSlices& slices) const {
    return scatter(ScatterOp::Update, slices);
  }

  /// Change the elements or slices that tuples of indices name; an element that is named twice is
  /// changed twice, in order.
  /// Shapes  indices int32 or int64 [i..., k], updates [i...] + the variable's axes from k on.
  /// Throws  InvalidArgumentError when shapes or dtypes do not fit and for a tuple out of range;
  ///         UnimplementedError for variables of strategies, as TensorFlow.
  /// Source  tf.Variable.scatter_nd_add and the like
  const Variable& scatter_nd_sub(const Tensor& indices, const Tensor& updates) const;
  const Variable& scatter_nd_add(const Tensor& indices, const Tensor& updates) const;
  const Variable& scatter_nd_min(const Tensor& indices, const Tensor& updates) const;
  const Variable& scatter_nd_max(const Tensor& indices, const Tensor& updates) const;
  const Variable& scatter_nd_update(const Tensor& indices, const Tensor& updates) const;

  /// Gives the elements or slices that tuples of indices name, as gather_nd() (ops/slicing.hpp)
  /// does.
  Tensor gather_nd(const Tensor& indices) const;
  /// Gives rows, as nn::embedding_lookup() (ops/slicing.hpp) does; the gradient is IndexedSlices.
  Tensor sparse_read(const Tensor& indices) const;

  /// Returns the name, which is fixed when the variable is made.
  const std::string& name() const;
  Shape shape() const;
  DType dtype() const;
  /// Returns the name of its device, such as "/job:ps/replica:0/task:1/device:CPU:0".
  std::string device() const;
  bool trainable() const;
  VariableSynchronization synchronization() const;
  VariableAggregation aggregation() const;
  /// VariableOptions::constraint; empty when there is none.
  const std::function<Tensor(const Tensor&)>& constraint() const;

  /// Gives strategies the variable that the handle refers to.
  VariableImpl& impl() const;
  const std::shared_ptr<VariableImpl>& shared_impl() const { return impl_; }
  bool operator==(const Variable& other) const { return impl_ == other.impl_; }

 private:
  void check(const char* method, const Tensor& value) const;
  Tensor from_number(const char* method, double value) const;
  Tensor from_number(const char* method, float value) const {
    return from_number(method, double(value));
  }
  Tensor from_number(const char* method, int64_t value) const;
  Tensor from_number(const char* method, int32_t value) const {
    return from_number(method, int64_t{value});
  }
  Tensor from_number(const char* method, bool value) const;
  const Variable& scatter(ScatterOp op, const IndexedSlices& slices) const;
  const Variable& scatter_nd(ScatterOp op, const Tensor& indices, const Tensor& updates) const;
  std::shared_ptr<VariableImpl> impl_;
};

/// Gives the variables, with each cut variable replaced by its shards, as optimizers want them.
std::vector<Variable> with_parts(const std::vector<Variable>& variables);

/// Makes a variable; a creator may call `next` (the creator below it) any number of times.
using VariableCreator = std::function<std::shared_ptr<VariableImpl>(
    const std::function<std::shared_ptr<VariableImpl>(const Variable::Initializer&,
                                                      const VariableOptions&)>& next,
    const Variable::Initializer& initial_value, const VariableOptions& options)>;

/// Installs a creator for the life of the scope, on the calling thread.
/// Source  tf.variable_creator_scope
class [[nodiscard]] VariableCreatorScope {
 public:
  explicit VariableCreatorScope(VariableCreator creator);
  ~VariableCreatorScope();
  VariableCreatorScope(const VariableCreatorScope&) = delete;
  VariableCreatorScope& operator=(const VariableCreatorScope&) = delete;
};

/// Returns the creators of the calling thread, outermost first; replica threads begin with a copy
/// of the list.
std::vector<VariableCreator>& variable_creator_stack();

namespace autograd_internal {
/// Lets the active tapes watch a trainable variable that is read.
void variable_accessed(const Variable& variable, const Tensor& value);
}  // namespace autograd_internal

}  // namespace distribute
