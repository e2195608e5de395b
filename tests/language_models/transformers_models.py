"""Small language models of transformers with random weights, and what they give.

write DIR    writes the folders gpt2 and llama (config.json, model.safetensors, io.safetensors) and
             answers.json: greedy texts and probabilities of tokens to come
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


def check(directory):
    for name, _ in models():
        model = transformers.AutoModelForCausalLM.from_pretrained(f"{directory}/{name}").eval()
        wanted = load_file(f"{directory}/{name}/io.safetensors")
        with torch.no_grad():
            apart = (model(wanted["x"]).logits - wanted["y"]).abs().max().item()
        print(name, apart)
        if not apart <= 1e-4:
            sys.exit(f"{name}: {apart} apart")


{"write": write, "check": check}[sys.argv[1]](sys.argv[2])
