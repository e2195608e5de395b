#pragma once
#include <distribute/data/element_spec.hpp>
#include <distribute/data_service/data_service.hpp>
#include <distribute/data_service/detail/pipelines.hpp>
#include <distribute/data_service/detail/service_reader.hpp>
#include <distribute/net/job_token.hpp>

#include <mutex>

namespace distribute::data {

namespace service_internal {

/// A name that no reader gives; each has its own.
DISTRIBUTE_INLINE std::string own_job() {
  return str_cat("\n", value_or_throw(net::random_number()));
}

/// The process's connection to a service, for all passes over one dataset.
struct ServiceConnection {
  explicit ServiceConnection(const service::ReadOptions& the_options)
      : options(the_options), task(start_client(the_options.cluster)) {
    if (options.job_name.empty()) options.job_name = own_job();
    DispatcherCalls calls(task, options.service, options.cluster.startup_timeout);
    facts = calls.call<DatasetFacts>(
        "describe", DescribeRequest{options.dataset_id, options.cluster.startup_timeout});
  }
  service::ReadOptions options;
  std::shared_ptr<rpc::JobTask> task;
  DatasetFacts facts;
};

class ServiceStream final : public BatchStream {
 public:
  ServiceStream(std::shared_ptr<const ServiceConnection> connection, const Pass& pass)
      : connection_(std::move(connection)), pass_(pass) {}
  bool next(Batch& out) override {
    if (!reader_) open();
    if (!reader_->next(out)) return false;
    ++given_;
    return true;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override {
    if (state.get() != 0)
      throw UnimplementedError(
          "a pass over a data service cannot be continued by another process: the order of its "
          "elements differs; save at the end of an epoch, or restore without the iterator");
  }

 private:
  void open() {
    const service::ReadOptions& options = connection_->options;
    const bool for_spec = pass_.number == kSpecPass;
    reader_ = std::make_unique<ServiceReader>(
        connection_->task, options,
        OpenRequest{for_spec ? own_job() : options.job_name, pass_.number, options.dataset_id,
                    options.processing_mode, value_or_throw(net::random_number()),
                    for_spec ? 0 : options.consumer_index.value_or(0),
                    for_spec ? 0 : options.num_consumers.value_or(0),
                    !for_spec && options.cross_trainer_cache.has_value(),
                    options.target_workers == service::TargetWorkers::Local});
  }

  std::shared_ptr<const ServiceConnection> connection_;
  Pass pass_;
  std::unique_ptr<ServiceReader> reader_;
  int64_t given_ = 0;
};

class ServiceNode final : public CopiedNode<ServiceNode, Node> {
 public:
  explicit ServiceNode(std::shared_ptr<const ServiceConnection> connection)
      : connection_(std::move(connection)) {}
  const char* kind() const override { return "DataService"; }
  int64_t cardinality() const override {
    const bool infinite = connection_->facts.cardinality == kInfiniteCardinality;
    return infinite ? kInfiniteCardinality : kUnknownCardinality;
  }
  ElementSpec element_spec() const override { return spec_of_facts(connection_->facts); }
  bool spec_is_exact() const override { return connection_->facts.spec_is_exact; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<ServiceStream>(connection_, pass);
  }
  /// Each pass is one of the job.
  PassCount* passes() const override { return &passes_; }

