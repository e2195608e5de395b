"""Small language models of transformers with random weights, and what they give.

write DIR    writes the folders gpt2 and llama (config.json, model.safetensors, io.safetensors) and
             answers.json: greedy texts and probabilities of tokens to come
variants DIR writes variants.json: changes of config.json and what they give with the same weights;
             dropout.json: logits in training where all of one kind is dropped;
             and the folder qwen2, whose weights have biases
check DIR    opens the folders that the test wrote and compares the logits

tests/language_models/files holds what `write` made with transformers 5.24 and PyTorch 2.15. Ends
with status 77 where there are no transformers."""
import json
import os
import sys

try:
    import torch
    import transformers
    from safetensors.torch import load_file, save_file
except ImportError:
    sys.exit(77)

PROMPTS = [[5, 17, 3, 9, 30], [7, 7], [21, 4, 36]]


def models():
    torch.manual_seed(11)
    yield "gpt2", transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=40, n_positions=32, n_embd=24, n_layer=2, n_head=3, bos_token_id=0,
        eos_token_id=39))
    yield "llama", transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=40, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32,
        rms_norm_eps=1e-5, bos_token_id=0, eos_token_id=39))


def greedy(model, prompt):
    """Without transformers' generate(), and without a cache."""
    tokens = list(prompt)
    for _ in range(12):
        logits = model(torch.tensor([tokens])).logits[0, -1]
        tokens.append(int(logits.argmax()))
    return tokens


SAMPLINGS = [(1.0, 0, 1.0, 1.0), (0.7, 0, 1.0, 1.0), (1.3, 5, 1.0, 1.0), (1.0, 0, 0.6, 1.0),
             (0.8, 10, 0.9, 1.5), (2.0, 3, 0.2, 0.5), (1.0, 100, 1.0, 1.2)]


def probabilities():
    from transformers.generation import logits_process as processors
    torch.manual_seed(5)
    cases = []
    for temperature, top_k, top_p, penalty in SAMPLINGS:
        logits, sequence = torch.randn(1, 12) * 2, torch.randint(0, 12, (1, 4))
        steps = [processors.RepetitionPenaltyLogitsProcessor(penalty),
                 processors.TemperatureLogitsWarper(temperature)]
        steps += [processors.TopKLogitsWarper(top_k)] if top_k else []
        steps += [processors.TopPLogitsWarper(top_p)] if top_p < 1 else []
        scores = processors.LogitsProcessorList(steps)(sequence, logits.clone())
        cases.append({"temperature": temperature, "top_k": top_k, "top_p": top_p,
                      "repetition_penalty": penalty, "logits": logits[0].tolist(),
                      "sequence": sequence[0].tolist(),
                      "probabilities": scores.softmax(-1)[0].tolist()})
    return cases


def write(directory):
    answers = {"probabilities": probabilities(), "greedy": {}}
    for name, model in models():
        folder = f"{directory}/{name}"
        with torch.no_grad():
            for key, value in model.named_parameters():  # larger than what training begins with
                value.copy_(torch.randn_like(value) * 0.25 + (1 if "norm" in key or ".ln_" in key
                                                              or "ln_f" in key else 0))
            x = torch.randint(0, 40, (3, 9))
            model.eval().save_pretrained(folder)
            save_file({"x": x, "y": model(x).logits.contiguous()}, f"{folder}/io.safetensors")
            answers["greedy"][name] = [greedy(model, prompt) for prompt in PROMPTS]
        for extra in ("generation_config.json",):
            if os.path.exists(f"{folder}/{extra}"):
                os.remove(f"{folder}/{extra}")
    with open(f"{directory}/answers.json", "w", encoding="ascii") as file:
        json.dump(answers, file)


