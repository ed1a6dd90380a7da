"""Reads a data set of the Hub at HF_ENDPOINT in every way that people read one, and prints what each way found as JSON."""
import json
import os
import sys

import datasets
import duckdb
import pandas
import polars
from huggingface_hub import HfApi, hf_hub_download, snapshot_download

name, cache, missing = sys.argv[1], sys.argv[2], sys.argv[3]
datasets.disable_progress_bars()
api = HfApi()
info = api.dataset_info(name)
files = [sibling.rfilename for sibling in info.siblings]
data = [file for file in files if file.endswith(".parquet")]
endpoint, token = os.environ["HF_ENDPOINT"], os.environ["HF_TOKEN"]
url = f"{endpoint}/datasets/{name}/resolve/main/{data[0]}"

rows = datasets.load_dataset(name, cache_dir=cache)["train"]
streamed = list(datasets.load_dataset(name, streaming=True, cache_dir=cache)["train"])
one = hf_hub_download(name, data[0], repo_type="dataset", cache_dir=f"{cache}/one")
whole = snapshot_download(name, repo_type="dataset", cache_dir=f"{cache}/whole")
pinned = datasets.load_dataset(name, revision=info.sha, cache_dir=cache)["train"]
found = {
    "files": files,
    "sha": info.sha,
    "tree": sorted(entry.path for entry in api.list_repo_tree(name, repo_type="dataset", recursive=True)),
    "refs": [ref.target_commit for ref in api.list_repo_refs(name, repo_type="dataset").branches],
    "paths": [entry.path for entry in api.get_paths_info(name, [data[0], "none"], repo_type="dataset")],
    "rows": [dict(row) for row in rows],
    "features": {key: str(feature) for key, feature in rows.features.items()},
    "streamed": [dict(row) for row in streamed],
    "pinned": len(pinned),
    "downloaded": [os.path.getsize(one), sorted(os.listdir(whole)), pandas.read_parquet(f"{whole}/data")["reward"].tolist()],
    "pandas": pandas.read_parquet(f"hf://datasets/{name}/{data[0]}")["reward"].tolist(),
    "polars": polars.read_parquet(pandas.io.common.get_handle(one, "rb", is_text=False).handle)["reward"].to_list(),
}
duckdb.register_filesystem(__import__("fsspec").filesystem("hf"))
found["duckdb"] = [reward for (reward,) in duckdb.sql(f"select reward from read_parquet('hf://datasets/{name}/data/*.parquet')").fetchall()]
errors = {}
for key, work in {
    "load": lambda: datasets.load_dataset(missing, cache_dir=cache),
    "snapshot": lambda: snapshot_download(missing, repo_type="dataset"),
    "file": lambda: hf_hub_download(name, "none.txt", repo_type="dataset"),
    "revision": lambda: api.dataset_info(name, revision="other"),
    "token": lambda: HfApi(token="hf_wrong").dataset_info(name),
}.items():
    try:
        work()
        errors[key] = None
    except Exception as error:  # what it says is what is tested
        errors[key] = f"{type(error).__name__}: {error}"
found["errors"] = errors
print(json.dumps(found))
