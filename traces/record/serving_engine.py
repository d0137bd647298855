"""A transformer of random weights, and an engine that batches requests to it.  serving.py and serving_split.py use them."""
import math

import torch
import torch.nn.functional as F
from torch.nn.attention.bias import causal_lower_right

VOCABULARY, SLOTS, LONGEST, PADDING = 32000, 48, 2048, 64


class Model:
    """Layers of attention and of a feed-forward part, with the cache of keys and values of so many sequences."""

    def __init__(self, width, layers, heads, slots):
        def weight(*sides):
            return torch.randn(*sides, device="cuda", dtype=torch.bfloat16) * 0.02
        self.heads, self.size = heads, width // heads
        self.embedding, self.head = weight(VOCABULARY, width), weight(VOCABULARY, width)
        self.layers = [(weight(3 * width, width), weight(width, width), weight(4 * width, width), weight(width, 4 * width)) for _ in range(layers)]
        self.norm = torch.ones(width, device="cuda", dtype=torch.bfloat16)
        self.cache = [torch.zeros(2, slots, heads, LONGEST, self.size, device="cuda", dtype=torch.bfloat16) for _ in range(layers)]

    def move(self, source, target, length):
        for cache in self.cache:
            cache[:, target, :, :length] = cache[:, source, :, :length].clone()

    def attend_prompt(self, cache, q, k, v, slot, start):
        end = start + q.shape[0]
        cache[0, slot, :, start:end] = k.transpose(0, 1)
        cache[1, slot, :, start:end] = v.transpose(0, 1)
        q = q.transpose(0, 1)[None]
        if start == 0:
            out = F.scaled_dot_product_attention(q, k.transpose(0, 1)[None], v.transpose(0, 1)[None], is_causal=True)
        else:
            out = F.scaled_dot_product_attention(q, cache[0, slot:slot + 1, :, :end], cache[1, slot:slot + 1, :, :end],
                                                 attn_mask=causal_lower_right(q.shape[2], end))
        return out[0].transpose(0, 1)

    def attend_decodes(self, cache, q, k, v, rows, positions, mask):
        count, longest = q.shape[0], mask.shape[-1]
        cache[0, rows, :, positions] = k
        cache[1, rows, :, positions] = v
        out = F.scaled_dot_product_attention(q[:, :, None], cache[0, :count, :, :longest], cache[1, :count, :, :longest],
                                             attn_mask=mask.expand(count, self.heads, 1, longest))
        return out[:, :, 0]

    @torch.no_grad()
    def forward(self, tokens, prompt, slot, start, lengths):
        """The next token of the prompt (meaningless before its end) and of each sequence.  `tokens`: `prompt` of a prompt, for
        the cache's slot `slot` from `start` on, then one of each of the first slots, which hold `lengths` tokens."""
        x = F.embedding(torch.tensor(tokens, device="cuda"), self.embedding)
        if lengths:
            longest = min(LONGEST, PADDING * math.ceil((max(lengths) + 1) / PADDING))
            positions, rows = torch.tensor(lengths, device="cuda"), torch.arange(len(lengths), device="cuda")
            mask = torch.zeros(len(lengths), 1, 1, longest, device="cuda", dtype=torch.bfloat16)
            mask.masked_fill_(torch.arange(longest, device="cuda") > positions[:, None, None, None], float("-inf"))
        for (qkv_weight, out_weight, up, down), cache in zip(self.layers, self.cache):
            qkv = F.linear(F.rms_norm(x, (x.shape[1],), self.norm), qkv_weight).view(-1, 3, self.heads, self.size)
            parts = []
            if prompt:
                parts.append(self.attend_prompt(cache, *qkv[:prompt].unbind(1), slot, start))
            if lengths:
                parts.append(self.attend_decodes(cache, *qkv[prompt:].unbind(1), rows, positions, mask))
            attended = parts[0] if len(parts) == 1 else torch.cat(parts)
            x = x + F.linear(attended.reshape(x.shape[0], -1), out_weight)
            x = x + F.linear(F.gelu(F.linear(F.rms_norm(x, (x.shape[1],), self.norm), up)), down)
        if prompt:
            x = x[prompt - 1:]
        return F.linear(F.rms_norm(x, (x.shape[1],), self.norm), self.head).argmax(-1).tolist()


class Request:
    def __init__(self, arrival, prompt, output):
        self.arrival, self.prompt, self.output = arrival, prompt, output
        self.prefilled = self.made = 0  # tokens in the cache by prefill since it was admitted; tokens made
        self.to_prefill = prompt  # after it was preempted, what it had made, too
        self.first = self.end = None
        self.preempted = 0

    def length(self):
        """Tokens in the cache while it decodes: the latest token made is not in it yet."""
        return self.prompt + self.made - 1