LONG = {"rope_theta": 100.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
VARIANTS = {
    "linear": ("llama", {**LONG, "rope_scaling": {"type": "linear", "factor": 2.5}}),
    "dynamic": ("llama", {**LONG, "rope_scaling": {"type": "dynamic", "factor": 3.0}}),
    "llama3": ("llama", {**LONG, "rope_scaling": LLAMA3, "max_position_embeddings": 64}),
    "llama3 of transformers 5": ("llama", {
        "rope_parameters": {**LLAMA3, **LONG, "low_freq_factor": 0.5},
        "max_position_embeddings": 64}),
    "llama3 with the context of the model": ("llama", {
        **LONG, "rope_scaling": {k: v for k, v in LLAMA3.items() if k[0] != "o"},
        "max_position_embeddings": 64}),
    "yarn": ("llama", {**LONG, "rope_scaling": YARN}),
    "yarn with all options": ("llama", {**LONG, "rope_scaling": {
        **YARN, "beta_fast": 4, "beta_slow": 0.5, "truncate": False, "mscale": 0.7,
        "mscale_all_dim": 1.2}}),
    "yarn with its own attention_factor": ("llama", {
        **LONG, "rope_scaling": {**YARN, "attention_factor": 1.5}}),
    "yarn with the context outside": ("llama", {
        **LONG, "original_max_position_embeddings": 24, "max_position_embeddings": 64,
        "rope_scaling": {"rope_type": "yarn", "factor": None}}),
    "mistral": ("llama", {"model_type": "mistral", "sliding_window": 5,
                          "max_position_embeddings": 64}),
    "mistral without a window": ("llama", {"model_type": "mistral", "sliding_window": None,
                                           "max_position_embeddings": 64}),
    "qwen2": ("qwen2", {"use_sliding_window": False, "sliding_window": 5}),
    "gelu": ("gpt2", {"activation_function": "gelu"}),
    "gelu_fast": ("gpt2", {"activation_function": "gelu_fast"}),
    "gelu_pytorch_tanh": ("gpt2", {"activation_function": "gelu_pytorch_tanh"}),
    "relu": ("gpt2", {"activation_function": "relu"}),
    "swish": ("gpt2", {"activation_function": "swish"}),
    "tanh": ("gpt2", {"activation_function": "tanh"}),
    "no scale": ("gpt2", {"scale_attn_weights": False}),
    "scale of the block": ("gpt2", {"scale_attn_by_inverse_layer_idx": True,
                                    "reorder_and_upcast_attn": True}),
}
STEPS = 48


def qwen2(directory):
    torch.manual_seed(12)
    model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
        vocab_size=40, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
        tie_word_embeddings=True, bos_token_id=0, eos_token_id=39))
    with torch.no_grad():
        for key, value in model.named_parameters():
            value.copy_(torch.randn_like(value) * 0.25 + (1 if "norm" in key else 0))
    model.save_pretrained(f"{directory}/qwen2")
    os.remove(f"{directory}/qwen2/generation_config.json")


def variant(directory, name, scratch):
    """Logits behind some steps, at once and with a cache, and a greedy text with the cache."""
    base, changes = VARIANTS[name]
    with open(f"{directory}/{base}/config.json", encoding="ascii") as file:
        config = json.load(file)
    for key in ("rope_parameters", "dtype", "architectures"):
        config.pop(key, None)
    config.update(changes)
    with open(f"{scratch}/config.json", "w", encoding="ascii") as file:
        json.dump(config, file)
    loaded = transformers.AutoConfig.from_pretrained(scratch, attn_implementation="eager")

    def made():  # "dynamic" remembers the longest sequence, so that each measurement has its own
        return transformers.AutoModelForCausalLM.from_pretrained(
            f"{directory}/{base}", config=loaded, dtype=torch.float32).eval()

    steps = 32 if base == "gpt2" else STEPS
    torch.manual_seed(3)
    x = torch.randint(0, 40, (2, steps))
    picked = [0, 5, steps // 2, steps - 2, steps - 1]
    with torch.no_grad():
        at_once = made()(x).logits[:, picked]
        model, cache, parts = made(), None, []
        for begin, end in ((0, 20), (20, 27)) + tuple((i, i + 1) for i in range(27, steps)):
            out = model(x[:, begin:end], past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            parts.append(out.logits[:, -1])
        text = made().generate(x[:1, :20], attention_mask=torch.ones_like(x[:1, :20]),
                               max_new_tokens=12, do_sample=False, pad_token_id=0,
                               eos_token_id=None)[0].tolist()
    return {"base": base, "config": config, "x": x.tolist(), "picked": picked,
            "logits": at_once.flatten().tolist(), "steps": [20, 7] + [1] * (steps - 27),
            "with_cache": parts[-1].flatten().tolist(), "text": text}


def variants(directory):
    import tempfile
    qwen2(directory)
    with tempfile.TemporaryDirectory() as scratch:
        answers = {name: variant(directory, name, scratch) for name in VARIANTS}
    with open(f"{directory}/variants.json", "w", encoding="ascii") as file:
        json.dump(rounded(answers), file)
    with open(f"{directory}/dropout.json", "w", encoding="ascii") as file:
        json.dump(rounded({key: dropped(directory, key) for key in DROPPED}), file)


DROPPED = {"embd_pdrop": "gpt2", "attn_pdrop": "gpt2", "resid_pdrop": "gpt2",
           "attention_dropout": "llama"}


def dropped(directory, key):
    """Logits in training where all elements of one kind are dropped, and no others."""
    base = DROPPED[key]
    rates = {other: 0.0 for other, of in DROPPED.items() if of == base} | {key: 1.0}
    config = transformers.AutoConfig.from_pretrained(
        f"{directory}/{base}", attn_implementation="eager", **rates)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        f"{directory}/{base}", config=config, dtype=torch.float32).train()
    x = torch.arange(18).reshape(2, 9)
    with torch.no_grad():
        return {"base": base, "logits": model(x).logits.flatten().tolist()}


def rounded(value):
    """Floats with seven digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def check(directory):
    for name, _ in models():
        model = transformers.AutoModelForCausalLM.from_pretrained(f"{directory}/{name}").eval()
        wanted = load_file(f"{directory}/{name}/io.safetensors")
        with torch.no_grad():
            apart = (model(wanted["x"]).logits - wanted["y"]).abs().max().item()
        print(name, apart)
        if not apart <= 1e-4:
            sys.exit(f"{name}: {apart} apart")


{"write": write, "variants": variants, "check": check}[sys.argv[1]](sys.argv[2])
