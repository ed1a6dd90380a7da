"""Reads an exported folder with what people read such folders with, and prints what they found as JSON."""
import glob
import json
import sys

import datasets
import pandas
import polars

folder, cache = sys.argv[1], sys.argv[2]
datasets.disable_progress_bars()
rows = datasets.load_dataset(folder, cache_dir=cache)["train"]
found = {"rows": [dict(row) for row in rows], "features": {name: str(feature) for name, feature in rows.features.items()}}
files = sorted(glob.glob(f"{folder}/data/*.parquet"))
if files:
    frame = pandas.read_parquet(files)
    found["pandas"] = {"rewards": frame["reward"].tolist(), "dtypes": {name: str(dtype) for name, dtype in frame.dtypes.items()}}
    table = polars.read_parquet(files)
    found["polars"] = {"rewards": table["reward"].to_list(), "prompt": str(table.schema["prompt"])}
print(json.dumps(found))
