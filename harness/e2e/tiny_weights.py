"""The synthetic weights of π0's preset `tiny` as safetensors, from docs and sizes alone."""
import array
import json
import math
import struct

WIDTHS = {"vlm": (64, 128), "proprio": (32, 64), "action": (32, 64)}
KEY, HEADS = 16, 4 * 16


def parameters():
    """(name, shape, scale, offset) of each, in fp32."""
    yield "embed_tokens.weight", [320, 64], 0.5, 0
    vision = "vision_tower.vision_model."
    patch = vision + "embeddings.patch_embedding"
    yield patch + ".weight", [48, 3, 7, 7], math.sqrt(3 / 147), 0
    yield patch + ".bias", [48], 0.1, 0
    yield vision + "embeddings.position_embedding.weight", [16, 48], 0.5, 0
    for l in range(2):
        layer = f"{vision}encoder.layers.{l}."
        for norm in ("layer_norm1", "layer_norm2"):
            yield from layer_norm(layer + norm)
        for projection in ("q_proj", "k_proj", "v_proj", "out_proj"):
            yield from linear(f"{layer}self_attn.{projection}", 48, 48)
        yield from linear(layer + "mlp.fc1", 96, 48)
        yield from linear(layer + "mlp.fc2", 48, 96)
    yield from layer_norm(vision + "post_layernorm")
    yield from linear("multi_modal_projector.linear", 64, 48)
    for expert in WIDTHS:
        yield from of_expert(expert)
    yield from linear("proprio_encoder", 32, 7)
    yield from linear("action_encoder.linear_1", 32, 7)
    yield from linear("action_encoder.linear_2", 32, 64)
    yield from linear("action_encoder.linear_3", 32, 32)
    yield from linear("action_decoder", 7, 32, 0.3)


def layer_norm(name):
    yield name + ".weight", [48], 0.2, 1
    yield name + ".bias", [48], 0.1, 0


def linear(name, out, into, scale=1.0):
    yield name + ".weight", [out, into], math.sqrt(3 / into) * scale, 0
    yield name + ".bias", [out], 0.1, 0


def of_expert(expert):
    width, mlp = WIDTHS[expert]
    prefix = f"joint_model.mixtures.{expert}."
    for l in range(3):
        layer = f"{prefix}layers.{l}."
        for name, out, into in [("self_attn.q_proj", HEADS, width), ("self_attn.k_proj", KEY, width),
                                ("self_attn.v_proj", KEY, width), ("self_attn.o_proj", width, HEADS),
                                ("mlp.gate_proj", mlp, width), ("mlp.up_proj", mlp, width),
                                ("mlp.down_proj", width, mlp)]:
            yield f"{layer}{name}.weight", [out, into], math.sqrt(3 / into), 0
        for norm in ("input_layernorm", "post_attention_layernorm"):
            yield f"{layer}{norm}.weight", [width], 0.2, 0
    if expert != "vlm":
        yield prefix + "norm.weight", [width], 0.2, 0


def seed_of(name):
    """32-bit FNV-1a."""
    seed = 2166136261
    for byte in name.encode():
        seed = (seed ^ byte) * 16777619 & 0xFFFFFFFF
    return seed


def values(name, shape, scale, offset):
    seed, all_values = seed_of(name), array.array("f")
    for k in range(math.prod(shape)):
        x = k * 0x9E3779B1 + seed & 0xFFFFFFFF
        x = (x ^ x >> 16) * 0x7FEB352D & 0xFFFFFFFF
        x = (x ^ x >> 15) * 0x846CA68B & 0xFFFFFFFF
        x ^= x >> 16
        all_values.append(offset + scale * (x / 2**31 - 1))
    return all_values


def tensors():
    """Name to (shape, bytes)."""
    return {name: (shape, values(name, shape, scale, offset).tobytes())
            for name, shape, scale, offset in parameters()}


def safetensors(named):
    header, data = {}, b""
    for name, (shape, of_tensor) in named.items():
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(of_tensor)]}
        data += of_tensor
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data
