#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/data_service/detail/local_workers.hpp>
#include <distribute/data_service/detail/save_runner.hpp>
#include <distribute/data_service/detail/service_metrics.hpp>
#include <distribute/data_service/detail/task_runner.hpp>
#include <distribute/data_service/servers.hpp>
#include <distribute/net/job_token.hpp>

#include <condition_variable>
#include <exception>
#include <iostream>
#include <optional>
#include <thread>

namespace distribute::data {

namespace service_internal {

/// Thread-safe.
class Worker {
 public:
  explicit Worker(const service::WorkerConfig& config);
  ~Worker();
  Worker(const Worker&) = delete;
  const std::string& address() const { return address_; }
  void wait();

 private:
  using Key = std::tuple<uint64_t, int64_t, uint64_t>;  // iteration, task, generation
  std::shared_ptr<DispatcherCalls> new_calls() const;
  std::string elements(const rpc::Call& call);
  void take_orders(const OrdersAnswer& answer);
  void run();

  const service::WorkerConfig config_;
  std::string address_;
  JoinRequest self_;
  int64_t number_ = 0;
  std::shared_ptr<rpc::JobTask> client_, task_;
  std::shared_ptr<DispatcherCalls> calls_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::map<Key, std::shared_ptr<TaskRunner>> runners_;
  std::map<Key, std::shared_ptr<SaveRunner>> savers_;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
  std::optional<LocalWorker> local_;
};

DISTRIBUTE_INLINE std::shared_ptr<DispatcherCalls> Worker::new_calls() const {
  return std::make_shared<DispatcherCalls>(client_, config_.dispatcher_address,
                                           double(config_.dispatcher_timeout_ms) / 1000);
}

DISTRIBUTE_INLINE Worker::Worker(const service::WorkerConfig& config) : config_(config) {
  for (const std::string& id : registered_datasets())
    self_.datasets.push_back(facts_of(id, registered_dataset(id)));
  if (self_.datasets.empty())
    throw FailedPreconditionError(
        "a worker of a data service needs datasets: call data::service::register_dataset first");
  net::Listener listener = open_port(config.host, config.port, config.cluster);
  address_ = str_cat(config.host, ":", listener.address().port);
  self_.address = address_;
  self_.start = value_or_throw(net::random_number());
  worker_metrics();  // they are there from the beginning
  client_ = start_client(config.cluster);
  calls_ = new_calls();
  number_ = calls_->call<JoinAnswer>("join", self_).worker;
  task_ = start_task(kWorkerType, int(number_), std::move(listener), config.cluster);
  task_->rpc().add("elements", [this](const rpc::Call& call) { return elements(call); });
  thread_ = base_internal::start_thread("the worker's orders", [this] { run(); });
  local_.emplace(address_);
}

DISTRIBUTE_INLINE Worker::~Worker() {
  local_.reset();
  calls_->stop();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    for (const auto& [key, runner] : runners_) runner->stop();
    for (const auto& [key, saver] : savers_) saver->stop();
  }
  thread_.join();
  savers_.clear();
  task_->rpc().remove("elements");
}

DISTRIBUTE_INLINE std::string Worker::elements(const rpc::Call& call) {
  const auto request =
      value_or_throw(net::parse_message<ElementsRequest>(call.body(), "ElementsRequest"));
  const Key key{request.iteration, request.task, request.generation};
  std::shared_ptr<TaskRunner> runner;
  {
    std::unique_lock lock(mutex_);
    while (!runners_.contains(key)) {
      if (stopping_ || call.cancelled()) throw CancelledError("the task is not here");
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
    runner = runners_[key];
  }
  return runner->elements(request);
}

DISTRIBUTE_INLINE void Worker::take_orders(const OrdersAnswer& answer) {
  std::map<Key, std::shared_ptr<TaskRunner>> now;
  std::map<Key, std::shared_ptr<SaveRunner>> saving;  // at the end: those that have ended
  const std::lock_guard lock(mutex_);
  for (const TaskOrder& order : answer.orders) {
    const Key key{order.iteration, order.task, order.generation};
    if (!order.save.path.empty()) {
      const auto saver = savers_.find(key);
      saving[key] = saver != savers_.end()
                        ? saver->second
                        : std::make_shared<SaveRunner>(order, new_calls(), new_calls());
      continue;
    }
    const auto found = runners_.find(key);
    now[key] = found != runners_.end()
                   ? found->second
                   : std::make_shared<TaskRunner>(order, new_calls(),
                                                  config_.cross_trainer_cache_size_bytes);
  }
  for (const auto& [key, runner] : runners_)
    if (!now.contains(key)) runner->stop();
  for (const auto& [key, saver] : savers_)
    if (!saving.contains(key)) saver->stop();
  runners_ = std::move(now);
  savers_.swap(saving);
  changed_.notify_all();
}

DISTRIBUTE_INLINE void Worker::run() {
  OrdersRequest request{number_, self_.start, 0};
  try {
    for (;;) {
      const auto answer = calls_->call<OrdersAnswer>("orders", request);
      request.version = answer.version;
      if (answer.known) {
        take_orders(answer);
        continue;
      }
      // The dispatcher was started again, or had lost this worker for a while.
      if (calls_->call<JoinAnswer>("join", self_).worker != number_)
        throw FailedPreconditionError(
            "the dispatcher was started again without its journal and numbers workers anew; start "
            "this worker again, too");
      request.version = 0;
    }
  } catch (const Error&) {
    const std::lock_guard lock(mutex_);
    if (!stopping_) failure_ = std::current_exception();
    stopping_ = true;
    changed_.notify_all();
  }
}

DISTRIBUTE_INLINE void Worker::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_; });
  if (failure_) std::rethrow_exception(failure_);
}

/// The flags of worker_main(); the first that it does not know is returned.
DISTRIBUTE_INLINE std::string read_worker_flags(int argc, char** argv,
                                                service::WorkerConfig& config) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (i + 1 >= argc) return std::string(flag);
    if (flag == "--dispatcher")
      config.dispatcher_address = argv[++i];
    else if (flag == "--host")
      config.host = argv[++i];
    else if (flag == "--port")
      config.port = std::atoi(argv[++i]);
    else if (flag == "--cache_bytes")
      config.cross_trainer_cache_size_bytes = std::atoll(argv[++i]);
    else
      return std::string(flag);
  }
  return config.dispatcher_address.empty() ? "no --dispatcher" : "";
}

}  // namespace service_internal

namespace service {

struct WorkerServer::Impl {
  explicit Impl(const WorkerConfig& config) : worker(config) {}
  service_internal::Worker worker;
};

DISTRIBUTE_INLINE WorkerServer::WorkerServer(const WorkerConfig& config)
    : impl_(std::make_unique<Impl>(config)) {}
DISTRIBUTE_INLINE WorkerServer::~WorkerServer() = default;
DISTRIBUTE_INLINE std::string WorkerServer::address() const { return impl_->worker.address(); }
DISTRIBUTE_INLINE void WorkerServer::join() { impl_->worker.wait(); }

DISTRIBUTE_INLINE int worker_main(int argc, char** argv) {
  try {
    WorkerConfig config;
    if (const auto wrong = service_internal::read_worker_flags(argc, argv, config);
        !wrong.empty()) {
      std::cerr
          << argv[0] << ": " << wrong
          << "; usage: --dispatcher HOST:PORT [--host HOST] [--port PORT] [--cache_bytes N]\n";
      return 2;
    }
    WorkerServer worker(config);
    std::cout << "data worker at " << worker.address() << std::endl;
    worker.join();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace service

}  // namespace distribute::data
