"""The Hub's own client against a Hub: uploads a folder, or reads the rows of a pushed config. Prints JSON."""

import json
import sys

what, repository, *rest = sys.argv[1:]

if what == "upload":
    from huggingface_hub import HfApi

    api = HfApi()
    api.create_repo(repository, repo_type="dataset", private=True, exist_ok=True)
    commit = api.upload_folder(repo_id=repository, repo_type="dataset", folder_path=rest[0], commit_message="by its own client")
    print(json.dumps({"commit": commit.oid, "files": sorted(api.list_repo_files(repository, repo_type="dataset"))}))
else:
    from datasets import load_dataset

    config, cache = rest
    rows = load_dataset(repository, config, cache_dir=cache)["train"]
    print(json.dumps({"rewards": rows["reward"][:], "completions": [len(each) if each is not None else None for each in rows["completion"]]}))
