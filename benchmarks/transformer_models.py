"""Small models of the package transformers, as robots use them: for export_networks.py.

Their layers are those of the package; they are fewer and narrower than those of released weights.
"""
import torch
import transformers
from torch import nn

_LAYERS = {"hidden_size": 192, "num_hidden_layers": 4, "num_attention_heads": 3, "intermediate_size": 768}
_WORDS = {"hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 384,
          "vocab_size": 500}
_PATCHES = {**_LAYERS, "image_size": 224, "patch_size": 32}
_RESNET = {"embedding_size": 32, "hidden_sizes": [32, 64, 96, 128], "depths": [1, 1, 1, 1]}


class Part(nn.Module):
    """A model, called with `names` in order; the results are those of `results`."""

    def __init__(self, model, names, results):
        super().__init__()
        self.model, self.names, self.results = model, names, results
        model.config.use_cache = False
        if hasattr(model, "set_attn_implementation"):
            model.set_attn_implementation("eager")

    def forward(self, *inputs):
        found = self.model(**dict(zip(self.names, inputs)))
        return tuple(getattr(found, name) for name in self.results)


def picture(size=224):
    return torch.randn(1, 3, size, size)


def words(count):
    """Numbers of words, and a mask that leaves none of them out."""
    return {"input_ids": torch.randint(0, _WORDS["vocab_size"], (1, count)),
            "attention_mask": torch.ones(1, count, dtype=torch.long)}


def part(model, config, inputs, *results):
    return Part(model(config), list(inputs), results), tuple(inputs.values())


def clip():
    config = transformers.CLIPConfig(text_config=_WORDS, vision_config=_PATCHES)
    return part(transformers.CLIPModel, config, {**words(16), "pixel_values": picture()},
                "text_embeds", "image_embeds")


def depth_anything():
    backbone = transformers.Dinov2Config(
        hidden_size=96, num_hidden_layers=4, num_attention_heads=3, image_size=224, patch_size=14,
        out_features=[f"stage{i}" for i in range(1, 5)], reshape_hidden_states=False, apply_layernorm=True)
    config = transformers.DepthAnythingConfig(
        backbone_config=backbone, reassemble_hidden_size=96, neck_hidden_sizes=[24, 48, 96, 96],
        fusion_hidden_size=32, head_hidden_size=16)
    return part(transformers.DepthAnythingForDepthEstimation, config, {"pixel_values": picture()}, "predicted_depth")


def decision_transformer():
    config = transformers.DecisionTransformerConfig(state_dim=17, act_dim=4, hidden_size=96, n_layer=3, n_head=4)
    sizes = {"states": 17, "actions": 4, "rewards": 1, "returns_to_go": 1}
    inputs = {name: torch.randn(1, 10, size) for name, size in sizes.items()}
    inputs["timesteps"] = torch.arange(10)[None]
    inputs["attention_mask"] = torch.ones(1, 10, dtype=torch.long)
    return part(transformers.DecisionTransformerModel, config, inputs, "action_preds")


def detr():
    config = transformers.DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None,
        backbone_config=transformers.ResNetConfig(**_RESNET, out_features=["stage4"]), d_model=64, num_queries=50,
        **{f"{side}_{name}": value for side in ("encoder", "decoder")
           for name, value in (("layers", 2), ("ffn_dim", 256), ("attention_heads", 4))})
    return part(transformers.DetrForObjectDetection, config, {"pixel_values": picture(256)}, "logits", "pred_boxes")


def dinov2():
    config = transformers.Dinov2Config(**_LAYERS, image_size=224, patch_size=14)
    return part(transformers.Dinov2Model, config, {"pixel_values": picture()}, "last_hidden_state")


def llama():
    config = transformers.LlamaConfig(**_WORDS, num_key_value_heads=2)
    return part(transformers.LlamaForCausalLM, config, words(32), "logits")


def mamba():
    config = transformers.MambaConfig(hidden_size=96, num_hidden_layers=3, vocab_size=500, use_mambapy=False)
    return part(transformers.MambaForCausalLM, config, words(24), "logits")


def owlvit():
    config = transformers.OwlViTConfig(
        text_config=_WORDS, vision_config=_PATCHES, projection_dim=128)
    return part(transformers.OwlViTForObjectDetection, config, {**words(16), "pixel_values": picture()},
                "logits", "pred_boxes")


def sam():
    config = transformers.SamVisionConfig(
        hidden_size=96, num_hidden_layers=4, num_attention_heads=3, mlp_dim=384, image_size=256, output_channels=64,
        global_attn_indexes=[1, 3], window_size=7)
    return part(transformers.SamVisionModel, config, {"pixel_values": picture(256)}, "last_hidden_state")


def segformer():
    config = transformers.SegformerConfig(hidden_sizes=[16, 32, 80, 128], depths=[1, 1, 1, 1], decoder_hidden_size=64)
    return part(transformers.SegformerForSemanticSegmentation, config, {"pixel_values": picture(256)}, "logits")


def siglip():
    config = transformers.SiglipVisionConfig(**_LAYERS, image_size=224, patch_size=16)
    return part(transformers.SiglipVisionModel, config, {"pixel_values": picture()}, "last_hidden_state")


def vitpose():
    backbone = transformers.VitPoseBackboneConfig(
        image_size=[256, 192], patch_size=[16, 16], hidden_size=96, num_hidden_layers=3, num_attention_heads=3,
        out_indices=[3])
    config = transformers.VitPoseConfig(backbone_config=backbone, num_labels=17, use_simple_decoder=True)
    return part(transformers.VitPoseForPoseEstimation, config, {"pixel_values": torch.randn(1, 3, 256, 192)}, "heatmaps")
