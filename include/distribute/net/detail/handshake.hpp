#pragma once
/// How two tasks of a job recognise each other: a mutual HMAC challenge over the job token.
///
///   client  Hello      identity, incarnation, purpose, which task it wants, job, 32 random bytes
///   server  Challenge  32 random bytes
///   client  Proof      HMAC(token, "client" + Hello + Challenge)
///   server  Welcome    its incarnation, HMAC(token, "server" + Hello + Challenge + incarnation)
///   server  Refusal    instead of any of its messages: a status code and a sentence
///
/// The token never travels; the server proves nothing to a client that has not proved to know it.
/// Without a token the same messages go with empty proofs (loopback only, see job_token.hpp).
/// On an encrypted connection (tls.hpp) all this travels inside, and Hello and Challenge count with
/// the connection's binding in front: proofs are worth nothing on another connection.
/// Nothing here does input or output but handshake().

#include <distribute/base/error.hpp>
#include <distribute/net/frame.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace distribute::net {

class TlsContext;

/// Before both sides have proved themselves no message may be longer.
inline constexpr uint64_t kHandshakeFrameBytes = 4096;
inline constexpr uint64_t kHandshakeNameBytes = 256;  // of a task's type, a purpose, a detail
inline constexpr uint64_t kNonceBytes = 32;
/// The messages of the handshake, in their order.
enum class HandshakeFrame : uint16_t { Hello = 1, Challenge, Proof, Welcome, Refusal };

/// One start of one task; the incarnation is drawn anew each time.
struct TaskIdentity {
  std::string type;
  int32_t index = 0;
  uint64_t incarnation = 0;

  /// "worker 2".
  std::string name() const;
  void fields(FieldVisitor& visit) {
    visit("type", type, kHandshakeNameBytes)("index", index)("incarnation", incarnation);
  }
};

/// What a task knows before its first connection.
struct HandshakeConfig {
  TaskIdentity self;
  std::string job;    // describes the cluster; both sides must have the same
  std::string token;  // empty: no authentication
  std::shared_ptr<const TlsContext> tls = nullptr;  // null: connections are not encrypted
  uint16_t version = kProtocolVersion;

  /// Whether strangers are kept out, by the token or by certificates.
  bool authenticates() const { return !token.empty() || tls; }
};

struct HandshakeHello {  // what both sides say first
  TaskIdentity client;
  std::string server_type;  // the task that the client means to reach
  int32_t server_index = 0;
  std::string purpose;  // "member", "data", "rpc": who gets the connection
  std::string detail;   // whatever the purpose needs
  std::string job;
  bool secured = false;
  std::string nonce;

  void fields(FieldVisitor& visit) {
    visit("client", client)("server_type", server_type, kHandshakeNameBytes);
    visit("server_index", server_index)("purpose", purpose, kHandshakeNameBytes);
    visit("detail", detail, kHandshakeNameBytes)("job", job, kHandshakeNameBytes);
    visit("secured", secured)("nonce", nonce, kNonceBytes);
  }
};

struct HandshakeChallenge {  // the server's answer to Hello
  std::string nonce;
  void fields(FieldVisitor& visit) { visit("nonce", nonce, kNonceBytes); }
};

struct HandshakeProof {  // that the client knows the token; empty without one
  std::string proof;
  void fields(FieldVisitor& visit) { visit("proof", proof, kNonceBytes); }
};

struct HandshakeWelcome {  // the server's proof
  uint64_t incarnation = 0;
  std::string proof;
  void fields(FieldVisitor& visit) {
    visit("incarnation", incarnation)("proof", proof, kNonceBytes);
  }
};

struct HandshakeRefusal {  // looks the same in all versions of the protocol
  StatusCode code = StatusCode::Unknown;
  std::string sentence;
  void fields(FieldVisitor& visit) {
    visit("code", code, StatusCode::Unauthenticated)("sentence", sentence, kHandshakeFrameBytes);
  }
};

/// All texts in it are printable but `detail` and `nonce`. Errors  InvalidArgument.
absl::StatusOr<HandshakeHello> parse_hello(std::string_view payload);

/// A Refusal as bytes on the wire, and the Status inside one: never OK, always printable.
std::string encode_refusal(const absl::Status& status, uint16_t version = kProtocolVersion);
absl::Status parse_refusal(std::string_view payload);

/// The accepting side of one connection. Thread-compatible.
class ServerHandshake {
 public:
  /// Asked once the client has proved to know the token; anything but OK refuses it.
  using Admit = std::function<absl::Status(const HandshakeHello&)>;

  /// `config` is borrowed.
  ServerHandshake(const HandshakeConfig& config, Admit admit)
      : config_(&config), admit_(std::move(admit)) {}

  /// Before the first frame: what SecureLayer::binding() of the connection says.
  void bind(std::string binding) { transcript_ = std::move(binding); }
  /// Takes the client's next frame and gives the bytes to answer.
  /// Errors  why the client is refused: tell it with encode_refusal().
  absl::StatusOr<std::string> on_frame(const Frame& frame);
  bool finished() const { return step_ == Step::Finished; }
  /// Says who the client claims to be; proved when finished().
  const HandshakeHello& hello() const { return hello_; }

 private:
  enum class Step { Hello, Proof, Finished };
  absl::StatusOr<std::string> on_hello(const Frame& frame);
  absl::StatusOr<std::string> on_proof(const Frame& frame);

  const HandshakeConfig* config_;
  Admit admit_;
  Step step_ = Step::Hello;
  HandshakeHello hello_;
  std::string transcript_;  // binding, Hello and Challenge as they travelled
};

/// The connecting side of one connection. Thread-compatible.
class ClientHandshake {
 public:
  /// `hello` needs purpose, detail and the server's type and index; the rest comes from `config`,
  /// which is borrowed.
  ClientHandshake(const HandshakeConfig& config, HandshakeHello hello);

  /// As ServerHandshake::bind, before start().
  void bind(std::string binding) { transcript_ = std::move(binding); }
  /// The first bytes to send.
  /// Errors  Internal without random numbers.
  absl::StatusOr<std::string> start();
  /// Takes the server's next frame and gives the bytes to answer, perhaps none.
  /// Errors  the server's refusal; Unauthenticated when it cannot prove itself.
  absl::StatusOr<std::string> on_frame(const Frame& frame);
  bool finished() const { return step_ == Step::Finished; }
  uint64_t server_incarnation() const { return server_incarnation_; }

 private:
  enum class Step { Challenge, Welcome, Finished };
  absl::StatusOr<std::string> on_challenge(const Frame& frame);
  absl::StatusOr<std::string> on_welcome(const Frame& frame);

  const HandshakeConfig* config_;
  Step step_ = Step::Challenge;
  HandshakeHello hello_;
  std::string transcript_;
  uint64_t server_incarnation_ = 0;
};

/// The client's side over a socket, which it encrypts first where `config` says so; gives the
/// server's incarnation.
/// Errors  as ClientHandshake::on_frame, with the server's name; Unavailable; DeadlineExceeded.
absl::StatusOr<uint64_t> handshake(Socket& socket, const HandshakeConfig& config,
                                   const HandshakeHello& hello, Deadline deadline);

}  // namespace distribute::net
