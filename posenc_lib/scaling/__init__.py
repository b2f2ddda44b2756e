"""How RoPE's frequencies change for longer contexts: the rules, and how a checkpoint's config names them.

Below the doors, because `frequencies` takes a rule. Users find all of it in `posenc_lib.rotated`.
"""
