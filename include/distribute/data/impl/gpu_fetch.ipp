#pragma once
#if DISTRIBUTE_HAS_CUDA
#include <distribute/data/detail/gpu_fetch.hpp>
#include <distribute/data/prefetch.hpp>
#include <distribute/device/detail/cuda_feed.hpp>

#include <utility>

namespace distribute::data {

namespace data_internal {

class GpuStream final : public OneToOneStream<Batch> {
 public:
  GpuStream(std::unique_ptr<BatchStream> input, const std::vector<Device>& devices)
      : OneToOneStream(std::move(input)) {
    for (const Device device : devices) feeds_.push_back(std::make_unique<CudaFeed>(device));
  }
  bool next(Batch& out) override {
    Batch host;
    if (!input().next(host)) return false;
    CudaFeed& feed = *feeds_[size_t(turn_++) % feeds_.size()];
    std::vector<Tensor> components = host.components();
    for (Tensor& component : components) component = brought(component, feed);
    out = host.with_components(std::move(components));
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t done = input().skip(count);
    turn_ += done;
    return done;
  }

 private:
  static Tensor brought(const Tensor& tensor, CudaFeed& feed) {
    if (!tensor || tensor.device() == feed.device()) return tensor;
    const Tensor plain = tensor.to(Device{}).row_major();
    const int64_t bytes = plain.num_elements() * size_of(plain.dtype());
    return Tensor(plain.shape(), plain.dtype(),
                  Array{feed.copy(plain.array().bytes(), bytes), 0, nullptr});
  }

  std::vector<std::unique_ptr<CudaFeed>> feeds_;
  int64_t turn_ = 0;
};

class GpuCopyNode final : public OneInputNode {
 public:
  GpuCopyNode(NodePtr input, std::vector<Device> devices)
      : OneInputNode(std::move(input)), devices_(std::move(devices)) {}
  const char* kind() const override { return "CopyToGpus"; }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<GpuCopyNode>(inputs.at(0), devices_);
  }
  int64_t cardinality() const override { return input().cardinality(); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<GpuStream>(input().elements(pass), devices_);
  }

 private:
  std::vector<Device> devices_;
};

/// The same, where positions do not show it.
class FetchToGpusNode final : public OneInputNode {
 public:
  FetchToGpusNode(NodePtr input, std::vector<Device> devices, bool ahead)
      : OneInputNode(std::move(input)), devices_(std::move(devices)), ahead_(ahead) {
    copies_ = std::make_shared<GpuCopyNode>(inputs()[0], devices_);
    if (ahead) copies_ = prefetch_node(copies_, int64_t(devices_.size()));
  }
  const char* kind() const override { return "FetchToGpus"; }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return fetch_to_gpus_node(inputs.at(0), devices_, ahead_);
  }
  bool is_in_positions() const override { return false; }
  int64_t cardinality() const override { return input().cardinality(); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return copies_->elements(pass);
  }

 private:
  std::vector<Device> devices_;
  bool ahead_;
  NodePtr copies_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr fetch_to_gpus_node(NodePtr input, std::vector<Device> devices,
                                             bool ahead) {
  return std::make_shared<data_internal::FetchToGpusNode>(std::move(input), std::move(devices),
                                                          ahead);
}

}  // namespace distribute::data
#endif
