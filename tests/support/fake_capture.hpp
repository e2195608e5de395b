#pragma once
/// Stream capture as CUDA's driver does it, for the fake GPU: which work is recorded, what may not
/// happen meanwhile, and the graphs that come out.

#include <distribute/device/detail/cuda_driver.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace distribute::testing {

inline constexpr CudaResult kFakeInvalidHandle = 400, kFakeIllegalState = 401,
                            kFakeIllegalAddress = 700, kFakeCaptureUnsupported = 900,
                            kFakeCaptureInvalidated = 901, kFakeCaptureMerge = 902,
                            kFakeCaptureUnmatched = 903, kFakeCaptureUnjoined = 904,
                            kFakeCaptureIsolation = 905, kFakeCapturedEvent = 907,
                            kFakeCaptureWrongThread = 908;
/// No error: the graph's work waits for another GPU's, and is to be resumed.
inline constexpr CudaResult kFakeSuspended = 100000;

/// Streams and events by their handles. Who uses it holds the fake's mutex.
/// Source  "Prohibited and Unhandled Operations" of the CUDA programming guide, cuda.h
class FakeCaptures {
 public:
  using Work = std::function<CudaResult()>;
  enum Mode { kGlobal, kThreadLocal, kRelaxed };

  /// Runs the work, or records it when the stream captures.
  CudaResult submit(CudaHandle stream, Work work) {
    Place* place = find(stream);
    if (!place) return work();
    if (!place->capture->valid) return kFakeCaptureInvalidated;
    place->reached.insert(place->capture->work.size());
    place->capture->work.push_back(std::move(work));
    return kCudaSuccess;
  }
  bool is_capturing(CudaHandle stream) { return find(stream) != nullptr; }
  /// 0: no, 1: yes, 2: yes, but the recording is lost.
  int status(CudaHandle stream) {
    const Place* place = find(stream);
    return !place ? 0 : place->capture->valid ? 1 : 2;
  }

  CudaResult begin(CudaHandle stream, int mode) {
    if (find(stream)) return kFakeIllegalState;
    const auto capture = std::make_shared<Capture>();
    capture->origin = stream;
    capture->mode = Mode(mode);
    places_[stream] = {capture, {}};
    return kCudaSuccess;
  }
  /// `graph` stays null unless all went well; the capture is over in any case but a wrong call's.
  CudaResult end(CudaHandle stream, CudaHandle* graph, CudaHandle handle) {
    *graph = nullptr;
    const Place* place = find(stream);
    if (!place) return kFakeIllegalState;
    const std::shared_ptr<Capture> capture = place->capture;
    if (capture->origin != stream) return lose(*capture, kFakeCaptureUnmatched);
    if (capture->mode != kRelaxed && capture->thread != std::this_thread::get_id())
      return lose(*capture, kFakeCaptureWrongThread);
    const bool joined = place->reached.size() == capture->work.size();
    std::erase_if(places_, [&](const auto& one) { return one.second.capture == capture; });
    capture->over = true;
    if (!capture->valid) return kFakeCaptureInvalidated;
    if (!joined) return kFakeCaptureUnjoined;
    graphs_[*graph = handle] = std::make_shared<std::vector<Work>>(std::move(capture->work));
    return kCudaSuccess;
  }

  CudaResult record_event(CudaHandle event, CudaHandle stream) {
    const Place* place = find(stream);
    if (place && !place->capture->valid) return kFakeCaptureInvalidated;
    events_[event] = place ? *place : Place{};
    return kCudaSuccess;
  }
  CudaResult wait_event(CudaHandle stream, CudaHandle event) {
    Place* place = find(stream);
    if (place && !place->capture->valid) return kFakeCaptureInvalidated;
    const auto found = events_.find(event);
    if (found == events_.end()) return kCudaSuccess;  // never recorded
    const Place& recorded = found->second;
    if (!recorded.capture)
      return place ? lose(*place->capture, kFakeCaptureIsolation) : kCudaSuccess;
    if (recorded.capture->over)
      return place ? lose(*place->capture, kFakeCaptureIsolation) : kFakeCapturedEvent;
    if (!recorded.capture->valid) return kFakeCaptureInvalidated;
    if (place && place->capture != recorded.capture) {
      lose(*recorded.capture, 0);
      return lose(*place->capture, kFakeCaptureMerge);
    }
    if (place)
      place->reached.insert(recorded.reached.begin(), recorded.reached.end());
    else
      places_[stream] = recorded;  // it takes part from now on
    return kCudaSuccess;
  }

