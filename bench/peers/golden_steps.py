#!/usr/bin/python3
"""How far do ten SGD steps at lr 0.1 stay together? PyTorch in several settings, and our engines, against the golden file that
PyTorch wrote (steps_nesterov.json, steps_plain.json, step9_params.f32, step9_eval_logits.f32).

  golden_steps.py GOLDEN_DIR CIFAR_100_PYTHON_DIR [--build DIR] [--settings NAME,...] [--details]

For each setting: the largest deviation of loss and gradient norm over the ten steps, how many steps stay within 0.1% and 1%
from the first on, and whether the numbers of the file are met to the last bit. --build DIR adds the engines of the
project (DIR/bench/bench_golden_steps); --details prints every step. Every setting runs in a process of its own, since
oneDNN and ATen read their limits when they start."""
import argparse
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np

# name: (threads, environment, options of run_steps). Without mkldnn two threads give the bits of one.
SETTINGS = {
    "1 thread": (1, {}, {}),
    "2 threads": (2, {}, {}),
    "no mkldnn": (1, {}, {"mkldnn": False}),
    "channels-last": (1, {}, {"channels_last": True}),
    "double": (1, {}, {"double": True}),
    "oneDNN for AVX2": (1, {"DNNL_MAX_CPU_ISA": "AVX2"}, {}),
    "ATen for AVX2": (1, {"ATEN_CPU_CAPABILITY": "avx2"}, {}),
}


def run_steps(golden, cifar, nesterov, threads, mkldnn=True, channels_last=False, double=False):
    """The ten steps as the golden file has them, and the logits of the first batch in evaluation mode afterwards."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    from golden import golden_batches, network

    torch.set_num_threads(threads)
    net, batches = network(Path(golden) / "init_seed42.f32"), golden_batches(golden, cifar)
    if double:
        net, batches = net.double(), [(x.double(), y) for x, y in batches]
    if channels_last:
        net = net.to(memory_format=torch.channels_last)
        batches = [(x.to(memory_format=torch.channels_last), y) for x, y in batches]
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=2e-4, nesterov=nesterov)
    steps = []
    with nullcontext() if mkldnn else torch.backends.mkldnn.flags(enabled=False):
        for images, labels in batches:
            optimiser.zero_grad()
            loss = F.cross_entropy(net(images), labels)
            loss.backward()
            norm = float(nn.utils.clip_grad_norm_(net.parameters(), 5.0))
            optimiser.step()
            steps.append({"loss": float(loss), "grad_norm": norm})
        net.eval()
        with torch.no_grad():
            logits = net(batches[0][0]).reshape(-1).tolist()
    return {"steps": steps, "logits": logits}


def in_a_process(command, environment):
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"golden_steps: {' '.join(map(str, command))} failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def within(deviations, limit):
    """How many steps from the first on stay within the limit."""
    return next((i for i, d in enumerate(deviations) if d > limit), len(deviations))


def compare(name, outcome, expected, logits, details):
    loss, norm = ([abs(s[key] / e[key] - 1) for s, e in zip(outcome["steps"], expected)] for key in ("loss", "grad_norm"))
    bits = "yes" if all(s[k] == e[k] for s, e in zip(outcome["steps"], expected) for k in ("loss", "grad_norm")) else "no"
    cells = [name, f"{100 * max(loss):.3g}%", f"{100 * max(norm):.3g}%", within(loss, 1e-3), within(norm, 1e-2), bits]
    if logits is not None:
        distance = np.linalg.norm(np.array(outcome["logits"]) - logits) / np.linalg.norm(logits)
        cells.append(f"{100 * distance:.2g}%")
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    if details:
        print("  loss " + " ".join(f"{100 * d:.1e}%" for d in loss))
        print("  norm " + " ".join(f"{100 * d:.1e}%" for d in norm), flush=True)


def contenders(options, kind):
    chosen = options.settings.split(",,") if options.settings else SETTINGS
    for name in chosen:
        threads, environment, _ = SETTINGS[name]
        command = [sys.executable, __file__, options.golden, options.cifar, "--one", name, kind]
        yield f"PyTorch, {name}", in_a_process(command, environment)
    for engine in options.engines.split(",") if options.build else ():
        program = options.build / "bench" / "bench_golden_steps"
        yield f"`{engine}`", in_a_process([program, engine, options.golden, options.cifar, kind], {})


def main(options):
    if options.one:
        name, kind = options.one
        threads, _, how = SETTINGS[name]
        print(json.dumps(run_steps(options.golden, options.cifar, kind == "nesterov", threads, **how)))
        return
    logits = np.fromfile(Path(options.golden) / "step9_eval_logits.f32", "<f4")
    for kind in ("nesterov", "plain"):
        expected = json.loads((Path(options.golden) / f"steps_{kind}.json").read_text())
        also = kind == "nesterov"
        print(f"\n{kind}: deviation from the golden file over ten steps\n")
        print("| who | loss | gradient norm | steps within 0.1% | steps within 1% | same bits |" + also * " logits after |")
        print("| --- " * (6 + also) + "|")
        for name, outcome in contenders(options, kind):
            compare(name, outcome, expected, logits if also else None, options.details)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden")
    parser.add_argument("cifar")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--engines", default="simd")
    parser.add_argument("--settings", help="only these, separated by two commas")
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    main(parser.parse_args())
