# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel on CPUs: each replica is one process, and the first replica is rank 0. Also runs as a single
process."""
import json
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

PORT = 2222


def cluster():
    """(rank, number of processes, host of rank 0). Custom containers read CLUSTER_SPEC; Python packages have the same in
    TF_CONFIG."""
    spec = json.loads(os.environ.get("CLUSTER_SPEC") or os.environ.get("TF_CONFIG") or "{}")
    pools = spec.get("cluster", {})
    order = [pool for pool in ("chief", "master", "workerpool0", "worker", "workerpool1") if pool in pools]
    members = [(pool, index, address) for pool in order for index, address in enumerate(pools[pool])]
    if not members:
        return 0, 1, "127.0.0.1"
    task = spec["task"]
    rank = [(pool, index) for pool, index, _ in members].index((task["type"], int(task["index"])))
    return rank, len(members), members[0][2].split(":")[0]


def main():
    rank, count, host = cluster()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://{host}:{PORT}", rank=rank, world_size=count)
    inputs = torch.randn(256, 8)
    targets = inputs @ torch.arange(1.0, 9.0).unsqueeze(1)
    mine = slice(rank, None, count)  # each process has its part of the data
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(100):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs[mine]), targets[mine])
        loss.backward()  # gradients are averaged over all processes here
        optimizer.step()
        if epoch % 20 == 19:
            print(f"rank {rank} of {count}: epoch {epoch + 1}, loss {loss.item():.6f}", flush=True)
    weights = torch.cat([model.module.weight.flatten(), model.module.bias]).detach()
    sums = [torch.zeros(1) for _ in range(count)]
    dist.all_gather(sums, weights.sum().reshape(1))
    assert all(torch.equal(one, sums[0]) for one in sums), sums  # all processes have the same model
    if rank == 0:
        print(f"weights {[round(weight, 2) for weight in model.module.weight.flatten().tolist()]}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
