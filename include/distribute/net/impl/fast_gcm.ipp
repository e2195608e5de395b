#pragma once
#if DISTRIBUTE_HAS_IPSEC_MB
#include <distribute/net/detail/fast_gcm.hpp>
#include <distribute/net/job_token.hpp>

#include <string_view>

#define NO_COMPAT_IMB_API_053  // old names, some of which are OpenSSL's too
#include <intel-ipsec-mb.h>
#undef NO_COMPAT_IMB_API_053

namespace distribute::net_internal {

struct FastGcm::Impl {
  ~Impl() { ::free_mb_mgr(library); }
  IMB_MGR* library = nullptr;
};

DISTRIBUTE_INLINE std::shared_ptr<const FastGcm> FastGcm::make() {
  auto impl = std::make_unique<Impl>();
  impl->library = ::alloc_mb_mgr(0);
  if (!impl->library) return nullptr;
  ::init_mb_mgr_auto(impl->library, nullptr);
  const bool works = impl->library->gcm128_enc != nullptr;
  if (!works || !(impl->library->features & IMB_FEATURE_VAES)) return nullptr;
  return std::make_shared<const FastGcm>(std::move(impl));
}

DISTRIBUTE_INLINE FastGcm::FastGcm(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DISTRIBUTE_INLINE FastGcm::~FastGcm() = default;

DISTRIBUTE_INLINE std::shared_ptr<const void> FastGcm::make_key(const unsigned char* key) const {
  auto* ready = new gcm_key_data;
  const std::shared_ptr<gcm_key_data> result(ready, [](gcm_key_data* old) {
    ::imb_clear_mem(old, sizeof *old);
    delete old;
  });
  IMB_AES128_GCM_PRE(impl_->library, key, ready);
  return result;
}

DISTRIBUTE_INLINE void FastGcm::seal(const void* key, const GcmNonce& nonce,
                                     std::span<const std::byte> content, unsigned char last,
                                     std::byte* out) const {
  const auto* ready = static_cast<const gcm_key_data*>(key);
  auto* text = reinterpret_cast<unsigned char*>(out);
  gcm_context_data state;
  IMB_AES128_GCM_INIT(impl_->library, ready, &state, nonce.nonce, nonce.header, 5);
  if (!content.empty())
    IMB_AES128_GCM_ENC_UPDATE(impl_->library, ready, &state, text,
                              reinterpret_cast<const unsigned char*>(content.data()),
                              content.size());
  text += content.size();
  IMB_AES128_GCM_ENC_UPDATE(impl_->library, ready, &state, text, &last, 1);
  IMB_AES128_GCM_ENC_FINALIZE(impl_->library, ready, &state, text + 1, 16);
}

DISTRIBUTE_INLINE bool FastGcm::open(const void* key, const GcmNonce& nonce,
                                     std::span<const std::byte> text, std::byte* out,
                                     unsigned char& last) const {
  const auto* ready = static_cast<const gcm_key_data*>(key);
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const size_t content = text.size() - 17;
  unsigned char tag[16];
  gcm_context_data state;
  IMB_AES128_GCM_INIT(impl_->library, ready, &state, nonce.nonce, nonce.header, 5);
  if (content > 0)
    IMB_AES128_GCM_DEC_UPDATE(impl_->library, ready, &state, reinterpret_cast<unsigned char*>(out),
                              bytes, content);
  IMB_AES128_GCM_DEC_UPDATE(impl_->library, ready, &state, &last, bytes + content, 1);
  IMB_AES128_GCM_DEC_FINALIZE(impl_->library, ready, &state, tag, sizeof tag);
  const auto word = [](const unsigned char* at) {
    return std::string_view(reinterpret_cast<const char*>(at), 16);
  };
  return net::equal_in_constant_time(word(tag), word(bytes + content + 1));
}

}  // namespace distribute::net_internal
#endif
