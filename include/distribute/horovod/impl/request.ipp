#pragma once
#include <distribute/horovod/detail/request.hpp>
#include <distribute/net/bytes.hpp>

#include <bit>
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

/// The parts of messages, written and read in the same order.
class MessageWriter {
 public:
  void add(const Terms& terms) {
    out_.number(uint8_t(terms.kind)).number(uint8_t(terms.op)).number(uint8_t(terms.dtype));
    out_.number(terms.process_set).number(terms.root);
    out_.number(std::bit_cast<uint64_t>(terms.prescale));
    out_.number(std::bit_cast<uint64_t>(terms.postscale));
  }
  void add(const std::vector<int64_t>& numbers) {
    out_.number(uint32_t(numbers.size()));
    for (int64_t number : numbers) out_.number(number);
  }
  void add(const std::string& text) { out_.text(text); }
  void add(int32_t number) { out_.number(number); }
  void add(const Arrangement& arrangement) {
    add(arrangement.layout), out_.number(arrangement.elements);
  }
  void add(const Request& request) {
    add(request.terms), add(request.name), add(request.shape), add(request.splits);
    add(request.arrangement), add(request.group), add(request.group_size);
  }
  void add(const Entry& entry) {
    add(entry.name), add(entry.shape), add(entry.sizes), add(entry.arrangement);
  }
  void add(const Response& response) {
    add(response.terms), add_all(response.entries), add(int32_t(response.code));
    add(response.message), add(response.number), add(response.members);
  }
  template <typename T>
  void add_all(const std::vector<T>& values) {
    out_.number(uint32_t(values.size()));
    for (const T& value : values) add(value);
  }
  std::string take() { return out_.take(); }

 private:
  net::ByteWriter out_;
};

class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : in_(bytes) {}

  void get(Terms& terms) {
    terms.kind = Kind(in_.number<uint8_t>());
    terms.op = hvd::Op(in_.number<uint8_t>());
    terms.dtype = DType(in_.number<uint8_t>());
    terms.process_set = in_.number<int32_t>();
    terms.root = in_.number<int32_t>();
    terms.prescale = std::bit_cast<double>(in_.number<uint64_t>());
    terms.postscale = std::bit_cast<double>(in_.number<uint64_t>());
  }
  void get(std::vector<int64_t>& numbers) {
    for (uint32_t left = in_.number<uint32_t>(); left > 0 && in_.ok(); --left)
      numbers.push_back(in_.number<int64_t>());
  }
  void get(std::string& text) { text = in_.text(); }
  void get(int32_t& number) { number = in_.number<int32_t>(); }
  void get(Arrangement& arrangement) {
    get(arrangement.layout);
    arrangement.elements = in_.number<int64_t>();
  }
  void get(Request& request) {
    get(request.terms), get(request.name), get(request.shape), get(request.splits);
    get(request.arrangement), get(request.group), get(request.group_size);
  }
  void get(Entry& entry) {
    get(entry.name), get(entry.shape), get(entry.sizes), get(entry.arrangement);
  }
  void get(Response& response) {
    int32_t code = 0;
    get(response.terms), get_all(response.entries), get(code);
    response.code = StatusCode(code);
    get(response.message), get(response.number), get(response.members);
  }
  template <typename T>
  void get_all(std::vector<T>& values) {
    for (uint32_t left = in_.number<uint32_t>(); left > 0 && in_.ok(); --left)
      get(values.emplace_back());
  }
  template <typename T>
  static std::vector<T> all(std::string_view bytes) {
    MessageReader reader(bytes);
    std::vector<T> values;
    reader.get_all(values);
    if (!reader.in_.finished()) throw InternalError("hvd: a message of the job cannot be read");
    return values;
  }

 private:
  net::ByteReader in_;
};

DISTRIBUTE_INLINE std::string encode(const std::vector<Request>& requests) {
  MessageWriter writer;
  writer.add_all(requests);
  return writer.take();
}
DISTRIBUTE_INLINE std::string encode(const std::vector<Response>& responses) {
  MessageWriter writer;
  writer.add_all(responses);
  return writer.take();
}
DISTRIBUTE_INLINE std::vector<Request> decode_requests(std::string_view bytes) {
  return MessageReader::all<Request>(bytes);
}
DISTRIBUTE_INLINE std::vector<Response> decode_responses(std::string_view bytes) {
  return MessageReader::all<Response>(bytes);
}

}  // namespace distribute::horovod_internal
