#pragma once
/// What consumers, workers and the dispatcher of a data service tell each other.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data_service/data_service.hpp>
#include <distribute/data_service/detail/intervals.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::data::service_internal {

using service::ShardingPolicy;

inline constexpr const char* kServiceName = "data service";  // stands for the job's tasks
inline constexpr const char* kDispatcherType = "data_dispatcher";
inline constexpr const char* kWorkerType = "data_worker";
inline constexpr const char* kClientType = "data_client";

struct SpecPart {  // TensorSpec
  std::vector<int64_t> shape = {};
  DType dtype = DType::Float32;
  std::string name = {};
  void fields(net::FieldVisitor& visit) {
    visit("shape", shape)("dtype", dtype, DType::Bool)("name", name);
  }
};

struct DatasetFacts {  // what is known of a registered dataset
  std::string id = {};
  std::vector<SpecPart> spec = {};
  bool spec_is_exact = true;
  int64_t cardinality = 0;
  std::string description = {};  // a line for each transformation and source
  int64_t items = 0;             // files or elements of its source, which Dynamic hands out
  int64_t items_per_split = 1;
  std::string not_dynamic = {};  // why Dynamic cannot be; "": it can
  void fields(net::FieldVisitor& visit) {
    visit("id", id)("spec", spec)("spec_is_exact", spec_is_exact)("cardinality", cardinality)(
        "description", description);
    visit("items", items)("items_per_split", items_per_split)("not_dynamic", not_dynamic);
  }
};

struct JoinRequest {  // a worker comes, or comes back to a dispatcher that was started again
  std::string address = {};
  uint64_t start = 0;  // drawn anew by each start of a worker
  std::vector<DatasetFacts> datasets = {};
  void fields(net::FieldVisitor& visit) {
    visit("address", address)("start", start)("datasets", datasets);
  }
};
struct JoinAnswer {
  int64_t worker = 0;  // its number
  void fields(net::FieldVisitor& visit) { visit("worker", worker); }
};

struct SaveTarget {       // where elements are saved
  std::string path = {};  // "": they are for readers
  bool gzip = false;
  int64_t chunk_bytes = 0;
  void fields(net::FieldVisitor& visit) {
    visit("path", path)("gzip", gzip)("chunk_bytes", chunk_bytes);
  }
};

struct TaskOrder {  // what a worker has to make
  uint64_t iteration = 0;
  int64_t task = 0;
  uint64_t generation = 0;
  std::string dataset = {};
  ShardingPolicy mode = ShardingPolicy::Off;
  uint64_t pass = 0;
  int64_t shard = 0, num_shards = 1;
  int64_t num_consumers = 0;  // that step together; 0: first come, first served
  bool cached = false;        // for trainers that read at positions of their own
  Intervals delivered = {};   // numbers of elements that consumers have already
  SaveTarget save = {};       // the worker writes them itself
  int64_t chunks = 0;         // that the task has written
  void fields(net::FieldVisitor& visit) {
    visit("iteration", iteration)("task", task)("generation", generation)("dataset", dataset);
    visit("mode", mode, ShardingPolicy::Hint)("pass", pass)("shard", shard);
    visit("num_shards", num_shards)("num_consumers", num_consumers)("cached", cached);
    visit("delivered", delivered)("save", save)("chunks", chunks);
  }
};
struct OrdersRequest {  // the answer comes when the version changes, or after a second
  int64_t worker = 0;
  uint64_t start = 0;
  uint64_t version = 0;
  void fields(net::FieldVisitor& visit) {
    visit("worker", worker)("start", start)("version", version);
  }
};
struct OrdersAnswer {
  uint64_t version = 0;
  bool known = true;  // false: join again
  std::vector<TaskOrder> orders = {};
  void fields(net::FieldVisitor& visit) {
    visit("version", version)("known", known)("orders", orders);
  }
};

struct DescribeRequest {  // waits for a worker that has the dataset
  std::string dataset = {};
  double wait_seconds = 0;
  void fields(net::FieldVisitor& visit) { visit("dataset", dataset)("wait_seconds", wait_seconds); }
};

struct OpenRequest {  // a consumer begins a pass
  std::string job = {};
  uint64_t pass = 0;
  std::string dataset = {};
  ShardingPolicy mode = ShardingPolicy::Off;
  uint64_t consumer = 0;
  int64_t consumer_index = 0, num_consumers = 0;  // as in TaskOrder
  bool cached = false;
  bool local = false;  // it reads from workers of its process alone
  void fields(net::FieldVisitor& visit) {
    visit("job", job)("pass", pass)("dataset", dataset)("mode", mode, ShardingPolicy::Hint);
    visit("consumer", consumer)("consumer_index", consumer_index)("num_consumers", num_consumers);
    visit("cached", cached)("local", local);
  }
};
struct OpenAnswer {
  uint64_t iteration = 0;
  bool over = false;  // other consumers have had all of it
  void fields(net::FieldVisitor& visit) { visit("iteration", iteration)("over", over); }
};

