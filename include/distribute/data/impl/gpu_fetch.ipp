#pragma once
#if DISTRIBUTE_HAS_CUDA
#include <distribute/data/detail/gpu_fetch.hpp>
#include <distribute/data/detail/prefetch.hpp>
#include <distribute/device/detail/cuda_feed.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace distribute::data {

namespace data_internal {

class GpuStream final : public OneToOneStream<Batch> {
 public:
  GpuStream(std::unique_ptr<BatchStream> input, const std::vector<Device>& devices)
      : OneToOneStream(std::move(input)) {
    for (const Device device : devices) feeds_.push_back(std::make_unique<CudaFeed>(device));
    known_.resize(feeds_.size());
  }
  bool next(Batch& out) override {
    Batch host;
    if (!input().next(host)) return false;
    const size_t number = size_t(turn_++) % feeds_.size();
    std::vector<Tensor> components = host.components();
    known_[number].resize(components.size());
    for (size_t c = 0; c < components.size(); ++c)
      components[c] = brought(components[c], *feeds_[number], known_[number][c]);
    out = host.with_components(std::move(components));
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t done = input().skip(count);
    turn_ += done;
    return done;
  }

 private:
  /// Remembers the tensor that a device got last for one component. A dataset that gives the same
  /// memory twice will probably continue so, such as one that is repeated without being shuffled
  /// and fits into a batch. From the third time on the existing copy on the GPU is used again. For
  /// other datasets nothing is kept.
  struct Known {
    std::weak_ptr<Buffer> host;
    int64_t offset_bytes = 0;
    Shape shape;
    Tensor on_gpu;  // set from the second time on
    bool is(const Tensor& tensor) const {
      return host.lock() == tensor.array().buffer && offset_bytes == tensor.array().offset_bytes &&
             shape == tensor.shape();
    }
  };

  static Tensor brought(const Tensor& tensor, CudaFeed& feed, Known& known) {
    if (!tensor || tensor.device() == feed.device()) return tensor;
    const Tensor plain = tensor.to(Device{}).row_major();
    const bool again = known.is(plain);
    if (again && known.on_gpu && known.on_gpu.dtype() == plain.dtype()) return known.on_gpu;
    const int64_t bytes = plain.num_elements() * size_of(plain.dtype());
    const Tensor there(plain.shape(), plain.dtype(),
                       Array{feed.copy(plain.array().bytes(), bytes), 0, nullptr});
    known = {plain.array().buffer, plain.array().offset_bytes, plain.shape(),
             again ? there : Tensor()};
    return there;
  }

  std::vector<std::unique_ptr<CudaFeed>> feeds_;
  std::vector<std::vector<Known>> known_;  // by feed and component
  int64_t turn_ = 0;
};

class GpuCopyNode final : public CopiedNode<GpuCopyNode> {
 public:
  GpuCopyNode(NodePtr input, std::vector<Device> devices)
      : CopiedNode(std::move(input)), devices_(std::move(devices)) {}
  const char* kind() const override { return "CopyToGpus"; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<GpuStream>(input().elements(pass), devices_);
  }

 private:
  std::vector<Device> devices_;
};

/// Does the same for datasets whose positions do not show it.
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
