"""Lines as people have them in their shells, scripts and notes: what each is as a job."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.wire.spec import JobSpec
from webapp.torchrun.reader import Reading, parse

S = "/srv/train.py"
LOCAL_RANK = "--local-rank=${local_rank}"

READ: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing but a script": ("torchrun /srv/train.py", {}),
    "values with =": (
        "torchrun --nnodes=2 --nproc-per-node=8 /srv/train.py",
        {"nnodes": "2", "nproc_per_node": 8},
    ),
    "values apart": (
        "torchrun --nnodes 2 --nproc-per-node 8 /srv/train.py",
        {"nnodes": "2", "nproc_per_node": 8},
    ),
    "underscores": (
        "torchrun --nproc_per_node=4 --max_restarts 3 /srv/train.py",
        {"nproc_per_node": 4, "max_restarts": 3},
    ),
    "a range of nodes": (
        "torchrun --nnodes=1:4 --max-restarts=3 /srv/train.py",
        {"nnodes": "1:4", "max_restarts": 3},
    ),
    "a word for the workers": ("torchrun --nproc-per-node gpu /srv/train.py", {"nproc_per_node": "gpu"}),
    "a prefix of a flag": (
        "torchrun --nproc 2 --max 1 --stand /srv/train.py",
        {"nproc_per_node": 2, "max_restarts": 1, "standalone": True},
    ),
    "standalone": (
        "torchrun --standalone --nproc-per-node=2 /srv/train.py",
        {"standalone": True, "nproc_per_node": 2},
    ),
    "a module": (
        "torchrun -m pkg.train --lr 0.1",
        {"script": None, "module": "pkg.train", "args": ("--lr", "0.1")},
    ),
    "a module, long": ("torchrun --module pkg.train", {"script": None, "module": "pkg.train"}),
    "a program": (
        "torchrun --no-python /usr/bin/env FOO=1",
        {"script": "/usr/bin/env", "no_python": True, "start": "exec", "args": ("FOO=1",)},
    ),
    "short options": ("torchrun -r 3 -t0:3 /srv/train.py", {"redirects": "3", "tee": "0:3"}),
    "script's own flags that look like torchrun's": (
        "torchrun /srv/train.py --nnodes 4 -m x",
        {"args": ("--nnodes", "4", "-m", "x")},
    ),
    "two hyphens in front of the script": (
        "torchrun --nnodes 2 -- /srv/train.py --x",
        {"nnodes": "2", "args": ("--x",)},
    ),
    "two hyphens behind the script": ("torchrun /srv/train.py -- --x", {"args": ("--x",)}),
    "quotes": (
        "torchrun /srv/train.py --name 'a b' --json '{\"a\": 1}'",
        {"args": ("--name", "a b", "--json", '{"a": 1}')},
    ),
    "double quotes": ('torchrun /srv/train.py "a \\"b\\" \\$c"', {"args": ('a "b" $c',)}),
    "an escaped blank": ("torchrun /srv/train.py a\\ b", {"args": ("a b",)}),
    "quotes within a word": ("torchrun /srv/train.py --a='x y'z", {"args": ("--a=x yz",)}),
    "a dollar quote": ("torchrun /srv/train.py $'a\\tb'", {"args": ("a\tb",)}),
    "an empty argument": ("torchrun /srv/train.py ''", {"args": ("",)}),
    "torch's own macro": (
        "torchrun /srv/train.py '--rank=${local_rank}'",
        {"args": ("--rank=${local_rank}",)},
    ),
    "line continuations": (
        "torchrun \\\n  --nnodes=2 \\\n  /srv/train.py \\\n  --lr 1",
        {"nnodes": "2", "args": ("--lr", "1")},
    ),
    "continuations with blanks behind them": (
        "torchrun \\  \n --nnodes=2 \\\t\n /srv/train.py",
        {"nnodes": "2"},
    ),
    "continuations from Windows": ("torchrun \\\r\n  --nnodes=2 /srv/train.py\r\n", {"nnodes": "2"}),
    "comments": ("# two nodes\ntorchrun --nnodes=2 /srv/train.py # go\n", {"nnodes": "2"}),
    "a hash within a word": ("torchrun /srv/train.py a#b", {"args": ("a#b",)}),
    "blanks that do not break, from a web page": (
        "torchrun\u00a0--nnodes\u00a02 /srv/train.py",
        {"nnodes": "2"},
    ),
    "a prompt": ("$ torchrun --nnodes 2 /srv/train.py", {"nnodes": "2"}),
    "variables in front": (
        "OMP_NUM_THREADS=4 A='x y' torchrun /srv/train.py",
        {"env": {"OMP_NUM_THREADS": "4", "A": "x y"}},
    ),
    "env in front": ("env -u B A=1 torchrun /srv/train.py", {"env": {"A": "1"}}),
    "exports before": (
        "export A=1 B=2 && export C=3; torchrun /srv/train.py",
        {"env": {"A": "1", "B": "2", "C": "3"}},
    ),
    "a variable exported later": ("A=1\nB=2\nexport A\ntorchrun /srv/train.py", {"env": {"A": "1"}}),
    "an unset variable": ("export A=1 B=2; unset A; torchrun /srv/train.py", {"env": {"B": "2"}}),
    "an empty variable": (
        "CUDA_VISIBLE_DEVICES= torchrun /srv/train.py",
        {"env": {"CUDA_VISIBLE_DEVICES": ""}},
    ),
    "a folder": ("cd /srv && torchrun train.py", {"script": "train.py", "workdir": "/srv"}),
    "folders within folders": (
        "cd /srv/a; cd ../b; torchrun train.py",
        {"script": "train.py", "workdir": "/srv/b"},
    ),
    "the folder by a variable": (
        "cd /srv && torchrun train.py --out $PWD/out",
        {"script": "train.py", "workdir": "/srv", "args": ("--out", "/srv/out")},
    ),
    "the folder by a command": (
        "cd /srv && torchrun train.py --out $(pwd)/out",
        {"script": "train.py", "workdir": "/srv", "args": ("--out", "/srv/out")},
    ),
    "variables of the text": (
        "N=4\nLR=0.1\ntorchrun --nnodes $N /srv/train.py --lr=${LR}",
        {"nnodes": "4", "args": ("--lr=0.1",)},
    ),
    "a variable of several words": (
        'A="--x 1 --y 2"\ntorchrun /srv/train.py $A "$A"',
        {"args": ("--x", "1", "--y", "2", "--x 1 --y 2")},
    ),
    "arrays": (
        "D=(--nproc_per_node 8\n  --nnodes 2)\nM=(\n  --layers 24 # deep\n  --name 'a "
        'b\'\n)\ntorchrun ${D[@]} /srv/train.py "${M[@]}"',
        {"nnodes": "2", "nproc_per_node": 8, "args": ("--layers", "24", "--name", "a b")},
    ),
    "an array that grows": (
        "A=(--x)\nA+=(--y 2)\ntorchrun /srv/train.py ${A[*]}",
        {"args": ("--x", "--y", "2")},
    ),
    "a whole path to torchrun": ("/opt/venv/bin/torchrun /srv/train.py", {"python": "/opt/venv/bin/python"}),
    "an environment that is activated": (
        "source /opt/venv/bin/activate\ntorchrun /srv/train.py",
        {"python": "/opt/venv/bin/python"},
    ),
    "as a module of Python": ("python -m torch.distributed.run --nnodes=2 /srv/train.py", {"nnodes": "2"}),
    "as a module of a certain Python": (
        "/opt/py/bin/python3.12 -u -m torch.distributed.run /srv/train.py",
        {"python": "/opt/py/bin/python3.12"},
    ),
    "a Python by its version": (
        "python3.11 -m torch.distributed.run /srv/train.py",
        {"python": "python3.11"},
    ),
    "another Python for the workers": ("PYTHON_EXEC=/opt/x torchrun /srv/train.py", {"python": "/opt/x"}),
    "the old launcher": (
        "python -m torch.distributed.launch --nproc_per_node=2 /srv/train.py --x",
        {"nproc_per_node": 2, "args": (LOCAL_RANK, "--x")},
    ),
    "the old launcher without its argument": (
        "python -m torch.distributed.launch --use_env --nproc_per_node=2 /srv/train.py",
        {"nproc_per_node": 2},
    ),
    "the old launcher for several nodes": (
        "python3 -m torch.distributed.launch --use-env --nproc_per_node=8 --nnodes=2 "
        "--node_rank=0 --master_addr=10.0.0.1 --master_port=1234 /srv/train.py",
        {"nproc_per_node": 8, "nnodes": "2"},
    ),
    "the launcher as a file": (
        "python /opt/lib/torch/distributed/run.py --nnodes 2 /srv/train.py",
        {"nnodes": "2"},
    ),
    "a rendezvous": (
        "torchrun --nnodes=2 --rdzv-id=1 --rdzv-backend=c10d --rdzv-endpoint=node-1:29400 "
        "--rdzv-conf=join_timeout=60,read_timeout=9 /srv/train.py",
        {
            "nnodes": "2",
            "rdzv_endpoint": "node-1:29400",
            "rdzv_conf": {"join_timeout": "60", "read_timeout": "9"},
        },
    ),
    "etcd": (
        "torchrun --rdzv-backend=etcd --rdzv-endpoint=etcd-1:2379 /srv/train.py",
        {"rdzv_backend": "etcd", "rdzv_endpoint": "etcd-1:2379"},
    ),
    "an endpoint without a backend": (
        "torchrun --nnodes=2 --rdzv-endpoint=node-1:29400 /srv/train.py",
        {"nnodes": "2", "rdzv_backend": "static", "rdzv_endpoint": "node-1:29400"},
    ),
    "places that SLURM gives": (
        "torchrun --nnodes=2 --node_rank=$SLURM_PROCID --master_addr=$HEAD "
        "--master_port=$RANDOM /srv/train.py",
        {"nnodes": "2"},
    ),
    "torchrun's own variables": (
        "PET_NNODES=2 PET_MAX_RESTARTS=3 PET_STANDALONE=0 torchrun /srv/train.py",
        {"nnodes": "2", "max_restarts": 3, "standalone": False},
    ),
    "a flag against its variable": ("PET_NNODES=2 torchrun --nnodes=3 /srv/train.py", {"nnodes": "3"}),
    "torchrun's variables, exported": (
        "export PET_NPROC_PER_NODE=4\ntorchrun /srv/train.py",
        {"nproc_per_node": 4},
    ),
    "settings that have no flag": (
        "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE='[${rank}] ' torchrun /srv/train.py",
        {"log_line_prefix_template": "[${rank}] "},
    ),
    "what few need": (
        "torchrun --role=actor --monitor-interval=5 --shutdown-timeout=60 "
        "--signals-to-handle=SIGTERM --event-log-handler=console "
        "--local-ranks-filter=0 --duplicate-stdout-filters=loss,a,,b --virtual-local-rank "
        "--start-method=fork /srv/train.py",
        {
            "role": "actor",
            "monitor_interval": 5.0,
            "shutdown_timeout": 60.0,
            "signals_to_handle": "SIGTERM",
            "event_log_handler": "console",
            "local_ranks_filter": "0",
            "duplicate_stdout_filters": ("loss", "a,b"),
            "virtual_local_rank": True,
            "start_method": "fork",
        },
    ),
    "bound to NUMA nodes": (
        "torchrun --numa-binding node /srv/train.py",
        {"numa_binding": "node", "start": "exec"},
    ),
    "srun": (
        "srun -N 4 --ntasks-per-node=1 torchrun --nnodes 4 --nproc-per-node 8 /srv/train.py",
        {"nnodes": "4", "nproc_per_node": 8},
    ),
    "a batch script of SLURM": (
        "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:a100:8\nset -euo pipefail\nexport "
        "NCCL_DEBUG=WARN\n"
        "srun torchrun --nnodes $SLURM_JOB_NUM_NODES --nproc_per_node ${SLURM_GPUS_ON_NODE} /srv/train.py\n",
        {"nnodes": "4", "nproc_per_node": 8, "env": {"NCCL_DEBUG": "WARN"}},
    ),
    "sbatch --wrap": ('sbatch -N 2 --wrap="torchrun --nnodes=2 /srv/train.py"', {"nnodes": "2"}),
    "mpirun": (
        "mpirun -np 2 -H a,b -x NCCL_DEBUG=INFO torchrun --nnodes=2 /srv/train.py",
        {"nnodes": "2", "env": {"NCCL_DEBUG": "INFO"}},
    ),
    "bash -c": (
        "bash -lc 'cd /srv && A=1 torchrun --nnodes=2 train.py'",
        {"nnodes": "2", "script": "train.py", "workdir": "/srv", "env": {"A": "1"}},
    ),
    "ssh": ('ssh node-1 "torchrun --nnodes=2 /srv/train.py"', {"nnodes": "2"}),
    "sudo, nohup, time": ("sudo -E nohup time torchrun --nnodes=2 /srv/train.py", {"nnodes": "2"}),
    "a container": (
        "docker run --gpus all -e A=1 -w /srv image:1 torchrun --nnodes=2 train.py",
        {"nnodes": "2", "script": "train.py", "workdir": "/srv", "env": {"A": "1"}},
    ),
    "in the background, into a file": (
        "nohup torchrun --nnodes=2 /srv/train.py > log.txt 2>&1 &",
        {"nnodes": "2"},
    ),
    "into a pipe": ("torchrun --nnodes=2 /srv/train.py 2>&1 | tee log.txt", {"nnodes": "2"}),
    "other commands around it": (
        "mkdir -p /out\ntorchrun --nnodes=2 /srv/train.py\npython /srv/eval.py",
        {"nnodes": "2"},
    ),
    "in brackets": (
        "(cd /srv; torchrun --nnodes=2 train.py) &",
        {"nnodes": "2", "script": "train.py", "workdir": "/srv"},
    ),
    "both nodes' lines": (
        "torchrun --nnodes=2 --node-rank=0 /srv/train.py\ntorchrun --nnodes=2 --node-rank=1 /srv/train.py",
        {"nnodes": "2"},
    ),
    "a default for a variable": ("torchrun --nnodes=${NNODES:-2} /srv/train.py", {"nnodes": "2"}),
    "no torchrun at all": ("python -u /srv/train.py --x", {"args": ("--x",)}),
    "a negative number": ("torchrun /srv/train.py --seed -1", {"args": ("--seed", "-1")}),
}


@pytest.mark.parametrize("name", READ)
def test_a_line_is_read_as_the_job_that_it_is(name: str) -> None:
    line, fields = READ[name]
    reading = parse(line)
    assert reading.problems == ()
    assert reading.spec == replace(JobSpec(script=S), **fields)


PROBLEMS: dict[str, tuple[str, str, str]] = {
    "nothing": ("", "", "There is no torchrun in this text"),
    "something else": ("ls -l", "", "There is no torchrun in this text"),
    "no script": ("torchrun --nnodes 2", "torchrun", "No script follows"),
    "no module": ("torchrun -m", "torchrun", "No script follows"),
    "an unknown flag": (
        "torchrun --foo 3 /srv/train.py",
        "--foo",
        "torchrun has no flag --foo. Put it behind the script",
    ),
    "a flag with a typing error": (
        "torchrun --nproc-per-nodes=2 /srv/train.py",
        "--nproc-per-nodes",
        "Write --nproc-per-node.",
    ),
    "a flag with one hyphen": ("torchrun -nnodes=2 /srv/train.py", "-nnodes", "Write --nnodes."),
    "a long dash": (
        "torchrun —nnodes=2 /srv/train.py",
        "—nnodes",
        "a long dash where two hyphens belong: write --nnodes.",
    ),
    "a prefix of two flags": ("torchrun --rdzv-e=a --m=3 /srv/train.py", "--m", "may be --"),
    "a flag without its value": ("torchrun --nnodes", "--nnodes", "needs a value"),
    "a flag in place of a value": (
        "torchrun --nnodes --standalone /srv/train.py",
        "--nnodes",
        "needs a value",
    ),
    "a switch with a value": ("torchrun --standalone=1 /srv/train.py", "--standalone", "It takes no value"),
    "a word in place of a number": (
        "torchrun --max-restarts=many /srv/train.py",
        "--max-restarts",
        "Write a whole number.",
    ),
    "a number that cannot be": (
        "torchrun --max-restarts=-1 /srv/train.py",
        "--max-restarts",
        "Write 0 or more",
    ),
    "a range that is upside down": ("torchrun --nnodes=4:2 /srv/train.py", "--nnodes", "Write 2:4."),
    "a word that is none of those": (
        "torchrun --nproc-per-node=xpu /srv/train.py",
        "--nproc-per-node",
        "auto, gpu or cpu",
    ),
    "a start method that is none": (
        "torchrun --start-method=thread /srv/train.py",
        "--start-method",
        "spawn, fork or forkserver",
    ),
    "a conf without a value": ("torchrun --rdzv-conf=timeout /srv/train.py", "--rdzv-conf", "key=value"),
    "a conf of nobody": (
        "torchrun --rdzv-conf=foo=1 /srv/train.py",
        "--rdzv-conf",
        "which c10d does not know",
    ),
    "the old etcd": (
        "torchrun --rdzv-backend=etcd-v2 --rdzv-endpoint=a /srv/train.py",
        "--rdzv-backend",
        "v2 API",
    ),
    "a backend of nobody": ("torchrun --rdzv-backend=zeus /srv/train.py", "--rdzv-backend", "Write one of"),
    "static with a range": (
        "torchrun --nnodes=1:2 --rdzv-backend=static /srv/train.py",
        "--nnodes",
        "fixed number of nodes",
    ),
    "standalone and an endpoint": (
        "torchrun --standalone --rdzv-endpoint=a /srv/train.py",
        "--rdzv-endpoint",
        "no effect",
    ),
    "standalone on two nodes": (
        "torchrun --standalone --nnodes=2 /srv/train.py",
        "--nnodes",
        "standalone is one node",
    ),
    "a flag twice": (
        "torchrun --nnodes=1 --nnodes=2 /srv/train.py",
        "--nnodes",
        "given twice, as 1 and as 2",
    ),
    "a module as a program": ("torchrun --no-python -m pkg.train", "--no-python", "A module needs Python"),
    "the old launcher with a program": (
        "python -m torch.distributed.launch --no_python /srv/train",
        "--no_python",
        "--use-env",
    ),
    "an unknown variable": (
        "torchrun --nnodes=$NODES /srv/train.py",
        "$NODES",
        "NODES is not set in this text",
    ),
    "an unknown variable in an argument": (
        "torchrun /srv/train.py --data ${DATA}/x",
        "${DATA}",
        "DATA is not set",
    ),
    "an unknown variable in env": (
        "PYTHONPATH=.:$PYTHONPATH torchrun /srv/train.py",
        "$PYTHONPATH",
        "is not set in this text",
    ),
    "a command's output": (
        "torchrun --nnodes=$(wc -l < hosts) /srv/train.py",
        "$(wc -l < hosts)",
        "output of a command",
    ),
    "a command's output in backquotes": ("torchrun /srv/train.py `date`", "`date`", "output of a command"),
    "other arguments": ('torchrun /srv/train.py "$@"', "$@", "Only the script that this line is from"),
    "a home folder": ("torchrun ~/train.py", "~", "home folder"),
    "names of files": ("torchrun /srv/train.py *.txt", "*", "names of files"),
    "an open quote": ("torchrun /srv/train.py 'a", "'", "never closed"),
    "a relative script": ("torchrun train.py", "train.py", "relative path"),
    "a relative folder": ("cd src && torchrun /srv/train.py", "src", "where it begins is not known"),
    "a wrapper of nobody": ("mylauncher torchrun /srv/train.py", "mylauncher", "is not known"),
    "accelerate": ("accelerate launch --num_processes 2 /srv/train.py", "accelerate", "Write what that does"),
    "deepspeed": ("deepspeed --num_gpus 2 /srv/train.py", "deepspeed", "write torchrun"),
    "a second job": ("torchrun /srv/a.py\ntorchrun /srv/b.py", "torchrun", "a second torchrun"),
    "a value that doubles itself": (
        "B=x;" + "A=$B$B;B=$A$A;" * 12 + "torchrun /srv/train.py $B",
        "$B",
        "too long",
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_wrong_is_named_at_its_place(name: str) -> None:
    line, flag, says = PROBLEMS[name]
    reading = parse(line)
    told = [one for one in reading.problems if one.flag == flag and says in one.message]
    assert told, reading.problems
    assert line[told[0].position :].startswith(flag)


NOTES: dict[str, tuple[str, str, str]] = {
    "an id": ("torchrun --rdzv_id=$RANDOM /srv/train.py", "--rdzv_id", "an id of its own"),
    "a rank": ("torchrun --node-rank=1 /srv/train.py", "--node-rank", "It is left out here."),
    "a folder for logs": ("torchrun --log-dir=/x /srv/train.py", "--log-dir", "kept on its node"),
    "a file for output": ("torchrun /srv/train.py > log", "> log", "goes into no other file"),
    "both streams": ("torchrun /srv/train.py 2>&1", "2>&1", "goes into no other file"),
    "the background": ("torchrun /srv/train.py &", "&", "never holds up a terminal"),
    "a pipe": ("torchrun /srv/train.py | tee x", "tee x", "goes into no other file"),
    "srun": ("srun -N 4 torchrun /srv/train.py", "srun -N 4", "srun was told 4."),
    "a container": ("docker run image torchrun /srv/train.py", "docker run image", "on the nodes themselves"),
    "an option of Python": ("python -O -m torch.distributed.run /srv/train.py", "-O", "not of the workers'"),
    "a variable of torchrun": ("PET_NNODES=2 torchrun /srv/train.py", "PET_NNODES", "it is nnodes now"),
    "a default": ("torchrun --nnodes=${N:-2} /srv/train.py", "${N:-2}", "its default '2' is taken"),
    "a number of SLURM": (
        "srun -N 3 torchrun --nnodes=$SLURM_NNODES /srv/train.py",
        "$SLURM_NNODES",
        "SLURM_NNODES is 3",
    ),
    "an environment": (
        "conda activate x\ntorchrun /srv/train.py",
        "conda activate x",
        "interpreter in python",
    ),
    "a loop": ("for i in 1 2\ndo torchrun /srv/train.py\ndone", "for i in", "are not followed"),
    "another command": ("mkdir x\ntorchrun /srv/train.py", "mkdir x", "not carried out"),
    "the other node": (
        "torchrun --node-rank=0 /srv/a.py; torchrun --node-rank=1 /srv/a.py",
        "torchrun",
        "on another node",
    ),
    "the old launcher's argument": (
        "python -m torch.distributed.launch /srv/a.py",
        "python",
        "the first of args",
    ),
    "static": ("torchrun --rdzv-endpoint=a /srv/train.py", "--rdzv-endpoint", "takes static"),
}


@pytest.mark.parametrize("name", NOTES)
def test_what_is_left_out_is_said_at_its_place(name: str) -> None:
    line, flag, says = NOTES[name]
    told = [one for one in parse(line).stripped if one.flag == flag and says in one.message]
    assert told, parse(line).stripped
    assert line[told[0].position :].startswith(flag)


def test_a_relative_script_is_below_the_folder_in_which_the_line_is_typed() -> None:
    assert parse("torchrun train.py", workdir="/home/anna") == Reading(
        JobSpec(script="train.py", workdir="/home/anna")
    )


def test_places_are_those_of_the_pasted_text_also_within_quotes() -> None:
    line = "bash -c 'torchrun --foo /srv/train.py'"
    (problem,) = parse(line).problems
    assert line[problem.position : problem.position + problem.length] == "--foo"