struct TaskReport {  // the elements of a task that a consumer has
  int64_t task = 0;
  uint64_t generation = 0;
  Intervals received = {};
  void fields(net::FieldVisitor& visit) {
    visit("task", task)("generation", generation)("received", received);
  }
};
struct FollowRequest {  // as OrdersRequest, for a consumer
  uint64_t iteration = 0;
  uint64_t consumer = 0;
  uint64_t version = 0;
  std::vector<TaskReport> reports = {};  // of tasks that collect
  void fields(net::FieldVisitor& visit) {
    visit("iteration", iteration)("consumer", consumer)("version", version)("reports", reports);
  }
};
enum class TaskState : uint8_t {
  Waiting,     // for a worker
  Running,     // on a worker
  Collecting,  // its worker is lost, and consumers say what they have
  Gone,        // its worker is lost, and nothing takes its place
  Saved,       // all of its elements are in chunks
};
struct TaskPlace {
  int64_t task = 0;
  uint64_t generation = 0;
  TaskState state = TaskState::Waiting;
  int64_t worker = -1;
  std::string address = {};
  void fields(net::FieldVisitor& visit) {
    visit("task", task)("generation", generation)("state", state, TaskState::Saved);
    visit("worker", worker)("address", address);
  }
};
struct FollowAnswer {
  uint64_t version = 0;
  std::vector<TaskPlace> tasks = {};
  void fields(net::FieldVisitor& visit) { visit("version", version)("tasks", tasks); }
};
struct LeaveRequest {  // a consumer ends a pass
  uint64_t iteration = 0;
  uint64_t consumer = 0;
  bool finished = false;  // it has seen the end
  std::vector<TaskReport> reports = {};
  void fields(net::FieldVisitor& visit) {
    visit("iteration", iteration)("consumer", consumer)("finished", finished)("reports", reports);
  }
};

struct SplitRequest {  // a worker needs more of the source; number counts the splits of its task
  uint64_t iteration = 0;
  int64_t task = 0;
  uint64_t generation = 0;
  int64_t repetition = 0;
  int64_t number = 0;
  void fields(net::FieldVisitor& visit) {
    visit("iteration", iteration)("task", task)("generation", generation);
    visit("repetition", repetition)("number", number);
  }
};
struct SplitAnswer {  // items [begin, end) of the source; none: the end of the repetition
  int64_t begin = 0, end = 0;
  void fields(net::FieldVisitor& visit) { visit("begin", begin)("end", end); }
};

struct SaveRequest {    // a program wants a dataset to be saved
  uint64_t number = 0;  // drawn for the save; one that asks again has the same
  std::string dataset = {};
  SaveTarget target = {};
  void fields(net::FieldVisitor& visit) {
    visit("number", number)("dataset", dataset)("target", target);
  }
};
struct SaveAnswer {
  uint64_t iteration = 0;
  void fields(net::FieldVisitor& visit) { visit("iteration", iteration); }
};
struct ChunkReport {  // a worker has written a chunk, is at the end of its part, or has failed
  uint64_t iteration = 0;
  int64_t task = 0;
  uint64_t generation = 0;
  int64_t chunk = 0;
  int64_t elements = 0;  // 0: no chunk
  bool ended = false;
  StatusCode code = StatusCode::Ok;
  std::string error = {};
  void fields(net::FieldVisitor& visit) {
    visit("iteration", iteration)("task", task)("generation", generation)("chunk", chunk);
    visit("elements", elements)("ended", ended)("code", code, StatusCode::Unauthenticated);
    visit("error", error);
  }
};
struct ChunkAnswer {
  int64_t chunks = 0;  // of the task that readers see now
  void fields(net::FieldVisitor& visit) { visit("chunks", chunks); }
};

struct ElementsRequest {  // the same `number` again gets the same answer again
  uint64_t iteration = 0;
  int64_t task = 0;
  uint64_t generation = 0;
  uint64_t consumer = 0;
  uint64_t number = 0;
  int64_t most = 1;
  int64_t element = -1;      // its number, for consumers that step together
  std::string trainer = {};  // whose position in a cache it is
  bool zlib = false;         // whether the answer is to be compressed
  void fields(net::FieldVisitor& visit) {
    visit("iteration", iteration)("task", task)("generation", generation);
    visit("consumer", consumer)("number", number)("most", most)("element", element);
    visit("trainer", trainer)("zlib", zlib);
  }
};
struct NumberedElement {
  int64_t number = 0;  // in the task
  std::vector<std::string> names = {};
  std::vector<Tensor> components = {};
  void fields(net::FieldVisitor& visit) {
    visit("number", number)("names", names)("components", components);
  }
};
struct ElementsAnswer {
  std::vector<NumberedElement> elements = {};
  bool ended = false;
  StatusCode code = StatusCode::Ok;  // of the pipeline's error behind these elements
  std::string error = {};
  int64_t error_number = 0;  // the element that it stands for
  void fields(net::FieldVisitor& visit) {
    visit("elements", elements)("ended", ended)("code", code, StatusCode::Unauthenticated);
    visit("error", error)("error_number", error_number);
  }
};

}  // namespace distribute::data::service_internal