 private:
  std::shared_ptr<const ServiceConnection> connection_;
  mutable PassCount passes_;
};

DISTRIBUTE_INLINE void check_read_options(const service::ReadOptions& options) {
  if (options.service.empty())
    throw InvalidArgumentError("data service: give ReadOptions::service, \"host:port\"");
  if (options.dataset_id.empty())
    throw InvalidArgumentError(
        "data service: give ReadOptions::dataset_id, the name under which workers have registered "
        "the dataset");
  if (options.max_outstanding_requests != -1 && options.max_outstanding_requests < 1)
    throw InvalidArgumentError(
        str_cat("data service: max_outstanding_requests must be positive or -1, got ",
                options.max_outstanding_requests));
  if (options.target_workers == service::TargetWorkers::Local && options.num_consumers)
    throw InvalidArgumentError(
        "data service: readers that step together (num_consumers) have the same workers, so that "
        "target_workers cannot be Local");
  if (options.compression == io::Compression::Gzip)
    throw InvalidArgumentError("data service: compression is Auto, None or Zlib, not Gzip");
  if (const auto& cache = options.cross_trainer_cache) {
    if (cache->trainer_id.empty())
      throw InvalidArgumentError("data service: a cross_trainer_cache needs a trainer_id");
    if (options.job_name.empty())
      throw InvalidArgumentError("data service: a cross_trainer_cache needs a job_name");
    if (options.num_consumers)
      throw InvalidArgumentError(
          "data service: readers that step together cannot have a cross_trainer_cache");
  }
  if (options.consumer_index.has_value() != options.num_consumers.has_value())
    throw InvalidArgumentError("data service: give both consumer_index and num_consumers");
  if (!options.num_consumers) return;
  if (options.job_name.empty())
    throw InvalidArgumentError("data service: readers that step together need a job_name");
  if (*options.consumer_index < 0 || *options.consumer_index >= *options.num_consumers)
    throw InvalidArgumentError(str_cat(
        "data service: consumer_index must be in [0, num_consumers = ", *options.num_consumers,
        "), got ", *options.consumer_index));
}

DISTRIBUTE_INLINE Dataset service_dataset(std::shared_ptr<const ServiceConnection> connection,
                                          const service::ReadOptions& options) {
  const Dataset dataset(std::make_shared<ServiceNode>(std::move(connection)));
  if (options.job_name.empty()) return dataset;
  return dataset.with_options(
      {.experimental_distribute = {.auto_shard_policy = AutoShardPolicy::Off}});
}

}  // namespace service_internal

DISTRIBUTE_INLINE Dataset service::from_dataset_id(const ReadOptions& options) {
  service_internal::check_read_options(options);
  return service_internal::service_dataset(
      std::make_shared<const service_internal::ServiceConnection>(options), options);
}

DISTRIBUTE_INLINE std::function<Dataset(const Dataset&)> service::distribute(
    const ReadOptions& options) {
  service_internal::check_read_options(options);
  return [options](const Dataset& dataset) {
    auto connection = std::make_shared<const service_internal::ServiceConnection>(options);
    service_internal::check_same_dataset(
        connection->facts, "the dispatcher (from the first worker)",
        service_internal::facts_of(options.dataset_id, dataset.node()), "this program");
    return service_internal::service_dataset(std::move(connection), options);
  };
}

DISTRIBUTE_INLINE void service::distributed_save(const std::string& dataset_id,
                                                 const std::string& path,
                                                 const std::string& service,
                                                 const SaveOptions& options) {
  service_internal::check_read_options({.service = service, .dataset_id = dataset_id});
  if (path.empty()) throw InvalidArgumentError("distributed_save: the path is empty");
  if (options.compression == io::Compression::Zlib)
    throw InvalidArgumentError("distributed_save: compression is Auto, None or Gzip, not Zlib");
  if (options.chunk_bytes < 1)
    throw InvalidArgumentError(
        str_cat("distributed_save: chunk_bytes must be positive, got ", options.chunk_bytes));
  service_internal::DispatcherCalls calls(service_internal::start_client(options.cluster), service,
                                          options.cluster.startup_timeout);
  calls.call<service_internal::DatasetFacts>(
      "describe", service_internal::DescribeRequest{dataset_id, options.cluster.startup_timeout});
  calls.call<service_internal::SaveAnswer>(
      "save", service_internal::SaveRequest{
                  value_or_throw(net::random_number()),
                  dataset_id,
                  {path, options.compression == io::Compression::Gzip, options.chunk_bytes}});
}

}  // namespace distribute::data
