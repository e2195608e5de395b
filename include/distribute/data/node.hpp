#pragma once
/// The nodes of which a dataset's graph is made.

#include <distribute/base/config.hpp>
#include <distribute/data/detail/row_table.hpp>
#include <distribute/data/detail/stream.hpp>
#include <distribute/data/element_spec.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::data {

/// Cardinalities that are not a number of elements.
/// Source  tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY
inline constexpr int64_t kInfiniteCardinality = -1;
inline constexpr int64_t kUnknownCardinality = -2;

/// Checks that data has an end, for functions that read all of it. `cure` says in the message what
/// to give instead.
/// Throws  InvalidArgumentError for kInfiniteCardinality.
void require_end(int64_t cardinality, const std::string& consumer, const std::string& cure);

/// Counts the passes over a random transformation. The copy of a node counts its own passes.
struct PassCount {
  PassCount() = default;
  PassCount(const PassCount&) {}
  std::atomic<uint64_t> next{0};
};

class Node;
using NodePtr = std::shared_ptr<const Node>;

/// A node is immutable and thread-safe, and lives as long as the streams that it opened.
class Node {
 public:
  virtual ~Node() = default;
  /// Returns the kind of node, such as "Batch"; `parameters` are the numbers that belong to it.
  virtual const char* kind() const = 0;
  virtual std::vector<int64_t> parameters() const { return {}; }
  virtual std::vector<NodePtr> inputs() const { return {}; }
  /// Makes the same transformation with other inputs. Sources return themselves.
  virtual NodePtr with_inputs(std::vector<NodePtr> inputs) const = 0;
  /// False for a node that only moves elements: a saved position then fits a pipeline with or
  /// without it.
  virtual bool is_in_positions() const { return true; }

  /// Returns the number of elements, or one of the two constants.
  virtual int64_t cardinality() const { return kUnknownCardinality; }
  virtual ElementSpec element_spec() const = 0;
  /// False when the spec was read from one element, so that other elements may have other sizes.
  virtual bool spec_is_exact() const {
    for (const NodePtr& input : inputs())
      if (!input->spec_is_exact()) return false;
    return true;
  }

  /// Starts a new pass over the elements.
  virtual std::unique_ptr<BatchStream> elements(const Pass& pass) const = 0;
  /// Returns the table whose rows this dataset selects one by one; null when it makes elements in
  /// another way. With a table, `row_numbers` gives the same pass as `elements`, as row numbers.
  virtual std::shared_ptr<const RowTable> table() const { return nullptr; }
  virtual std::unique_ptr<RowStream> row_numbers(const Pass&) const { return nullptr; }

  /// Returns the files that a source reads; with_files() makes it read others instead. Source  FILE
  /// autosharding
  virtual std::vector<std::string> files() const { return {}; }
  virtual NodePtr with_files(std::vector<std::string>) const { return nullptr; }

  /// Returns the counter of passes of a random transformation; null for other nodes.
  virtual PassCount* passes() const { return nullptr; }

 protected:
  void set_inputs(const std::vector<NodePtr>&) {}  // a source has none
};

/// Is the base of the nodes that transform one dataset. By default a node gives as many elements as
/// its input, with the same types and shapes.
class OneInputNode : public Node {
 public:
  explicit OneInputNode(NodePtr input) : input_(std::move(input)) {}
  std::vector<NodePtr> inputs() const override { return {input_}; }
  int64_t cardinality() const override { return input_->cardinality(); }
  ElementSpec element_spec() const override { return input_->element_spec(); }

 protected:
  const Node& input() const { return *input_; }
  void set_inputs(std::vector<NodePtr> inputs) { input_ = std::move(inputs.at(0)); }
  /// Returns the cardinality of transformations that drop elements, or give several for one.
  int64_t unknown_unless_infinite() const {
    const bool infinite = input_->cardinality() == kInfiniteCardinality;
    return infinite ? kInfiniteCardinality : kUnknownCardinality;
  }

 private:
  NodePtr input_;
};

/// Is the base of the transformations of several datasets.
class ManyInputsNode : public Node {
 public:
  explicit ManyInputsNode(std::vector<NodePtr> inputs) : inputs_(std::move(inputs)) {}
  std::vector<NodePtr> inputs() const override { return inputs_; }

 protected:
  void set_inputs(std::vector<NodePtr> inputs) { inputs_ = std::move(inputs); }

  std::vector<NodePtr> inputs_;
};

/// Is the base of nodes that are copied for other inputs. Nodes that remember what they have seen
/// are excluded.
template <typename Derived, typename Base = OneInputNode>
class CopiedNode : public Base {
 public:
  using Base::Base;
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    copy->set_inputs(std::move(inputs));
    return copy;
  }
};

/// Gives the number of a new pass over a dataset: one more than the last pass that any of its
/// random transformations has seen. So `d.take(n)`, made anew for each epoch, reshuffles too.
/// Passes that several threads start at the same time may get the same number.
uint64_t take_pass(const Node& node);
void set_next_pass(const Node& node, uint64_t number);

