#pragma once
#include <distribute/horovod/detail/request.hpp>

#include <functional>
#include <numeric>

namespace distribute::horovod_internal {

DISTRIBUTE_INLINE const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::Allreduce: return "allreduce";
    case Kind::Allgather: return "allgather";
    case Kind::Broadcast: return "broadcast";
    case Kind::Alltoall: return "alltoall";
    case Kind::Reducescatter: return "reducescatter";
    case Kind::Barrier: return "barrier";
    case Kind::Join: return "join";
    case Kind::AddProcessSet: return "add_process_set";
    case Kind::RemoveProcessSet: return "remove_process_set";
  }
  return "?";
}

DISTRIBUTE_INLINE std::string numbers_text(const std::vector<int64_t>& numbers) {
  std::string text;
  for (int64_t number : numbers) text += str_cat(text.empty() ? "" : ", ", number);
  return "[" + text + "]";
}

DISTRIBUTE_INLINE std::string to_string(const Request& request) {
  const Terms& terms = request.terms;
  std::string text = name_of(terms.kind);
  const bool sets = terms.kind == Kind::AddProcessSet || terms.kind == Kind::RemoveProcessSet;
  if (sets) return str_cat(text, " ", numbers_text(request.splits));
  if (terms.kind == Kind::Barrier || terms.kind == Kind::Join) return text;
  if (terms.kind == Kind::Allreduce || terms.kind == Kind::Reducescatter)
    text += str_cat("(", hvd::name_of(terms.op), ")");
  text += str_cat(" of ", distribute::name_of(terms.dtype), " ", numbers_text(request.shape));
  if (terms.kind == Kind::Broadcast) text += str_cat(" from rank ", terms.root);
  if (terms.prescale != 1) text += str_cat(", prescale_factor ", terms.prescale);
  if (terms.postscale != 1) text += str_cat(", postscale_factor ", terms.postscale);
  return text;
}

DISTRIBUTE_INLINE int64_t elements_of(const Entry& entry) {
  if (!entry.arrangement.layout.empty()) return entry.arrangement.elements;
  return std::accumulate(entry.shape.begin(), entry.shape.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace distribute::horovod_internal