  /// The host waits for a stream, or asks whether it is done.
  CudaResult look_at_stream(CudaHandle stream) {
    const Place* place = find(stream);
    return place ? lose(*place->capture, kFakeCaptureUnsupported) : kCudaSuccess;
  }
  CudaResult look_at_event(CudaHandle event) {
    const auto found = events_.find(event);
    if (found == events_.end() || !found->second.capture) return kCudaSuccess;
    return lose(*found->second.capture, kFakeCapturedEvent);
  }
  /// The host waits for everything.
  CudaResult look_at_all() {
    CudaResult result = kCudaSuccess;
    for (const auto& [stream, place] : places_)
      result = lose(*place.capture, kFakeCaptureUnsupported);
    return result;
  }
  /// Calls such as cuMemAlloc, which may wait for the device behind the scenes.
  CudaResult unsafe_call() {
    CudaResult result = kCudaSuccess;
    for (const auto& [stream, place] : places_) {
      const bool own = place.capture->thread == std::this_thread::get_id();
      const Mode mode = place.capture->mode;
      if (mode == kGlobal || (mode == kThreadLocal && own))
        result = lose(*place.capture, kFakeCaptureUnsupported);
    }
    return result;
  }
  void drop_stream(CudaHandle stream) {
    if (const Place* place = find(stream)) lose(*place->capture, 0);
    places_.erase(stream);
  }
  void drop_event(CudaHandle event) { events_.erase(event); }

  CudaResult instantiate(CudaHandle graph, CudaHandle handle, CudaHandle* executable) {
    const auto found = graphs_.find(graph);
    if (found == graphs_.end()) return kFakeInvalidHandle;
    executables_[*executable = handle] = found->second;
    return kCudaSuccess;
  }
  /// In the order of the recording, which is one of those that the streams allow.
  CudaResult launch(CudaHandle executable, CudaHandle stream) {
    const auto found = executables_.find(executable);
    if (found == executables_.end()) return kFakeInvalidHandle;
    return submit(stream,
                  [this, executable, works = found->second] { return run(executable, works, 0); });
  }
  /// Goes on where a launch was suspended.
  CudaResult resume(CudaHandle executable) {
    const auto [works, at] = std::move(suspended_.extract(executable).mapped());
    return run(executable, works, at);
  }
  CudaResult drop_graph(CudaHandle graph) {
    return graphs_.erase(graph) ? kCudaSuccess : kFakeInvalidHandle;
  }
  CudaResult drop_executable(CudaHandle executable) {
    return executables_.erase(executable) ? kCudaSuccess : kFakeInvalidHandle;
  }

 private:
  struct Capture {
    CudaHandle origin = nullptr;
    Mode mode = kGlobal;
    std::thread::id thread = std::this_thread::get_id();
    bool valid = true, over = false;
    std::vector<Work> work = {};
  };
  /// Where a stream is in a capture: what it would wait for.
  struct Place {
    std::shared_ptr<Capture> capture = nullptr;
    std::set<size_t> reached = {};
  };
  using Works = std::shared_ptr<std::vector<Work>>;
  CudaResult run(CudaHandle executable, const Works& works, size_t at) {
    for (; at < works->size(); ++at) {
      const CudaResult result = (*works)[at]();
      if (result == kFakeSuspended) suspended_[executable] = {works, at};
      if (result) return result;
    }
    return kCudaSuccess;
  }
  Place* find(CudaHandle stream) {
    const auto found = places_.find(stream);
    return found == places_.end() ? nullptr : &found->second;
  }
  static CudaResult lose(Capture& capture, CudaResult result) {
    capture.valid = false;
    return result;
  }

  std::map<CudaHandle, Place> places_;  // of streams that capture
  std::map<CudaHandle, Place> events_;  // that were recorded, where
  std::map<CudaHandle, Works> graphs_, executables_;
  std::map<CudaHandle, std::pair<Works, size_t>> suspended_;  // by executable
};

}  // namespace distribute::testing