/// Returns a number that differs between pipelines, with which saved positions are checked.
int64_t fingerprint(const Node& node);
/// Returns the number of nodes on the longest path to a source. It tells equal shuffles of one
/// pipeline apart.
int64_t depth(const Node& node);

/// Opens the stream of a node for a type of element.
template <typename T>
std::unique_ptr<Stream<T>> open_stream(const Node& node, const Pass& pass);
template <>
inline std::unique_ptr<BatchStream> open_stream<Batch>(const Node& node, const Pass& pass) {
  return node.elements(pass);
}
template <>
inline std::unique_ptr<RowStream> open_stream<int64_t>(const Node& node, const Pass& pass) {
  return node.row_numbers(pass);
}

/// Turns a stream of row numbers into examples, one by one.
std::unique_ptr<BatchStream> stream_examples(std::shared_ptr<const RowTable> table,
                                             std::unique_ptr<RowStream> rows);

/// Makes a source that gives the rows of a table in order.
NodePtr table_source(std::shared_ptr<const RowTable> table);

/// Gives the next element, or nothing at the end.
using Generator = std::function<std::optional<Batch>()>;
/// Starts a generator from its beginning; called once per pass.
using GeneratorFactory = std::function<Generator()>;
/// Makes the dataset of one file.
using FileReader = std::function<NodePtr(const std::string& path)>;

/// Makes a source that gives a generator's elements, which must have the shapes and dtypes of
/// `spec` (-1: any size).
/// Throws  InvalidArgumentError at an element of another shape or dtype; what the generator throws.
/// Source  tf.data.Dataset.from_generator
NodePtr generator_source(GeneratorFactory factory, ElementSpec spec);

/// Makes a source of one element.
/// Throws  InvalidArgumentError for one without components.
/// Source  tf.data.Dataset.from_tensors
NodePtr element_source(Batch element);

/// Gives all elements of the first file, then of the second, and so on. Autosharding by File gives
/// each worker other files.
/// Throws  InvalidArgumentError for no files.
NodePtr file_source(std::vector<std::string> files, FileReader reader);

/// Asks for the number of threads, or the size of a buffer, that measurements find while elements
/// are read, within the budgets of AutotuneOptions. Source  tf.data.AUTOTUNE
inline constexpr int64_t kAutotune = -1;

/// Returns the number of threads that an option `num_parallel_calls` asks for; kAutotune is the
/// most that it may find, config::threading's inter_op_parallelism_threads or one for each core.
int64_t num_threads_for(int64_t num_parallel_calls);
/// Returns whether elements keep their order: as a transformation's own option says, else as the
/// Options of the dataset do, else they do.
bool is_in_order(const std::optional<bool>& deterministic, const Pass& pass);

using MapFunction = std::function<Batch(const Batch&)>;
using Predicate = std::function<bool(const Batch&)>;

struct MapOptions {  // of Dataset::map
  /// Number of calls at the same time, each on its own thread.
  int64_t num_parallel_calls = 1;
  /// Types and shapes of the results. Without it the function is called once on the first element
  /// to find them.
  std::optional<ElementSpec> output_spec = {};
  /// False: results of several threads come as they become ready. Unset: as the Options of the
  /// dataset say, and in order without these.
  std::optional<bool> deterministic = {};
};

/// Applies `function` to each element, except to those that a later skip, shard or restore drops.
/// Throws  what the function throws, at the element that it failed on; the next call continues
///         after it.
/// Source  tf.data.Dataset.map
NodePtr map_node(NodePtr input, MapFunction function, const MapOptions& options);

/// Keeps the elements for which `predicate` is true.
/// Source  tf.data.Dataset.filter
NodePtr filter_node(NodePtr input, Predicate predicate);

/// Holds the options of Dataset::shuffle(). Source  tf.data.Dataset.shuffle
struct ShuffleOptions {
  /// The seed of the order. Unset: the global seed (tf.random.set_seed's), so that every process
  /// has the same order.
  std::optional<uint64_t> seed = {};
  bool reshuffle_each_iteration = true;
};

struct InterleaveOptions {   // of Dataset::interleave
  int64_t cycle_length = 2;  // number of parts that are read in turn
  int64_t block_length = 1;  // number of elements that a part gives in its turn
  /// This many parts are opened and read at the same time, each on its own thread; kAutotune works
  /// as for map.
  int64_t num_parallel_calls = 1;
  /// False: a part that has no element ready is skipped, so that the order depends on threads.
  /// Unset: as the Options of the dataset say, and in order without these.
  std::optional<bool> deterministic = {};
};

/// `shard(kShardHint, kShardHint)` marks where AutoShardPolicy::Hint puts the real shard.
/// Source  tf.data.experimental.SHARD_HINT
inline constexpr int64_t kShardHint = -1;

}  // namespace distribute::data