class Engine:
    """Sequences that decode have the first slots, one that is being prefilled the next."""

    def __init__(self, model, policy, parameters, kv_tokens):
        self.model, self.policy, self.parameters, self.kv_tokens = model, policy, parameters, kv_tokens
        self.waiting, self.running, self.prefilling = [], [], None
        self.since_prefill = 0
        self.collecting = True  # a static batch takes requests until its first pass of decoding
        self.passes = []

    def used(self):
        held = sum(request.length() for request in self.running)
        return held + (self.prefilling.to_prefill if self.prefilling else 0)

    def may_admit(self):
        return (self.waiting and len(self.running) < SLOTS - 1 and
                (self.used() + self.waiting[0].to_prefill + len(self.running) + 1 <= self.kv_tokens or not self.running))

    def admit(self):
        self.prefilling = self.waiting.pop(0)
        self.prefilling.prefilled = 0

    def plan(self):
        """Tokens of a prompt to prefill, and whether the running sequences decode; None: nothing to do."""
        policy, decodes = self.policy, bool(self.running)
        if policy == "static":
            if not self.prefilling and self.collecting and self.may_admit():
                self.admit()
            return self.whole_prompt() if self.prefilling else ((0, True) if decodes else None)
        if policy == "decode-first" and decodes and self.since_prefill < self.parameters["every"]:
            return 0, True
        if not self.prefilling and self.may_admit():
            self.admit()
        if self.prefilling and policy == "chunked":
            room = max(1, self.parameters["chunk"] - len(self.running))
            return min(room, self.prefilling.to_prefill - self.prefilling.prefilled), decodes
        return self.whole_prompt() if self.prefilling else ((0, True) if decodes else None)

    def whole_prompt(self):
        return self.prefilling.to_prefill, False

    def move_prompt(self, source, target):
        """What is being prefilled keeps to the slot behind all that decode."""
        if self.prefilling:
            self.model.move(source, target, self.prefilling.prefilled)

    def preempt(self):
        """The request that was admitted last makes room, and is prefilled again with what it has made."""
        while len(self.running) > 1 and self.used() + len(self.running) > self.kv_tokens:
            self.move_prompt(len(self.running), len(self.running) - 1)
            request = self.running.pop()
            if request.end:  # padding of a static batch
                continue
            request.to_prefill, request.preempted = request.prompt + request.made, request.preempted + 1
            self.waiting.insert(0, request)

    def step(self, clock):
        planned = self.plan()
        if planned is None:
            return False
        if planned[1]:
            self.preempt()
            self.collecting = False
        prompt, decodes = planned
        rows = self.running if decodes else []
        tokens = [1] * (prompt + len(rows))
        start = self.prefilling.prefilled if prompt else 0
        made = self.model.forward(tokens, prompt, len(self.running), start, [min(r.length(), LONGEST - 1) for r in rows])
        self.passes.append((prompt, start, len(rows), max((r.length() for r in rows), default=0), clock()))
        self.since_prefill = self.since_prefill + 1 if decodes and not prompt else 0 if prompt else self.since_prefill
        self.account(prompt, rows, clock(), len(made))
        return True

    def account(self, prompt, rows, now, count):
        assert count == len(rows) + (1 if prompt else 0)
        static = self.policy == "static"
        for request in rows:
            if request.made < request.output:
                request.made += 1
                if request.made == request.output:
                    request.end = now
        if prompt:
            request = self.prefilling
            request.prefilled += prompt
            if request.prefilled == request.to_prefill:
                request.made += 1
                request.first = request.first or now
                if request.made == request.output:
                    request.end = now
                self.running.append(request)
                self.prefilling = None
        if static and not all(request.end for request in self.running):
            return
        self.remove_done()

    def remove_done(self):
        """The last sequence takes the slot of one that is done; a prompt that is being prefilled keeps to the slot behind all."""
        old = list(self.running)
        kept = [request for request in old if not request.end]
        if len(kept) == len(old):
            return
        slot = {id(request): index for index, request in enumerate(old)}
        for index in range(len(kept)):
            if old[index].end:
                moved = kept.pop()
                kept.insert(index, moved)
                self.model.move(slot[id(moved)], index, moved.length())
        self.move_prompt(len(old), len(kept))
        self.running = kept
        self.collecting = self.collecting or not kept
